import { describe, expect, it } from 'vitest';
import { Random, ShapeError } from '../../core/index.ts';
import { studentInterval, studentQuantile } from './student.ts';

describe('Student intervals', () => {
  it('have the quantiles of printed tables, to four digits', () => {
    const printed = [
      [1, 12.7062],
      [2, 4.3027],
      [3, 3.1824],
      [4, 2.7764],
      [9, 2.2622],
      [10, 2.2281],
      [30, 2.0423],
    ];
    for (const [degrees, t] of printed) expect(studentQuantile(0.95, degrees)).toBeCloseTo(t, 4);
    expect(studentQuantile(0.99, 5)).toBeCloseTo(4.0321, 4);
  });

  it('worked out by hand: 1 and 3 have mean 2, s/√n = 1, so 2 ± 12.7062', () => {
    const { mean, low, high } = studentInterval([1, 3]);
    expect(mean).toBe(2);
    expect(low).toBeCloseTo(2 - 12.7062, 4);
    expect(high).toBeCloseTo(2 + 12.7062, 4);
    expect(studentInterval([4, 4, 4])).toEqual({ mean: 4, low: 4, high: 4 });
  });

  it('of two, three and five normal values have 0 outside in 5 of 100 draws, within 1.5', () => {
    const random = new Random(3);
    for (const n of [2, 3, 5]) {
      let numOutside = 0;
      for (let draw = 0; draw < 4000; draw++) {
        const { low, high } = studentInterval(Array.from({ length: n }, () => random.normal()));
        if (low > 0 || high < 0) numOutside++;
      }
      expect(Math.abs(numOutside / 4000 - 0.05)).toBeLessThan(0.015);
    }
  });

  it('need two values', () => {
    expect(() => studentInterval([1])).toThrow(ShapeError);
  });
});
