/**
 * What an evaluation found: systems on collections, with everything that its tables, files and pages show. Plain data;
 * the renderers are the files beside this one.
 */
import { averageRanks, macroAverages } from '../averages.ts';
import { type Comparison, compareWithBaseline } from '../compare.ts';
import type { Costs } from '../costs.ts';
import type { Evaluation, MetricValues } from '../evaluate.ts';
import { type BootstrapOptions, bootstrapInterval, type Interval } from '../significance/bootstrap.ts';
import type { RandomisationOptions } from '../significance/randomisation.ts';
import type { QueryDetail } from './query-detail.ts';

/** A system on a collection. */
export type SystemRow = {
  readonly system: string;
  readonly values: MetricValues;
  readonly costs: Costs | undefined;
  /** Where the mean of the first metric lies. */
  readonly interval: Interval;
  /** Against the baseline, on the first metric; undefined for the baseline itself. */
  readonly comparison: Comparison | undefined;
  /** Values by query id. */
  readonly perQuery: ReadonlyMap<string, MetricValues>;
};

/** A collection and the systems on it. */
export type CollectionReport = {
  readonly name: string;
  readonly split: string;
  readonly numQueries: number;
  readonly numDocs: number;
  readonly rows: readonly SystemRow[];
  /** Queries with the hits of each system, for the page; may be empty. */
  readonly details: readonly QueryDetail[];
};

/** A system over all collections. */
export type AverageRow = {
  readonly system: string;
  /** Macro averages. */
  readonly values: MetricValues;
  /** By the first metric. */
  readonly averageRank: number;
  /** Macro averages; undefined where a collection has none. */
  readonly costs: Costs | undefined;
};

/** How the report came about. */
export type Provenance = {
  /** The command that makes it again. */
  readonly command: string;
  /** Versions of what computed it. */
  readonly versions: Readonly<Record<string, string>>;
  /** Settings, by name. */
  readonly configuration: Readonly<Record<string, string | number | boolean>>;
};

/** An evaluation. */
export type EvalReport = {
  readonly title: string;
  /** Names of metrics; the first is compared, ranked and tested. */
  readonly metrics: readonly string[];
  /** The system that others are compared with: the first. */
  readonly baseline: string;
  readonly collections: readonly CollectionReport[];
  readonly averages: readonly AverageRow[];
  readonly provenance: Provenance;
};

/** What was measured of one collection. Every collection has the same systems in the same order. */
export type MeasuredCollection = Pick<CollectionReport, 'name' | 'split' | 'numDocs'> & {
  readonly systems: readonly {
    readonly system: string;
    readonly evaluation: Evaluation;
    readonly costs?: Costs | undefined;
  }[];
  readonly details?: readonly QueryDetail[] | undefined;
};

/** What a report is made of. */
export type ReportParts = {
  readonly title?: string | undefined;
  readonly collections: readonly MeasuredCollection[];
  readonly provenance: Provenance;
  readonly randomisation?: RandomisationOptions | undefined;
  readonly bootstrap?: BootstrapOptions | undefined;
};

/** Compares, tests and averages what was measured. */
export function buildReport(parts: ReportParts): EvalReport {
  const { title = 'Evaluation', collections, provenance } = parts;
  const reports = collections.map((collection) => collectionReport(collection, parts));
  return {
    title,
    metrics: collections[0]?.systems[0]?.evaluation.metrics ?? [],
    baseline: collections[0]?.systems[0]?.system ?? '',
    collections: reports,
    averages: averageRows(reports),
    provenance,
  };
}

function collectionReport(collection: MeasuredCollection, { randomisation, bootstrap }: ReportParts): CollectionReport {
  const { name, split, numDocs, systems, details = [] } = collection;
  const [baseline, ...others] = systems.map(({ evaluation }) => evaluation);
  const [metric] = baseline.metrics;
  const comparisons = compareWithBaseline(baseline, others, { metric, randomisation, bootstrap });
  const rows = systems.map(({ system, evaluation, costs }, s) => ({
    system,
    values: evaluation.mean,
    costs,
    interval: bootstrapInterval(
      [...evaluation.perQuery.values()].map((values) => values[metric]),
      bootstrap,
    ),
    comparison: s === 0 ? undefined : comparisons[s - 1],
    perQuery: evaluation.perQuery,
  }));
  return { name, split, numDocs, numQueries: baseline.perQuery.size, rows, details };
}

function averageRows(collections: readonly CollectionReport[]): AverageRow[] {
  const systems = collections[0]?.rows.map(({ system }) => system) ?? [];
  const metrics = Object.keys(collections[0]?.rows[0]?.values ?? {});
  const table = (value: (row: SystemRow) => number): number[][] => collections.map(({ rows }) => rows.map(value));
  const averages = new Map(metrics.map((name) => [name, macroAverages(table(({ values }) => values[name]))]));
  const ranks = averageRanks(table(({ values }) => values[metrics[0]]));
  return systems.map((system, s) => ({
    system,
    values: Object.fromEntries(metrics.map((name) => [name, averages.get(name)?.[s] ?? Number.NaN])),
    averageRank: ranks[s],
    costs: averageCosts(collections.map(({ rows }) => rows[s].costs)),
  }));
}

function averageCosts(costs: readonly (Costs | undefined)[]): Costs | undefined {
  const known = costs.filter((cost) => cost !== undefined);
  if (known.length < costs.length || known.length === 0) return undefined;
  const [flops, docLen, queryLen] = macroAverages(known.map((cost) => [cost.flops, cost.docLen, cost.queryLen]));
  return { flops, docLen, queryLen };
}
