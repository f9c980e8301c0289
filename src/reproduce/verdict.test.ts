import { describe, expect, it } from 'vitest';
import { judge, judgeAll, judgeEqual } from './verdict.ts';

const interval = (low: number, high: number) => ({ mean: (low + high) / 2, low, high });

describe('verdicts', () => {
  it('hold where the interval lies on the side of the claim, and are contradicted on the other', () => {
    expect(judge(interval(0.01, 0.02), 'above')).toBe('holds');
    expect(judge(interval(0.01, 0.02), 'below')).toBe('contradicted');
    expect(judge(interval(-0.02, -0.01), 'below')).toBe('holds');
    expect(judge(interval(-0.02, -0.01), 'above')).toBe('contradicted');
  });

  it('are not resolved where 0 is in the interval, a seed says the opposite, or there is none', () => {
    expect(judge(interval(-0.01, 0.02), 'above')).toBe('not resolved');
    expect(judge(interval(0, 0.02), 'above')).toBe('not resolved');
    expect(judge(interval(0.01, 0.02), 'above', [0.04, -0.001])).toBe('not resolved');
    expect(judge(interval(0.01, 0.02), 'above', [0.04, 0.001])).toBe('holds');
    expect(judge(undefined, 'above')).toBe('not resolved');
  });

  it('of equality hold inside of the bound, and are contradicted where the interval lies outside as a whole', () => {
    expect(judgeEqual(interval(-0.004, 0.009), 0.01)).toBe('holds');
    expect(judgeEqual(interval(0.011, 0.02), 0.01)).toBe('contradicted');
    expect(judgeEqual(interval(-0.03, -0.011), 0.01)).toBe('contradicted');
    expect(judgeEqual(interval(0.002, 0.02), 0.01)).toBe('not resolved');
    expect(judgeEqual(undefined, 0.01)).toBe('not resolved');
  });

  /** A part whose interval is 0.01 wider on both sides where it has to be surer than 95 %. */
  const part = (low: number, high: number, bySeed: readonly number[] = []) => ({
    intervalAt: (confidence: number) => (confidence > 0.95 ? interval(low - 0.01, high + 0.01) : interval(low, high)),
    bySeed,
  });
  const nothing = { intervalAt: () => undefined, bySeed: [] };

  it('of several parts hold where each holds at 95 %', () => {
    expect(judgeAll([part(0.001, 0.02), part(0.001, 0.02)], 'above')).toBe('holds');
    expect(judgeAll([part(0.001, 0.02), part(-0.001, 0.02)], 'above')).toBe('not resolved');
    expect(judgeAll([part(0.001, 0.02), nothing], 'above')).toBe('not resolved');
    expect(judgeAll([], 'above')).toBe('not resolved');
  });

  it('of k parts are contradicted by one whose interval of 1 − 0.05/k lies on the other side', () => {
    expect(judgeAll([part(0.02, 0.03), part(-0.04, -0.02)], 'above')).toBe('contradicted');
    expect(judgeAll([part(0.02, 0.03), part(-0.02, -0.005)], 'above')).toBe('not resolved'); // at 95 % alone
    expect(judgeAll([part(-0.02, -0.005)], 'above')).toBe('contradicted'); // one part: 95 %
    expect(judgeAll([part(0.02, 0.03), part(-0.04, -0.02, [0.01, -0.06])], 'above')).toBe('not resolved');
  });
});
