/** `lzero eval`: several collections × several systems, measured as trec_eval and the paper do, compared and reported. */
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { Command, Option } from 'commander';
import { InterruptedError, OutputError, UsageError } from '../core/index.ts';
import {
  type Collection,
  type Document,
  EMBEDDED_COLLECTION,
  fetchCollection,
  findCollections,
  openCollection,
  type Run,
  rankHits,
} from '../data/index.ts';
import { cacheFolder } from '../download/index.ts';
import {
  buildReport,
  depthOf,
  type EvalReport,
  evaluateRun,
  type MeasuredCollection,
  parseMetric,
  type QueryDetail,
  queryDetails,
  RunStore,
  renderCsv,
  renderHtml,
  renderMarkdown,
  renderPerQueryCsv,
  renderText,
  reportJson,
  runSystem,
  type System,
  TABLE_METRICS,
} from '../eval/index.ts';
import { exists, writeFileAtomically } from '../files/index.ts';
import type { Precision } from '../model/index.ts';
import { closeAll } from './close-all.ts';
import type { CliContext } from './context.ts';
import { checkSystem, isRecorded, type OpenSystem, openSystem, SYSTEM_HELP, takesQueryModel } from './eval-systems.ts';
import { formatCount } from './format.ts';
import { addPrecisionOption } from './model-options.ts';
import { addServerOptions, type ServerCommandOptions } from './opensearch-options.ts';
import { packageVersion, withExamples } from './program.ts';
import { QUERY_MODEL_HELP, type QueryModel, withQueryModel } from './query-model.ts';

type EvalCommandOptions = ServerCommandOptions & {
  readonly system: readonly string[];
  readonly split?: string;
  readonly runDir?: string;
  readonly metric: readonly string[];
  readonly dropIdenticalIds?: boolean;
  readonly precision?: Precision;
  readonly queryModel?: string;
  readonly format: 'text' | 'markdown' | 'csv';
  readonly html?: string;
  readonly perQuery?: string;
};

/** The embedded collection's name on the command line. */
const EMBEDDED = 'everyday';
/** Hits that a page shows of each query and system. */
const SHOWN_HITS = 5;
const DEFAULT_SYSTEMS: readonly string[] = ['bm25', 'default'];

/** The `eval` command. */
export function evalCommand(context: CliContext): Command {
  const command = addPrecisionOption(new Command('eval'))
    .description('measure systems on test collections: NDCG@10, MRR@10, Recall@100, FLOPS, lengths, significance')
    .argument(
      '<collections...>',
      `BEIR folders, names to fetch (beir/scifact, nanobeir), or ${EMBEDDED}, which is embedded`,
    )
    .option('--system <name>', `${SYSTEM_HELP}; repeat to compare`, addName, DEFAULT_SYSTEMS)
    .option('--query-model <folder>', QUERY_MODEL_HELP)
    .option('--split <name>', 'which judgements (default: test)')
    .option('--run-dir <folder>', 'keep indexes and TREC run files here; a second call goes on where the first stopped')
    .option('-m, --metric <names>', 'metrics, between commas; the first is compared', addMetrics, TABLE_METRICS)
    .option('--drop-identical-ids', 'a query must not find the document of its own id (default: by the collection)')
    .option('--no-drop-identical-ids', 'it may')
    .addOption(new Option('--format <name>', 'of the table').choices(['text', 'markdown', 'csv']).default('text'))
    .option('--html <file>', 'write the report as one self-contained page')
    .option('--per-query <file>', 'write the values of every query as CSV')
    .action((collections: string[], options: EvalCommandOptions) => evaluate(context, collections, options));
  addServerOptions(command); // of opensearch:
  return withExamples(command, {
    [`lzero eval ${EMBEDDED}`]: 'the embedded collection: BM25 and the embedded model',
    'lzero eval ./scifact --system bm25 --system ./my-model --run-dir runs': 'your model against BM25',
    'lzero eval ./scifact --system bm25 --system rrf:bm25+./my-model --html report.html': 'a hybrid, as a page',
    'lzero eval ./scifact --system ./splade --system siamese:./splade': 'IDF queries against encoded ones',
    'lzero eval beir/nfcorpus --system index:my.index': 'fetched, checked, kept in the cache',
  });
}

