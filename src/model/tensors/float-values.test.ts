import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { firstNonFinite, isAllFinite } from './float-values.ts';

const bitsOf = (values: Float32Array): Int32Array => new Int32Array(values.buffer);

describe('isAllFinite', () => {
  it.each([Infinity, -Infinity, NaN])('finds %s at each of nine places', (value) => {
    for (let at = 0; at < 9; at++) {
      const values = new Float32Array(9).fill(-3.4028234663852886e38);
      expect(isAllFinite(bitsOf(values))).toBe(true);
      values[at] = value;
      expect(isAllFinite(bitsOf(values))).toBe(false);
      expect(firstNonFinite(values)).toBe(at);
    }
  });

  it.each([Infinity, -Infinity, NaN])('finds %s in the last of three blocks, also when all are large', (value) => {
    for (const fill of [0.5, 1e30]) {
      const values = new Float32Array(2 * 4096 + 5).fill(fill);
      expect(isAllFinite(bitsOf(values))).toBe(true);
      values[values.length - 1] = value;
      expect(isAllFinite(bitsOf(values))).toBe(false);
    }
  });

  it.each([0, -0, 1e-45, -1e-45, 3.4028234663852886e38])('takes %s for finite', (value) => {
    expect(isAllFinite(bitsOf(Float32Array.of(value)))).toBe(true);
  });

  test.prop([fc.array(fc.integer(), { maxLength: 12 })])('agrees with a look at each value, for any bits', (bits) => {
    const array = Int32Array.from(bits);
    expect(isAllFinite(array)).toBe(firstNonFinite(new Float32Array(array.buffer)) < 0);
  });
});
