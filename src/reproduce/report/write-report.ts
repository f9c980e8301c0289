/**
 * The report and what belongs to it, small enough to be committed:
 *
 *     REPRODUCTION.md                    the report
 *     reproduction/figure1.svg …         figures: drawing, page, numbers
 *     reproduction/results.json          tables, claims and every point, without single queries
 *     reproduction/points.csv            every point, a line each
 */
import { basename, dirname, extname, join } from 'node:path';
import { type Figure, writeFigure } from '../../figures/index.ts';
import { makeFolder, writeFileAtomically } from '../../files/index.ts';
import { figuresOf } from '../figures.ts';
import { everySetting, madeBy, type Run } from '../measurements.ts';
import type { Reproduction } from '../reproduction.ts';
import { costTable, measuredTable1, publishedTable1 } from '../tables.ts';
import { type ReportFacts, renderReport } from './markdown.ts';

/** Version of results.json. */
const SCHEMA_VERSION = 1;

/** What was written. */
export type WrittenReport = {
  readonly report: string;
  /** Folder of figures and data. */
  readonly assets: string;
};

/** Writes the report into a file, and figures and data into a folder of the same name in lower case beside it. */
export async function writeReport(
  reproduction: Reproduction,
  file: string,
  facts: ReportFacts,
): Promise<WrittenReport> {
  const name = basename(file, extname(file)).toLowerCase();
  const assets = join(dirname(file), name);
  makeFolder(assets);
  const figures: readonly Figure[] = figuresOf(reproduction.measurements);
  for (const figure of figures) await writeFigure(figure, assets);
  await writeFileAtomically(
    join(assets, 'results.json'),
    `${JSON.stringify(resultsOf(reproduction, facts), undefined, 1)}\n`,
  );
  await writeFileAtomically(join(assets, 'points.csv'), pointsCsv(reproduction));
  await writeFileAtomically(file, renderReport(reproduction, facts, { figures, assets: name }));
  return { report: file, assets };
}

/** Everything in numbers, without single queries. */
export function resultsOf({ scale, measurements, bm25, claims, commands }: Reproduction, facts: ReportFacts) {
  return {
    schemaVersion: SCHEMA_VERSION,
    ...facts,
    commands,
    madeBy: madeBy(measurements),
    scale: scale.config.name,
    sets: scale.config.sets.map(({ collection, numDocs, numQueries }) => ({ collection, numDocs, numQueries })),
    table1: { measured: measuredTable1(scale.config, measurements, bm25), published: publishedTable1() },
    table2: costTable('table2', measurements),
    table3: costTable('table3', measurements),
    claims,
    points: everySetting(measurements).flatMap(({ runs, ...kind }) =>
      runs.map(({ sets, ...run }) => ({ ...kind, ...run, sets: sets.map(({ perQuery: _, ...values }) => values) })),
    ),
    missing: measurements.missing,
  };
}

function pointsCsv({ scale, measurements }: Reproduction): string {
  const names = scale.config.sets.map(({ collection }) => basename(collection));
  const header = ['variant', 'lambda', 'threshold', 'seed', 'status', 'steps', 'seconds'];
  const columns = names.flatMap((name) => ['ndcg@10', 'flops', 'docLen'].map((value) => `${name} ${value}`));
  const rows = everySetting(measurements).flatMap(({ variant, lambda, threshold, runs }) =>
    runs.map((run) => [variant, lambda, threshold ?? '', run.seed ?? '', ...cellsOf(run, names.length)]),
  );
  return [[...header, ...columns], ...rows].map((row) => `${row.join(',')}\n`).join('');
}

function cellsOf({ status, steps, seconds, sets }: Run, numSets: number): (string | number)[] {
  const values = Array.from({ length: numSets }, (_, c) => sets[c]).flatMap((set) =>
    set ? [set.ndcg.toFixed(6), set.flops.toFixed(6), set.docLen.toFixed(3)] : ['', '', ''],
  );
  return [status, steps, seconds.toFixed(1), ...values];
}