function addName(name: string, before: readonly string[]): string[] {
  return before === DEFAULT_SYSTEMS ? [name] : [...before, name];
}

function addMetrics(text: string, before: readonly string[]): string[] {
  const names = text.split(',').map((name) => name.trim());
  for (const name of names) parseMetric(name);
  return before === TABLE_METRICS ? names : [...before, ...names];
}

async function evaluate(context: CliContext, names: readonly string[], given: EvalCommandOptions): Promise<void> {
  refuseRepeated('system', given.system);
  refuseRepeated('collection', names);
  for (const file of [given.html, given.perQuery]) if (file !== undefined) await requireFolderOf(file);
  for (const name of given.system) await checkSystem(name);
  const options = { ...given, metric: given.metric === TABLE_METRICS ? await usualMetrics(names) : given.metric };
  if (options.queryModel !== undefined && !options.system.some(takesQueryModel))
    throw new UsageError('--query-model encodes queries for learned vectors, and no --system has any', {
      hint: `add one: --system ${options.queryModel}`,
    });
  const scratch = options.runDir === undefined ? await mkdtemp(join(tmpdir(), 'lzero-eval-')) : undefined;
  try {
    const folder = options.runDir ?? scratch ?? '';
    const collections = await withQueryModel(options.queryModel, options, (queryModel) =>
      measureAll(context, names, { folder, options, queryModel }),
    );
    await write(context, buildReport({ collections, provenance: provenanceOf(names, options) }), options);
  } catch (error) {
    if (scratch === undefined || !context.signal.aborted) throw error;
    throw new InterruptedError('interrupted', { hint: 'with --run-dir the next call goes on', cause: error });
  } finally {
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true });
  }
}

function refuseRepeated(what: string, names: readonly string[]): void {
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  if (repeated !== undefined) throw new UsageError(`the ${what} ${repeated} is named twice`);
}

/** What is written last is checked first: measuring may take an hour. */
async function requireFolderOf(file: string): Promise<void> {
  if (await exists(dirname(file))) return;
  throw new OutputError(`cannot write ${file}: there is no folder ${dirname(file)}`, { hint: 'create it first' });
}

async function measureAll(context: CliContext, names: readonly string[], how: Measuring) {
  const collections: MeasuredCollection[] = [];
  const sources: CollectionSource[] = [];
  for (const name of names) sources.push(...(await sourcesOf(context, name)));
  const called = uniqueNames(sources.map(({ folder }) => folder));
  for (const [i, source] of sources.entries())
    collections.push(await measure(context, { ...source, name: called[i] }, how));
  return collections;
}

/** What folders are called: the last part of the path, and as many parts before it as keep apart those that are alike. */
function uniqueNames(folders: readonly string[]): string[] {
  const parts = folders.map((folder) => resolve(folder).split(sep).filter(Boolean));
  const nameOf = (path: readonly string[], numParts: number): string => path.slice(-numParts).join('/');
  return parts.map((path) => {
    const others = parts.filter((other) => other.join(sep) !== path.join(sep));
    let numParts = 1;
    while (numParts < path.length && others.some((other) => nameOf(other, numParts) === nameOf(path, numParts)))
      numParts++;
    return nameOf(path, numParts);
  });
}

// ---- collections

/** The metrics of the table, first the one that papers report for these collections, if it is one. */
async function usualMetrics(names: readonly string[]): Promise<readonly string[]> {
  const usual = new Set<string>();
  for (const name of names) {
    const isFolder = name === EMBEDDED || (await exists(name));
    for (const { metric } of isFolder ? [{ metric: TABLE_METRICS[0] }] : findCollections(name)) usual.add(metric);
  }
  const [first] = usual.size === 1 ? usual : TABLE_METRICS;
  return [first, ...TABLE_METRICS.filter((metric) => metric !== first)];
}

