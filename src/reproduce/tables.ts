/** Tables 1 to 3 as data: what was measured, beside what the paper prints. NDCG@10 is in points, 100 times as large. */
import { averageRanks, macroAverages, mean } from '../eval/index.ts';
import { collapseOf, livingRuns, lostText, type Measurements, type Setting, settingMean } from './measurements.ts';
import { BEIR_COLUMNS, CONTRIEVER, type PublishedCosts, TABLE1, TABLE2, TABLE3 } from './published.ts';
import type { ScaleConfig } from './scale.ts';
import { VARIANTS, type Variant } from './variant.ts';

/** A system of Table 1 with its values by column. */
export type Table1Row = {
  readonly system: string;
  readonly kind: 'measured' | 'published';
  /** Undefined where it has none. */
  readonly ndcg: readonly (number | undefined)[];
  /** Undefined unless it has a value everywhere. */
  readonly average: number | undefined;
  readonly averageRank: number | undefined;
};

/** Table 1. */
export type Table1 = {
  readonly columns: readonly string[];
  readonly rows: readonly Table1Row[];
};

/** A row of Table 2 or 3. */
export type CostRow = {
  readonly variant: Variant;
  readonly name: string;
  /** Runs that are over. */
  readonly numRuns: number;
  /** All of them have collapsed. */
  readonly isCollapsed: boolean;
  /** Runs that are not in the values, in words; empty where all are. */
  readonly lost: string;
  /** Undefined where nothing has been measured. */
  readonly measured: PublishedCosts | undefined;
  /** Smallest and largest NDCG@10 of the runs, where there are several. */
  readonly ndcgOfRuns: readonly [number, number] | undefined;
  readonly published: PublishedCosts;
};

/** Table 1 as printed, or with Contriever's column put right; averages and ranks are worked out anew from the rounded values. */
export function publishedTable1({ corrected = false }: { readonly corrected?: boolean } = {}): Table1 {
  const values = TABLE1.map(({ name, ndcg }) => (corrected && name === 'Contriever' ? CONTRIEVER : ndcg));
  const table = BEIR_COLUMNS.map((_, c) => values.map((own) => own[c]));
  const [averages, ranks] = [macroAverages(table), averageRanks(table)];
  return {
    columns: BEIR_COLUMNS,
    rows: TABLE1.map(({ name }, s) => ({
      system: name,
      kind: 'published',
      ndcg: values[s],
      average: averages[s],
      averageRank: ranks[s],
    })),
  };
}

/**
 * Table 1 on the sets of a scale: the rows that were run, and the published ones of systems that were not. Where every set is a column
 * of the paper, all of them are ranked together, as in the paper; else published rows have gaps, and ours are ranked among each other.
 *
 * @param bm25 its NDCG@10 by set
 */
export function measuredTable1(
  { sets }: Pick<ScaleConfig, 'sets'>,
  { settings }: Measurements,
  bm25: readonly (number | undefined)[],
): Table1 {
  const measured = TABLE1.flatMap(({ name, ours }): Values[] => {
    if (ours === undefined) return [];
    const setting = settings.table1.find(({ variant }) => variant === ours);
    const ndcg = ours === 'bm25' ? bm25.map(inPoints) : sets.map((_, c) => inPoints(setting && ndcgOn(setting, c)));
    return ndcg.some((value) => value !== undefined) ? [{ system: name, kind: 'measured', ndcg }] : [];
  });
  const columns = sets.map(({ collection, column }) => column ?? collection);
  return { columns, rows: ranked([...measured, ...publishedOn(sets, measured)], sets.length) };
}

type Values = Pick<Table1Row, 'system' | 'kind' | 'ndcg'>;

/** With averages and average ranks of those that have a value in every column. */
function ranked(rows: readonly Values[], numColumns: number): Table1Row[] {
  const whole = rows.filter(({ ndcg }) => ndcg.every((value) => value !== undefined));
  const table = Array.from({ length: numColumns }, (_, c) => whole.map(({ ndcg }) => ndcg[c] ?? Number.NaN));
  const [averages, ranks] = [macroAverages(table), averageRanks(table)];
  return rows.map((row) => {
    const at = whole.indexOf(row);
    return { ...row, average: averages[at], averageRank: ranks[at] };
  });
}

/** Published rows of systems that have none of ours, Contriever put right. */
function publishedOn(sets: ScaleConfig['sets'], measured: readonly Values[]): Values[] {
  if (sets.every(({ column }) => column === undefined)) return [];
  const isRun = new Set(measured.map(({ system }) => system));
  return publishedTable1({ corrected: true })
    .rows.filter(({ system }) => !isRun.has(system))
    .map(({ system, ndcg }) => ({
      system,
      kind: 'published',
      ndcg: sets.map(({ column }) => (column === undefined ? undefined : ndcg[BEIR_COLUMNS.indexOf(column)])),
    }));
}

function ndcgOn(setting: Setting, set: number): number | undefined {
  const runs = livingRuns(setting);
  return runs.length === 0 ? undefined : mean(runs.map(({ sets }) => sets[set].ndcg));
}

function inPoints(ndcg: number | undefined): number | undefined {
  return ndcg === undefined ? undefined : 100 * ndcg;
}

/** Table 2 or 3: the rows of the paper in its order. */
export function costTable(name: 'table2' | 'table3', { settings }: Measurements): CostRow[] {
  return [...(name === 'table2' ? TABLE2 : TABLE3)].map(([variant, published]) => {
    const setting = settings[name].find((own) => own.variant === variant);
    return {
      variant,
      name: VARIANTS[variant],
      numRuns: setting?.runs.length ?? 0,
      isCollapsed: setting !== undefined && collapseOf(setting) === 'all',
      lost: setting ? lostText(setting) : '',
      measured: setting && costsOf(setting),
      ndcgOfRuns: setting && ndcgRange(setting),
      published,
    };
  });
}

function costsOf(setting: Setting): PublishedCosts | undefined {
  const [ndcg, flops, docLen] = (['ndcg', 'flops', 'docLen'] as const).map((value) => settingMean(setting, value));
  if (ndcg === undefined || flops === undefined || docLen === undefined) return undefined;
  return { ndcg: 100 * ndcg, flops, docLen };
}

function ndcgRange(setting: Setting): readonly [number, number] | undefined {
  const values = livingRuns(setting).map(({ sets }) => 100 * mean(sets.map(({ ndcg }) => ndcg)));
  return values.length < 2 ? undefined : [Math.min(...values), Math.max(...values)];
}
