import { describe, expect, it } from 'vitest';
import { learningRateAt, type Schedule } from './schedule.ts';

const linear: Schedule = { learningRate: 2e-5, warmup: 6000, steps: 100_000, decay: 'linear' };

describe('the learning rate', () => {
  it('grows by equal steps from 0 to its full value in the warm-up', () => {
    expect(learningRateAt(0, linear)).toBe(0);
    expect(learningRateAt(3000, linear)).toBeCloseTo(1e-5, 12);
    expect(learningRateAt(6000, linear)).toBe(2e-5);
  });

  it('falls by equal steps to 0 at the last step', () => {
    expect(learningRateAt(53_000, linear)).toBeCloseTo(1e-5, 12); // half-way from 6,000 to 100,000
    expect(learningRateAt(100_000, linear)).toBe(0);
    expect(learningRateAt(100_001, linear)).toBe(0);
  });

  it('falls along a cosine: three quarters of it are left after a third of the way', () => {
    const cosine: Schedule = { learningRate: 1, warmup: 0, steps: 300, decay: 'cosine' };
    expect(learningRateAt(0, cosine)).toBe(1);
    expect(learningRateAt(100, cosine)).toBeCloseTo(0.75, 12); // (1 + cos 60°)/2
    expect(learningRateAt(300, cosine)).toBeCloseTo(0, 12);
  });

  it('stays where it is without decay', () => {
    expect(learningRateAt(99_999, { ...linear, decay: 'none' })).toBe(2e-5);
  });
});
