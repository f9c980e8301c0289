/** A reproduction as Markdown: what was run, claims with their verdicts, tables, figures, what is known, what is missing. */
import { basename } from 'node:path';
import type { Figure } from '../../figures/index.ts';
import { everySetting, madeBy } from '../measurements.ts';
import { TABLE1 } from '../published.ts';
import type { Reproduction } from '../reproduction.ts';
import { type CostRow, costTable, measuredTable1, publishedTable1, type Table1 } from '../tables.ts';
import { describeKind } from '../variant.ts';
import { CONTRIEVER_NOTE, KNOWN_DIFFERENCES, METHOD } from './known-differences.ts';

/** When and by what a report was written; what its results were made by is in the results. */
export type ReportFacts = {
  readonly date: string;
  readonly version: string;
};

/** What the report shows besides. */
export type ReportParts = {
  readonly figures: readonly Figure[];
  /** Folder of figures and data, relative to the report. */
  readonly assets: string;
};

/** The report. */
export function renderReport(reproduction: Reproduction, facts: ReportFacts, parts: ReportParts): string {
  const { scale, measurements, bm25 } = reproduction;
  const sections = [
    ...head(reproduction, facts),
    ...claimSection(reproduction),
    '## How verdicts are reached',
    list(METHOD),
    '## Table 1',
    'NDCG@10 × 100. Rows are measured here unless they are marked as published, which those of the paper’s eleven systems are that are not trained here; averages and average ranks are among the rows with a value in every column.',
    table1Text(measuredTable1(scale.config, measurements, bm25)),
    'As published, averages and average ranks worked out anew from the rounded values; Contriever as printed:',
    publishedText(),
    `With Contriever’s column put right: ${contrieverCorrected()}`,
    '## Table 2: ablation',
    costText(costTable('table2', measurements)),
    '## Table 3: variants of the ℓ0 activation',
    `λ ${measurements.settings.table3[0]?.lambda}, t ${thresholdOf(reproduction)} for the mask rows (the paper does not print it).`,
    costText(costTable('table3', measurements)),
    ...figureSections(parts),
    '## Where the paper’s text, tables and code differ',
    list(KNOWN_DIFFERENCES),
    '## The shifted column of Contriever',
    CONTRIEVER_NOTE,
    '## What is missing',
    missingText(reproduction),
    ...divergedText(reproduction),
    '## Data',
    `[results.json](${parts.assets}/results.json), [points.csv](${parts.assets}/points.csv): every point with its settings, seed, NDCG@10, FLOPS and Doc_Len by set.`,
  ];
  return `${sections.join('\n\n')}\n`;
}

function head({ scale: { config }, train, measurements, commands }: Reproduction, { date, version }: ReportFacts) {
  const { days, machines, versions, hours } = madeBy(measurements);
  const trained = days === undefined ? '–' : [...new Set(days)].join(' … ');
  const numOver = measurements.numPoints - measurements.missing.length;
  const sets = config.sets.map(
    ({ collection, numDocs, numQueries }) => `${basename(collection)} (${numQueries} queries, ${numDocs} documents)`,
  );
  const warning =
    config.name === 'tiny'
      ? [
          '> **This is the scale of the tests.** It shows that everything runs; its figures say nothing about the paper.',
        ]
      : [];
  return [
    '# Reproduction',
    'Shen, Geng, Yang: _Exploring ℓ0 Sparsification for Inference-free Sparse Retrievers_, SIGIR 2025, by `lzero reproduce`. Generated; do not edit.',
    `Written ${date} by ${version}.`,
    ...warning,
    table(
      ['', ''],
      [
        ['scale', `${config.name}: ${config.about}`],
        ['commands', commands.map((command) => `\`${command}\``).join(', ') || '–'],
        ['trained', `${trained}, ${hours.toFixed(1)} hours in all`],
        ['machines', machines.join('; ') || '–'],
        ['versions', versions.join('; ') || '–'],
        ['student', config.student],
        ['training data', config.training],
        [
          'steps',
          `${train.optim.steps}, ${train.optim.batchQueries} queries × ${train.data.docsPerQuery} documents, λ grows over ${train.sparsity.ramp}`,
        ],
        ['measured on', sets.join(', ')],
        ['points', `${numOver} of ${measurements.numPoints} are over`],
      ],
    ),
    'No number of ours at the scale of the paper exists yet: whatever is “measured” here is of the scale above, and stands beside published values to compare shapes, not heights.',
  ];
}

