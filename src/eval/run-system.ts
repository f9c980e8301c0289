/** A system over a collection: its run, computed or found, and its costs. Knows nothing of metrics. */
import { assert, InterruptedError } from '../core/index.ts';
import type { Collection, Hit } from '../data/index.ts';
import { parseMetric } from './metrics/metric.ts';
import type { RunStore, StoredRun } from './run-store.ts';
import type { Answer, System } from './system.ts';

/** How to run a system. */
export type RunSystemOptions = {
  /** Hits wanted for each query. */
  readonly k: number;
  /** Keeps finished runs and unfinished ones; without it nothing is written. */
  readonly store?: RunStore | undefined;
  /** Versions of what computes; another one makes a stored run void. */
  readonly versions?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told how many queries are answered. */
  readonly onProgress?: ((numDone: number) => void) | undefined;
};

/** A run, and whether it was found finished. */
export type SystemRun = StoredRun & { readonly reused: boolean };

/** Answers are kept in batches of this many: what a kill loses. */
const BATCH = 32;
/** Ranks to fetch for a metric without a cut, as TREC does. */
const UNCUT_DEPTH = 1000;

/** Hits that metrics need: the deepest cut, and one more where the query's own document is dropped. */
export function depthOf(
  metrics: readonly string[],
  { dropIdenticalIds = false }: { readonly dropIdenticalIds?: boolean | undefined } = {},
): number {
  const cuts = metrics
    .map((name) => parseMetric(name).k)
    .map((k) => (k === Number.POSITIVE_INFINITY ? UNCUT_DEPTH : k));
  return Math.max(...cuts) + (dropIdenticalIds ? 1 : 0);
}

/** Runs a system on the judged queries of a collection, or takes the finished run from the store. */
export async function runSystem(system: System, collection: Collection, options: RunSystemOptions): Promise<SystemRun> {
  const { store, k, versions = {} } = options;
  if (!store) return { ...(await runInMemory(system, collection, options)), reused: false };
  const key = { collection: collection.name, split: collection.split, system: system.name };
  const identity = { system: system.id, collection: await collection.fingerprint(), k, ...versions };
  const finished = await store.find(key, identity);
  if (finished) return { ...finished, reused: true };
  const writer = await store.begin(key, identity);
  try {
    const done = isPrefix(writer.answers, collection) ? writer.answers.length : 0;
    for await (const batch of batches(answersOf(system, collection, { ...options, done }))) await writer.write(batch);
    return { ...(await writer.finish(await system.costs?.(collection.queries))), reused: false };
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
    throw new InterruptedError(error.message, { hint: 'run the same command again to go on', cause: error });
  } finally {
    await writer.close();
  }
}

async function runInMemory(system: System, collection: Collection, options: RunSystemOptions): Promise<StoredRun> {
  const run = new Map<string, readonly Hit[]>();
  for await (const { queryId, hits } of answersOf(system, collection, { ...options, done: 0 })) run.set(queryId, hits);
  return { run, costs: await system.costs?.(collection.queries) };
}

/** The answers to the queries after the first `done`, checked to come one each, in order. */
async function* answersOf(
  system: System,
  { queries }: Collection,
  { k, signal, onProgress, done }: RunSystemOptions & { readonly done: number },
): AsyncGenerator<Answer> {
  let numDone = done;
  onProgress?.(numDone);
  for await (const answer of system.search(queries.slice(done), { k, signal })) {
    if (signal?.aborted) throw new InterruptedError();
    assert(answer.queryId === queries[numDone]?.id, `${system.name} answered ${answer.queryId} out of order`);
    assert(answer.hits.length <= k, `${system.name} gave ${answer.hits.length} hits where ${k} were asked for`);
    yield answer;
    numDone++;
    onProgress?.(numDone);
  }
  assert(numDone === queries.length, `${system.name} answered ${numDone} of ${queries.length} queries`);
}

function isPrefix(answers: readonly Answer[], { queries }: Collection): boolean {
  return answers.every(({ queryId }, i) => queryId === queries[i]?.id);
}

async function* batches(answers: AsyncIterable<Answer>): AsyncGenerator<Answer[]> {
  let batch: Answer[] = [];
  try {
    for await (const answer of answers) {
      batch.push(answer);
      if (batch.length < BATCH) continue;
      yield batch;
      batch = [];
    }
  } catch (error) {
    // What was answered before the failure is kept too.
    if (batch.length > 0) yield batch;
    throw error;
  }
  if (batch.length > 0) yield batch;
}
