/** `lzero opensearch ingest`: documents, pages or vectors into an index on a server; run again to go on. */
import { createHash } from 'node:crypto';
import { Command } from 'commander';
import { IndexStateError, InterruptedError, UsageError } from '../core/index.ts';
import { countLines, fileIdentity, inputIdentity, isPageFolder } from '../data/index.ts';
import type { Model } from '../model/index.ts';
import {
  type OpenSearchAddReport,
  type OpenSearchIndex,
  openOpenSearchIndex,
  parseAddress,
  type Rejection,
  resolveName,
  type Server,
} from '../opensearch/index.ts';
import type { CliContext } from './context.ts';
import { DeadLetters } from './dead-letters.ts';
import { formatCount, formatCounted, formatDuration, formatRate } from './format.ts';
import { addSourceOptions, refuseTogether } from './index-options.ts';
import { checkSource, type SourceOptions } from './index-source.ts';
import { addModelOptions, type ModelOptions, modelFrom, positiveInteger } from './model-options.ts';
import { createOn } from './opensearch-create.ts';
import {
  addNewIndexOptions,
  inheritOptions,
  type NewIndexOptions,
  newIndexIdentity,
  optionsOfIndex,
  requireAsAsked,
} from './opensearch-new-index.ts';
import {
  ADDRESS_HELP,
  addServerOptions,
  modelOfIndex,
  requireAddress,
  type ServerCommandOptions,
  serverOf,
} from './opensearch-options.ts';
import { checkReplaceable, giveSettings, ourIndexBehind, requireWhole, takePlace } from './opensearch-replace.ts';
import { openServerSource, type ServerSource } from './opensearch-source.ts';
import { packageVersion, withExamples } from './program.ts';
import { parseShard, type Shard } from './shard.ts';
import { reportSkipped } from './skipped.ts';

type IngestOptions = ServerCommandOptions &
  ModelOptions &
  NewIndexOptions &
  SourceOptions & {
    readonly create?: boolean;
    readonly replace?: boolean;
    readonly deleteOld?: boolean;
    readonly sync?: boolean;
    readonly deadLetters?: string;
    readonly inFlight?: number;
    readonly shard?: Shard;
  };

const EXAMPLE = 'lzero opensearch ingest corpus.jsonl http://localhost:9200/docs --create';

/** The `opensearch ingest` command. */
export function opensearchIngestCommand(context: CliContext): Command {
  const command = new Command('ingest')
    .description('encode documents, or take stored vectors, into an index; run again after a kill to go on')
    .argument('[input]', 'what `lzero index` takes; left out, --vectors alone are taken')
    .argument('[address]', ADDRESS_HELP);
  addNewIndexOptions(addServerOptions(addSourceOptions(addModelOptions(command))))
    .option('--create', 'make the index where there is none')
    .option('--replace', 'fill a new index and put it in the place of the old one, which is searched until then')
    .option('--delete-old', 'of --replace: delete what stood behind the name, where lzero made it')
    .option('--sync', 'afterwards delete what the input does not have')
    .option('--dead-letters <file>', 'add documents that are refused for good to this file, each once, with the reason')
    .option(
      '--shard <i/n>',
      'only every n-th document, starting with the i-th, for machines that share the work',
      parseShard,
    )
    .option('--in-flight <number>', 'requests at a time, at most (default: 2)', positiveInteger)
    .action((input: string | undefined, address: string | undefined, options: IngestOptions) =>
      ingest(context, address === undefined ? { address: input, options } : { input, address, options }),
    );
  return withExamples(command, {
    [EXAMPLE]: 'documents; run again after a kill of client or server',
    'lzero opensearch ingest corpus.jsonl http://localhost:9200/docs --vectors vectors.jsonl --create':
      'what `lzero encode` wrote, with titles and texts',
    'lzero opensearch ingest corpus.jsonl http://localhost:9200/docs --replace':
      'a new index behind the name docs, without a moment in which nothing is found',
  });
}

type IngestCall = {
  readonly input?: string | undefined;
  readonly address: string | undefined;
  readonly options: IngestOptions;
};

async function ingest(context: CliContext, { input, address: given, options }: IngestCall): Promise<void> {
  const address = parseAddress(requireAddress(given, EXAMPLE));
  refuseTogether({ '--create': options.create, '--replace': options.replace });
  refuseTogether({ '--sync': options.sync, '--replace': options.replace });
  if (options.deleteOld && !options.replace) throw new UsageError('--delete-old needs --replace');
  refuseTogether({ '--shard': options.shard, '--replace': options.replace });
  refuseTogether({ '--shard': options.shard, '--sync': options.sync });
  if (isStandardInput(input, options) && (options.sync || options.replace))
    throw new UsageError('--sync and --replace need an input that can be named again, not standard input', {
      hint: 'write it to a file first',
    });
  await checkSource(input, options);
  const server = await serverOf(context, address, options);
  const { index: name } = address;
  let model: Model | undefined;
  try {
    const like = options.replace ? await ourIndexBehind(server, name) : undefined;
    model = await modelFor(context, { server, name: like ?? name, options, isThere: like !== undefined });
    const inherited = like === undefined ? {} : inheritOptions(options, await optionsOfIndex(server, like));
    const whole = { ...options, ...inherited };
    const work = { server, name, model, input, options: whole, asked: options, job: await jobOf(input, whole, model) };
    await (options.replace ? replace(context, work) : fill(context, work));
  } finally {
    await model?.close();
    server.close();
  }
}