type CollectionSource = { readonly folder: string; readonly split?: string; readonly dropIdenticalIds: boolean };

/** A folder, the embedded collection, or whatever the registry has under this name, fetched. */
async function sourcesOf(context: CliContext, name: string): Promise<CollectionSource[]> {
  if (await exists(name)) return [{ folder: name, dropIdenticalIds: false }];
  if (name === EMBEDDED) return [{ folder: EMBEDDED_COLLECTION, dropIdenticalIds: false }];
  const entries = findCollections(name);
  const cache = cacheFolder(context.env, homedir());
  const sources: CollectionSource[] = [];
  for (const entry of entries) {
    const { folder } = await fetchCollection(entry, { cache, signal: context.signal, progress: context.progress() });
    sources.push({ folder, split: entry.split, dropIdenticalIds: entry.dropIdenticalIds });
  }
  return sources;
}

// ---- measuring

type Measuring = {
  readonly folder: string;
  readonly options: EvalCommandOptions;
  readonly queryModel: QueryModel | undefined;
};

type NamedSource = CollectionSource & { readonly name: string };

async function measure(context: CliContext, source: NamedSource, how: Measuring): Promise<MeasuredCollection> {
  const { folder, options, queryModel } = how;
  const { logger, signal } = context;
  const split = options.split ?? source.split;
  const collection = { ...(await openCollection(source.folder, { split, logger, signal })), name: source.name };
  const dropIdenticalIds = options.dropIdenticalIds ?? source.dropIdenticalIds;
  const opened: OpenSystem[] = [];
  try {
    const { precision } = options;
    const where = { context, collection, folder: join(folder, 'indexes'), precision, queryModel, server: options };
    for (const name of options.system) opened.push(await openSystem(name, where));
    const systems = opened.map(({ system }) => system);
    return await measureSystems(context, collection, { systems, dropIdenticalIds, ...how });
  } finally {
    await closeAll(opened);
  }
}

type SystemsToMeasure = Measuring & { readonly systems: readonly System[]; readonly dropIdenticalIds: boolean };

async function measureSystems(
  context: CliContext,
  collection: Collection,
  { systems, dropIdenticalIds, folder, options }: SystemsToMeasure,
): Promise<MeasuredCollection> {
  const k = depthOf(options.metric, { dropIdenticalIds });
  const store = options.runDir === undefined ? undefined : new RunStore(join(folder, 'runs'));
  const runs = [];
  for (const system of systems) runs.push({ system, ...(await answer(context, collection, { system, k, store })) });
  const evaluated = runs.map(({ system, run, costs }) => ({
    system: system.name,
    costs,
    evaluation: evaluateRun(run, collection.qrels, {
      metrics: options.metric,
      averageOver: 'judged',
      dropIdenticalIds,
    }),
  }));
  for (const { system, run } of runs) {
    warnOfStranger(context, system, { run, collection });
    warnOfGaps(context, system, { run, collection });
  }
  const texts = options.html === undefined ? undefined : await textsOf(collection, runs);
  const details: QueryDetail[] = [];
  if (texts) {
    const sources = { collection, systems: runs, documentOf: (id: string) => texts.get(id), dropIdenticalIds };
    for await (const detail of queryDetails(sources, { numHits: SHOWN_HITS })) details.push(detail);
  }
  return {
    name: collection.name,
    split: collection.split,
    numDocs: await countDocuments(collection),
    systems: evaluated,
    details,
  };
}

type Answered = { readonly run: Run; readonly collection: Collection };

/** A run or an index of another collection has no judged document: its zeros say nothing. */
function warnOfStranger(
  { logger }: CliContext,
  { name }: System,
  { run, collection: { qrels, name: collection } }: Answered,
): void {
  const isJudged = (queryId: string): boolean =>
    run.get(queryId)?.some(({ id }) => qrels.get(queryId)?.has(id)) ?? false;
  if ([...qrels.keys()].some(isJudged)) return;
  logger.warn(`${name} finds no judged document of ${collection} for any query: is it of another collection?`);
}

