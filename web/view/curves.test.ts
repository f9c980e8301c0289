/** What is drawn is what was logged: thinned out without losing a spike, smoothed as the formula says. */
import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { align, type Curve, Smoothed } from './curves.ts';

const curveOf = (ys: readonly number[], xs: readonly number[] = ys.map((_, i) => i)): Curve => ({
  xs: Float64Array.from(xs),
  ys: Float64Array.from(ys),
  numPoints: ys.length,
});

describe('align', () => {
  it('leaves few points as they are, on the positions of all curves', () => {
    const curves = [curveOf([1, 2], [0, 2]), curveOf([3, Number.NaN, 5], [0, 1, 2])];
    expect(align(curves, { from: 0, to: 2, width: 100 })).toEqual({
      xs: [0, 1, 2],
      ys: [
        [1, null, 2],
        [3, null, 5],
      ],
    });
  });

  it('keeps one point beyond each edge, so that lines reach them', () => {
    const { xs } = align([curveOf(Array.from({ length: 50 }, (_, i) => i))], { from: 10.5, to: 12.5, width: 100 });
    expect(xs).toEqual([10, 11, 12, 13]);
  });

  it('has two points a pixel of 100,000 and keeps a spike of one step', () => {
    const ys = Array.from({ length: 100_000 }, (_, i) => (i === 54_321 ? 99 : i % 7));
    const { xs, ys: drawn } = align([curveOf(ys)], { from: 0, to: 99_999, width: 400 });
    expect([xs.length, drawn[0].length]).toEqual([800, 800]);
    const at = drawn[0].indexOf(99);
    expect(Math.abs(xs[at] - 54_321)).toBeLessThan(100_000 / 400);
  });

  const points = fc.array(fc.double({ min: -1e3, max: 1e3, noNaN: true }), { minLength: 60, maxLength: 300 });
  test.prop([points, fc.integer({ min: 3, max: 20 })])(
    'least and greatest of every pixel column are those of the steps in it',
    (ys, width) => {
      const window = { from: 0, to: ys.length - 1, width };
      const [drawn] = align([curveOf(ys)], window).ys;
      const pixel = window.to / width;
      const edges = Array.from({ length: width - 1 }, (_, column) => (column + 1) * pixel);
      const columnOf = (x: number): number => edges.filter((edge) => edge <= x).length;
      for (let column = 0; column < width; column++) {
        const own = ys.filter((_, i) => columnOf(i) === column);
        const two = drawn.slice(2 * column, 2 * column + 2);
        expect([...two].sort((a, b) => Number(a) - Number(b))).toEqual([Math.min(...own), Math.max(...own)]);
      }
    },
  );
});

describe('Smoothed', () => {
  it('is s_t / (1 − β^t): a constant stays one, a step is half way after one of two lines', () => {
    expect([...new Smoothed(4).over(Float64Array.of(3, 3, 3), 3)]).toEqual([3, 3, 3]);
    const [first, second] = new Smoothed(2).over(Float64Array.of(0, 1), 2); // weights 1/4 and 1/2 of 3/4
    expect([first, second]).toEqual([0, (0.5 * 1) / 0.75]);
  });

  it('goes on where it stopped, and leaves out what is no number', () => {
    const ys = Float64Array.of(1, Number.NaN, 4, 2, 8);
    const bit = new Smoothed(8);
    bit.over(ys, 2);
    bit.over(ys, 3);
    expect([...bit.over(ys, 5)]).toEqual([...new Smoothed(8).over(ys, 5)]);
    expect(bit.over(ys, 5)[1]).toBeNaN();
    expect(bit.over(ys, 5)[4]).toBeGreaterThan(1);
  });
});
