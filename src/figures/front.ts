/** The Pareto front of a figure: of what was measured and did not collapse. */
import type { Better, FigurePoint, FigureSeries } from './figure.ts';
import { paretoFront } from './pareto-front.ts';

/** The points of the front, as they stand in the series. */
export function frontOf(series: readonly FigureSeries[], better: Better): FigurePoint[] {
  const measured = series.filter(({ kind }) => kind === 'measured').flatMap(({ points }) => points);
  return paretoFront(
    measured.filter(({ isCollapsed }) => !isCollapsed),
    better,
  );
}