function claimSection({ claims }: Reproduction): string[] {
  const rows = claims.map(({ claim, paper, verdict, evidence }) => [
    claim,
    paper,
    `**${verdict}**`,
    evidence.join('<br>'),
  ]);
  return ['## Claims', table(['claim', 'paper', 'verdict', 'evidence here'], rows)];
}

function table1Text({ columns, rows }: Table1): string {
  const shown = rows.map(({ system, kind, ndcg, average, averageRank }) => [
    `${system}${kind === 'published' ? ' (published)' : ''}`,
    ...ndcg.map((value) => number(value, 1)),
    number(average, 2),
    number(averageRank, 2),
  ]);
  return shown.length === 0
    ? 'Nothing has been measured yet.'
    : table(['system', ...columns, 'average', 'average rank'], shown);
}

/** The published table, with what is printed of averages and ranks beside what comes out of its values. */
function publishedText(): string {
  const { columns, rows } = publishedTable1();
  return table(
    ['system', ...columns, 'average', 'printed', 'average rank', 'printed'],
    rows.map(({ system, ndcg, average, averageRank }, s) => [
      system,
      ...ndcg.map((value) => number(value, 1)),
      number(average, 2),
      TABLE1[s].average.toFixed(2),
      number(averageRank, 2),
      TABLE1[s].averageRank.toFixed(2),
    ]),
  );
}

function contrieverCorrected(): string {
  const row = publishedTable1({ corrected: true }).rows.find(({ system }) => system === 'Contriever');
  return `average ${number(row?.average, 2)}, average rank ${number(row?.averageRank, 2)}.`;
}

function costText(rows: readonly CostRow[]): string {
  return table(
    ['model', 'NDCG@10', 'of seeds', 'FLOPS', 'Doc_Len', 'published NDCG@10', 'FLOPS', 'Doc_Len'],
    rows.map(({ name, numRuns, isCollapsed, lost, measured, ndcgOfRuns, published }) => [
      name,
      isCollapsed ? 'collapsed' : number(measured?.ndcg, 2),
      `${ndcgOfRuns ? `${ndcgOfRuns[0].toFixed(2)} … ${ndcgOfRuns[1].toFixed(2)} (${numRuns})` : numRuns}${lost && `; ${lost}`}`,
      number(measured?.flops, 2),
      number(measured?.docLen, 2),
      published.ndcg.toFixed(2),
      published.flops.toFixed(2),
      published.docLen.toFixed(2),
    ]),
  );
}

function figureSections({ figures, assets }: ReportParts): string[] {
  return figures.flatMap(({ id, title, caption }) => [
    `## ${title}`,
    `![${title}](${assets}/${id}.svg)`,
    `${caption} Data: [${id}.csv](${assets}/${id}.csv); with values under the pointer: [${id}.html](${assets}/${id}.html).`,
  ]);
}

function thresholdOf({ measurements }: Reproduction): string {
  const masked = measurements.settings.table3.find(({ threshold }) => threshold !== null);
  return String(masked?.threshold ?? '–');
}

function missingText({ measurements, bm25 }: Reproduction): string {
  const { missing, numPoints } = measurements;
  const points = missing.map(({ what, sweeps }) => `${what} (${sweeps.join(', ')})`);
  const lines = bm25.some((value) => value === undefined) ? [...points, 'BM25 (table1)'] : points;
  if (lines.length === 0) return 'Nothing: every point has a result.';
  return `${missing.length} of ${numPoints} points have no result yet; the same command goes on with them:\n\n${list(lines)}`;
}

function divergedText({ measurements }: Reproduction): string[] {
  const diverged = everySetting(measurements).flatMap(({ runs, ...kind }) =>
    runs.flatMap(({ status, seed }) =>
      status === 'diverged' ? [`${describeKind(kind)}${seed === undefined ? '' : `, seed ${seed}`}`] : [],
    ),
  );
  return diverged.length === 0
    ? []
    : [`Diverged (numbers were not finite any more), and so in no table, figure or comparison:\n\n${list(diverged)}`];
}

function number(value: number | undefined, digits: number): string {
  return value === undefined ? '–' : value.toFixed(digits);
}

function list(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n');
}

/** A table; bars inside of cells would end them. */
function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n');
}
