/** What the reader has chosen: which part of which runs is drawn, and how. */
import type { Axis, Run } from './run.ts';

/** Part of the horizontal axis. */
export type Range = readonly [from: number, to: number];

/** Choices that all charts over steps share. */
export type ChartOptions = {
  readonly axis: Axis;
  /** Logged steps that are averaged; 1 for none. */
  readonly window: number;
  readonly isLog: boolean;
  /** What is drawn; null for all, also what is to come. */
  readonly range: Range | null;
};

/** From the first to the last logged step of all runs. */
export function extentOf(runs: readonly Run[], axis: Axis): Range {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const run of runs) {
    const curve = run.curve('loss', { axis, window: 1 });
    if (!curve || curve.numPoints === 0) continue;
    from = Math.min(from, curve.xs[0]);
    to = Math.max(to, curve.xs[curve.numPoints - 1]);
  }
  if (!(from <= to)) return [0, 1];
  return from === to ? [from - 0.5, to + 0.5] : [from, to];
}

/** A range closer to its middle (factor below 1) or wider, within all there is; null where that is everything. */
export function zoomed(range: Range, factor: number, all: Range): Range | null {
  const middle = (range[0] + range[1]) / 2;
  const half = ((range[1] - range[0]) / 2) * factor;
  return within([middle - half, middle + half], all);
}

/** A range moved by a share of its width, within all there is. */
export function panned(range: Range, share: number, all: Range): Range | null {
  const width = range[1] - range[0];
  const from = Math.min(Math.max(range[0] + share * width, all[0]), all[1] - width);
  return within([from, from + width], all);
}

function within([from, to]: Range, all: Range): Range | null {
  const part: Range = [Math.max(from, all[0]), Math.min(to, all[1])];
  const isAll = part[0] <= all[0] && part[1] >= all[1];
  return isAll || !(part[0] < part[1]) ? null : part;
}
