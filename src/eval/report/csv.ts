/** A report as CSV (RFC 4180), with full precision: one file of means, one of every query's values. */
import type { EvalReport } from './report.ts';

/** A line per collection and system. */
export function renderCsv(report: EvalReport): string {
  const { metrics } = report;
  const headers = ['collection', 'split', 'queries', 'documents', 'system', ...metrics, ...COSTS, ...COMPARISON];
  const rows = report.collections.flatMap(({ name, split, numQueries, numDocs, rows: systems }) =>
    systems.map(({ system, values, costs, comparison: c }) => [
      ...[name, split, numQueries, numDocs, system],
      ...metrics.map((metric) => values[metric]),
      ...[costs?.flops, costs?.docLen, costs?.queryLen],
      ...[c?.difference.mean, c?.difference.low, c?.difference.high, c?.p, c?.pCorrected],
    ]),
  );
  return lines([headers, ...rows]);
}

const COSTS = ['flops', 'docLen', 'queryLen'];
const COMPARISON = ['delta', 'deltaLow', 'deltaHigh', 'p', 'pCorrected'];

/** A line per collection, query and system. */
export function renderPerQueryCsv(report: EvalReport): string {
  const { metrics } = report;
  const rows = report.collections.flatMap(({ name, split, rows: systems }) =>
    [...(systems[0]?.perQuery.keys() ?? [])].flatMap((query) =>
      systems.map(({ system, perQuery }) => [
        ...[name, split, query, system],
        ...metrics.map((metric) => perQuery.get(query)?.[metric]),
      ]),
    ),
  );
  return lines([['collection', 'split', 'query', 'system', ...metrics], ...rows]);
}

function lines(rows: readonly (readonly (string | number | undefined)[])[]): string {
  return rows.map((row) => `${row.map(field).join(',')}\r\n`).join('');
}

function field(value: string | number | undefined): string {
  const text = value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
