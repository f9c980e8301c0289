/** The legend: what it says, inside an SVG file, and the small pictures of it on the page. */
import * as Plot from '@observablehq/plot';
import type { Drawing, DrawnSeries } from '../../src/figures/drawing.ts';
import type { Look } from './looks.ts';
import { type Channels, crossLook, dotLook, frontLook, lineMark } from './marks.ts';

/** A line of the legend: a series, the Pareto front, or what an x means. */
export type LegendItem = { readonly title: string; readonly what: DrawnSeries | 'front' | 'collapsed' };

/** All of it, in order. */
export function legendItems({ series, pareto, collapsedNote }: Drawing): LegendItem[] {
  return [
    ...series.map((one): LegendItem => ({ title: one.title, what: one })),
    ...(pareto ? [{ title: 'Pareto front', what: 'front' } as const] : []),
    ...(collapsedNote ? [{ title: collapsedNote, what: 'collapsed' } as const] : []),
  ];
}

const LEFT = 16;
const ROW = 18;
/** Of the first row, below the title. */
const TOP = 46;
const SWATCH_WIDTH = 30;
/** No letter of a sans-serif face is much wider, on average. */
const LETTER_WIDTH = 7;

/** Width of a column that holds the longest title, or of the drawing. */
function columnWidth(drawing: Drawing, width: number): number {
  const longest = Math.max(...legendItems(drawing).map(({ title }) => title.length));
  return Math.min(width - 2 * LEFT, SWATCH_WIDTH + 24 + LETTER_WIDTH * longest);
}

function numColumns(drawing: Drawing, width: number): number {
  return Math.max(1, Math.floor((width - 2 * LEFT) / columnWidth(drawing, width)));
}

/** Rows that the legend takes in a drawing of this width. */
export function legendRows(drawing: Drawing, width: number): number {
  return Math.ceil(legendItems(drawing).length / numColumns(drawing, width));
}

/** Title and legend at the top of a drawing. */
export function legendMarks(drawing: Drawing, { look, width }: { look: Look; width: number }): Plot.Markish[] {
  const columns = numColumns(drawing, width);
  const step = columnWidth(drawing, width);
  const items = legendItems(drawing).map((item, i) => ({
    ...item,
    left: LEFT + step * (i % columns),
    top: TOP + ROW * Math.floor(i / columns),
  }));
  const words = { textAnchor: 'start', fill: look.ink, textOverflow: 'ellipsis' } as const;
  const title = { ...words, ...pixels('left', 'top'), fontSize: 15, fontWeight: 600, text: 'title' };
  const lineWidth = (step - SWATCH_WIDTH - 8) / 12;
  return [
    Plot.text([{ title: drawing.title, left: LEFT, top: 20 }], { ...title, lineWidth: (width - 2 * LEFT) / 15 }),
    ...items.flatMap(({ what, left, top }) => swatchMarks(what, { look, left, top })),
    Plot.text(items, { ...words, ...pixels('left', 'top'), dx: SWATCH_WIDTH + 6, text: 'title', lineWidth }),
  ];
}

/** The picture of a line of the legend, as an SVG element of its own. */
export function swatch({ what }: LegendItem, document: Document, look: Look): Element {
  const svg = Plot.plot({
    ...{ document, width: SWATCH_WIDTH, height: ROW, margin: 0, axis: null, className: 'swatch' },
    marks: swatchMarks(what, { look, left: 0, top: ROW / 2 }),
  });
  const style = svg.firstChild;
  if (style) svg.removeChild(style);
  svg.removeAttribute('class');
  svg.setAttribute('aria-hidden', 'true');
  return svg;
}

type Place = { readonly look: Look; readonly left: number; readonly top: number };

function swatchMarks(what: LegendItem['what'], { look, left, top }: Place): Plot.Markish[] {
  const channels = pixels('left', 'top');
  const line = [left, left + SWATCH_WIDTH].map((end) => ({ left: end, top }));
  const centre = [{ left: left + SWATCH_WIDTH / 2, top }];
  if (what === 'front') return [Plot.line(line, { ...channels, ...frontLook(look) })];
  if (what === 'collapsed') return [Plot.dot(centre, { ...channels, ...crossLook(look.ink) })];
  return [lineMark(line, what, { look, channels }), Plot.dot(centre, { ...channels, ...dotLook(what, look) })];
}

/** Channels that are pixels of the drawing, whatever its axes say. */
function pixels(x: string, y: string): Channels {
  return { x: { value: x, scale: null }, y: { value: y, scale: null } };
}
