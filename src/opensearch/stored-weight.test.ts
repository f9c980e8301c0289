import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { byteWeight, isStorable, MIN_STORED_WEIGHT, STORED_ERROR, storedWeight } from './stored-weight.ts';

const weights = fc.float({ min: Math.fround(1e-6), max: 64, noNaN: true });

describe('weights as rank_features keep them', () => {
  it('1.2 becomes 1.19921875: 307/256, cut and not rounded', () => {
    expect(storedWeight(1.2)).toBe(1.19921875);
    expect(storedWeight(1)).toBe(1);
    expect(storedWeight(3)).toBe(3);
    expect(storedWeight(2.999)).toBe(2.9921875); // 383/128; rounding would give 3
  });

  test.prop([weights])('a weight loses less than 2⁻⁸ of itself, and never gains', (weight) => {
    const kept = storedWeight(weight);
    expect(kept).toBeLessThanOrEqual(weight);
    expect(kept).toBeGreaterThan(weight * (1 - STORED_ERROR));
    expect(storedWeight(kept)).toBe(kept);
  });

  it('zero, negative, subnormal, infinite and no numbers are not taken', () => {
    for (const weight of [0, -1, MIN_STORED_WEIGHT / 2, Number.POSITIVE_INFINITY, Number.NaN, 1e39])
      expect(isStorable(weight)).toBe(false);
    for (const weight of [MIN_STORED_WEIGHT, 1, 3e38]) expect(isStorable(weight)).toBe(true);
  });
});

describe('weights as clusters keep them', () => {
  it('in steps of a 255th of the ceiling, rounded, and not above it', () => {
    expect(byteWeight(1, 255)).toBe(1);
    expect(byteWeight(1.49, 255)).toBe(1);
    expect(byteWeight(1.5, 255)).toBe(2); // halves go up
    expect(byteWeight(0.49, 255)).toBe(0);
    expect(byteWeight(300, 255)).toBe(255);
  });

  test.prop([weights, fc.float({ min: 1, max: 64, noNaN: true })])(
    'a weight below the ceiling moves by half a step at most',
    (weight, ceiling) => {
      const kept = byteWeight(Math.min(weight, ceiling), ceiling);
      expect(Math.abs(kept - Math.min(weight, ceiling))).toBeLessThanOrEqual((ceiling / 255) * (0.5 + 1e-4));
    },
  );
});
