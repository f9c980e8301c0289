import { describe, expect, it } from 'vitest';
import { RateMeter } from './progress.ts';

describe('rate meter', () => {
  it('knows nothing before two marks apart in time', () => {
    const meter = new RateMeter();
    expect(meter.perSecond).toBeUndefined();
    meter.mark(0, 0);
    meter.mark(0, 10);
    expect(meter.perSecond).toBeUndefined();
    expect(meter.secondsLeft(100)).toBeUndefined();
  });

  it('gives rate and time left: 50 units in 2 s are 25 a second, and 100 more take 4 s', () => {
    const meter = new RateMeter();
    meter.mark(1000, 0);
    meter.mark(3000, 50);
    expect(meter.perSecond).toBe(25);
    expect(meter.secondsLeft(150)).toBe(4);
  });

  it('does not count what was done before the first mark', () => {
    const meter = new RateMeter();
    meter.mark(0, 900);
    meter.mark(1000, 910);
    expect(meter.perSecond).toBe(10);
  });

  it('forgets what lies more than 30 s back', () => {
    const meter = new RateMeter();
    for (let second = 0; second <= 60; second++) meter.mark(second * 1000, second * 100);
    const slowFrom = 6000;
    for (let second = 1; second <= 31; second++) meter.mark((60 + second) * 1000, slowFrom + second);
    expect(meter.perSecond).toBe(1);
  });

  it('has no time left to tell where nothing moves, and none below zero', () => {
    const meter = new RateMeter();
    meter.mark(0, 5);
    meter.mark(1000, 5);
    expect(meter.secondsLeft(10)).toBeUndefined();
    meter.mark(2000, 20);
    expect(meter.secondsLeft(10)).toBe(0);
  });
});
