import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { matrix } from '../losses/index.ts';
import { ACTIVATIONS } from '../model/index.ts';
import { trainConfigSchema } from './config.ts';
import type { Objective, ObjectiveBatch } from './objective.ts';
import { objective } from './objective.ts';
import { sparseObjective } from './sparse-objective.ts';

const [Q, G, V] = [2, 2, 12];

/** Mostly logits that are not active. */
const logit = fc.oneof(
  { weight: 6, arbitrary: fc.float({ min: -3, max: 0, noNaN: true }) },
  { weight: 3, arbitrary: fc.float({ min: 0, max: 20, noNaN: true }) },
);
const query = fc.uniqueArray(fc.nat(V - 1), { minLength: 1, maxLength: 5 }).chain((terms) =>
  fc.record({
    terms: fc.constant(Uint32Array.from(terms.toSorted((a, b) => a - b))),
    weights: fc.float32Array({ minLength: terms.length, maxLength: terms.length, min: 0, max: 5, noNaN: true }),
  }),
);
const batch = fc.record({
  queries: fc.array(query, { minLength: Q, maxLength: Q }),
  moreQueries: fc.array(query, { minLength: 1, maxLength: 1 }),
  lexical: fc.oneof(fc.constant(undefined), fc.array(query, { minLength: Q * G, maxLength: Q * G })),
  batchTeacher: fc
    .float32Array({ minLength: (Q + 1) * Q * G, maxLength: (Q + 1) * Q * G, min: 0, max: 10, noNaN: true })
    .map((scores) => matrix(Q + 1, Q * G, scores)),
  teacher: fc
    .float32Array({ minLength: Q * G, maxLength: Q * G, min: 0, max: 10, noNaN: true })
    .map((scores) => matrix(Q, G, scores)),
  documentShares: fc.float32Array({ minLength: V, maxLength: V, min: 0, max: 1, noNaN: true }),
});
const kind = fc
  .record({
    activation: fc.constantFrom(...ACTIVATIONS),
    loss: fc.constantFrom('kl', 'kl-in-batch', 'margin-mse', 'info-nce'),
    regulariser: fc.oneof(
      fc.constant({ regulariser: 'l1' }),
      fc.record({
        regulariser: fc.constantFrom('flops', 'df-flops'),
        grouping: fc.constantFrom('by-position', 'none'),
        threshold: fc.constantFrom(null, 0, 2),
      }),
    ),
    decoupled: fc.boolean(),
  })
  .map(({ activation, loss, decoupled, regulariser }): Objective => {
    const flopsOn = decoupled ? (activation === 'relu' ? 'l0' : 'relu') : 'same';
    const isInBatch = loss === 'kl-in-batch';
    const config = trainConfigSchema.parse({
      model: { base: 'none', activation },
      data: { train: 'none', format: 'scored' },
      rank: { loss: isInBatch ? 'kl' : loss, inBatchNegatives: isInBatch || loss === 'info-nce' },
      ...(isInBatch && { teachers: { models: ['none'] } }),
      sparsity: { lambda: 0.3, ramp: 10, flopsOn, ...regulariser },
    });
    return { activation: config.model.activation, rank: [config.rank].flat(), sparsity: config.sparsity };
  });

function bothOf(
  z: Float32Array<ArrayBuffer>,
  parts: Omit<ObjectiveBatch, 'numQueries' | 'docsPerQuery' | 'step' | 'learnsQueries'>,
  what: Objective,
) {
  const whole: ObjectiveBatch = { ...parts, numQueries: Q, docsPerQuery: G, step: 4, learnsQueries: true };
  const logits = matrix(Q * G, V, z);
  return [sparseObjective(logits, whole, what), objective(logits, whole, what)];
}

describe('the objective over active columns', () => {
  test.prop([fc.array(logit, { minLength: Q * G * V, maxLength: Q * G * V }), batch, kind])(
    'is the objective over all, to the bit',
    (z, parts, what) => {
      const [sparse, plain] = bothOf(Float32Array.from(z), parts, what);
      expect(sparse).toEqual(plain);
    },
  );

  it('shows a logit that is no number, and stands a batch without any active term', () => {
    const [what] = fc.sample(kind, { numRuns: 1, seed: 1 });
    const [parts] = fc.sample(batch, { numRuns: 1, seed: 1 });
    const [empty, plain] = bothOf(new Float32Array(Q * G * V).fill(-1), parts, what);
    expect(empty).toEqual(plain);
    expect(empty.numEmpty).toBe(Q * G);
    const [broken] = bothOf(new Float32Array(Q * G * V).fill(Number.NaN), parts, what);
    expect(broken.loss).toBeNaN();
  });
});
