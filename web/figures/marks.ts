/** Marks of a series and of the Pareto front: what is filled, hollow, dashed or crossed. */
import * as Plot from '@observablehq/plot';
import type { DrawnSeries } from '../../src/figures/drawing.ts';
import type { Better, FigurePoint } from '../../src/figures/figure.ts';
import type { Look } from './looks.ts';

/** Pixels: of a mark's radius, where marks of every shape have the area of that circle. */
const RADIUS = 4.5;
const DASHES = '5 4';

/** Where a mark lies: `x`, `y` by value, or by pixel where it is part of a legend. */
export type Channels = { readonly x: Plot.ChannelValueSpec; readonly y: Plot.ChannelValueSpec };

const BY_VALUE: Channels = { x: 'x', y: 'y' };

/** A line, error bars, and a mark for each point. */
export function seriesMarks(
  series: DrawnSeries,
  { look, hasTitles }: { readonly look: Look; readonly hasTitles: boolean },
): Plot.Markish[] {
  const stroke = look.series[series.colour];
  const whole = series.points.filter(({ isCollapsed }) => !isCollapsed);
  const collapsed = series.points.filter(({ isCollapsed }) => isCollapsed);
  const bars = { stroke, strokeOpacity: 0.6, strokeWidth: 1.5, ariaDescription: `spread of ${series.title}` };
  const titles = hasTitles ? { title: 'text' } : {};
  return [
    ...(whole.length > 1 ? [lineMark(whole, series, { look })] : []),
    Plot.ruleX(series.points.filter(hasSpread('y')), { ...bars, x: 'x', y1: 'yLow', y2: 'yHigh' }),
    Plot.ruleY(series.points.filter(hasSpread('x')), { ...bars, y: 'y', x1: 'xLow', x2: 'xHigh' }),
    Plot.dot(whole, { ...BY_VALUE, ...dotLook(series, look), ...titles, ariaDescription: `points of ${series.title}` }),
    Plot.dot(collapsed, {
      ...BY_VALUE,
      ...crossLook(stroke),
      ...titles,
      ariaDescription: `collapsed of ${series.title}`,
    }),
  ];
}

/** The line of a series through these places. */
export function lineMark(
  points: readonly object[],
  { kind, colour, title }: DrawnSeries,
  { look, channels = BY_VALUE }: { readonly look: Look; readonly channels?: Channels },
): Plot.Markish {
  const dashes = kind === 'published' ? { strokeDasharray: DASHES } : {};
  return Plot.line(points, {
    ...{ ...channels, ...dashes, stroke: look.series[colour], strokeWidth: 1.5, strokeOpacity: 0.8 },
    ...{ ariaDescription: `line of ${title}` },
  });
}

/** How the points of a series look: filled where measured, hollow where published. */
export function dotLook({ kind, shape, colour }: DrawnSeries, look: Look): Plot.DotOptions {
  const stroke = look.series[colour];
  return { symbol: shape, r: RADIUS, fill: kind === 'published' ? look.paper : stroke, stroke, strokeWidth: 1.5 };
}

/** How a collapsed point looks. */
export function crossLook(stroke: string): Plot.DotOptions {
  return { symbol: 'times', r: 6, stroke, strokeWidth: 2.5 };
}

/**
 * The border of what is reached: from a point, all that is worse on both axes. So it goes level from each point into the
 * worse direction of x, up to the next.
 */
export function frontMark(front: readonly FigurePoint[], { x }: Better, look: Look): Plot.Markish {
  const curve = x === 'less' ? 'step-after' : 'step-before';
  return Plot.line(front, { ...BY_VALUE, ...frontLook(look), curve, ariaDescription: 'Pareto front' });
}

/** How the front looks. */
export function frontLook(look: Look): Plot.LineOptions {
  return { stroke: look.quiet, strokeWidth: 6, strokeOpacity: 0.25 };
}

function hasSpread(axis: 'x' | 'y'): (point: FigurePoint) => boolean {
  return (point) => point[`${axis}Low`] !== undefined;
}
