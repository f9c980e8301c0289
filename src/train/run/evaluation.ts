/**
 * How good the model is now: the model as it would be written, an index of the development collection, its metrics and
 * costs. The same parts that a user of the finished model has, so that nothing can differ.
 */
import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError, InterruptedError } from '../../core/index.ts';
import type { Collection, Document } from '../../data/index.ts';
import { openCollection } from '../../data/index.ts';
import { createIndex } from '../../engines/index.ts';
import { depthOf, evaluateRun, indexSystem, runSystem } from '../../eval/index.ts';
import { loadModel } from '../../model/index.ts';
import type { TrainConfig } from '../config.ts';
import { choosePinned, type PinnedDocument, type PinnedTerms, pinnedTerms } from './pinned.ts';

/** Which development collection, and how much of it. */
export type EvaluateConfig = Pick<
  NonNullable<TrainConfig['evaluate']>,
  'collection' | 'split' | 'maxQueries' | 'maxDocuments'
>;

/** What an evaluation found. */
export type Evaluation = {
  readonly 'ndcg@10': number;
  readonly 'mrr@10': number;
  readonly 'recall@100': number;
  readonly flops: number;
  readonly docLen: number;
  readonly queryLen: number;
};

/** An evaluation, query by query, and what became of the pinned documents. */
export type EvaluationResult = {
  readonly values: Evaluation;
  /** NDCG@10 of each judged query. */
  readonly perQuery: ReadonlyMap<string, number>;
  readonly pinned: readonly PinnedTerms[];
};

/** By what the best model is chosen. */
export const BEST_BY = 'ndcg@10';

const METRICS = ['ndcg@10', 'mrr@10', 'recall@100'] as const;

/** A development collection that is opened once and searched again and again. */
export class Evaluator {
  readonly #collection: Collection;
  readonly #documents: readonly Document[];
  #pinned: readonly PinnedDocument[];

  /** Reads the collection, of large ones the part that the configuration wants. */
  static async open(config: EvaluateConfig, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Evaluator> {
    const whole = await openCollection(config.collection, { split: config.split, signal });
    const queries = whole.queries.slice(0, config.maxQueries ?? undefined);
    const qrels = new Map(queries.map(({ id }) => [id, whole.qrels.get(id) ?? new Map()]));
    const collection = { ...whole, queries, qrels };
    return new Evaluator(collection, await documentsOf(collection, config.maxDocuments));
  }

  private constructor(collection: Collection, documents: readonly Document[]) {
    this.#collection = collection;
    this.#documents = documents;
    this.#pinned = choosePinned(null, documents);
  }

  /** Has evaluations give the terms of these documents: ids, or texts; null for the first ones of the collection. */
  pin(wanted: readonly string[] | null): void {
    this.#pinned = choosePinned(wanted, this.#documents);
  }

  /** sha256 over all texts and judgements. */
  get identity(): string {
    const { queries, qrels } = this.#collection;
    const hash = createHash('sha256').update(
      JSON.stringify([queries, Array.from(qrels, ([id, own]) => [id, [...own]])]),
    );
    for (const document of this.#documents) hash.update(JSON.stringify(document));
    return hash.digest('hex');
  }

  /** Documents that are encoded at each evaluation. */
  get numDocs(): number {
    return this.#documents.length;
  }

  /**
   * Encodes, indexes and searches with the model in a folder.
   *
   * @param scratch a folder for the index; emptied before and after
   */
  async evaluate(model: string, scratch: string, options: EvaluationOptions): Promise<EvaluationResult> {
    const { threads, signal, onProgress } = options;
    const folder = join(scratch, 'index');
    await rm(folder, { recursive: true, force: true });
    await mkdir(scratch, { recursive: true });
    const loaded = await loadModel(model, { threads });
    try {
      const index = await createIndex(folder, { model: loaded });
      try {
        await index.addAll(this.#documents, { signal, onProgress });
        await index.commit();
        await index.refresh();
        const measured = await this.#measure(indexSystem(index, { name: 'dev', id: 'dev' }), signal);
        return { ...measured, pinned: await pinnedTerms(loaded, this.#pinned, signal) };
      } finally {
        await index.close();
      }
    } finally {
      await loaded.close();
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #measure(
    system: ReturnType<typeof indexSystem>,
    signal: AbortSignal | undefined,
  ): Promise<Pick<EvaluationResult, 'values' | 'perQuery'>> {
    const { run, costs } = await runSystem(system, this.#collection, { k: depthOf(METRICS), signal });
    if (signal?.aborted) throw new InterruptedError();
    const options = { metrics: METRICS, averageOver: 'judged' } as const;
    const { mean, perQuery } = evaluateRun(run, this.#collection.qrels, options);
    const { flops = 0, docLen = 0, queryLen = 0 } = costs ?? {};
    const [ndcg, mrr, recall] = METRICS.map((name) => mean[name]);
    return {
      values: { 'ndcg@10': ndcg, 'mrr@10': mrr, 'recall@100': recall, flops, docLen, queryLen },
      perQuery: new Map(Array.from(perQuery, ([id, own]) => [id, own[BEST_BY]])),
    };
  }
}

/** How an evaluation is run. */
export type EvaluationOptions = {
  readonly threads: number;
  readonly signal?: AbortSignal | undefined;
  /** Told how many documents are encoded. */
  readonly onProgress?: ((numDone: number) => void) | undefined;
};

/** All documents, or the judged ones and, of the others, the first that fit. */
async function documentsOf(collection: Collection, most: number | null): Promise<Document[]> {
  const judged = new Set([...collection.qrels.values()].flatMap((judgements) => [...judgements.keys()]));
  const all: Document[] = [];
  let room = most === null ? Number.POSITIVE_INFINITY : Math.max(0, most - judged.size);
  for await (const document of collection.documents()) {
    if (!judged.has(document.id) && room-- <= 0) continue;
    all.push(document);
  }
  if (all.length === 0) throw new InputError(`${collection.name} has no documents to evaluate on`);
  return all;
}
