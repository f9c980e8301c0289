/**
 * From logged steps to what is drawn: smoothed, and thinned out to two points a pixel column, its least and its greatest
 * value, so that a hundred thousand steps cost no more to draw than a thousand and no spike is lost.
 */

import { Extremes } from './extremes.ts';

/** A curve: positions ascend; `numPoints` of both arrays count. */
export type Curve = {
  readonly xs: Float64Array;
  readonly ys: Float64Array;
  readonly numPoints: number;
  /** Of ys, where they are known already. */
  readonly extremes?: Extremes;
};

/** Curves over common positions, as uPlot wants them; null where one has no value. */
export type AlignedCurves = { readonly xs: number[]; readonly ys: (number | null)[][] };

/** What part of the positions is drawn, and on how many pixels. */
export type Window = { readonly from: number; readonly to: number; readonly width: number };

/**
 * An exponential moving average with the bias of its beginning taken out:
 *
 *     s_t = β·s_{t−1} + (1−β)·y_t          ŝ_t = s_t / (1 − β^t)          β = 1 − 1/window
 *
 * Values that are no numbers are left out. Goes on where it stopped when rows are added.
 */
export class Smoothed {
  readonly #beta: number;
  #sum = 0;
  #weight = 0;
  #numDone = 0;
  #values = new Float64Array(0);

  constructor(window: number) {
    this.#beta = 1 - 1 / window;
  }

  /** The average after each of the first `numPoints` values. */
  over(ys: Float64Array, numPoints: number): Float64Array {
    if (this.#values.length < numPoints) {
      const larger = new Float64Array(ys.length);
      larger.set(this.#values);
      this.#values = larger;
    }
    for (; this.#numDone < numPoints; this.#numDone++) {
      const y = ys[this.#numDone];
      if (!Number.isNaN(y)) {
        this.#sum = this.#beta * this.#sum + (1 - this.#beta) * y;
        this.#weight = this.#beta * this.#weight + (1 - this.#beta);
      }
      this.#values[this.#numDone] = Number.isNaN(y) ? Number.NaN : this.#sum / this.#weight;
    }
    return this.#values;
  }
}

/** Puts curves on common positions: as they are where that is few points, else two a pixel. */
export function align(curves: readonly Curve[], window: Window): AlignedCurves {
  const parts = curves.map((curve) => partOf(curve, window));
  const numPoints = parts.reduce((sum, { from, to }) => sum + to - from, 0);
  return numPoints <= 2 * window.width * curves.length ? joined(curves, parts) : thinned(curves, parts, window);
}

type Part = { readonly from: number; readonly to: number };

/** The points within a window, and one beyond it on each side, so that lines reach its edges. */
function partOf({ xs, numPoints }: Curve, { from, to }: Window): Part {
  const first = firstNotBelow(xs, numPoints, from);
  const end = firstNotBelow(xs, numPoints, to);
  return { from: Math.max(0, first - 1), to: Math.min(numPoints, end + 1) };
}

/** The first position from a row on that is not below x, by halving. */
export function firstNotBelow(xs: Float64Array, numPoints: number, x: number, from = 0): number {
  let [low, high] = [from, numPoints];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

function joined(curves: readonly Curve[], parts: readonly Part[]): AlignedCurves {
  const all = new Set<number>();
  curves.forEach(({ xs }, c) => {
    for (let i = parts[c].from; i < parts[c].to; i++) all.add(xs[i]);
  });
  const positions = [...all].sort((a, b) => a - b);
  const ys = curves.map(({ xs, ys }, c) => {
    let i = parts[c].from;
    return positions.map((x) => {
      if (i >= parts[c].to || xs[i] !== x) return null;
      const y = ys[i++];
      return Number.isNaN(y) ? null : y;
    });
  });
  return { xs: positions, ys };
}

/** Of each pixel column the least and the greatest value, in the order in which they came. */
function thinned(curves: readonly Curve[], parts: readonly Part[], { from, to, width }: Window): AlignedCurves {
  const pixel = (to - from) / width;
  const xs = Array.from({ length: 2 * width }, (_, i) => from + (i / 2 + 0.25) * pixel);
  const ys = curves.map((curve, c) => {
    const { extremes = new Extremes().over(curve.ys, curve.numPoints) } = curve;
    const out = new Array<number | null>(2 * width).fill(null);
    let row = parts[c].from; // what lies beyond an edge counts to the column there
    for (let column = 0; column < width; column++) {
      const isLast = column === width - 1;
      const end = isLast ? parts[c].to : firstNotBelow(curve.xs, parts[c].to, from + (column + 1) * pixel, row);
      const [least, greatest] = extremes.within(row, end);
      if (least >= 0) {
        out[2 * column] = curve.ys[Math.min(least, greatest)];
        out[2 * column + 1] = curve.ys[Math.max(least, greatest)];
      }
      row = end;
    }
    return out;
  });
  return { xs, ys };
}
