/** `lzero teach`: teacher scores for lists, resumable; or a teacher's own ranking of a collection, as a TREC run. */
import { stat } from 'node:fs/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { InputError, ResumeError, UsageError } from '../core/index.ts';
import {
  BadLine,
  checkLineOutput,
  countLines,
  fileIdentity,
  filesOfTexts,
  formatRun,
  isBlank,
  type LineSink,
  openCollection,
  parseList,
  readBytes,
  readLines,
  readTexts,
  TEXTS_OF_LINES,
  type Texts,
  type UnscoredList,
  writeLines,
} from '../data/index.ts';
import { exists } from '../files/index.ts';
import { loadModel } from '../model/index.ts';
import {
  DocumentPool,
  type EnsembleOptions,
  PAPER_ENSEMBLE,
  parseTeacher,
  rankAll,
  type Scorer,
  scoreStream,
  TEACHER_HELP,
  type TeacherSpec,
} from '../teach/index.ts';
import type { CliContext } from './context.ts';
import { formatCount, formatDuration } from './format.ts';
import { positiveInteger, positiveNumber } from './model-options.ts';
import { packageVersion, withExamples } from './program.ts';
import { encodedTexts, withTeacherProgress } from './teacher-progress.ts';
import { withTeachers } from './teachers.ts';

type TeachOptions = {
  readonly teacher: readonly TeacherSpec[];
  readonly output?: string;
  readonly collection?: string;
  readonly normalise?: EnsembleOptions['normalise'];
  readonly scale?: number;
  readonly run?: string;
  readonly split?: string;
  readonly k?: number;
  readonly restart?: boolean;
  readonly force?: boolean;
};

const DEFAULT_K = 1000;

/** The `teach` command. */
export function teachCommand(context: CliContext): Command {
  const command = new Command('teach')
    .description('score lists of documents with a teacher, for training; or write its own ranking as a run')
    .argument('<input>', 'lists of `lzero mine` (.jsonl, also .gz); with --run a collection in BEIR layout')
    .option('--teacher <name>', `${TEACHER_HELP}; repeat for an ensemble`, addTeacher, [])
    .option('-o, --output <file>', 'where the scored lists go')
    .option('--collection <folder>', 'the lists hold ids of this collection in place of texts')
    .addOption(
      new Option(
        '--normalise <rule>',
        'min-max: each teacher from 0 to 1 for each query, then the mean, as in the paper; none: as they are (default: min-max, but none for --run with one teacher)',
      ).choices(['min-max', 'none']),
    )
    .option('--scale <factor>', 'of the scores (default: 30 with min-max, else 1)', positiveNumber)
    .option('--run <file>', 'rank every document of the collection, and write a TREC run')
    .option('--split <name>', 'of --run: which queries (default: test)')
    .option('-k <count>', `of --run: documents a query (default: ${DEFAULT_K})`, positiveInteger)
    .option('--restart', 'drop what an unfinished run has left')
    .option('--force', 'replace the output file')
    .action((input: string, options: TeachOptions) => teach(context, input, options));
  return withExamples(command, {
    'lzero teach mined.jsonl -o train.jsonl --teacher ./gte-small':
      'scored lists for `lzero train`; run again to resume',
    'lzero teach mined.jsonl -o train.jsonl --teacher ./gte-small --teacher siamese:./splade':
      'the ensemble of the paper: a dense and a sparse teacher',
    'lzero teach mined.jsonl -o train.jsonl --teacher "./e5-small,query-prefix=query: ,document-prefix=passage: "':
      'a teacher that wants prefixes',
    'lzero teach ./scifact --teacher dense:./bge-small,pooling=cls --run bge.trec':
      'a dense baseline, for `lzero eval`',
  });
}

function addTeacher(text: string, before: readonly TeacherSpec[]): TeacherSpec[] {
  try {
    return [...before, parseTeacher(text)];
  } catch (error) {
    if (error instanceof UsageError) throw new InvalidArgumentError(`${error.message}. ${error.hint ?? ''}`);
    throw error;
  }
}

