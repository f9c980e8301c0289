/** `lzero index`: documents, pages or vectors into a new index; resumable; pages are brought up to date. */
import { Command } from 'commander';
import { UsageError } from '../core/index.ts';
import { countLines, isPageFolder } from '../data/index.ts';
import { type CreateIndexOptions, createIndex, type Index, openIndex } from '../engines/index.ts';
import { beginReplacement } from '../store/index.ts';
import { type BuildIdentity, buildStates } from './build-note.ts';
import type { CliContext } from './context.ts';
import { formatCounted } from './format.ts';
import { type Build, type BuildOptions, buildIdentity, isSameBuild, judgeFolder } from './index-build.ts';
import { type IndexJobSource, type IndexOutcome, mergeAll, reportIndexJob, runIndexJob } from './index-job.ts';
import {
  addSourceOptions,
  notNegative,
  parseFields,
  refuseTogether,
  share,
  UNNAMED_VECTORS,
  withIndex,
} from './index-options.ts';
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
    .option('--force', 'replace an index that is there; searches find it until the new one is whole')
    .action((input: string | undefined, options: IndexCommandOptions) => index(context, input, options));
  return withExamples(command, {
    'lzero index ./docs -o docs.index': 'a folder of pages; run again after changes: only those are encoded',
    'lzero index corpus.jsonl -o my.index --model ./my-model': 'documents; run again after a kill to go on',
    'lzero index corpus.jsonl --vectors vectors.jsonl -o my.index --model ./my-model':
      'what `lzero encode` wrote, with the titles and texts of its input: snippets and ranks under BM25 need them',
    'lzero index --vectors vectors.jsonl -o my.index --model ./my-model': 'vectors alone: hits are ids',
    'lzero index ./scifact -o bm25.index --bm25': 'the lexical baseline',
  });
}

async function index(context: CliContext, input: string | undefined, options: IndexCommandOptions): Promise<void> {
  checkOptions(options);
  await checkSource(input, options);
  const model = options.bm25 ? undefined : await modelFrom(context, options);
  try {
    await build(context, { input, options, model });
  } finally {
    await model?.close();
  }
}

function checkOptions(options: IndexCommandOptions): void {
  const { bm25, model, vectors, storeVectors, maxWeight, k1, b, stopWords = true } = options;
  refuseTogether({ '--bm25': bm25, '--model': model });
  refuseTogether({ '--bm25': bm25, '--precision': options.precision });
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
  const { output } = asked.options;
  const identity = await buildIdentity(asked);
  const verdict = await judgeFolder(asked, identity);
  const filled =
    verdict === 'replace'
      ? await replace(context, asked, identity)
      : await fill(context, asked, { identity, folder: output, isNew: verdict === 'create' });
  await withIndex(output, { writer: { log: false, logger: context.logger } }, async (index) => {
    await mergeAll(context, index);
    await reportIndexJob(context, { ...filled.job, index }, filled.outcome);
  });
}

/** Builds beside the index that is there, which stays what it is until the new one is whole. */
async function replace(context: CliContext, asked: IndexBuild, identity: BuildIdentity): Promise<Filled> {
  const replacement = beginReplacement(asked.options.output);
  try {
    const { folder } = replacement;
    const isNew = !(await isSameBuild(folder, identity));
    if (isNew) replacement.discard();
    const filled = await fill(context, asked, { identity, folder, isNew });
    await replacement.finish();
    return filled;
  } finally {
    replacement.close();
  }
}

type Place = { readonly identity: BuildIdentity; readonly folder: string; readonly isNew: boolean };
type Filled = { readonly job: IndexJobSource; readonly outcome: IndexOutcome };

async function fill(context: CliContext, asked: IndexBuild, place: Place): Promise<Filled> {
  const { input, options, model } = asked;
  const { signal, logger } = context;
  const opened = await openOrCreate(context, asked, place);
  try {
    await opened.startWriting();
    const state = buildStates(place.identity);
    if (place.isNew) await opened.commit(state.unfinished); // whatever stops it now, the same command goes on
    const { numDocs } = await opened.stats();
    const reading = { index: opened, home: options.output, model, signal, skipKnown: !place.isNew };
    const source = await openSource(input, options, reading);
    const isPages = source.pages !== undefined;
    if (!place.isNew && !isPages) logger.info(`going on after ${formatCounted(numDocs, 'document')} that are done`);
    const total = context.options.quiet ? undefined : await numDocuments(context, asked);
    const job = { index: opened, source, total, numDone: isPages ? 0 : numDocs, state, dropRemoved: true };
    return { job, outcome: await runIndexJob(context, job) };
  } finally {
    await opened.close();
  }
}

/** A new index, or the one that an interrupted build of the same input has left, or that of a folder of pages. */
async function openOrCreate(
  { signal, logger }: CliContext,
  { options, model }: IndexBuild,
  { folder, isNew }: Place,
): Promise<Index> {
  const vectorsOf = options.vectors !== undefined && options.model === undefined ? UNNAMED_VECTORS : undefined;
  const writer = { log: false, logger };
  if (!isNew) return await openIndex(folder, { model: vectorsOf ? undefined : model, writer });
  const settings = await settingsOf(options, signal);
  if (vectorsOf) logger.info('vectors without --model: queries are weighed by the embedded IDF table');
  return await createIndex(folder, { ...settings, vectorsOf, model, writer });
}

async function settingsOf(options: IndexCommandOptions, signal: AbortSignal): Promise<CreateIndexOptions> {
  const { fields, storeVectors, vectors, k1, b, stopWords } = options;
  const parameters = { ...(k1 === undefined ? {} : { k1 }), ...(b === undefined ? {} : { b }), stopWords };
  const largest = vectors !== undefined && options.maxWeight === undefined;
  const maxWeight = largest ? await largestWeight(vectors, { ...options, signal }) : options.maxWeight;
  return { kind: options.bm25 ? 'bm25' : 'sparse', fields, storeVectors, maxWeight, bm25: parameters };
}

async function numDocuments({ signal }: CliContext, { input, options }: IndexBuild): Promise<number | undefined> {
  if (input === undefined) return await countLines(options.vectors ?? '-', { signal });
  return (await isPageFolder(input)) || options.chunk ? undefined : await countLines(input, { signal });
}
