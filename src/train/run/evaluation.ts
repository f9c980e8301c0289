/**
 * How good the model is now: the model as it would be written, an index of the development collection, its metrics and
 * costs. The same parts that a user of the finished model has, so that nothing can differ.
 */
import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, InputError, InterruptedError, type SparseVector } from '../../core/index.ts';
import type { Collection, Document } from '../../data/index.ts';
import { openCollection } from '../../data/index.ts';
import { createIndex, type EngineDocument, type Index } from '../../engines/index.ts';
import { bytesPerQuery, depthOf, evaluateRun, indexSystem, runSystem } from '../../eval/index.ts';
import { formatPruneRule, loadModel, type Model, type PruneRule, prune } from '../../model/index.ts';
import { documentText } from '../../text/index.ts';
import type { TrainConfig } from '../config.ts';
import { choosePinned, type PinnedDocument, type PinnedTerms, pinnedTerms } from './pinned.ts';

/** Which development collection, and how much of it. */
export type EvaluateConfig = Pick<
  NonNullable<TrainConfig['evaluate']>,
  'collection' | 'split' | 'maxQueries' | 'maxDocuments'
> & {
  /** A query must not find the document of its own id. */
  readonly dropIdenticalIds?: boolean | undefined;
};

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

/** What an index of the development collection weighs, and what its queries read of it. */
export type IndexCosts = {
  /** Mean bytes of the posting lists that a query asks for (`bytesPerQuery` of eval). */
  readonly bytesPerQuery: number;
  /** Bytes of the files of postings. Texts that an index keeps are the same whatever the model, and not counted. */
  readonly indexSize: number;
  /** The same for one document: for a development collection that is smaller than the real one. */
  readonly bytesPerDoc: number;
};

/** A model whose vectors were cut by a prune rule. */
export type RuleEvaluation = {
  readonly rule: PruneRule;
  readonly values: Evaluation & IndexCosts;
};

/** By what the best model is chosen. */
export const BEST_BY = 'ndcg@10';

const METRICS = ['ndcg@10', 'mrr@10', 'recall@100'] as const;

/** A development collection that is opened once and searched again and again. */
export class Evaluator implements Judged {
  /** Its queries and judgements. */
  readonly collection: Collection;
  /** A query must not find the document of its own id. */
  readonly dropIdenticalIds: boolean;
  readonly #documents: readonly Document[];
  #pinned: readonly PinnedDocument[];

