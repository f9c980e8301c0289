/**
 * A figure made ready to be drawn: ranges of axes, looks of series, words of tooltips, points that have no place on a
 * logarithmic axis. One for the SVG and for the page, which gets it as JSON; both only draw what it says.
 */
import type { Better, Figure, FigureAxis, FigurePoint, FigureSeries } from './figure.ts';

/** An axis with its range, in which every point lies, and from whose ends every mark keeps away. */
export type DrawnAxis = FigureAxis & { readonly domain: readonly [low: number, high: number] };

/** A point where it is drawn. */
export type DrawnPoint = FigurePoint & {
  /** What the tooltip says, in lines. */
  readonly text: string;
};

/** A series with its looks. */
export type DrawnSeries = Omit<FigureSeries, 'points'> & {
  readonly points: readonly DrawnPoint[];
  /** What the legend says. */
  readonly title: string;
  /** Number of its colour, from 0. */
  readonly colour: number;
  readonly shape: Shape;
};

/** Shapes of points, as Plot calls them; `times` is kept for collapsed ones. */
export type Shape = (typeof SHAPES)[number];

/** What is to be drawn. */
export type Drawing = Pick<Figure, 'id' | 'title' | 'caption'> & {
  readonly x: DrawnAxis;
  readonly y: DrawnAxis;
  readonly series: readonly DrawnSeries[];
  readonly pareto?: Better;
  /** What an x means, if there is one. */
  readonly collapsedNote?: string;
};

const SHAPES = ['circle', 'square', 'triangle', 'diamond', 'star', 'hexagon', 'wye'] as const;
/** Colours that the looks of a drawing have (web/figures/looks.ts). With seven shapes, 56 names look different. */
export const NUM_COLOURS = 8;

/** Room beyond the outermost points, of the range between them. */
const ROOM = 0.06;

/** Makes a drawing of a checked figure. */
export function drawingOf(figure: Figure): Drawing {
  const { id, title, caption, pareto } = figure;
  const [x, y] = [drawnAxis(figure, 'x'), drawnAxis(figure, 'y')];
  const names = [...new Set(figure.series.map(({ name }) => name))];
  const series = figure.series.map((one): DrawnSeries => {
    const look = names.indexOf(one.name);
    return {
      ...one,
      title: one.kind === 'published' ? `${one.name} (published)` : one.name,
      colour: look % NUM_COLOURS,
      shape: SHAPES[look % SHAPES.length],
      points: one.points.map((point) => drawnPoint(point, one, { x, y })),
    };
  });
  const note = collapsedNote(figure);
  return { id, title, caption, x, y, series, ...(pareto && { pareto }), ...(note && { collapsedNote: note }) };
}

/** The range of all values and spreads, with room around it; an axis of what is never negative has no place below 0. */
function drawnAxis(figure: Figure, axis: 'x' | 'y'): DrawnAxis {
  const { label, scale } = figure[axis];
  const all = figure.series.flatMap(({ points }) => points).flatMap((point) => valuesOf(point, axis));
  const isLog = scale === 'log';
  const at = (value: number): number => (isLog ? Math.log10(value) : value);
  const places = all.filter((value) => !isLog || value > 0).map(at);
  const [least, most] = places.length > 0 ? [Math.min(...places), Math.max(...places)] : [0, 0];
  const room = ROOM * (most - least) || (isLog ? 0.5 : ROOM * Math.abs(most) || 1);
  // A 0 on a logarithmic axis is drawn at the low edge: twice the room keeps it apart from the least value.
  const below = isLog && places.length < all.length ? 2 * room : room;
  if (isLog) return { label, scale, domain: [10 ** (least - below), 10 ** (most + room)] };
  return { label, scale, domain: [least >= 0 ? Math.max(0, least - below) : least - below, most + room] };
}

function valuesOf(point: FigurePoint, axis: 'x' | 'y'): number[] {
  const values = [point[axis], point[`${axis}Low`], point[`${axis}High`]];
  return values.filter((value) => value !== undefined);
}

type Axes = { readonly x: DrawnAxis; readonly y: DrawnAxis };

function drawnPoint(point: FigurePoint, { name, kind }: FigureSeries, { x, y }: Axes): DrawnPoint {
  const lines = [
    kind === 'published' ? `${name} (published)` : name,
    point.label,
    `${x.label}: ${withSpread(point, 'x')}`,
    `${y.label}: ${withSpread(point, 'y')}`,
  ];
  if (point.isCollapsed) lines.push(isOffAxis(point, { x, y }) ? 'collapsed; drawn at the edge' : 'collapsed');
  return { ...placed(point, { x, y }), text: lines.join('\n') };
}

/** A point with every 0 of a logarithmic axis at that axis' low edge. */
function placed(point: FigurePoint, { x, y }: Axes): FigurePoint {
  const within = ({ scale, domain }: DrawnAxis, value: number): number =>
    scale === 'log' ? Math.max(domain[0], value) : value;
  const moved: FigurePoint = { ...point, x: within(x, point.x), y: within(y, point.y) };
  return {
    ...moved,
    ...(point.xLow !== undefined && { xLow: within(x, point.xLow) }),
    ...(point.yLow !== undefined && { yLow: within(y, point.yLow) }),
    ...(point.xHigh !== undefined && { xHigh: within(x, point.xHigh) }),
    ...(point.yHigh !== undefined && { yHigh: within(y, point.yHigh) }),
  };
}

function isOffAxis({ x, y }: FigurePoint, axes: { readonly x: FigureAxis; readonly y: FigureAxis }): boolean {
  return (axes.x.scale === 'log' && x === 0) || (axes.y.scale === 'log' && y === 0);
}

function collapsedNote(figure: Figure): string | undefined {
  const collapsed = figure.series.flatMap(({ points }) => points).filter(({ isCollapsed }) => isCollapsed);
  if (collapsed.length === 0) return undefined;
  return collapsed.some((point) => isOffAxis(point, figure)) ? 'collapsed (0 is drawn at the edge)' : 'collapsed';
}

/** "1.5", or "1.5 (1.2 to 1.7)". */
export function withSpread(point: FigurePoint, axis: 'x' | 'y'): string {
  const [value, low, high] = [point[axis], point[`${axis}Low`], point[`${axis}High`]];
  if (low === undefined || high === undefined) return shortNumber(value);
  return `${shortNumber(value)} (${shortNumber(low)} to ${shortNumber(high)})`;
}

/** Five digits tell any two points of a figure apart; the CSV has all. */
function shortNumber(value: number): string {
  return String(Number(value.toPrecision(5)));
}