async function teach(context: CliContext, input: string, options: TeachOptions): Promise<void> {
  const { teacher, run, output } = options;
  if (teacher.length === 0)
    throw new UsageError('no teacher was named', { hint: '--teacher MODEL: a folder, or the name of a pulled model' });
  if ((run === undefined) === (output === undefined))
    throw new UsageError('expected either -o FILE for scored lists or --run FILE for a run');
  refuseUnused(options);
  if (output !== undefined && !(await exists(input)))
    throw new InputError(`${input} does not exist`, { hint: 'name the lists that `lzero mine` wrote' });
  const inputs = output === undefined ? [] : [input];
  await checkLineOutput({ path: output ?? run ?? '', inputs, force: options.force });
  if (output !== undefined) await requireLists(input, context.signal);
  await withTeachers(context, teacher, async (teachers) => {
    if (run !== undefined) await writeRun(context, { input, teachers, path: run, options });
    else if (output !== undefined) await scoreFile(context, { input, teachers, path: output, options });
  });
}

/** What is to be scored, by whom, and where that goes. */
type TeachJob = {
  readonly input: string;
  readonly teachers: readonly Scorer[];
  readonly path: string;
  readonly options: TeachOptions;
};

/** Options that the other way of the command has. */
function refuseUnused({ run, k, split, collection, restart }: TeachOptions): void {
  const given =
    run === undefined ? { '-k': k, '--split': split } : { '--collection': collection, '--restart': restart };
  for (const [name, value] of Object.entries(given))
    if (value !== undefined)
      throw new UsageError(`${name} has no meaning ${run === undefined ? 'without' : 'with'} --run`);
}

// ---- scored lists

async function scoreFile(context: CliContext, { input, teachers, path, options }: TeachJob): Promise<void> {
  const began = context.clock();
  const ensemble = ensembleOf(options, 'min-max');
  const { collection } = options;
  const texts = collection === undefined ? [] : await filesOfTexts({ documents: collection, queries: collection });
  const identity = {
    version: packageVersion(),
    input: await fileIdentity(input),
    texts: await Promise.all(texts.map(fileIdentity)),
    teachers: teachers.map((teacher) => teacher.identity),
    ensemble,
  };
  const { restart, force } = options;
  const lists = await writeLines({ path, inputs: [input, ...texts], identity, restart, force }, (sink) =>
    writeScores(context, { input, teachers, ensemble, sink, collection }),
  );
  const seconds = (context.clock() - began) / 1000;
  context.logger.info(
    `scored ${formatCount(lists)} lists in ${formatDuration(seconds)}; train on them with format: scored`,
  );
  if (context.options.json)
    await context.stdout.writeJson({
      output: path,
      lists,
      seconds,
      teachers: teachers.map(({ name }) => name),
    });
}

type Writing = Pick<TeachJob, 'input' | 'teachers'> & {
  readonly ensemble: EnsembleOptions;
  readonly sink: LineSink;
  readonly collection: string | undefined;
};

async function writeScores(context: CliContext, work: Writing): Promise<number> {
  const { sink, teachers, ensemble } = work;
  const { signal } = context;
  if (sink.numLines > 0) context.logger.info(`going on after ${formatCount(sink.numLines)} lists that are done`);
  const texts = work.collection === undefined ? TEXTS_OF_LINES : await textsOf(work.collection, signal);
  const progress = context.progress();
  let numDone = sink.numLines;
  const total = await numLists(context, work.input);
  progress.start({ label: 'scoring', unit: 'lists', total, done: numDone });
  try {
    const lists = readLists(work.input, texts, { skip: sink.numLines, signal });
    const onProgress = (numEncoded: number): void => progress.update(numDone, encodedTexts(numEncoded));
    for await (const { list, scores } of scoreStream(lists, { teachers, ensemble }, { signal, onProgress })) {
      const ids = texts.areIds ? { ids: true } : {};
      await sink.write(JSON.stringify({ id: list.id, ...ids, ...list.written, scores: scores.map(shortened) }));
      progress.update(++numDone);
    }
  } finally {
    progress.stop();
  }
  return numDone;
}

