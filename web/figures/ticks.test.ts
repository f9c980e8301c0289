import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import type { DrawnAxis } from '../../src/figures/drawing.ts';
import { tickFormat, ticksOf } from './ticks.ts';

const axis = (scale: 'linear' | 'log', low: number, high: number): DrawnAxis => ({
  label: '',
  scale,
  domain: [low, high],
});

describe('numbers of an axis', () => {
  it('are 1, 2 and 5 times powers of ten where there is room, else less of them', () => {
    expect(ticksOf(axis('log', 0.3, 12), 600, 44)).toEqual([0.5, 1, 2, 5, 10]);
    expect(ticksOf(axis('log', 0.0008, 1), 600, 44)).toEqual([0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1]);
    expect(ticksOf(axis('log', 0.0008, 1), 250, 44)).toEqual([0.001, 0.01, 0.1, 1]);
    expect(ticksOf(axis('log', 1e-9, 1e9), 250, 44)).toEqual([1e-9, 1e-5, 0.1, 1000, 10_000_000]);
  });

  it('of a range without round multiples are as on a linear axis', () => {
    expect(ticksOf(axis('log', 3.1, 3.9), 300, 44)).toEqual([3.2, 3.4, 3.6, 3.8]);
  });

  it('have as many decimals as each other on a linear axis', () => {
    const linear = axis('linear', 0.19, 0.51);
    const ticks = ticksOf(linear, 300, 44);
    expect(ticks.map(tickFormat(linear, ticks))).toEqual(['0.20', '0.25', '0.30', '0.35', '0.40', '0.45', '0.50']);
  });

  test.prop([fc.double({ min: -12, max: 12, noNaN: true }), fc.double({ min: 0.01, max: 20, noNaN: true })])(
    'lie within the range, in order, at least two',
    (from, decades) => {
      const [low, high] = [10 ** from, 10 ** (from + decades)];
      const ticks = ticksOf(axis('log', low, high), 600, 44);
      expect(ticks.length).toBeGreaterThan(1);
      expect(ticks).toEqual(ticks.toSorted((a, b) => a - b));
      expect(ticks[0]).toBeGreaterThanOrEqual(low * (1 - 1e-9));
      expect(ticks[ticks.length - 1]).toBeLessThanOrEqual(high * (1 + 1e-9));
    },
  );
});
