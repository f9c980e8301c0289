/** A report as one JSON object: what `lzero eval --json` prints. */
import type { Costs } from '../costs.ts';
import type { EvalReport, SystemRow } from './report.ts';

/** The object's version; it grows when a field changes its meaning or goes away. */
const SCHEMA_VERSION = 1;

/** The report as plain data. Costs that are not known are left out. */
export function reportJson(report: EvalReport): Readonly<Record<string, unknown>> {
  const { title, metrics, baseline, provenance } = report;
  return {
    schemaVersion: SCHEMA_VERSION,
    title,
    metrics,
    baseline,
    collections: report.collections.map(({ name, split, numQueries, numDocs, rows }) => ({
      name,
      split,
      numQueries,
      numDocs,
      rows: rows.map(rowJson),
    })),
    averages: report.averages.map(({ system, values, averageRank, costs }) => ({
      system,
      ...values,
      averageRank,
      ...costsJson(costs),
    })),
    ...provenance,
  };
}

function rowJson({ system, values, costs, interval, comparison }: SystemRow): Readonly<Record<string, unknown>> {
  const { low, high } = interval;
  return { system, ...values, ...costsJson(costs), interval: { low, high }, ...(comparison ? { comparison } : {}) };
}

function costsJson(costs: Costs | undefined): Partial<Costs> {
  return costs ? { flops: costs.flops, docLen: costs.docLen, queryLen: costs.queryLen } : {};
}
