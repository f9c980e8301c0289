/** A whole step against PyTorch's autograd and AdamW: scripts/golden-training.py asks them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GoldenCase } from '../../test/golden/training/fixtures.ts';
import {
  golden,
  goldenBatch,
  goldenConfig,
  goldenNetwork,
  goldenTensors,
  goldenTokenizer,
} from '../../test/golden/training/fixtures.ts';
import { relativeError } from '../../test/lib/central-differences.ts';
import { Checkpoint } from '../model/index.ts';
import { IDF_PARAMETER } from './network/parameter-specs.ts';
import { Trainer } from './trainer.ts';

const MODES = ['recompute', 'save'] as const;

/** Its gradient is 0 but for rounding: moving all keys by the same vector moves no softmax. */
const KEY_BIAS = /\.key\.bias$/;

let gradients: Map<string, Float32Array>;
let after: Map<string, Float32Array>;
beforeAll(async () => {
  gradients = await goldenTensors('gradients');
  after = await goldenTensors('after-20-steps');
});

const open: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of open) await close();
});

async function trainerOf(test: GoldenCase, engine: object = {}): Promise<Trainer> {
  const checkpoint = await Checkpoint.open(goldenNetwork(test.network));
  const start = { checkpoint, tokenizer: goldenTokenizer(), idf: Float32Array.from(golden.idf) };
  const trainer = await Trainer.create(goldenConfig(test, { engine }), start);
  if (test.table)
    for (const [name, values] of Object.entries(golden.projection)) trainer.parameters.get(name).weights.set(values);
  open.push(
    () => trainer.close(),
    () => checkpoint.close(),
  );
  return trainer;
}

/** Largest difference as a share of the reference's largest value; of a key bias, of the query bias's largest. */
function errorOf(name: string, actual: Float32Array, expected: ReadonlyMap<string, Float32Array>): number {
  const reference = expected.get(name);
  if (!reference) throw new Error(`PyTorch has no ${name}`);
  if (!KEY_BIAS.test(name)) return relativeError(actual, reference);
  const scale = Math.max(...(expected.get(name.replace('.key.', '.query.')) ?? []).map(Math.abs));
  return Math.max(...actual.map((x, i) => Math.abs(x - reference[i]))) / scale;
}

const title = ({ network, variant, mask, loss, regulariser, table }: GoldenCase): string =>
  [`${network}, ${variant}${mask ? ' with the mask' : ''}, ${loss}`, regulariser, table].filter(Boolean).join(', ');

describe.each(MODES)('a step with %s: losses of PyTorch within 1e-6, gradients within 1e-5', (activations) => {
  it.each(golden.cases.map((test, number) => [title(test), test, number] as const))('%s', async (_, test, number) => {
    const trainer = await trainerOf(test, { activations });
    const { loss, rank, sparsity } = await trainer.step(goldenBatch, 0);
    for (const [ours, theirs] of [
      [loss, test.total],
      [rank[test.loss], test.rank],
      [sparsity, test.flops],
    ])
      expect(Math.abs(ours - theirs) / theirs).toBeLessThan(1e-6);
    const trained = Array.from(trainer.parameters.all).filter(({ name }) => !(test.table && name === IDF_PARAMETER));
    expect(trained.length).toBe([...gradients.keys()].filter((key) => key.startsWith(`${number}:`)).length);
    for (const { name, gradients: ours } of trained) {
      if (!ours) throw new Error(`${name} is not trained`);
      expect(errorOf(`${number}:${name}`, ours, gradients), name).toBeLessThan(1e-5);
    }
    await trainer.close();
  });
});

describe('20 steps of AdamW: parameters of PyTorch within 1e-4', () => {
  const cases = golden.cases.flatMap((test, number) =>
    test.variant === 'l0' && test.mask && !test.table ? [[title(test), test, number] as const] : [],
  );
  it.each(cases)('%s', async (_, test, number) => {
    const trainer = await trainerOf(test);
    for (let step = 0; step < 20; step++) await trainer.step(goldenBatch, step);
    for (const { name, weights } of trainer.parameters.all) {
      if (KEY_BIAS.test(name)) continue;
      expect(errorOf(`${number}:${name}`, weights, after), name).toBeLessThan(1e-4);
    }
  });
});
