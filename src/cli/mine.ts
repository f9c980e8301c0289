/** `lzero mine`: hard negatives for judged queries, candidates for unjudged ones, queries for documents that have none. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { InputError, type Logger, ResumeError, UsageError } from '../core/index.ts';
import { checkLineOutput, inputFile, type LineSink, ReadReport, readQueries, writeLines } from '../data/index.ts';
import { cacheFolder } from '../download/index.ts';
import { exists } from '../files/index.ts';
import { loadModel, type Model } from '../model/index.ts';
import {
  answersOf,
  DocumentPool,
  type FindCandidates,
  MINING_DEFAULTS,
  type MinedQuery,
  type MiningOptions,
  type MiningQuery,
  makeQueries,
  mine,
  PSEUDO_KINDS,
  type PseudoKind,
  parseTeacher,
  type Scorer,
  TEACHER_HELP,
} from '../teach/index.ts';
import type { CliContext } from './context.ts';
import {
  checkSystem,
  encodesDocuments,
  isRecorded,
  type OpenSystem,
  openSystem,
  recordedFiles,
  type SearchedDocuments,
  SYSTEM_HELP,
} from './eval-systems.ts';
import { formatCount, formatCounted, formatDuration } from './format.ts';
import { judgedQueries, LEARNED_SPLIT } from './judged-queries.ts';
import { positiveInteger } from './model-options.ts';
import { packageVersion, withExamples } from './program.ts';
import { encodedTexts } from './teacher-progress.ts';
import { withTeachers } from './teachers.ts';

type MineOptions = Omit<MiningOptions, 'agreement' | 'margin' | 'relativeMargin'> & {
  readonly output: string;
  readonly split?: string;
  readonly queries?: string;
  readonly pseudoQueries?: true | readonly PseudoKind[];
  readonly perDocument?: number;
  readonly system: string;
  readonly teacher?: string;
  readonly margin?: number;
  readonly relativeMargin?: number;
  readonly agreement?: number;
  readonly positives?: number;
  readonly ids?: boolean;
  readonly runDir?: string;
  readonly restart?: boolean;
  readonly force?: boolean;
};

const DEFAULT_PER_DOCUMENT = 3;

/** The `mine` command. */
export function mineCommand(context: CliContext): Command {
  const d = MINING_DEFAULTS;
  const command = new Command('mine')
    .description('hard negatives for training, from BM25 or any system; also for documents without queries')
    .argument('<input>', 'a collection in BEIR layout; with --queries or --pseudo-queries any documents, also pages')
    .requiredOption('-o, --output <file>', 'where the lines go: triples, or lists where nobody judged')
    .option('--split <name>', `judgements to mine for (default: ${LEARNED_SPLIT})`)
    .option('--queries <file>', 'queries that nobody judged: their candidates are written as lists for `lzero teach`')
    .option(
      '--pseudo-queries [kinds]',
      `make queries of the documents: ${PSEUDO_KINDS.join(',')} (default: all)`,
      parseKinds,
    )
    .option(
      '--per-document <count>',
      `of --pseudo-queries: at most so many (default: ${DEFAULT_PER_DOCUMENT})`,
      positiveInteger,
    )
    .option('--system <name>', `finds the candidates: ${SYSTEM_HELP}`, 'bm25')
    .option('--depth <count>', 'candidates that are looked at', positiveInteger, d.depth)
    .option('--negatives <count>', 'documents a query', positiveInteger, d.negatives)
    .option('--skip <count>', 'candidates that are passed over, best first', wholeNumber, d.skip)
    .option('--random-share <share>', 'share of the negatives that is drawn from all documents', share, d.randomShare)
    .option('--teacher <name>', `leaves out documents that it takes for answers; ${TEACHER_HELP}`, oneTeacher)
    .option('--margin <score>', 'a negative must be so much worse than the answers (default: 0)', anyNumber)
    .option(
      '--relative-margin <share>',
      `and by this share of the answers’ score (default: ${d.relativeMargin})`,
      share,
    )
    .option('--agreement <rank>', 'drop queries whose answer the teacher ranks below this place', positiveInteger)
    .option(
      '--positives <count>',
      'answers a query that are written, the highest judged first (default: all)',
      positiveInteger,
    )
    .option('--ids', 'write ids of the collection in place of texts; `teach` and `train` are then told its name')
    .option('--seed <number>', 'decides what is drawn', wholeNumber, d.seed)
    .option(
      '--run-dir <folder>',
      'keep indexes here; a second call uses them again (default: those of models in the cache folder, under indexes/)',
    )
    .option('--restart', 'drop what an unfinished run has left')
    .option('--force', 'replace the output file')
    .action((input: string, options: MineOptions) => mineFor(context, input, options));
  return withExamples(command, {
    'lzero mine ./scifact -o triples.jsonl': 'eight BM25 negatives for each judged query of the split train',
    'lzero mine ./scifact -o triples.jsonl --teacher ./gte-small --random-share 0.25':
      'without those that a teacher takes for answers',
    'lzero mine ./docs -o mined.jsonl --pseudo-queries --teacher ./gte-small --agreement 3':
      'documents only: queries are made, and kept where the teacher agrees',
    'lzero mine corpus.jsonl --queries queries.txt -o lists.jsonl --negatives 32': 'then: lzero teach lists.jsonl …',
  });
}

