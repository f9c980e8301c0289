import { describe, expect, it } from 'vitest';
import { InputError, Random, ShapeError } from '../core/index.ts';
import { bootstrapInterval } from '../eval/index.ts';
import type { Run } from './measurements.ts';
import { resample, scoreTable } from './resampling.ts';

function runOf(...sets: readonly (readonly number[])[]): Run {
  return {
    point: 'p',
    seed: 1,
    steps: 1,
    seconds: 1,
    provenance: {},
    status: 'done',
    sets: sets.map((values) => ({
      ndcg: values.reduce((sum, value) => sum + value, 0) / values.length,
      flops: 1,
      docLen: 100,
      perQuery: Object.fromEntries(values.map((value, i) => [`q${i}`, value])),
    })),
  };
}

const random = new Random(1);
const values = Array.from({ length: 60 }, () => random.uniform());

describe('resampling queries', () => {
  it('of one set gives the bootstrap interval of src/eval, to 12 digits', () => {
    const options = { numSamples: 500, seed: 3 };
    const [low, high] = [values.map((value) => value / 2), values];
    const ours = resample(scoreTable([[runOf(high)], [runOf(low)]]), ([a, b]) => a - b, options)(0.95);
    const differences = high.map((value, i) => value - low[i]);
    // queries are sorted by id: q0, q1, q10, …
    const sorted = differences.map((_, i) => i).sort((a, b) => (`q${a}` < `q${b}` ? -1 : 1));
    const theirs = bootstrapInterval(
      sorted.map((i) => differences[i]),
      options,
    );
    for (const key of ['mean', 'low', 'high'] as const) expect(ours?.[key]).toBeCloseTo(theirs[key], 12);
  });

  it('gives wider intervals the surer they are', () => {
    const at = resample(scoreTable([[runOf(values)]]), ([y]) => y, { numSamples: 500 });
    const [sure, surer] = [at(0.95), at(0.99)];
    expect(surer?.low).toBeLessThan(sure?.low ?? Number.NaN);
    expect(surer?.high).toBeGreaterThan(sure?.high ?? Number.NaN);
  });

  it('weighs sets alike, whatever their number of queries: means 0 and 1 of 2 and 8 queries give 0.5', () => {
    const table = scoreTable([[runOf([0, 0], [1, 1, 1, 1, 1, 1, 1, 1])]]);
    expect(resample(table, ([y]) => y)(0.95)).toEqual({ mean: 0.5, low: 0.5, high: 0.5 });
  });

  it('averages seeds query by query', () => {
    const [[scores]] = scoreTable([[runOf([0, 1, 0.5]), runOf([1, 0, 0.5])]]);
    expect([...scores]).toEqual([0.5, 0.5, 0.5]);
  });

  it('has no interval where the figure has no value, or none in more than one sample of twenty', () => {
    const table = scoreTable([[runOf(values)]]);
    expect(resample(table, () => undefined)(0.95)).toBeUndefined();
    let calls = 0;
    const often = resample(table, ([y]) => (calls++ % 4 === 3 ? undefined : y), { numSamples: 100 });
    expect(often(0.95)).toBeUndefined();
  });

  it('refuses models without runs, of other sets, or without a query that others have', () => {
    expect(() => scoreTable([[], [runOf([1])]])).toThrow(ShapeError);
    expect(() => scoreTable([[runOf([1])], [runOf([1], [1])]])).toThrow(ShapeError);
    expect(() => scoreTable([[runOf([1, 1])], [runOf([1])]])).toThrow(InputError);
  });
});