  /** Reads the collection, of large ones the part that the configuration wants. */
  static async open(config: EvaluateConfig, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Evaluator> {
    const { collection, documents } = await openJudged(config, { signal });
    return new Evaluator(collection, documents, config);
  }

  private constructor(
    collection: Collection,
    documents: readonly Document[],
    { dropIdenticalIds = false }: Pick<EvaluateConfig, 'dropIdenticalIds'>,
  ) {
    this.collection = collection;
    this.dropIdenticalIds = dropIdenticalIds;
    this.#documents = documents;
    this.#pinned = choosePinned(null, documents);
  }

  /** Has evaluations give the terms of these documents: ids, or texts; null for the first ones of the collection. */
  pin(wanted: readonly string[] | null): void {
    this.#pinned = choosePinned(wanted, this.#documents);
  }

  /** sha256 over all texts and judgements. */
  get identity(): string {
    return identityOf({ collection: this.collection, documents: this.#documents });
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
    return await throughIndex(model, scratch, {
      ...options,
      documents: this.#documents,
      measure: async (index, loaded) => ({
        ...(await measured(indexSystem(index, DEV), this, options.signal)),
        pinned: await pinnedTerms(loaded, this.#pinned, options.signal),
      }),
    });
  }

  /**
   * What the model would be with each of these prune rules. Documents are encoded once; a rule is applied to their vectors, as
   * the model itself would apply it, and what is left goes into an index of its own.
   *
   * @param model one that drops nothing itself: what is not there no rule can keep
   * @param scratch a folder for the indexes; emptied before and after
   */
  async evaluateRules(
    { model, rules }: { readonly model: string; readonly rules: readonly PruneRule[] },
    scratch: string,
    options: EvaluationOptions,
  ): Promise<RuleEvaluation[]> {
    const loaded = await loadModel(model, { threads: options.threads });
    try {
      const own = loaded.settings.prune;
      if (own.rule !== 'none')
        throw new ConfigError(`${model} prunes itself, by ${formatPruneRule(own)}: expected none`);
      const vectors = await this.#encode(loaded, options);
      const found: RuleEvaluation[] = [];
      for (const rule of rules) {
        const documents = this.#documents.map(({ id }, i) => ({ id, vector: prune(vectors[i], rule) }));
        found.push({ rule, values: await this.#evaluateVectors({ model: loaded, documents }, scratch, options) });
      }
      return found;
    } finally {
      await loaded.close();
    }
  }

  async #encode(model: Model, { signal, onProgress }: EvaluationOptions): Promise<SparseVector[]> {
    const texts = this.#documents.map((document) => ({ id: document.id, text: documentText(document) }));
    const vectors: SparseVector[] = [];
    for await (const { vector } of model.encode(texts, { signal, onProgress })) vectors.push(vector);
    return vectors;
  }

  /** Through an index in one segment: without log and merges, which what is measured once does not need. */
  async #evaluateVectors(
    { model, documents }: { readonly model: Model; readonly documents: readonly EngineDocument[] },
    scratch: string,
    { signal }: EvaluationOptions,
  ): Promise<Evaluation & IndexCosts> {
    const folder = join(scratch, 'index');
    await rm(folder, { recursive: true, force: true });
    await mkdir(scratch, { recursive: true });
    const vectorsOf = { identity: 'cut', name: 'cut' }; // of nobody's model: it is gone before anybody could add to it
    const index = await createIndex(folder, { model, vectorsOf, writer: { log: false, autoMerge: false } });
    try {
      await index.addAll(documents, { signal });
      await index.commit();
      const { values } = await measured(indexSystem(index, DEV), this, signal);
      const { postings: indexSize } = (await index.stats()).store.sizeBytes;
      const bytesPerDoc = indexSize / documents.length;
      return { ...values, bytesPerQuery: bytesPerQuery(index, this.collection.queries), indexSize, bytesPerDoc };
    } finally {
      await index.close();
      await rm(folder, { recursive: true, force: true });
    }
  }
}

/**
 * A collection that models are measured on and whose documents stay on disk, however many they are: each measurement reads them anew.
 */
export class StreamedCollection implements Judged {
  /** Its queries and judgements. */
  readonly collection: Collection;
  /** A query must not find the document of its own id. */
  readonly dropIdenticalIds: boolean;
  readonly #maxDocuments: number | null;

  /** Reads queries and judgements. */
  static async open(
    config: EvaluateConfig,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<StreamedCollection> {
    return new StreamedCollection(await openQueries(config, { signal }), config);
  }

  private constructor(
    collection: Collection,
    { dropIdenticalIds = false, maxDocuments }: Pick<EvaluateConfig, 'dropIdenticalIds' | 'maxDocuments'>,
  ) {
    this.collection = collection;
    this.dropIdenticalIds = dropIdenticalIds;
    this.#maxDocuments = maxDocuments;
  }

  /** As `Evaluator.evaluate`, without pinned documents. */
  async evaluate(
    model: string,
    scratch: string,
    options: EvaluationOptions,
  ): Promise<Pick<EvaluationResult, 'values' | 'perQuery'>> {
    return await throughIndex(model, scratch, {
      ...options,
      documents: documentsOf(this.collection, this.#maxDocuments),
      measure: (index) => measured(indexSystem(index, DEV), this, options.signal),
    });
  }
}

/** What models are measured by. */
export type Judged = { readonly collection: Collection; readonly dropIdenticalIds: boolean };

const DEV = { name: 'dev', id: 'dev' };

type ThroughIndex<T> = EvaluationOptions & {
  readonly documents: Iterable<Document> | AsyncIterable<Document>;
  readonly measure: (index: Index, model: Model) => Promise<T>;
};

/** Encodes and indexes documents with the model in a folder, and measures the index before it is gone. */
async function throughIndex<T>(
  model: string,
  scratch: string,
  { threads, signal, onProgress, documents, measure }: ThroughIndex<T>,
): Promise<T> {
  const folder = join(scratch, 'index');
  await rm(folder, { recursive: true, force: true });
  await mkdir(scratch, { recursive: true });
  const loaded = await loadModel(model, { threads });
  try {
    const index = await createIndex(folder, { model: loaded });
    try {
      await index.addAll(documents, { signal, onProgress });
      await index.commit();
      await index.refresh();
      return await measure(index, loaded);
    } finally {
      await index.close();
    }
  } finally {
    await loaded.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measured(
  system: ReturnType<typeof indexSystem>,
  { collection, dropIdenticalIds }: Judged,
  signal: AbortSignal | undefined,
): Promise<Pick<EvaluationResult, 'values' | 'perQuery'>> {
  const k = depthOf(METRICS, { dropIdenticalIds });
  const { run, costs } = await runSystem(system, collection, { k, signal });
  if (signal?.aborted) throw new InterruptedError();
  const options = { metrics: METRICS, averageOver: 'judged', dropIdenticalIds } as const;
  const { mean, perQuery } = evaluateRun(run, collection.qrels, options);
  const { flops = 0, docLen = 0, queryLen = 0 } = costs ?? {};
  const [ndcg, mrr, recall] = METRICS.map((name) => mean[name]);
  return {
    values: { 'ndcg@10': ndcg, 'mrr@10': mrr, 'recall@100': recall, flops, docLen, queryLen },
    perQuery: new Map(Array.from(perQuery, ([id, own]) => [id, own[BEST_BY]])),
  };
}

/** How an evaluation is run. */
export type EvaluationOptions = {
  readonly threads: number;
  readonly signal?: AbortSignal | undefined;
  /** Told how many documents are encoded. */
  readonly onProgress?: ((numDone: number) => void) | undefined;
};

/** A collection, or the part of it that is looked at. */
export type JudgedTexts = { readonly collection: Collection; readonly documents: readonly Document[] };

/** Reads a collection, of large ones the part that a configuration wants. */
export async function openJudged(
  config: Omit<EvaluateConfig, 'dropIdenticalIds'>,
  options: { readonly signal?: AbortSignal | undefined },
): Promise<JudgedTexts> {
  const collection = await openQueries(config, options);
  const documents: Document[] = [];
  for await (const document of documentsOf(collection, config.maxDocuments)) documents.push(document);
  return { collection, documents };
}

/** Opens a collection with the queries that a configuration wants. */
async function openQueries(
  { collection: path, split, maxQueries }: Omit<EvaluateConfig, 'dropIdenticalIds'>,
  { signal }: { readonly signal?: AbortSignal | undefined },
): Promise<Collection> {
  const whole = await openCollection(path, { split, signal });
  const queries = whole.queries.slice(0, maxQueries ?? undefined);
  const qrels = new Map(queries.map(({ id }) => [id, whole.qrels.get(id) ?? new Map()]));
  return { ...whole, queries, qrels };
}

/** sha256 over all texts and judgements. */
export function identityOf({ collection: { queries, qrels }, documents }: JudgedTexts): string {
  const hash = createHash('sha256').update(JSON.stringify([queries, Array.from(qrels, ([id, own]) => [id, [...own]])]));
  for (const document of documents) hash.update(JSON.stringify(document));
  return hash.digest('hex');
}

/** All documents, or the judged ones and, of the others, the first that fit. */
async function* documentsOf(collection: Collection, most: number | null): AsyncGenerator<Document> {
  const judged = new Set([...collection.qrels.values()].flatMap((judgements) => [...judgements.keys()]));
  let room = most === null ? Number.POSITIVE_INFINITY : Math.max(0, most - judged.size);
  let isEmpty = true;
  for await (const document of collection.documents()) {
    if (!judged.has(document.id) && room-- <= 0) continue;
    isEmpty = false;
    yield document;
  }
  if (isEmpty) throw new InputError(`${collection.name} has no documents to evaluate on`);
}
