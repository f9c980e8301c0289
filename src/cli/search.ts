/**
 * `lzero search`: the best documents for a query, or a run over many queries. No model is loaded, unless `--query-model`
 * names one to encode queries with.
 */
import { Command, InvalidArgumentError } from 'commander';
import { parseJson, UsageError } from '../core/index.ts';
import { formatRun, type LineSink, readQueries, writeLines } from '../data/index.ts';
import type { EngineQuery, Index, IndexSearchOptions, SearchAnswer } from '../engines/index.ts';
import { DEFAULT_K, type Filter } from '../search/index.ts';
import { warnIfUnfinished } from './build-note.ts';
import type { CliContext } from './context.ts';
import { formatCounted, formatDuration, formatRate } from './format.ts';
import { parseFilter, refuseTogether, withIndex } from './index-options.ts';
import { positiveInteger } from './model-options.ts';
import { SCHEMA_VERSION } from './output.ts';
import { withExamples } from './program.ts';
import {
  type AskedQuery,
  askedOf,
  type EncodedLine,
  QUERY_MODEL_HELP,
  type QueryModel,
  withQueryModel,
} from './query-model.ts';
import { showAnswer } from './show-answer.ts';
import { reportSkipped } from './skipped.ts';

type SearchCommandOptions = {
  readonly k?: number;
  readonly explain?: boolean;
  readonly snippets?: boolean;
  readonly vector?: Readonly<Record<string, number>>;
  readonly queries?: string;
  readonly queryModel?: string;
  readonly output: string;
  readonly force?: boolean;
  readonly filter?: Filter;
  readonly exact?: boolean;
  readonly parts?: boolean;
  readonly lean?: boolean;
  readonly workers?: number;
  readonly skipBad?: boolean;
  readonly tag: string;
};

/** Hits of each of many queries. */
const DEFAULT_RUN_K = 1000;
/** Queries that are on their way at once, for each thread. */
const QUERIES_IN_FLIGHT = 4;

/** The `search` command. */
export function searchCommand(context: CliContext): Command {
  const command = new Command('search')
    .description('find the best documents of an index; a table look-up, no model runs')
    .argument('<index>', 'folder of the index')
    .argument('[query]', 'the query')
    .option('-k <number>', 'hits (default: 10; with --queries 1000)', positiveInteger)
    .option('--explain', 'show the products that make each score')
    .option('--snippets', 'with --json: add the passages that a terminal shows, and what to highlight in them')
    .option('--vector <json>', 'weights by token instead of a text, such as \'{"header": 2.5}\'', parseVectorOption)
    .option('--query-model <folder>', QUERY_MODEL_HELP)
    .option('--filter <json>', 'only documents whose fields fit, such as \'{"lang": "en"}\'', parseFilter)
    .option('--exact', 'order by float weights; the index must keep them (index --store-vectors)')
    .option('--parts', 'find parts of pages instead of pages')
    .option(
      '--queries <file>',
      'many queries: lines of text, BEIR queries.jsonl, or {"_id", "vector"} lines; - for stdin',
    )
    .option('-o, --output <file>', 'where the run of --queries goes; - for standard output', '-')
    .option('--force', 'replace the output file')
    .option('--tag <name>', 'name of the run, its last column', 'lzero')
    .option('--skip-bad', 'leave out queries that cannot be read')
    .option('--lean', 'keep little of the index in memory')
    .option('--workers <number>', 'threads that search', positiveInteger)
    .action((folder: string, text: string | undefined, options: SearchCommandOptions) =>
      search(context, folder, { text, options }),
    );
  return withExamples(command, {
    'lzero search my.index "keep the header on top"': 'the ten best',
    'lzero search my.index "keep the header on top" --explain': 'and why',
    'lzero search my.index --queries queries.jsonl -o run.trec': 'a run file for trec_eval',
    'lzero search my.index "keep the header on top" --query-model ./splade-v3': 'the query encoded by a network',
  });
}

/** Reads weights by token from JSON. */
export function parseVectorOption(text: string): Readonly<Record<string, number>> {
  const value = parseJson(text, (problem) => new InvalidArgumentError(`${problem}.`));
  if (isWeights(value)) return value;
  throw new InvalidArgumentError('expected an object of weights by token, such as {"header": 2.5}.');
}

function isWeights(value: unknown): value is Readonly<Record<string, number>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((weight) => typeof weight === 'number');
}

/** Options that would do nothing are refused. */
function checkOptions(context: CliContext, options: SearchCommandOptions): void {
  const { queries, output, explain, snippets, vector, queryModel } = options;
  refuseTogether({ '--vector': vector, '--query-model': queryModel });
  if (snippets && !context.options.json) throw new UsageError('--snippets is for --json', { hint: 'add --json' });
  if (queries === undefined && output !== '-')
    throw new UsageError('-o is for the run of --queries', { hint: 'one answer goes to standard output: > FILE' });
  if (queries !== undefined && explain && !context.options.json)
    throw new UsageError('a run file has no room for --explain', { hint: 'add --json: one answer a line' });
}

type SearchCall = { readonly text: string | undefined; readonly options: SearchCommandOptions };

