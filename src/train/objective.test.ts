import { describe, expect, it } from 'vitest';
import { centralDifferences, relativeError } from '../../test/lib/central-differences.ts';
import { Random } from '../core/index.ts';
import { matrix, matrixFromRows } from '../losses/index.ts';
import type { TrainConfig } from './config.ts';
import { trainConfigSchema } from './config.ts';
import { objective } from './objective.ts';

/** Pooled logits of two queries with two documents each, [4, 5]; half of them are not active. */
const random = new Random(2);
const z = matrix(
  4,
  5,
  Float32Array.from({ length: 20 }, (_, i) => (i % 2 ? -1 : 1) * (0.5 + 3 * random.uniform())),
);
const queries = [
  { terms: Uint32Array.of(0, 2), weights: Float32Array.of(2, 3) },
  { terms: Uint32Array.of(1, 3, 4), weights: Float32Array.of(1, 0.5, 4) },
];
const BATCH = {
  numQueries: 2,
  docsPerQuery: 2,
  queries,
  teacher: matrixFromRows([
    [9, 4.4],
    [5, 6.5],
  ]),
  step: 4,
  documentShares: Float32Array.of(1, 0.05, 0.2, 0.1, 0.5),
};

function settings(changes: { activation?: string; rank?: object; sparsity?: object } = {}) {
  const { activation = 'l0', rank = { loss: 'kl' }, sparsity = {} } = changes;
  const config: TrainConfig = trainConfigSchema.parse({
    model: { base: 'none', activation },
    data: { train: 'none', format: 'scored' },
    rank,
    sparsity: { lambda: 0.3, ramp: 10, ...sparsity },
  });
  return { activation: config.model.activation, rank: [config.rank].flat(), sparsity: config.sparsity };
}

const CASES = [
  ['relu, kl, FLOPS', settings({ activation: 'relu' })],
  ['l0-2, margin-mse, L1', settings({ activation: 'l0-2', rank: { loss: 'margin-mse' }, sparsity: { regulariser: 'l1' } })],
  ['de-l0, info-nce in the batch', settings({ activation: 'relu', rank: { loss: 'info-nce', inBatchNegatives: true }, sparsity: { flopsOn: 'l0' } })],
  ['inv-de-l0, not grouped, two losses', settings({ rank: [{ loss: 'kl', weight: 2 }, { loss: 'margin-mse', weight: 0.05 }], sparsity: { flopsOn: 'relu', grouping: 'none' } })],
  ['l0 with the mask', settings({ sparsity: { threshold: 2 } })],
  ['l0 with the mask, DF-FLOPS', settings({ sparsity: { regulariser: 'df-flops', dfBeta: 2, threshold: 2 } })],
  ['de-l0, DF-FLOPS, not grouped', settings({ activation: 'relu', sparsity: { regulariser: 'df-flops', flopsOn: 'l0', grouping: 'none' } })],
] as const; // biome-ignore format: a case a line

describe('the objective', () => {
  it.each(CASES)('has the slopes that central differences find, within 1e-3: %s', (_, what) => {
    const { dZ, dQueryWeights } = objective(z, { ...BATCH, learnsQueries: true }, what);
    const loss = () => objective(z, BATCH, what).loss;
    expect(relativeError(dZ.data, centralDifferences(loss, z.data))).toBeLessThan(1e-3);
    queries.forEach(({ weights }, n) => {
      expect(relativeError(dQueryWeights?.[n] ?? [], centralDifferences(loss, weights))).toBeLessThan(1e-3);
    });
  });

  it('compares more queries over the whole batch, and scores own words that nobody learns: slopes within 1e-3', () => {
    const moreQueries = [{ terms: Uint32Array.of(0, 4), weights: Float32Array.of(1, 2) }];
    const batch = {
      ...BATCH,
      moreQueries,
      lexical: [0, 1, 2, 3].map((b) => ({ terms: Uint32Array.of(b, 4), weights: Float32Array.of(0.5, 0.1 * b) })),
      batchTeacher: matrix(
        3,
        4,
        Float32Array.from({ length: 12 }, (_, i) => (i * 7) % 5),
      ),
    };
    const [kl] = settings().rank;
    const rank = [
      { ...kl, inBatchNegatives: true, weight: 2 },
      kl,
      { ...kl, loss: 'info-nce' as const, inBatchNegatives: true },
    ];
    const what = { ...settings(), rank };
    const { dZ, dQueryWeights } = objective(z, { ...batch, learnsQueries: true }, what);
    const loss = () => objective(z, batch, what).loss;
    expect(relativeError(dZ.data, centralDifferences(loss, z.data))).toBeLessThan(1e-3);
    [...queries, ...moreQueries].forEach(({ weights }, n) => {
      expect(relativeError(dQueryWeights?.[n] ?? [], centralDifferences(loss, weights))).toBeLessThan(1e-3);
    });
    const without = objective(z, { ...batch, lexical: undefined }, what);
    expect(without.loss).not.toBe(loss());
    expect(without.docLen).toBe(objective(z, batch, what).docLen);
  });

  it('is the sum of its parts, which it gives by name before their factors; λ is 0.3·(5/10)² at step 4', () => {
    const rank = [
      { loss: 'kl', weight: 2 },
      { loss: 'info-nce', weight: 0.5 },
    ];
    const result = objective(z, BATCH, settings({ rank }));
    expect(result.lambda).toBeCloseTo(0.075, 12);
    const sum = 2 * result.rank.kl + 0.5 * result.rank['info-nce'] + 0.075 * result.sparsity;
    expect(result.loss).toBeCloseTo(sum, 12);
    const alone = objective(z, BATCH, settings({ rank: rank[0] }));
    expect(alone.rank.kl).toBe(result.rank.kl);
    expect(alone.sparsity).toBe(result.sparsity);
  });

  it('gives two terms of one loss a name each', () => {
    const rank = [{ loss: 'kl' }, { loss: 'kl', temperature: 5 }];
    const [one, five] = rank.map((term) => objective(z, BATCH, settings({ rank: term })).rank.kl);
    expect(one).not.toBe(five);
    expect(objective(z, BATCH, settings({ rank })).rank).toEqual({ kl: one, 'kl-2': five });
  });

  it('leaves other answers of a query out of its negatives in the batch', () => {
    const rank = { loss: 'info-nce', inBatchNegatives: true };
    const otherAnswers = [new Set([2]), new Set<number>()];
    const [all, fewer] = [BATCH, { ...BATCH, otherAnswers }].map(
      (batch) => objective(z, batch, settings({ rank })).loss,
    );
    expect(fewer).toBeLessThan(all);
  });

  it('counts: terms of a document, documents without any, and those that the mask leaves in peace', () => {
    const logits = matrixFromRows([
      [1, 2, 3],
      [0, 1, -1],
      [-1, -2, 0],
      [1, 1, 0],
    ]);
    const query = { terms: Uint32Array.of(0), weights: Float32Array.of(1) };
    const batch = { ...BATCH, queries: [query, query] };
    const result = objective(logits, batch, settings({ sparsity: { threshold: 1 } }));
    expect([result.docLen, result.numEmpty, result.maskedShare]).toEqual([1.5, 1, 0.5]); // lengths 3, 1, 0, 2
    expect(objective(logits, batch, settings()).maskedShare).toBe(0);
  });

  it('gives no slope to a term that is not active', () => {
    const { dZ } = objective(z, BATCH, settings());
    z.data.forEach((value, i) => {
      if (value <= 0) expect(dZ.data[i]).toBe(0);
    });
  });
});
