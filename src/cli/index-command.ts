/** `lzero index`: documents, pages or vectors into a new index; resumable; pages are brought up to date. */
import { Command } from 'commander';
import { InterruptedError, UsageError } from '../core/index.ts';
import { countLines, isPageFolder } from '../data/index.ts';
import { type CreateIndexOptions, createIndex, type Index, openIndex } from '../engines/index.ts';
import { removeStore } from '../store/index.ts';
import type { CliContext } from './context.ts';
import { formatCount } from './format.ts';
import {
  type Build,
  type BuildIdentity,
  type BuildOptions,
  buildIdentity,
  buildStates,
  judgeFolder,
} from './index-build.ts';
import { reportIndexJob, runIndexJob } from './index-job.ts';
import { addSourceOptions, notNegative, parseFields, refuseTogether, share, UNNAMED_VECTORS } from './index-options.ts';
import { checkSource, largestWeight, openSource } from './index-source.ts';
import { addModelOptions, type ModelOptions, modelFrom, positiveNumber } from './model-options.ts';
import { withExamples } from './program.ts';

type IndexCommandOptions = ModelOptions & BuildOptions;
type IndexBuild = Build<IndexCommandOptions>;

/** The `index` command. */
export function indexCommand(context: CliContext): Command {
  const command = new Command('index')
    .description('build an index: encode documents, or take stored vectors')
    .argument('[input]', 'BEIR folder, folder of .md, .html, .txt pages, .jsonl, .jsonl.gz, .tsv; - for standard input')
    .requiredOption('-o, --output <folder>', 'where the index goes')
    .option('--bm25', 'the lexical baseline instead of learned vectors; needs no model')
    .option('--k1 <number>', 'of BM25: how much a repeated word counts (default: 0.9)', notNegative)
    .option('--b <share>', 'of BM25: how much long documents are marked down, 0 to 1 (default: 0.4)', share)
    .option('--no-stop-words', 'of BM25: index words such as "the" too (default: they are left out)');
  addSourceOptions(addModelOptions(command))
    .option('--fields <list>', 'fields to filter by, such as lang:keyword,year:number', parseFields)
    .option('--store-vectors', 'keep float weights too, for `search --exact`')
    .option('--max-weight <number>', 'largest weight that 8 bits hold (default: by the model)', positiveNumber)
    .option('--force', 'replace an index that is there')
    .action((input: string | undefined, options: IndexCommandOptions) => index(context, input, options));
  return withExamples(command, {
    'lzero index ./docs -o docs.index': 'a folder of pages; run again after changes: only those are encoded',
    'lzero index corpus.jsonl -o my.index --model ./my-model': 'documents; run again after a kill to go on',
    'lzero index --vectors vectors.jsonl -o my.index --model ./my-model': 'what `lzero encode` wrote',
    'lzero index ./scifact -o bm25.index --bm25': 'the lexical baseline',
  });
}

async function index(context: CliContext, input: string | undefined, options: IndexCommandOptions): Promise<void> {
  checkOptions(options);
  await checkSource(input, options);
  const model = options.bm25 ? undefined : await modelFrom(options);
  try {
    await build(context, { input, options, model });
  } finally {
    await model?.close();
  }
}

function checkOptions(options: IndexCommandOptions): void {
  const { bm25, model, vectors, storeVectors, maxWeight, k1, b, stopWords = true } = options;
  refuseTogether({ '--bm25': bm25, '--model': model });
  refuseTogether({ '--bm25': bm25, '--vectors': vectors });
  refuseTogether({ '--bm25': bm25, '--store-vectors': storeVectors });
  refuseTogether({ '--bm25': bm25, '--max-weight': maxWeight });
  if (!bm25 && (k1 !== undefined || b !== undefined || !stopWords))
    throw new UsageError('--k1, --b and --no-stop-words are for --bm25');
  if (vectors === '-' && maxWeight === undefined)
    throw new UsageError('vectors from standard input need --max-weight: their largest weight is not known before', {
      hint: 'give the largest weight, or the vectors as a file',
    });
}

async function build(context: CliContext, asked: IndexBuild): Promise<void> {
  const { input, options, model } = asked;
  const { signal, logger } = context;
  const identity = await buildIdentity(asked);
  const { opened, isNew } = await openOrCreate(context, asked, identity);
  try {
    const { numDocs } = await opened.stats();
    const source = await openSource(input, options, { index: opened, model, signal, skipKnown: !isNew });
    const isPages = source.pages !== undefined;
    if (!isNew && !isPages) logger.info(`going on after ${formatCount(numDocs)} documents that are done`);
    const total = context.options.quiet ? undefined : await numDocuments(context, asked);
    const state = buildStates(identity);
    const job = { index: opened, source, total, numDone: isPages ? 0 : numDocs, state, dropRemoved: true };
    const outcome = await runIndexJob(context, job);
    await mergeAll(context, opened);
    await reportIndexJob(context, job, outcome);
  } finally {
    await opened.close();
  }
}

/** A new index, or the one that an interrupted build of the same input has left, or that of a folder of pages. */
async function openOrCreate(
  { signal, logger }: CliContext,
  asked: IndexBuild,
  identity: BuildIdentity,
): Promise<{ readonly opened: Index; readonly isNew: boolean }> {
  const { output, vectors, model: named } = asked.options;
  const vectorsOf = vectors !== undefined && named === undefined ? UNNAMED_VECTORS : undefined;
  const writer = { log: false, logger };
  const verdict = await judgeFolder(asked, identity);
  if (verdict === 'go-on') {
    const model = vectorsOf ? undefined : asked.model;
    return { opened: await openIndex(output, { model, writer }), isNew: false };
  }
  const settings = await settingsOf(asked.options, signal); // may fail: before anything is removed
  if (verdict === 'replace') removeStore(output);
  if (vectorsOf) logger.info('vectors without --model: queries are weighed by the embedded IDF table');
  const opened = await createIndex(output, { ...settings, vectorsOf, model: asked.model, writer });
  await opened.commit(buildStates(identity).unfinished); // whatever stops it now, the same command goes on
  return { opened, isNew: true };
}

async function settingsOf(options: IndexCommandOptions, signal: AbortSignal): Promise<CreateIndexOptions> {
  const { fields, storeVectors, vectors, k1, b, stopWords } = options;
  const parameters = { ...(k1 === undefined ? {} : { k1 }), ...(b === undefined ? {} : { b }), stopWords };
  const largest = vectors !== undefined && options.maxWeight === undefined;
  const maxWeight = largest ? await largestWeight(vectors, { ...options, signal }) : options.maxWeight;
  return { kind: options.bm25 ? 'bm25' : 'sparse', fields, storeVectors, maxWeight, bm25: parameters };
}

/** The index is whole before; Ctrl-C costs speed only. */
async function mergeAll({ signal }: CliContext, opened: Index): Promise<void> {
  try {
    await opened.merge({ signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    const hint = `the index is whole, only in more than one segment: lzero merge ${opened.folder}`;
    throw new InterruptedError('interrupted', { hint, cause: error });
  }
}

async function numDocuments({ signal }: CliContext, { input, options }: IndexBuild): Promise<number | undefined> {
  if (input === undefined) return await countLines(options.vectors ?? '-', { signal });
  return (await isPageFolder(input)) || options.chunk ? undefined : await countLines(input, { signal });
}
