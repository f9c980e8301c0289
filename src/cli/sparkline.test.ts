import { describe, expect, it } from 'vitest';
import { Curve, sparkline } from './sparkline.ts';

describe('sparkline', () => {
  it('draws the least number lowest and the largest highest', () => {
    expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7], 8)).toBe('▁▂▃▄▅▆▇█');
  });

  it('draws means where there are more numbers than bars', () => {
    expect(sparkline([0, 0, 7, 7, 3, 4], 3)).toBe('▁█▅'); // 0, 7, 3.5
  });

  it('is as wide as there are numbers, flat where all are equal, empty for none', () => {
    expect(sparkline([2, 2, 2], 10)).toBe('▁▁▁');
    expect(sparkline([], 10)).toBe('');
  });
});

describe('Curve', () => {
  it('keeps the shape of a series of any length: each point stands for as many numbers', () => {
    const curve = new Curve(8);
    for (let i = 0; i < 1024; i++) curve.add(i);
    const { points } = curve;
    expect(points.length).toBeGreaterThanOrEqual(4);
    expect(points.length).toBeLessThan(8);
    const steps = points.slice(1).map((value, i) => value - points[i]);
    expect(new Set(steps)).toEqual(new Set([steps[0]]));
  });
});