/** A recorded run may be of fewer queries; the missing ones count, unlike in `lzero metrics`. */
function warnOfGaps({ logger }: CliContext, { name }: System, { run, collection: { qrels } }: Answered): void {
  if (!isRecorded(name)) return;
  const missing = [...qrels.keys()].filter((id) => (run.get(id) ?? []).length === 0).length;
  if (missing === 0) return;
  logger.warn(`${name} lacks ${formatCount(missing)} of ${formatCount(qrels.size)} judged queries: they count as 0`);
}

type Asked = { readonly system: System; readonly k: number; readonly store: RunStore | undefined };

async function answer(context: CliContext, collection: Collection, { system, k, store }: Asked) {
  const progress = context.progress();
  progress.start({
    label: `${collection.name}, ${system.name}`,
    unit: 'queries',
    total: collection.queries.length,
    done: 0,
  });
  try {
    const versions = { lzero: packageVersion() };
    const onProgress = (numDone: number): void => progress.update(numDone);
    const answered = await runSystem(system, collection, { k, store, versions, signal: context.signal, onProgress });
    if (answered.reused) context.logger.info(`${collection.name}, ${system.name}: the run of an earlier call`);
    return answered;
  } finally {
    progress.stop();
  }
}

async function countDocuments(collection: Collection): Promise<number> {
  let count = 0;
  for await (const _ of collection.documents()) count++;
  return count;
}

/** Texts of documents that a page shows: the best of those found, and those judged. */
async function textsOf(collection: Collection, runs: readonly { readonly run: Run }[]): Promise<Map<string, Document>> {
  const wanted = new Set([...collection.qrels.values()].flatMap((judged) => [...judged.keys()]));
  for (const { run } of runs)
    for (const hits of run.values()) // one more, where the query's own document is dropped
      for (const { id } of rankHits(hits).slice(0, SHOWN_HITS + 1)) wanted.add(id);
  const texts = new Map<string, Document>();
  for await (const document of collection.documents()) if (wanted.has(document.id)) texts.set(document.id, document);
  return texts;
}

// ---- reports

function provenanceOf(names: readonly string[], options: EvalCommandOptions): EvalReport['provenance'] {
  const { dropIdenticalIds } = options;
  const words = [
    ...names,
    ...options.system.flatMap((name) => ['--system', name]),
    ...optionWords({ '--query-model': options.queryModel, '--split': options.split, '--precision': options.precision }),
    ...optionWords({ '--ca': options.ca, '--aws-region': options.awsRegion, '--aws-service': options.awsService }),
    ...['-m', options.metric.join(',')],
    ...(dropIdenticalIds === undefined ? [] : [`--${dropIdenticalIds ? '' : 'no-'}drop-identical-ids`]),
  ];
  return {
    command: ['lzero eval', ...words.map(quoted)].join(' '),
    versions: { lzero: packageVersion(), node: process.version },
    configuration: {
      metrics: options.metric.join(', '),
      dropIdenticalIds: options.dropIdenticalIds ?? 'by collection',
    },
  };
}

function optionWords(options: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
}

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w./:+@,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

async function write(context: CliContext, report: EvalReport, options: EvalCommandOptions): Promise<void> {
  const { stdout, logger } = context;
  // The table first: it shall not be lost where a file cannot be written.
  if (context.options.json) await stdout.writeJson(reportJson(report));
  else await stdout.write(`${render(context, report, options.format).trimEnd()}\n`);
  const files = [
    [options.html, renderHtml],
    [options.perQuery, renderPerQueryCsv],
  ] as const;
  for (const [path, renderFile] of files) {
    if (path === undefined) continue;
    await writeFileAtomically(path, renderFile(report));
    logger.info(`wrote ${path}`);
  }
}

function render({ colour }: CliContext, report: EvalReport, format: EvalCommandOptions['format']): string {
  switch (format) {
    case 'text':
      return renderText(report, { colour });
    case 'markdown':
      return renderMarkdown(report);
    case 'csv':
      return renderCsv(report);
    default:
      return format satisfies never;
  }
}