type Named = { readonly server: Server; readonly name: string; readonly options: IngestOptions };

/** That of the index, where one is there and no other is named. */
async function modelFor(context: CliContext, named: Named & { readonly isThere: boolean }): Promise<Model> {
  const { server, name, options, isThere } = named;
  if (options.model !== undefined) return await modelFrom(context, options);
  const takesItsModel = isThere || (!options.replace && (await resolveName(server, name)).kind !== 'none');
  return takesItsModel
    ? await modelOfIndex(context, { server, index: name, options })
    : await modelFrom(context, options);
}

/**
 * Names all that decides what is written. Of standard input nothing is known, so there is no job: all of it is sent again,
 * and the ids see to it that nothing is there twice.
 */
async function jobOf(input: string | undefined, options: IngestOptions, model: Model): Promise<string | undefined> {
  if (isStandardInput(input, options)) return undefined;
  const parts = {
    version: packageVersion(),
    input: input === undefined ? null : await inputIdentity(input),
    vectors: options.vectors === undefined ? null : await fileIdentity(options.vectors),
    model: await model.identity(),
    reading: [options.format, options.chunk, options.overlap, options.baseUrl, options.shard].map(
      (value) => value ?? null,
    ),
    ...(options.replace ? { index: newIndexIdentity(options) } : {}),
  };
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

function isStandardInput(input: string | undefined, { vectors }: IngestOptions): boolean {
  return input === '-' || vectors === '-';
}

type Work = Named & {
  /** Of the new index what was asked for, without what it inherits. */
  readonly asked: NewIndexOptions;
  readonly model: Model;
  readonly input: string | undefined;
  readonly job: string | undefined;
};

async function fill(context: CliContext, work: Work): Promise<void> {
  const index = await openOrCreate(context, work, work.name);
  const outcome = await add(context, index, work);
  const numDeleted = work.options.sync ? await sync(index, work, outcome) : 0;
  await report(context, { index, outcome, numDeleted, replaced: [], deletedIndexes: [] });
}

/** What the job has not written goes; so it must have written all that the input has. */
async function sync(index: OpenSearchIndex, { job }: Work, outcome: Outcome): Promise<number> {
  if (job === undefined) throw new Error('bug: --sync without a job');
  requireWhole({ ...outcome, numBad: outcome.source.report.numBad }, '--sync has deleted nothing');
  return await index.deleteOthers(job);
}

/** Fills an index that nobody sees, without copies and refreshes, and gives it what the old one has before the name moves. */
async function replace(context: CliContext, work: Work): Promise<void> {
  const { server, name, options, job } = work;
  if (job === undefined) throw new Error('bug: --replace without a job');
  const replacing = { server, name, deleteOld: options.deleteOld ?? false };
  const [old] = await checkReplaceable(replacing);
  const index = await openUntouched(context, { ...work, options: { ...options, create: true, replicas: 0 } }, job);
  const outcome = await add(context, index, work);
  requireWhole({ ...outcome, numBad: 0 }, `${name} stays what it was`); // --skip-bad asks for an index without them
  if (await index.hasOthers(job))
    throw new IndexStateError(`somebody else has written to ${index.index} meanwhile: ${name} stays what it was`, {
      hint: 'run it again when nobody does: it fills another index then',
    });
  await giveSettings(server, index.index, { old, replicas: work.asked.replicas, logger: context.logger });
  const { replaced, deleted } = await takePlace(replacing, index.index);
  await report(context, { index, outcome, numDeleted: 0, replaced, deletedIndexes: deleted });
}

/**
 * The new index has the job in its name, so the same command finds what an interrupted one has left. One that others have
 * written to since, as they do to the index that a name stands for, is no index of this input: NAME-JOB-2 is filled then.
 */
async function openUntouched(context: CliContext, work: Work, job: string): Promise<OpenSearchIndex> {
  const { replicas, ...asked } = work.asked; // it gets its copies in the end
  for (let number = 1; ; number++) {
    const built = `${work.name}-${job}${number === 1 ? '' : `-${number}`}`;
    const index = await openOrCreate(context, { ...work, asked }, built);
    if (!(await index.hasOthers(job))) return index;
  }
}

async function openOrCreate(context: CliContext, work: Work, name: string): Promise<OpenSearchIndex> {
  const { server, model, input, options } = work;
  const { kind } = await resolveName(server, name);
  if (kind !== 'none') {
    await requireAsAsked(server, name, work.asked);
    return await openOpenSearchIndex(server, name, { model });
  }
  if (!options.create)
    throw new IndexStateError(`${server.url} has no index ${name}`, { hint: 'make it on the way with --create' });
  try {
    return await createOn(context, server, { index: name, model, options, source: { ...options, input } });
  } catch (error) {
    // Machines that share the work begin together, and one of them is the first.
    if (!(error instanceof IndexStateError) || (await resolveName(server, name)).kind === 'none') throw error;
    return await openOpenSearchIndex(server, name, { model });
  }
}

type Outcome = OpenSearchAddReport & { readonly seconds: number; readonly source: ServerSource };

async function add(context: CliContext, index: OpenSearchIndex, work: Work): Promise<Outcome> {
  const { input, options, model, job } = work;
  const { signal, clock, logger } = context;
  const { shard } = options;
  const source = await openServerSource(input, options, { model, signal, shard });
  const deadLetters = options.deadLetters === undefined ? undefined : await DeadLetters.open(options.deadLetters);
  const progress = context.progress();
  const began = clock();
  progress.start({ label: 'ingesting', unit: 'documents', total: await totalOf(context, input, options), done: 0 });
  try {
    const added = await index.addAll(source.documents, {
      job,
      shard,
      replacePages: true,
      signal,
      logger,
      onProgress: (numDone) => progress.update(numDone),
      writer: {
        maxInFlight: options.inFlight,
        logger,
        ...(deadLetters ? { onRejected: (rejection: Rejection) => deadLetters.add(rejection) } : {}),
        ...(options.patience === undefined ? {} : { patienceMs: options.patience * 1000 }),
      },
    });
    await index.commit();
    return { ...added, seconds: (clock() - began) / 1000, source };
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new InterruptedError('interrupted', { hint: 'run the same command again to go on', cause: error });
  } finally {
    progress.stop();
    await deadLetters?.close();
  }
}

/** Of parts nobody knows how many there will be. */
async function totalOf(
  { signal, options: { quiet } }: CliContext,
  input: string | undefined,
  options: IngestOptions,
): Promise<number | undefined> {
  const file = input ?? options.vectors;
  if (quiet || file === undefined || file === '-' || options.chunk || (await isPageFolder(file))) return undefined;
  const total = await countLines(file, { signal });
  if (total === undefined || !options.shard) return total;
  return Math.ceil((total - options.shard.part + 1) / options.shard.of);
}

type Report = {
  readonly index: OpenSearchIndex;
  readonly outcome: Outcome;
  readonly numDeleted: number;
  /** What the name stood for, and what of it was deleted. */
  readonly replaced: readonly string[];
  readonly deletedIndexes: readonly string[];
};

async function report(context: CliContext, told: Report): Promise<void> {
  const { logger } = context;
  const { index, outcome, numDeleted, replaced, deletedIndexes } = told;
  const { numAdded, numThere, numRejected, numLeftOver, numTruncated, numTerms, seconds, source } = outcome;
  const rate = formatRate(numAdded / Math.max(seconds, 1e-3));
  const before = numThere > 0 ? `, after ${formatCount(numThere)} in earlier runs` : '';
  const terms = numAdded > 0 ? `, ${(numTerms / numAdded).toFixed(1)} terms a document` : '';
  logger.info(
    `ingested ${formatCounted(numAdded, 'document')} in ${formatDuration(seconds)} (${rate})${before}${terms}`,
  );
  if (numTruncated > 0) logger.info(`${formatCount(numTruncated)} were longer than the model reads and were cut`);
  if (numRejected > 0)
    logger.warn(`${formatCount(numRejected)} were refused; the reasons are in the file of dead letters`);
  if (numLeftOver > 0) logger.info(`${formatCounted(numLeftOver, 'part')} that pages do not have any more deleted`);
  if (numDeleted > 0) logger.info(`${formatCount(numDeleted)} that the input does not have were deleted`);
  if (replaced.length > 0) logger.info(`${index.index} took the place of ${replaced.join(', ')}`);
  if (deletedIndexes.length > 0) logger.info(`deleted ${deletedIndexes.join(', ')}`);
  reportSkipped(logger, source.report);
  const { numDocs, sizeBytes } = await index.stats();
  if (!context.options.json) return logger.info(`${index.index} holds ${formatCounted(numDocs, 'document')}`);
  await context.stdout.writeJson({
    index: index.index,
    documents: numDocs,
    sizeBytes,
    added: numAdded,
    there: numThere,
    rejected: numRejected,
    deleted: numDeleted + numLeftOver,
    replaced,
    deletedIndexes,
    truncated: numTruncated,
    empty: source.report.numEmpty,
    bad: source.report.numBad,
    seconds,
  });
}
