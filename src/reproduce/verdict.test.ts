import { describe, expect, it } from 'vitest';
import { allOf, judge, judgeEqual } from './verdict.ts';

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

  it('of several parts hold where all do', () => {
    expect(allOf(['holds', 'holds'])).toBe('holds');
    expect(allOf(['holds', 'not resolved'])).toBe('not resolved');
    expect(allOf(['not resolved', 'contradicted'])).toBe('contradicted');
    expect(allOf([])).toBe('not resolved');
  });
});
