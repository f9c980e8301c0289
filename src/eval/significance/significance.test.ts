import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { Random, ShapeError } from '../../core/index.ts';
import { bootstrapInterval, quantile } from './bootstrap.ts';
import { holm } from './holm.ts';
import { randomisationTest } from './randomisation.ts';

type Case = { a: number[]; b: number[]; p: number; tolerance: number; interval: [number, number] };
/** scripts/golden-significance.py */
const golden: { cases: Case[] } = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../../test/golden/eval/significance.json'), 'utf8'),
);

describe('the randomisation test', () => {
  it('gives the p values of scipy: to 1e-12 where it is exact, within five standard errors where it is sampled', () => {
    expect(golden.cases).toHaveLength(36);
    for (const { a, b, p, tolerance } of golden.cases) {
      const ours = randomisationTest(a, b);
      expect(Math.abs(ours.p - p)).toBeLessThanOrEqual(tolerance);
      if (a.length <= 14) expect(ours.exact).toBe(true);
    }
  });

  it('worked out by hand: differences 1, 2, 3 reach 6 in 2 of 8 sign flips', () => {
    expect(randomisationTest([1, 2, 3], [0, 0, 0])).toEqual({ p: 2 / 8, meanDifference: 2, exact: true });
    // |Σ ±d| ≥ 2 for d = 1, 2, −1: sums 4, 2, 0, 2 and their opposites, so 6 of 8
    expect(randomisationTest([1, 2, 0], [0, 0, 1]).p).toBe(6 / 8);
  });

  it('finds nothing in equal systems', () => {
    expect(randomisationTest([0.5, 0.1], [0.5, 0.1])).toEqual({ p: 1, meanDifference: 0, exact: true });
  });

  it('is the same for the same seed, and never 0 where it samples', () => {
    const a = Array.from({ length: 60 }, (_, i) => 1 + i / 100);
    const b = a.map(() => 0);
    const options = { numPermutations: 1000, seed: 7 };
    expect(randomisationTest(a, b, options)).toEqual({ p: 1 / 1001, meanDifference: expect.any(Number), exact: false });
    const random = new Random(1);
    const noisy = a.map((value) => value + random.normal());
    expect(randomisationTest(a, noisy, options)).toEqual(randomisationTest(a, noisy, options));
    expect(randomisationTest(a, noisy, options).p).not.toBe(randomisationTest(a, noisy, { ...options, seed: 8 }).p);
  });

  const value = fc.integer({ min: 0, max: 10 }).map((x) => x / 10);
  test.prop([fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 10 })])(
    'agrees with trying every sign flip on its own, and does not care which system comes first',
    (pairs) => {
      const [a, b] = [pairs.map(([x]) => x), pairs.map(([, y]) => y)];
      const d = pairs.map(([x, y]) => Math.round(10 * (x - y))); // whole tenths: no rounding
      const reached = Array.from({ length: 2 ** d.length }, (_, signs) =>
        Math.abs(d.reduce((sum, x, i) => sum + (signs & (1 << i) ? x : -x), 0)),
      ).filter((sum) => sum >= Math.abs(d.reduce((x, y) => x + y, 0)));
      expect(randomisationTest(a, b).p).toBeCloseTo(reached.length / 2 ** d.length, 12);
      expect(randomisationTest(b, a).p).toBe(randomisationTest(a, b).p);
    },
  );

  it('needs pairs', () => {
    expect(() => randomisationTest([1], [1, 2])).toThrow(ShapeError);
    expect(() => randomisationTest([], [])).toThrow(ShapeError);
  });
});

describe('bootstrap intervals', () => {
  it('are those of scipy within a tenth of their width, for 40 queries and more', () => {
    for (const { a, interval } of golden.cases.filter((example) => example.a.length >= 40)) {
      const { low, high, mean } = bootstrapInterval(a);
      const tolerance = (interval[1] - interval[0]) / 10;
      expect(Math.abs(low - interval[0])).toBeLessThan(tolerance);
      expect(Math.abs(high - interval[1])).toBeLessThan(tolerance);
      expect(low < mean && mean < high).toBe(true);
    }
  });

  it('are the normal ones, mean ± 1.96·s/√n, within 5 % for 1,000 values', () => {
    const random = new Random(3);
    const values = Array.from({ length: 1000 }, () => random.uniform());
    const { low, high } = bootstrapInterval(values);
    const width = (2 * 1.96 * Math.sqrt(1 / 12)) / Math.sqrt(1000);
    expect(Math.abs((high - low) / width - 1)).toBeLessThan(0.05);
  });

  it('shrink to a point where all values are equal, and are the same for the same seed', () => {
    expect(bootstrapInterval([0.5, 0.5])).toEqual({ mean: 0.5, low: 0.5, high: 0.5 });
    expect(bootstrapInterval([0, 1, 0.3], { seed: 5 })).toEqual(bootstrapInterval([0, 1, 0.3], { seed: 5 }));
    expect(() => bootstrapInterval([])).toThrow(ShapeError);
  });

  it('interpolate between two values', () => {
    expect([0, 0.25, 0.5, 1].map((share) => quantile([1, 2, 4], share))).toEqual([1, 1.5, 2, 4]);
  });
});

describe("Holm's correction", () => {
  it('multiplies the smallest by m, the next by m − 1, and never falls', () => {
    expect(holm([0.01, 0.04, 0.03, 0.005])).toEqual([0.03, 0.06, 0.06, 0.02]);
    expect(holm([0.5, 0.6])).toEqual([1, 1]);
    expect(holm([0.03])).toEqual([0.03]);
    expect(holm([])).toEqual([]);
  });
});