/** For the progress; undefined where that is not shown, or where the lists can be read only once. */
async function numLists({ signal, options }: CliContext, input: string): Promise<number | undefined> {
  return options.quiet || !(await stat(input)).isFile() ? undefined : await countLines(input, { signal });
}

/** As many digits as 32-bit vectors can give. */
function shortened(score: number): number {
  return Number(score.toPrecision(7));
}

async function textsOf(collection: string, signal: AbortSignal): Promise<Texts> {
  return await readTexts({ documents: collection, queries: collection }, { mendEncoding: false, signal });
}

const LINE_HINT =
  'a line is {"query", "positive": […], "negatives": […]} or {"query", "docs": […]}, as `lzero mine` writes them';

/** A file without a list is a mistake, not a job that is done at once. What is no file can be read only once. */
async function requireLists(file: string, signal: AbortSignal): Promise<void> {
  if (!(await stat(file)).isFile()) return;
  for await (const lines of readLines(readBytes(file, { signal })))
    if (lines.some(({ text }) => text instanceof BadLine || !isBlank(text))) return;
  throw new InputError(`${file} has no lists`, { hint: LINE_HINT });
}

async function* readLists(
  file: string,
  texts: Texts,
  { skip, signal }: { readonly skip: number; readonly signal: AbortSignal },
): AsyncGenerator<UnscoredList> {
  const parse = parseList(texts);
  let number = 0;
  for await (const lines of readLines(readBytes(file, { signal }))) {
    for (const { text, number: lineNumber } of lines) {
      if (!(text instanceof BadLine) && isBlank(text)) continue;
      if (number++ < skip) continue;
      const list = text instanceof BadLine ? text : parse(text);
      if (list instanceof BadLine)
        throw new InputError(`${file}:${lineNumber}: ${list.message}`, {
          hint: list.hint ?? LINE_HINT,
        });
      yield list;
    }
  }
  if (number < skip)
    throw new ResumeError(`${file} has only ${number} lists, ${skip} were done before`, {
      hint: 'begin again with --restart',
    });
}

// ---- a run

async function writeRun(context: CliContext, { input, teachers, path, options }: TeachJob): Promise<void> {
  const { signal, logger } = context;
  const { k = DEFAULT_K, split, force } = options;
  const collection = await openCollection(input, { split, signal, logger });
  const { tokenizer } = await loadModel('bow');
  const pool = await DocumentPool.read(input, tokenizer, { signal });
  const teaching = { teachers, ensemble: ensembleOf(options, teachers.length === 1 ? 'none' : 'min-max') };
  const tag = teachers.map(({ name }) => name.replace(/\s+/g, '_')).join('+');
  const inputs = await filesOfTexts({ documents: input, queries: input });
  // What was encoded is remembered elsewhere; an unfinished run is made again.
  await writeLines({ path, inputs, identity: {}, restart: true, force }, async (sink) => {
    const rank = await withTeacherProgress(context, { label: 'encoding', total: pool.size * teachers.length }, (told) =>
      rankAll(pool, teaching, { signal, ...told }),
    );
    for await (const { queryId, hits } of rank(collection.queries, { k, signal }))
      await sink.writeAll(formatRun(queryId, hits, tag));
  });
  const numQueries = collection.queries.length;
  logger.info(`wrote ${path}: ${formatCount(numQueries)} queries, all of ${formatCount(pool.size)} documents scored`);
  if (context.options.json) await context.stdout.writeJson({ run: path, queries: numQueries, k });
}

/** Scores of several teachers must be brought together, and training needs their spread. */
function ensembleOf({ normalise, scale }: TeachOptions, usual: EnsembleOptions['normalise']): EnsembleOptions {
  const rule = normalise ?? usual;
  return { normalise: rule, scale: scale ?? (rule === 'min-max' ? PAPER_ENSEMBLE.scale : 1) };
}
