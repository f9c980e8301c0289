import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  commonRange,
  costOf,
  curveThrough,
  lossGap,
  lossOver,
  meanCostRatio,
  meanGap,
  placesIn,
  valueAt,
} from './curve.ts';

/** y = 0, 1, 2 at x = 1, e, e²: linear in ln x. */
const LINE = curveThrough([
  { x: Math.E, y: 1 },
  { x: 1, y: 0 },
  { x: Math.E ** 2, y: 2 },
]);

describe('curves over FLOPS', () => {
  it('are linear in the logarithm between neighbours: half way between 1 and e lies √e', () => {
    expect(valueAt(LINE, Math.sqrt(Math.E))).toBeCloseTo(0.5, 12);
    expect(valueAt(LINE, Math.E ** 1.25)).toBeCloseTo(1.25, 12);
    const bent = curveThrough([
      { x: 1, y: 0 },
      { x: 4, y: 2 },
      { x: 16, y: 3 },
    ]);
    expect(valueAt(bent, 2)).toBeCloseTo(1, 12); // half way from 0 to 2
    expect(valueAt(bent, 8)).toBeCloseTo(2.5, 12);
  });

  it('pass through their points, and have no value outside of them', () => {
    for (const { x, y } of LINE) expect(valueAt(LINE, x)).toBe(y);
    expect([valueAt(LINE, 0.99), valueAt(LINE, 7.4), valueAt([], 1)]).toEqual([undefined, undefined, undefined]);
  });

  it('make one point of several with the same FLOPS, and leave out those without any', () => {
    const points = [
      { x: 2, y: 1 },
      { x: 2, y: 3 },
      { x: 0, y: 9 },
    ];
    expect(curveThrough(points)).toEqual([{ x: 2, y: 2 }]);
  });

  it('are compared over the range that both have, ends among the places', () => {
    const short = curveThrough([
      { x: 2, y: 5 },
      { x: 4, y: 5 },
    ]);
    expect(commonRange([LINE, short])).toEqual({ low: 2, high: 4 });
    expect(placesIn({ low: 1, high: 4 }, 3)).toEqual([1, 2, 4]);
    expect(commonRange([LINE, curveThrough([{ x: 9, y: 1 }])])).toBeUndefined();
    expect(commonRange([LINE, []])).toBeUndefined();
  });

  it('have the mean gap of a curve that is higher by a constant', () => {
    const higher = LINE.map(({ x, y }) => ({ x: 1.5 * x, y: y + Math.log(1.5) + 0.25 }));
    expect(meanGap(higher, LINE)).toBeCloseTo(0.25, 12);
    expect(meanGap(LINE, curveThrough([{ x: 100, y: 1 }]))).toBeUndefined();
  });

  it('cost what the first crossing of a level does, worked out by hand: 1.5 at e^1.5, twice the FLOPS at the same level', () => {
    expect(costOf(LINE, 1.5)).toBeCloseTo(Math.E ** 1.5, 12);
    expect([costOf(LINE, 2.5), costOf(LINE, -1)]).toEqual([undefined, undefined]);
    const dear = LINE.map(({ x, y }) => ({ x: 2 * x, y }));
    expect(meanCostRatio(dear, LINE)).toBeCloseTo(Math.log(2), 12);
    expect(meanCostRatio(LINE, LINE.slice(0, 1))).toBeUndefined();
    const [valley, level] = [[3, 1, 4].map((y, i) => ({ x: Math.E ** i, y })), 2]; // above 2 at x = 1 already, not first at e^(4/3)
    expect(costOf(valley, level)).toBeUndefined();
    expect(costOf(valley, 3.5)).toBeCloseTo(Math.E ** (1 + 2.5 / 3), 12);
  });

  it('lose what they fall from the upper to the lower end of a range', () => {
    expect(lossOver(LINE, { low: 1, high: Math.E ** 2 })).toBe(2);
    expect(lossOver(LINE, { low: 0.5, high: 2 })).toBeUndefined();
    const steep = LINE.map(({ x, y }) => ({ x: x * Math.E, y: 3 * y })); // from e to e³: both have e … e², 1 against 3
    expect(lossGap(steep, LINE)).toBeCloseTo(2, 12);
    expect(lossGap(LINE, curveThrough([{ x: 100, y: 1 }]))).toBeUndefined();
  });

  const point = fc.record({
    x: fc.double({ min: 0.01, max: 100, noNaN: true }),
    y: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  test.prop([fc.array(point, { minLength: 2, maxLength: 8 }), fc.double({ min: 0.01, max: 100, noNaN: true })])(
    'stay between the values of neighbouring points',
    (points, x) => {
      const value = valueAt(curveThrough(points), x);
      if (value === undefined) return;
      const ys = points.map(({ y }) => y);
      expect(value).toBeGreaterThanOrEqual(Math.min(...ys) - 1e-12);
      expect(value).toBeLessThanOrEqual(Math.max(...ys) + 1e-12);
    },
  );
});
