/** Puts a source into an index: progress, commits on the way, a stop that loses nothing, and the words at the end. */
import { InterruptedError } from '../core/index.ts';
import type { AddReport, Index } from '../engines/index.ts';
import type { MergeCall, UserState } from '../store/index.ts';
import type { CliContext } from './context.ts';
import { formatCount, formatCounted, formatDuration, formatRate } from './format.ts';
import type { IndexSource } from './index-source.ts';
import { reportSkipped } from './skipped.ts';

/** What is to be done. */
export type IndexJob = IndexJobSource & {
  readonly index: Index;
  /** How many documents there will be, where known. */
  readonly total?: number | undefined;
  /** How many an earlier, interrupted call has added. */
  readonly numDone?: number | undefined;
  /** What is committed with the documents: while it goes on, and at the end. */
  readonly state?: { readonly unfinished: UserState; readonly finished: UserState } | undefined;
};

/** What is put into an index, and what becomes of what was there. */
export type IndexJobSource = {
  readonly source: IndexSource;
  /** Whether pages that are not in the folder any more are deleted. */
  readonly dropRemoved?: boolean | undefined;
};

/** What was done. */
export type IndexOutcome = AddReport & { readonly numRemoved: number; readonly seconds: number };

/** What a kill can cost. */
const COMMIT_EVERY_MS = 30_000;

/** Runs the job. Whatever stops it, what it has done is committed; after Ctrl-C it says how to go on. */
export async function runIndexJob(context: CliContext, job: IndexJob): Promise<IndexOutcome> {
  const { index, source, state } = job;
  const began = context.clock();
  try {
    const added = await addAll(context, job);
    const removed = job.dropRemoved ? (source.pages?.removed ?? []) : [];
    const numRemoved = removed.length > 0 ? await index.delete(removed) : 0;
    await index.commit(state?.finished);
    return { ...added, numRemoved, seconds: (context.clock() - began) / 1000 };
  } catch (error) {
    await index.commit(state?.unfinished).catch(() => {}); // what failed first is what matters
    if (!context.signal.aborted) throw error;
    throw new InterruptedError('interrupted', { hint: 'run the same command again to go on', cause: error });
  }
}

async function addAll(context: CliContext, job: IndexJob): Promise<AddReport> {
  const { index, source, state, total, numDone = 0 } = job;
  const { signal, clock } = context;
  const progress = context.progress();
  let committed = clock();
  progress.start({ label: 'indexing', unit: 'documents', total, done: numDone });
  try {
    return await index.addAll(source.documents, {
      signal,
      logger: context.logger,
      replacePages: true,
      onProgress: (numAdded) => progress.update(numDone + numAdded),
      onGroup: async () => {
        if (clock() - committed < COMMIT_EVERY_MS) return;
        await index.commit(state?.unfinished);
        committed = clock();
      },
    });
  } finally {
    progress.stop();
  }
}

/** Waits for the merges that are due. What was asked for is committed before: Ctrl-C costs speed only. */
export async function settleMerges(context: CliContext, index: Index): Promise<void> {
  await untilInterrupted(context, index, (call) => index.mergesSettled(call));
}

/** Merges to as few segments as possible. The index is whole before. */
export async function mergeAll(context: CliContext, index: Index): Promise<void> {
  await untilInterrupted(context, index, (call) => index.merge(call));
}

async function untilInterrupted(
  context: CliContext,
  { folder }: Index,
  merge: (call: MergeCall) => Promise<void>,
): Promise<void> {
  const { signal } = context;
  try {
    await merge({ signal, progress: context.progress() });
  } catch (error) {
    if (!signal.aborted) throw error;
    const hint = `the index is whole, with all that was asked for, only in more segments: lzero merge ${folder}`;
    throw new InterruptedError('interrupted', { hint, cause: error });
  }
}

/** Tells how it went. */
export async function reportIndexJob(
  context: CliContext,
  job: IndexJobSource & { readonly index: Index },
  outcome: IndexOutcome,
): Promise<void> {
  const { logger } = context;
  const { numAdded, numReplaced, numTruncated, numClamped, numRemoved, numTerms, seconds } = outcome;
  const { pages, report } = job.source;
  const rate = formatRate(numAdded / Math.max(seconds, 1e-3));
  const terms = numAdded > 0 ? `, ${(numTerms / numAdded).toFixed(1)} terms a document` : '';
  logger.info(`indexed ${formatCounted(numAdded, 'document')} in ${formatDuration(seconds)} (${rate})${terms}`);
  if (pages)
    logger.info(
      `pages: ${formatCount(pages.numChanged)} new or changed, ${formatCount(pages.unchanged.length)} as they were` +
        (job.dropRemoved ? `, ${formatCount(numRemoved)} gone` : ''),
    );
  else if (numReplaced > 0) logger.info(`${formatCount(numReplaced)} of them replaced others`);
  if (pages && pages.numTaken > 0)
    logger.warn(
      `${formatCount(pages.numTaken)} took the place of pages of the same path that came from another folder`,
    );
  if (numTruncated > 0)
    logger.info(`${formatCount(numTruncated)} were longer than the model reads and were cut; --chunk cuts into parts`);
  if (numClamped > 0)
    logger.warn(`${formatCount(numClamped)} weights were above what 8 bits hold and were lowered; see --max-weight`);
  reportSkipped(logger, report);
  for (const file of report.emptyFiles) logger.debug(`  ${file}: no text`);
  if (!context.options.json) return;
  const { numDocs, sizeBytes } = await job.index.stats();
  await context.stdout.writeJson({
    index: job.index.folder,
    documents: numDocs,
    sizeBytes,
    added: numAdded,
    replaced: numReplaced,
    removed: numRemoved,
    truncated: numTruncated,
    clamped: numClamped,
    ...(pages ? { pages: { changed: pages.numChanged, unchanged: pages.unchanged.length } } : {}),
    empty: report.numEmpty,
    bad: report.numBad,
    seconds,
  });
}
