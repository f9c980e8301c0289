/** Firm thresholds by hand, between soft and hard ones, and their slopes against differences. */
import { describe, expect, it } from 'vitest';
import { FIRMNESS, firm, firmSlope } from './firm-threshold.ts';

describe('a firm threshold of 0.9', () => {
  const f = (x: number): number => firm(x, -0.9);

  it('keeps nothing at 0.9, all of a weight from 1 on, and ten times what is above the threshold between them', () => {
    expect(FIRMNESS).toBe(10);
    expect(f(0.9)).toBeCloseTo(0, 12);
    expect(f(0.5)).toBeLessThan(0);
    expect(f(0.93)).toBeCloseTo(0.3, 12);
    expect(f(1)).toBeCloseTo(1, 12);
    expect(f(1.7)).toBe(1.7);
  });

  it('lies between a soft one and a hard one', () => {
    for (let x = 0.901; x < 3; x += 0.01) {
      expect(f(x)).toBeGreaterThanOrEqual(x - 0.9);
      expect(f(x)).toBeLessThanOrEqual(x);
    }
  });

  it('has the slopes that differences have, to 1e-6', () => {
    const h = 1e-7;
    for (const x of [0.91, 0.95, 0.99, 1.01, 2])
      expect(Math.abs((f(x + h) - f(x - h)) / (2 * h) - firmSlope(f(x), -0.9))).toBeLessThan(1e-6);
  });
});

it('a threshold of 0, or none, changes nothing', () => {
  for (const bias of [0, 0.5]) for (const x of [0.001, 1]) expect([firm(x, bias), firmSlope(x, bias)]).toEqual([x, 1]);
});
