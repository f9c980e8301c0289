/** A report for a terminal: aligned tables, the best of a column in bold where colours are wanted. */
import type { EvalReport } from './report.ts';
import { averageTable, type Cell, collectionTable, legend, type Table } from './table.ts';

const BOLD = ['\u001b[1m', '\u001b[22m'] as const;

/** The tables of a report as text. */
export function renderText(report: EvalReport, { colour = false } = {}): string {
  const tables = report.collections.map((collection) => collectionTable(collection, report));
  if (report.collections.length > 1) tables.push(averageTable(report));
  const notes = legend(report).join('\n');
  return [...tables.map((table) => textTable(table, { colour })), notes].filter((part) => part !== '').join('\n\n');
}

/** One table, columns aligned: names to the left, numbers to the right. */
export function textTable({ caption, headers, rows: given }: Table, { colour = false } = {}): string {
  const rows = given.map((row) => row.map((cell) => ({ ...cell, text: printable(cell.text) })));
  const widths = headers.map((header, c) => Math.max(width(header), ...rows.map((row) => width(row[c].text))));
  const align = (text: string, c: number): string => {
    const space = ' '.repeat(widths[c] - width(text));
    return c === 0 ? text + space : space + text;
  };
  const cell = ({ text, isBest }: Cell, c: number): string =>
    colour && isBest ? align(text, c).replace(text, () => `${BOLD[0]}${text}${BOLD[1]}`) : align(text, c);
  const lines = [headers.map(align), ...rows.map((row) => row.map(cell))].map((line) => line.join('  ').trimEnd());
  return [printable(caption), ...lines].join('\n');
}

/** Characters a text takes on a terminal; wide ones are rare in names of systems. */
function width(text: string): number {
  return Array.from(text).length;
}

/** Names come from files: control characters must not reach the terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '�');
}
