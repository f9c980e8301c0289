/** The numbers of a figure as CSV (RFC 4180), with full precision: a line a point. */
import { checkFigure } from './check-figure.ts';
import type { Figure } from './figure.ts';
import { frontOf } from './front.ts';

type Field = string | number | boolean | undefined;

/**
 * The CSV text. Columns: series, kind, label, x and y under the names of their axes, each with the ends of its spread,
 * whether the point collapsed and, where the figure has one, whether it is on the Pareto front.
 *
 * A text that a spreadsheet would take for a formula (`=`, `+`, `-`, `@`, tab or return first) has a `'` before it.
 */
export function figureCsv(figure: Figure): string {
  checkFigure(figure);
  const { x, y, series, pareto } = figure;
  const front = pareto && new Set(frontOf(series, pareto));
  const axes = [x, y].flatMap(({ label }) => [label, `${label} low`, `${label} high`]);
  const headers = ['series', 'kind', 'label', ...axes, 'collapsed', ...(front ? ['pareto front'] : [])];
  const rows = series.flatMap(({ name, kind, points }) =>
    points.map((point): Field[] => [
      ...[name, kind, point.label],
      ...[point.x, point.xLow, point.xHigh, point.y, point.yLow, point.yHigh],
      ...[point.isCollapsed === true, ...(front ? [front.has(point)] : [])],
    ]),
  );
  return [headers, ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('');
}

function field(value: Field): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
