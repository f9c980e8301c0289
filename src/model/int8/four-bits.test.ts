import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ConfigError, Random, ShapeError } from '../../core/index.ts';
import { CODE_LIMIT, dequantiseRows, quantiseRows } from './codes.ts';
import { LEVELS, packRows, unpackRows } from './four-bits.ts';

const ROW = 6;
const value = fc.oneof(
  fc.float({ min: -8, max: 8, noNaN: true }),
  fc.float({ noNaN: true, min: -(2 ** 100), max: 2 ** 100 }),
  fc.constantFrom(0, -0, 1e-40, -1e-38, 2 ** -101),
);
const matrix = fc
  .array(fc.array(value, { minLength: ROW, maxLength: ROW }), { minLength: 1, maxLength: 4 })
  .map((rows) => Float32Array.from(rows.flat()));

/** Max's levels above 0, in standard deviations: table I, N = 16. */
const MAX_LEVELS = [0.1284, 0.3881, 0.6568, 0.9424, 1.256, 1.618, 2.069, 2.733];

/** Mass, mean and lost variance of a normal variable above 0, for each level and what is nearest to it. */
function cells(levels: readonly number[]): { readonly mean: number; readonly lost: number }[] {
  const density = (x: number) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  return levels.map((level, i) => {
    const from = i === 0 ? 0 : (levels[i - 1] + level) / 2;
    const to = i === levels.length - 1 ? 9 : (level + levels[i + 1]) / 2;
    const step = (to - from) / 1000;
    const middles = Array.from({ length: 1000 }, (_, k) => from + (k + 0.5) * step);
    const sum = (of: (x: number) => number) => middles.reduce((all, x) => all + of(x) * density(x) * step, 0);
    return { mean: sum((x) => x) / sum(() => 1), lost: sum((x) => (x - level) ** 2) };
  });
}

/** What of a normal variable's variance levels and their negatives lose. */
const distortion = (levels: readonly number[]) => 2 * cells(levels).reduce((sum, { lost }) => sum + lost, 0);

const readBack = (values: Float32Array, rowSize: number) => dequantiseRows(unpackRows(packRows(values, rowSize)));

/** Σ (x − y)² / Σ x² */
function shareLost(x: Float32Array, y: Float32Array): number {
  let lost = 0;
  let all = 0;
  for (let i = 0; i < x.length; i++) {
    lost += (x[i] - y[i]) ** 2;
    all += x[i] ** 2;
  }
  return lost / all;
}

describe('the levels', () => {
  const scaled = MAX_LEVELS.map((level) => (level / 2.733) * CODE_LIMIT);

  it("are Max's, each of which is the mean of what is nearest to it, in whole steps", () => {
    cells(MAX_LEVELS).forEach(({ mean }, i) => {
      expect(mean).toBeCloseTo(MAX_LEVELS[i], 3);
    });
    const positive = scaled.map((level) => Math.round(level));
    expect([...LEVELS]).toEqual([...positive.map((level) => -level).reverse(), ...positive]);
  });

  it('lose less than 0.0096 of the variance of normal weights, 0.0095 before they were rounded; at equal distances they lose 0.0115', () => {
    expect(distortion(MAX_LEVELS)).toBeCloseTo(0.009497, 5); // as Max has it
    expect(distortion(Array.from(LEVELS.subarray(8), (level) => (level * 2.733) / CODE_LIMIT))).toBeLessThan(0.0096);
    const equal = (distance: number) => distortion(MAX_LEVELS.map((_, i) => (i + 0.5) * distance));
    const least = Math.min(...Array.from({ length: 100 }, (_, i) => equal(0.3 + i / 1000)));
    expect(least).toBeCloseTo(0.01154, 4);
  });
});

describe('rows in 4-bit codes', () => {
  it('have their largest weight at ±64 and two codes a byte, the first in the low half: worked by hand', () => {
    // At 1/64 a step the levels are 64, −48, 3 and −9, by codes 15, 1, 8 and 6.
    const { packed, scales } = packRows(Float32Array.of(1, -48 / 64, 3 / 64, -9 / 64, 0, 0, -0, 0), 4);
    expect([...packed]).toEqual([0x1f, 0x68, 0x88, 0x88]);
    expect([...scales]).toEqual([1 / 64, 0]);
  });

  it('lose less of normal weights than the best fixed scale does, 0.0095 of their variance: 0.0085 to 0.0095', () => {
    const random = new Random(7);
    const values = Float32Array.from({ length: 300 * 384 }, () => 0.05 * random.normal());
    const lost = shareLost(values, readBack(values, 384));
    expect(lost).toBeGreaterThan(0.0085);
    expect(lost).toBeLessThan(0.0095);
  });

  it('with one weight that is far larger than all others cut that one rather than lose the others', () => {
    const random = new Random(8);
    const values = Float32Array.from({ length: 384 }, (_, i) => (i === 100 ? 6 : random.normal()));
    const nearest = (steps: number) =>
      LEVELS.reduce((best, level) => (Math.abs(steps - level) < Math.abs(steps - best) ? level : best));
    const atLargest = values.map((x) => (nearest((x / 6) * CODE_LIMIT) * 6) / CODE_LIMIT);
    expect(shareLost(values, readBack(values, 384))).toBeLessThan(0.8 * shareLost(values, atLargest));
  });

  test.prop([matrix], { numRuns: 500 })('are read as levels × scale, exactly', (values) => {
    const { packed, scales } = packRows(values, ROW);
    const back = readBack(values, ROW);
    values.forEach((_, i) => {
      const code = i % 2 === 0 ? packed[i >> 1] & 15 : packed[i >> 1] >> 4;
      expect(back[i]).toBe(Math.fround(LEVELS[code] * scales[Math.floor(i / ROW)]));
    });
  });

  test.prop([matrix], { numRuns: 500 })('have the signs of the weights, and lose less than they are', (values) => {
    const back = readBack(values, ROW);
    for (let begin = 0; begin < values.length; begin += ROW) {
      const [x, y] = [values, back].map((all) => all.subarray(begin, begin + ROW));
      if (y.every((weight) => weight === 0)) expect(Math.max(...x.map(Math.abs))).toBeLessThan(2 ** -100);
      else expect(shareLost(x, y)).toBeLessThan(0.3);
      x.forEach((weight, i) => {
        expect(weight * y[i]).toBeGreaterThanOrEqual(0);
      });
    }
  });

  test.prop([matrix], { numRuns: 500 })(
    'that were read are the same codes and scales again, in 4 bits and, where not 0, in 8',
    (values) => {
      const once = packRows(values, ROW);
      const rows = unpackRows(once);
      const back = dequantiseRows(rows);
      expect(packRows(back, ROW)).toEqual(once);
      const inEight = quantiseRows(back, ROW);
      expect(inEight.scales).toEqual(rows.scales);
      expect(inEight.codes).toEqual(rows.codes.map((code, i) => (rows.scales[Math.floor(i / ROW)] === 0 ? 0 : code)));
    },
  );

  it('of an odd number of weights, or that are not whole, are refused', () => {
    expect(() => packRows(new Float32Array(9), 3)).toThrow(ConfigError);
    expect(() => packRows(new Float32Array(9), 3)).toThrow('rows of 3 weights cannot be stored in 4-bit codes');
    expect(() => packRows(new Float32Array(7), 4)).toThrow(ShapeError);
  });
});