async function search(context: CliContext, folder: string, { text, options }: SearchCall): Promise<void> {
  const { vector, queries, queryModel: name, lean, workers } = options;
  checkOptions(context, options);
  const given = [text, vector, queries].filter((one) => one !== undefined);
  if (given.length !== 1)
    throw new UsageError('give a query, --vector or --queries, one of them', {
      hint: 'lzero search my.index "some words"',
    });
  const mode = lean || queries === undefined ? 'lean' : 'resident'; // one query reads only what it needs
  await withIndex(folder, { mode, workers }, (index) =>
    withQueryModel(name, {}, async (queryModel) => {
      queryModel?.requireFit(index);
      warnIfUnfinished(context.logger, index);
      if (queries !== undefined) return await searchMany(context, index, { ...options, queries, encoder: queryModel });
      const query = text ?? { vector: vector ?? {} };
      const asked = queryModel && text !== undefined ? await encodeOne(context, queryModel, text) : asTyped(query);
      await searchOne(context, index, { asked, options });
    }),
  );
}

function asTyped(query: EngineQuery): AskedQuery {
  return { query, shown: query };
}

async function encodeOne({ clock, logger, signal }: CliContext, model: QueryModel, text: string): Promise<AskedQuery> {
  const began = clock();
  for await (const line of model.encode([{ id: '', text }], { signal })) {
    logger.info(`encoded the query in ${formatDuration((clock() - began) / 1000)}, with the loading of ${model.name}`);
    return askedOf(line);
  }
  return asTyped({ vector: {} });
}

type OneSearch = { readonly asked: AskedQuery; readonly options: SearchCommandOptions };

async function searchOne(context: CliContext, index: Index, { asked, options }: OneSearch): Promise<void> {
  const began = context.clock();
  const answer = await index.search(asked.query, searchOptions(options, DEFAULT_K));
  const tookMs = context.clock() - began;
  const { stdout } = context;
  if (context.options.json) return await stdout.writeJson(jsonAnswer(asked, answer, tookMs));
  const shown = await withSnippets(index, asked.query, options);
  await stdout.write(showAnswer(shown, { colour: context.colour, explain: options.explain ?? false, tookMs }));
}

/** People see snippets, which take longer than the search, so they are asked for after the clock has stopped. */
async function withSnippets(index: Index, query: EngineQuery, options: SearchCommandOptions): Promise<SearchAnswer> {
  return await index.search(query, { ...searchOptions(options, DEFAULT_K), snippets: true });
}

function searchOptions(options: SearchCommandOptions, defaultK: number): IndexSearchOptions {
  const { k = defaultK, filter, exact, parts, explain, snippets } = options;
  return { k, filter, exact, parts, explain, snippets };
}

function jsonAnswer({ shown, terms }: AskedQuery, answer: SearchAnswer, tookMs: number) {
  const query = typeof shown === 'string' ? shown : shown.vector;
  return { query, tookMs, terms: terms ?? answer.terms, hits: answer.hits };
}

type ManySearch = SearchCommandOptions & { readonly queries: string; readonly encoder: QueryModel | undefined };

/** A run: six columns a hit, or with --json one answer a line. */
async function searchMany(context: CliContext, index: Index, options: ManySearch): Promise<void> {
  const { stdout, signal, logger, clock } = context;
  const { queries: file, output: path, force, skipBad, encoder } = options;
  const began = clock();
  const queries = readQueries(file, { skipBad, signal });
  const encoded = encoder ? encoder.encode(queries, { signal }) : queries;
  const answers = answerAll(context, index, { queries: encoded, options });
  const job = async (output: Pick<LineSink, 'writeAll'>): Promise<void> => {
    for await (const answer of answers) await output.writeAll(linesOf(context, answer, options));
  };
  if (path === '-') await job(stdout);
  else await writeLines({ path, inputs: [file], identity: { queries: file }, restart: true, force }, job);
  const seconds = (clock() - began) / 1000;
  const { numRead } = queries.report;
  const rate = formatRate(numRead / Math.max(seconds, 1e-3));
  logger.info(`answered ${formatCounted(numRead, 'query', 'queries')} in ${formatDuration(seconds)} (${rate})`);
  reportSkipped(logger, queries.report);
}

type Answered = {
  readonly id: string;
  readonly asked: AskedQuery;
  readonly answer: SearchAnswer;
  readonly tookMs: number;
};

function linesOf({ options }: CliContext, { id, asked, answer, tookMs }: Answered, { tag }: ManySearch): string[] {
  if (!options.json) return formatRun(id, answer.hits, tag);
  return [JSON.stringify({ schemaVersion: SCHEMA_VERSION, id, ...jsonAnswer(asked, answer, tookMs) })];
}

/** Answers in the order of the queries, some of them on their way at once where there are threads. */
async function* answerAll(
  context: CliContext,
  index: Index,
  { queries, options }: { readonly queries: AsyncIterable<EncodedLine>; readonly options: ManySearch },
): AsyncGenerator<Answered> {
  const { clock, signal } = context;
  const wanted = { ...searchOptions(options, DEFAULT_RUN_K), idsOnly: !context.options.json };
  const inFlight: Promise<Answered>[] = [];
  const limit = options.workers ? options.workers * QUERIES_IN_FLIGHT : 1;
  const ask = async (query: EncodedLine): Promise<Answered> => {
    const began = clock();
    const asked = askedOf(query);
    const answer = await index.search(asked.query, wanted);
    return { id: query.id, asked, answer, tookMs: clock() - began };
  };
  for await (const query of queries) {
    signal.throwIfAborted();
    const answer = ask(query);
    answer.catch(() => {}); // thrown in its turn; until then Node would take it for one that nobody waits for
    inFlight.push(answer);
    if (inFlight.length >= limit) yield await requireFirst(inFlight);
  }
  while (inFlight.length > 0) yield await requireFirst(inFlight);
}

async function requireFirst(inFlight: Promise<Answered>[]): Promise<Answered> {
  const [first] = inFlight.splice(0, 1);
  return await first;
}
