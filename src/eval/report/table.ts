/** The tables of a report, as cells that every renderer shows in its own way. */
import type { Costs } from '../costs.ts';
import type { MetricValues } from '../evaluate.ts';
import type { CollectionReport, EvalReport } from './report.ts';

/** A cell: what it says, what it sorts by, and whether it is the best of its column. */
export type Cell = { readonly text: string; readonly value: number | string; readonly isBest: boolean };

/** A table of systems. The first column is their name. */
export type Table = {
  readonly caption: string;
  readonly headers: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
};

/** What is shown where there is no value. */
const NONE = '–';

/** Below this corrected p a difference is marked. */
export const SIGNIFICANT = 0.05;

type Column<Row> = {
  readonly header: string;
  readonly value: (row: Row) => number | string | undefined;
  readonly text: (row: Row) => string;
  /** Which values are best; undefined where no value is better than another. */
  readonly best?: 'highest' | 'lowest' | undefined;
};

type WithValues = { readonly system: string; readonly values: MetricValues; readonly costs: Costs | undefined };

/** Systems on one collection. */
export function collectionTable(collection: CollectionReport, report: EvalReport): Table {
  const { name, split, numDocs, numQueries } = collection;
  const count = (n: number): string => n.toLocaleString('en-US');
  const comparison: Column<CollectionReport['rows'][number]>[] = [
    {
      header: 'Δ',
      value: (row) => row.comparison?.difference.mean,
      text: (row) => (row.comparison ? signed(row.comparison.difference.mean) : NONE),
    },
    {
      header: '95 % of Δ',
      value: (row) => row.comparison?.difference.low,
      text: ({ comparison: c }) => (c ? `${signed(c.difference.low)} … ${signed(c.difference.high)}` : NONE),
    },
    {
      header: 'p',
      value: (row) => row.comparison?.pCorrected,
      text: ({ comparison: c }) => (c ? `${pText(c.pCorrected)}${c.pCorrected < SIGNIFICANT ? ' *' : ''}` : NONE),
    },
  ];
  return tableOf(`${name} (${split}): ${count(numQueries)} queries, ${count(numDocs)} documents`, collection.rows, [
    ...valueColumns(report.metrics),
    ...(collection.rows.length > 1 ? comparison : []),
    ...costColumns(),
  ]);
}

/** Systems over all collections. */
export function averageTable(report: EvalReport): Table {
  const rank: Column<EvalReport['averages'][number]> = {
    header: 'avg. rank',
    value: ({ averageRank }) => averageRank,
    text: ({ averageRank }) => averageRank.toFixed(2),
    best: 'lowest',
  };
  const caption = `Average of ${report.collections.length} collections`;
  return tableOf(caption, report.averages, [...valueColumns(report.metrics), rank, ...costColumns()]);
}

/** What the marks of the tables mean. */
export function legend(report: EvalReport): string[] {
  if ((report.collections[0]?.rows.length ?? 0) < 2) return [];
  return [
    `Δ is the difference of ${report.metrics[0]} to ${report.baseline}, with its 95 % bootstrap interval.`,
    `p: paired two-sided randomisation test, corrected for the number of systems (Holm); * below ${SIGNIFICANT}.`,
  ];
}

function valueColumns<Row extends WithValues>(metrics: readonly string[]): Column<Row>[] {
  return metrics.map((name) => ({
    header: name,
    value: ({ values }) => values[name],
    text: ({ values }) => values[name].toFixed(4),
    best: 'highest',
  }));
}

function costColumns<Row extends WithValues>(): Column<Row>[] {
  const column = (header: string, value: (costs: Costs) => number): Column<Row> => ({
    header,
    value: ({ costs }) => (costs ? value(costs) : undefined),
    text: ({ costs }) => (costs ? value(costs).toFixed(2) : NONE),
  });
  return [
    column('FLOPS', ({ flops }) => flops),
    column('Doc_Len', ({ docLen }) => docLen),
    column('q_len', ({ queryLen }) => queryLen),
  ];
}

/** Columns in which no row has a value are left out. */
function tableOf<Row extends WithValues>(
  caption: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): Table {
  const used = columns.filter(({ value }) => rows.some((row) => value(row) !== undefined));
  const cells = used.map((column) => cellsOf(rows, column));
  return {
    caption,
    headers: ['system', ...used.map(({ header }) => header)],
    rows: rows.map(({ system }, i) => [
      { text: system, value: system, isBest: false },
      ...cells.map((column) => column[i]),
    ]),
  };
}

function cellsOf<Row>(rows: readonly Row[], { value, text, best }: Column<Row>): Cell[] {
  const numbers = rows.map(value).filter((x) => typeof x === 'number');
  const [lowest, highest] = [Math.min(...numbers), Math.max(...numbers)];
  const target = best === 'lowest' ? lowest : highest;
  return rows.map((row) => ({
    text: text(row),
    value: value(row) ?? '',
    isBest: best !== undefined && lowest < highest && value(row) === target,
  }));
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(4)}`;
}

function pText(p: number): string {
  return p < 0.0001 ? '<0.0001' : p.toFixed(4);
}