function oneTeacher(name: string, before: string | undefined): string {
  if (before === undefined) return name;
  throw new UsageError(`--teacher ${before} and --teacher ${name}: negatives are compared by one teacher`, {
    hint: 'name one; `lzero teach` takes several, and scores what was mined with all of them',
  });
}

function parseKinds(text: string): PseudoKind[] {
  return text.split(',').map((name) => {
    const kind = PSEUDO_KINDS.find((known) => known === name.trim());
    if (kind !== undefined) return kind;
    const isInput = text.includes('/') || existsSync(text); // "--pseudo-queries ./docs" is read as its kinds
    throw new UsageError(`--pseudo-queries ${text}: expected ${PSEUDO_KINDS.join(', ')}, between commas`, {
      hint: isInput ? `put the input first: lzero mine ${text} --pseudo-queries …` : 'see lzero mine --help',
    });
  });
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError('expected a whole number from 0.');
}

function share(text: string): number {
  const value = anyNumber(text);
  if (value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError('expected a number from 0 to 1.');
}

function anyNumber(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('expected a number.');
}

async function mineFor(context: CliContext, input: string, options: MineOptions): Promise<void> {
  checkOptions(options);
  await checkJudged(input, options);
  await checkSystem(options.system);
  const { output: path, restart, force } = options;
  const inputs = await inputsOf(input, options);
  await checkLineOutput({ path, inputs, force });
  const specs = options.teacher === undefined ? [] : [parseTeacher(options.teacher)];
  const model = await loadModel('bow'); // for its tokenizer and query weights
  await withTeachers(context, specs, async ([teacher]) => {
    const began = context.clock();
    const pool = await DocumentPool.read(input, model.tokenizer, { signal: context.signal });
    const queries = await queriesFor(context, { input, pool, model, options });
    await withSystem(context, { input, pool, options }, async (opened) => {
      await checkRecorded(opened.system, { input, queries, options });
      const job = { input, pool, queries, teacher, options, opened };
      const output = { path, inputs, identity: identityOf(job), restart, force };
      const tally = await writeLines(output, (sink) => writeMined(context, job, sink));
      await report(context, { path, tally, seconds: (context.clock() - began) / 1000 });
    });
  });
}

/** Files that are not to be written over. */
async function inputsOf(input: string, { queries, system }: MineOptions): Promise<string[]> {
  return [await inputFile(input), ...(queries === undefined ? [] : [queries]), ...recordedFiles(system)];
}

function checkOptions(options: MineOptions): void {
  const { queries, pseudoQueries, teacher, ids, split, perDocument, skip, depth, negatives } = options;
  if (queries !== undefined && pseudoQueries !== undefined)
    throw new UsageError('--queries and --pseudo-queries do not go together');
  if (ids && (pseudoQueries !== undefined || queries !== undefined))
    throw new UsageError('--ids are those of a collection: made and unjudged queries have none');
  if (skip >= depth) throw new UsageError(`--skip ${skip} passes over all of the ${depth} candidates (--depth)`);
  if (queries !== undefined && negatives < 2)
    throw new UsageError('a list has two documents at least', { hint: '--negatives 2 or more, with --queries' });
  if (perDocument !== undefined && pseudoQueries === undefined)
    throw new UsageError('--per-document counts made queries: add --pseudo-queries');
  if (split !== undefined && (queries !== undefined || pseudoQueries !== undefined))
    throw new UsageError('--split chooses judgements, and these queries have none');
  if (teacher !== undefined && queries !== undefined)
    throw new UsageError('--teacher compares candidates with answers, and nobody knows those of --queries', {
      hint: 'have the lists scored afterwards: lzero teach',
    });
  const wanting = (['margin', 'relativeMargin', 'agreement'] as const).find((name) => options[name] !== undefined);
  if (teacher === undefined && wanting !== undefined)
    throw new UsageError(
      `--${wanting === 'relativeMargin' ? 'relative-margin' : wanting} compares scores of a teacher`,
      { hint: 'add --teacher MODEL' },
    );
}

/** Refuses documents that nobody judged before they are read, where judgements are mined for. */
async function checkJudged(input: string, { queries, pseudoQueries }: MineOptions): Promise<void> {
  if (queries !== undefined || pseudoQueries !== undefined) return;
  if (!(await exists(input)) || (await exists(join(input, 'qrels')))) return;
  throw new InputError(`${input} has no judgements to mine for`, {
    hint: 'add --queries FILE for queries that nobody judged, or --pseudo-queries to make some of the documents; judgements are qrels/SPLIT.tsv of a folder, as in BEIR',
  });
}

type QuerySource = {
  readonly input: string;
  readonly pool: DocumentPool;
  readonly model: Model;
  readonly options: MineOptions;
};

async function queriesFor(context: CliContext, source: QuerySource): Promise<readonly MiningQuery[]> {
  const { input, pool, model, options } = source;
  const { signal, logger } = context;
  if (options.pseudoQueries !== undefined) {
    const kinds = options.pseudoQueries === true ? PSEUDO_KINDS : options.pseudoQueries;
    const { perDocument = DEFAULT_PER_DOCUMENT, seed } = options;
    const made = makeQueries(pool, model, { kinds, perDocument, seed });
    const counts = kinds.map((kind) => `${formatCount(made.filter((query) => query.kind === kind).length)} ${kind}`);
    logger.info(
      `made ${formatCount(made.length)} queries of ${formatCount(pool.size)} documents: ${counts.join(', ')}`,
    );
    return made;
  }
  if (options.queries !== undefined) {
    const queries: MiningQuery[] = [];
    for await (const { id, text } of readQueries(options.queries, { signal }))
      queries.push({ id, text, positives: [] });
    if (queries.length > 0) return queries;
    throw new InputError(`${options.queries} has no queries`, { hint: 'one a line, as text or {"_id", "text"}' });
  }
  return await judgedQueries(context, {
    input,
    pool,
    split: options.split,
    otherwise: 'choose another split with --split, or make queries with --pseudo-queries',
  });
}

/** A run with fewer of the queries is taken for one of others: of another split, say. */
const MIN_RECORDED_SHARE = 0.1;

/** Refuses a run that has hardly any of the queries: it would give documents that are drawn, and nothing else. */
async function checkRecorded(
  system: OpenSystem['system'],
  { input, queries, options }: Pick<MiningJob, 'input' | 'queries' | 'options'>,
): Promise<void> {
  if (!isRecorded(options.system)) return;
  let numFound = 0;
  for await (const { hits } of system.search(queries, { k: 1 })) if (hits.length > 0) numFound++;
  if (numFound >= MIN_RECORDED_SHARE * queries.length) return;
  const { split = LEARNED_SPLIT, pseudoQueries } = options;
  const isJudged = options.queries === undefined && pseudoQueries === undefined;
  const origin = options.queries ?? (isJudged ? `split ${split}` : 'the documents');
  const counted = `${numFound === 0 ? 'none' : `only ${formatCount(numFound)}`} of the ${formatCounted(queries.length, 'query', 'queries')}`;
  throw new InputError(`${options.system} has ${counted} of ${origin}`, {
    hint: isJudged
      ? `make a run of that split: lzero teach ${input} --teacher MODEL --run FILE --split ${split}`
      : 'make a run of these queries, or name a system that searches: bm25, a model',
  });
}

type MiningJob = Omit<QuerySource, 'model'> & {
  readonly queries: readonly MiningQuery[];
  readonly teacher: Scorer | undefined;
  /** Finds the candidates. */
  readonly opened: OpenSystem;
};

/** By content: a name may stand for another model tomorrow. */
function identityOf({ pool, queries, options, teacher, opened }: MiningJob): Record<string, unknown> {
  const {
    output: _output,
    restart: _restart,
    force: _force,
    runDir: _runDir,
    queries: _queries,
    ...settings
  } = options;
  return {
    version: packageVersion(),
    ...settings,
    documents: pool.fingerprint(),
    questions: createHash('sha256').update(JSON.stringify(queries)).digest('hex'),
    system: opened.identity,
    teacher: teacher?.identity ?? null,
  };
}

/** Of this call, and of those that it goes on after. */
type Tally = {
  numQueries: number;
  numHard: number;
  numRandom: number;
  /** Drawn for want of candidates. */
  numFilled: number;
  numFiltered: number;
  /** Their answer was not found. */
  numDropped: number;
  /** There were no two documents to tell apart. */
  numShort: number;
  numUnknown: number;
};

const EMPTY_TALLY: Tally = {
  numQueries: 0,
  numHard: 0,
  numRandom: 0,
  numFilled: 0,
  numFiltered: 0,
  numDropped: 0,
  numShort: 0,
  numUnknown: 0,
};

async function writeMined(context: CliContext, job: MiningJob, sink: LineSink): Promise<Tally> {
  const { pool, options, teacher, opened } = job;
  const first = numDone(job.queries, sink);
  const tally = { ...EMPTY_TALLY, numQueries: sink.numLines, ...sink.counts };
  if (first > 0) context.logger.info(`going on after ${formatCount(first)} queries that are done`);
  const progress = context.progress();
  progress.start({ label: 'mining', unit: 'queries', total: job.queries.length, done: first });
  let done = first;
  try {
    const candidates: FindCandidates = (queries, search) => opened.system.search(queries, search);
    const onProgress = (numEncoded: number): void => progress.update(done, encodedTexts(numEncoded));
    const parts = { pool, candidates, teacher, options: miningOptions(options), signal: context.signal, onProgress };
    for await (const mined of mine(job.queries.slice(first), parts, first)) {
      progress.update(++done);
      count(tally, mined);
      if (mined.dropped === undefined) await sink.write(lineOf(mined, pool, options), { counts: tally });
    }
  } finally {
    progress.stop();
  }
  warnOfFilled(context.logger, tally, options);
  return tally;
}

/** Documents that were drawn for want of candidates teach little; those of --random-share were asked for. */
function warnOfFilled(logger: Logger, { numHard, numRandom, numFilled }: Tally, { depth, system }: MineOptions): void {
  const share = numFilled / Math.max(1, numHard + numRandom);
  if (share <= 0.05) return;
  const cause = `${system} found too few among the ${depth} best that are no answers (--depth)`;
  logger.warn(`${Math.round(100 * share)} % of the negatives are drawn from all documents: ${cause}`);
}

function count(tally: Tally, mined: MinedQuery): void {
  const { dropped, negatives, numRandom, numFilled, numFiltered, numUnknown } = mined;
  tally.numFiltered += numFiltered;
  tally.numUnknown += numUnknown;
  if (dropped === 'answer-not-found') tally.numDropped++;
  else if (dropped === 'too-few-found') tally.numShort++;
  else {
    tally.numQueries++;
    tally.numRandom += numRandom;
    tally.numFilled += numFilled;
    tally.numHard += negatives.length - numRandom;
  }
}

/** Queries up to that of the last line; some have none, where the teacher did not agree. */
function numDone(queries: readonly MiningQuery[], { lastLine }: LineSink): number {
  if (lastLine === undefined) return 0;
  const { id } = JSON.parse(lastLine);
  const at = queries.findIndex((query) => query.id === id);
  if (at >= 0) return at + 1;
  throw new ResumeError(`the input is not the one of the unfinished run: it has no query ${id}`, {
    hint: 'begin again with --restart',
  });
}

function miningOptions(options: MineOptions): Partial<MiningOptions> {
  const { depth, negatives, skip, randomShare, seed, margin, relativeMargin, agreement } = options;
  return {
    depth,
    negatives,
    skip,
    randomShare,
    seed,
    ...(margin === undefined ? {} : { margin }),
    ...(relativeMargin === undefined ? {} : { relativeMargin }),
    ...(agreement === undefined ? {} : { agreement }),
  };
}

/** A triple; a list where nobody knows an answer. */
function lineOf(mined: MinedQuery, pool: DocumentPool, { ids, positives: atMost }: MineOptions): string {
  const { id, text, positives, negatives } = mined;
  const texts = negatives.map((negative) => pool.textOf(negative));
  if (positives.length === 0) return JSON.stringify({ id, query: text, docs: texts });
  if (ids) return JSON.stringify({ id, ids, query: id, positive: positives.slice(0, atMost), negatives });
  const answers = answersOf(mined, pool).slice(0, atMost);
  return JSON.stringify({ id, query: text, positive: answers, negatives: texts });
}

/** Opens the system over the documents, and closes it. */
async function withSystem(
  context: CliContext,
  { input, pool, options }: Omit<QuerySource, 'model'>,
  work: (opened: OpenSystem) => Promise<void>,
): Promise<void> {
  await withIndexFolder(context, options, async (folder) => {
    const opened = await openSystem(options.system, { context, collection: searched(input, pool), folder });
    try {
      await work(opened);
    } finally {
      await opened.close();
    }
  });
}

/** Where indexes are built: what a model has encoded is kept, by content; what is indexed in seconds is not. */
async function withIndexFolder(
  { env }: CliContext,
  { runDir, system }: MineOptions,
  work: (folder: string) => Promise<void>,
): Promise<void> {
  if (runDir !== undefined) return await work(runDir);
  if (encodesDocuments(system)) return await work(join(cacheFolder(env, homedir()), 'indexes'));
  const scratch = await mkdtemp(join(tmpdir(), 'lzero-mine-'));
  try {
    await work(scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function searched(input: string, pool: DocumentPool): SearchedDocuments {
  return {
    name: basename(resolve(input)),
    documents: () => ({
      report: new ReadReport(),
      [Symbol.asyncIterator]: async function* () {
        yield* pool;
      },
    }),
    documentsFingerprint: async () => pool.fingerprint(),
  };
}

const TOO_FEW = 'left out, without two documents to tell apart';

async function report(
  context: CliContext,
  { path, tally, seconds }: { readonly path: string; readonly tally: Tally; readonly seconds: number },
): Promise<void> {
  const { numQueries, numHard, numRandom, numFiltered, numDropped, numShort, numUnknown } = tally;
  const besides = [
    { count: numFiltered, one: 'candidate looked like an answer', many: 'candidates looked like answers' },
    {
      count: numUnknown,
      one: 'candidate is no document of the input',
      many: 'candidates are no documents of the input',
    },
    {
      count: numDropped,
      one: 'query dropped, its answer was not found',
      many: 'queries dropped, their answer was not found',
    },
    { count: numShort, one: `query ${TOO_FEW}`, many: `queries ${TOO_FEW}` },
  ].flatMap(({ count, one, many }) => (count === 0 ? [] : [`; ${formatCounted(count, one, many)}`]));
  context.logger.info(
    `${formatCount(numQueries)} queries in ${formatDuration(seconds)}: ${formatCount(numHard)} hard negatives, ` +
      `${formatCount(numRandom)} drawn${besides.join('')}`,
  );
  if (context.options.json) await context.stdout.writeJson({ output: path, ...tally, seconds });
}
