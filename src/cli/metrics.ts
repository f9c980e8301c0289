/** `lzero metrics`: trec_eval's numbers for a run file. No index, no model. */
import { Command, InvalidArgumentError } from 'commander';
import { type Qrels, ReadReport, type Run, readQrels, readRun } from '../data/index.ts';
import { type Evaluation, evaluateRun, type MetricValues, parseMetric, RUN_METRICS } from '../eval/index.ts';
import type { CliContext } from './context.ts';
import { formatCount } from './format.ts';
import { withExamples } from './program.ts';
import { reportSkipped } from './skipped.ts';

type MetricsCommandOptions = {
  readonly metric: readonly string[];
  readonly perQuery?: boolean;
  readonly complete?: boolean;
  readonly relevanceLevel: number;
  readonly skipBad?: boolean;
};

/** The `metrics` command. */
export function metricsCommand(context: CliContext): Command {
  const command = new Command('metrics')
    .description("measure a run file against judgements: trec_eval's numbers, to the last digit")
    .argument('<run>', 'TREC run (query Q0 document rank score tag) or query, document, rank between tabs; also .gz, -')
    .argument('<qrels>', 'judgements: TREC (query 0 document relevance) or BEIR .tsv; also .gz')
    .option(
      '-m, --metric <names>',
      "metrics, between commas: ndcg@10, map, … or trec_eval's names",
      addNames,
      RUN_METRICS,
    )
    .option('--per-query', 'the values of every query too')
    .option('-c, --complete', 'average over all judged queries: one that the run lacks counts as 0')
    .option('-l, --relevance-level <n>', 'judgement from which on a document is relevant (not for ndcg)', parseLevel, 1)
    .option('--skip-bad', 'leave out lines that cannot be read')
    .action((run: string, qrels: string, options: MetricsCommandOptions) => metrics(context, { run, qrels }, options));
  return withExamples(command, {
    'lzero metrics run.trec qrels/test.tsv': 'the usual metrics',
    'lzero metrics run.trec dl21.qrels -m ndcg@10,map -l 2 --per-query': 'relevant from 2 on, as in TREC Deep Learning',
  });
}

/** Adds to the names given so far; the first call replaces the default. */
function addNames(text: string, before: readonly string[]): string[] {
  const names = text.split(',').map((name) => name.trim());
  for (const name of names) parseMetric(name);
  return before === RUN_METRICS ? names : [...before, ...names];
}

function parseLevel(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('expected a whole number from 1');
  return Number(text);
}

type Files = { readonly run: string; readonly qrels: string };

async function metrics(context: CliContext, files: Files, options: MetricsCommandOptions): Promise<void> {
  const skipped = new ReadReport();
  const reading = { skipBad: options.skipBad, onBad: skipped.add.bind(skipped), signal: context.signal };
  const qrels = await readQrels(files.qrels, reading); // first: given the other way round, it says so at once
  const run = await readRun(files.run, reading);
  reportSkipped(context.logger, skipped);
  if (!options.complete) reportMissing(context, run, qrels);
  const evaluation = evaluateRun(run, qrels, {
    metrics: options.metric,
    averageOver: options.complete ? 'judged' : 'retrieved',
    relevanceLevel: options.relevanceLevel,
  });
  await (context.options.json ? printJson : printText)(context, evaluation, options);
}

function reportMissing({ logger }: CliContext, run: Run, qrels: Qrels): void {
  const missing = [...qrels.keys()].filter((id) => !run.has(id)).length;
  if (missing > 0)
    logger.warn(
      `the run lacks ${formatCount(missing)} of ${formatCount(qrels.size)} judged queries: left out, as trec_eval does (--complete counts them as 0)`,
    );
}

async function printJson(
  { stdout }: CliContext,
  { perQuery, mean }: Evaluation,
  options: MetricsCommandOptions,
): Promise<void> {
  const queries = options.perQuery ? { perQuery: Object.fromEntries(perQuery) } : {};
  await stdout.writeJson({ numQueries: perQuery.size, ...mean, ...queries });
}

async function printText(
  { stdout }: CliContext,
  { metrics: names, perQuery, mean }: Evaluation,
  options: MetricsCommandOptions,
): Promise<void> {
  if (!options.perQuery) {
    const width = Math.max(...names.map((name) => name.length));
    for (const name of names) await stdout.writeLine(`${name.padEnd(width)}  ${mean[name].toFixed(4)}`);
    await stdout.writeLine(`over ${formatCount(perQuery.size)} queries`);
    return;
  }
  const width = Math.max('query'.length, ...Array.from(perQuery.keys(), (id) => id.length));
  const line = (first: string, cells: readonly string[]): string =>
    [first.padEnd(width), ...cells.map((cell, i) => cell.padStart(Math.max(names[i].length, '0.0000'.length)))].join(
      '  ',
    );
  const values = (row: MetricValues): string[] => names.map((name) => row[name].toFixed(4));
  await stdout.writeLine(line('query', names));
  for (const [id, row] of perQuery) await stdout.writeLine(line(id, values(row)));
  await stdout.writeLine(line('mean', values(mean)));
}
