/**
 * The one definition of how a drawing looks, in Observable Plot: for SVG files and for the page. Plain attributes only, no
 * style sheet and no ids but those of title and description, so that the same drawing gives the same text.
 */
import * as Plot from '@observablehq/plot';
import type { Drawing, DrawnPoint, DrawnSeries } from '../../src/figures/drawing.ts';
import { frontOf } from '../../src/figures/front.ts';
import { axisMarks, leftMargin, scaleOptions } from './axes.ts';
import { legendMarks, legendRows } from './legend.ts';
import type { Look } from './looks.ts';
import { frontMark, seriesMarks } from './marks.ts';

/** How a drawing is to be plotted. */
export type PlotSettings = {
  readonly document: Document;
  readonly look: Look;
  readonly width: number;
  readonly height: number;
  /** With title and legend inside, as a file needs them. */
  readonly isAlone?: boolean;
  /** With tooltips where the pointer is. */
  readonly hasTips?: boolean;
  /** A point that shows its tooltip wherever the pointer is. */
  readonly chosen?: DrawnPoint | undefined;
};

const MARGINS = { marginBottom: 44, marginRight: 16 };
const FONT_SIZE = 12;
/** Characters of 12 pixels, in tooltips; a line that is longer is broken. */
const TIP_WIDTH = 24;

/** An SVG element that belongs to no page yet. */
export function plotDrawing(drawing: Drawing, settings: PlotSettings): Element {
  const { document, look, width, height, isAlone = false } = settings;
  const { x, y, series, pareto } = drawing;
  const marginTop = isAlone ? 52 + 18 * legendRows(drawing, width) : 12;
  const down = height - marginTop - MARGINS.marginBottom;
  const margins = { ...MARGINS, marginTop, marginLeft: leftMargin(drawing, { down }) };
  const across = width - margins.marginLeft - margins.marginRight;
  const svg = Plot.plot({
    ...{ document, width, height, ...margins, className: 'figure' },
    x: scaleOptions(x),
    y: scaleOptions(y),
    marks: [
      ...axisMarks(drawing, { across, down }),
      ...(isAlone ? legendMarks(drawing, { look, width }) : []),
      ...(pareto ? [frontMark(frontOf(series, pareto), pareto, look)] : []),
      ...series.flatMap((one) => seriesMarks(one, { look, hasTitles: isAlone })),
      ...tipMarks(series, settings),
    ],
  });
  finish(svg, drawing, settings);
  return svg;
}

function tipMarks(series: readonly DrawnSeries[], { hasTips, chosen, look }: PlotSettings): Plot.Markish[] {
  const looks: Plot.TipOptions = {
    ...{ x: 'x', y: 'y', title: 'text', lineWidth: TIP_WIDTH, fill: look.paper, stroke: look.quiet },
    ...{ fontSize: FONT_SIZE, lineHeight: 1.25 },
  };
  if (chosen) return [Plot.tip([chosen], looks)];
  const points = series.flatMap((one) => one.points);
  return hasTips ? [Plot.tip(points, Plot.pointer(looks))] : [];
}

/** Takes Plot's style sheet away (the page's policy refuses it), and gives the drawing its words and its paper. */
function finish(svg: Element, { id, title, caption }: Drawing, { document, look, isAlone }: PlotSettings): void {
  const style = svg.firstChild;
  if (style) svg.removeChild(style);
  svg.removeAttribute('class');
  svg.setAttribute('font-family', 'sans-serif');
  svg.setAttribute('font-size', String(FONT_SIZE));
  svg.setAttribute('color', look.ink);
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-labelledby', `${id}-title ${id}-desc`);
  // Plot names its groups, and only an element with a role may have a name.
  for (const mark of Array.from(svg.children)) if (mark.hasAttribute('aria-label')) mark.setAttribute('role', 'group');
  const first = svg.firstChild;
  const add = (name: string, attributes: Readonly<Record<string, string>>, text = ''): void => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    svg.insertBefore(element, first);
  };
  add('title', { id: `${id}-title` }, title);
  add('desc', { id: `${id}-desc` }, caption);
  if (isAlone) add('rect', { width: '100%', height: '100%', fill: look.paper });
}
