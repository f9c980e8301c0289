/** The script of a figure's page: in place of the SVG a plot with tooltips, and a legend that hides and shows series. */
import type { Drawing, DrawnPoint, DrawnSeries } from '../../src/figures/drawing.ts';
import { type LegendItem, legendItems, swatch } from './legend.ts';
import { PAGE_LOOK } from './looks.ts';
import { plotDrawing } from './plot.ts';

const place = byId('plot');
const spoken = byId('spoken');
const drawing: Drawing = JSON.parse(byId('drawing').textContent ?? '');

/** Series and the front that the reader has hidden. */
const hidden = new Set<LegendItem['what']>();
/** Where arrow keys have gone: a point of a series. */
let chosen: { readonly series: DrawnSeries; readonly point: DrawnPoint } | undefined;

function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`bug: the page has no ${id}`);
  return found;
}

/** What is to be seen. Axes stay as they are, so that nothing moves when a series goes. */
function shown(): Drawing {
  const { pareto, ...rest } = drawing;
  const series = drawing.series.filter((one) => !hidden.has(one));
  return { ...rest, series, ...(pareto && !hidden.has('front') && { pareto }) };
}

function draw(): void {
  const width = Math.max(240, Math.floor(place.clientWidth));
  const height = Math.round(Math.min(560, Math.max(300, 0.62 * width)));
  const settings = { document, look: PAGE_LOOK, width, height, hasTips: true, chosen: chosen?.point };
  place.replaceChildren(plotDrawing(shown(), settings));
}

function choose(next: typeof chosen): void {
  if (next === chosen) return;
  chosen = next;
  spoken.textContent = next ? next.point.text.replaceAll('\n', ', ') : '';
  draw();
}

/** Left and right within a series, up and down to the others. */
function step({ key }: KeyboardEvent): typeof chosen {
  const all = shown().series.filter(({ points }) => points.length > 0);
  const first = all[0];
  if (!first) return undefined;
  if (!chosen) return { series: first, point: first.points[0] };
  const { series, point } = chosen;
  const at = series.points.indexOf(point);
  const turn = key === 'ArrowUp' ? -1 : key === 'ArrowDown' ? 1 : 0;
  const next = all[(all.indexOf(series) + turn + all.length) % all.length];
  const move = key === 'ArrowLeft' ? -1 : key === 'ArrowRight' ? 1 : 0;
  const to = key === 'Home' ? 0 : key === 'End' ? next.points.length - 1 : at + move;
  return { series: next, point: next.points[Math.min(next.points.length - 1, Math.max(0, to))] };
}

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Escape') choose(undefined);
  if (!/^(?:Arrow(?:Left|Right|Up|Down)|Home|End)$/.test(event.key)) return;
  event.preventDefault();
  choose(step(event));
}

function legendLine(item: LegendItem): HTMLElement {
  const picture = swatch(item, document, PAGE_LOOK);
  if (item.what === 'collapsed') {
    const line = document.createElement('span');
    line.append(picture, item.title);
    return line;
  }
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.checked = true;
  box.addEventListener('change', () => {
    if (box.checked) hidden.delete(item.what);
    else hidden.add(item.what);
    if (chosen && hidden.has(chosen.series)) choose(undefined);
    else draw();
  });
  const line = document.createElement('label');
  line.append(box, picture, item.title);
  return line;
}

function start(): void {
  const legend = byId('legend');
  legend.append(...legendItems(drawing).map(legendLine));
  legend.hidden = false;
  byId('keys').hidden = false;
  place.tabIndex = 0;
  place.setAttribute('role', 'application');
  place.setAttribute('aria-label', `${drawing.title}. Arrow keys go from point to point.`);
  place.addEventListener('keydown', onKey);
  place.addEventListener('blur', () => choose(undefined));
  place.addEventListener('pointermove', () => choose(undefined));
  let width = 0;
  new ResizeObserver(() => {
    if (place.clientWidth === width) return;
    width = place.clientWidth;
    draw();
  }).observe(place);
}

start();
