/**
 * The embedded index as an engine: the store on disk, a query language, and, for adding, a model. Searching needs no
 * model. One object reads and writes; the writer's lock is taken by the first change and held until `close`.
 */
import { resolve } from 'node:path';
import { IndexStateError, LzeroError, messageOf, type SparseVector, UsageError } from '../core/index.ts';
import { loadModel, type Model } from '../model/index.ts';
import {
  BM25_DEFAULTS,
  type Bm25Parameters,
  checkK,
  DEFAULT_K,
  type FieldSchema,
  type IndexKind,
  MAX_CODE,
  MAX_K,
  parseFieldSchema,
  type Standing,
  type StoredDocument,
  type TermProduct,
} from '../search/index.ts';
import {
  createStore,
  type MergeCall,
  openReader,
  openWriter,
  type ReaderMode,
  type StoreReader,
  type StoreSettings,
  type StoreStats,
  type StoreWriter,
  type UserState,
  type WriterOptions,
} from '../store/index.ts';
import { encodeQuerySide } from '../text/index.ts';
import type {
  Engine,
  EngineQuery,
  EngineStats,
  ExplainOptions,
  Explanation,
  Hit,
  Product,
  SearchAnswer,
  SearchOptions,
} from './engine.ts';
import { type Documents, type IndexingOptions, indexDocuments } from './index-documents.ts';
import { type ParsedQuery, type QueryLanguage, queryLanguageOf } from './query-language.ts';
import { type HitSnippetMaker, hitSnippets } from './snippets.ts';

/** What an index is to be. */
export type CreateIndexOptions = IndexOptions & {
  /** Learned vectors, or the words of BM25. */
  readonly kind?: IndexKind | undefined;
  /** Fields of the documents that filters may use. */
  readonly fields?: FieldSchema | undefined;
  /** Keeps float weights beside the 8-bit ones, for searches with `exact`. */
  readonly storeVectors?: boolean | undefined;
  /** BM25's parameters; `stopWords: false` also indexes words such as "the", which are left out otherwise. */
  readonly bm25?: (Partial<Bm25Parameters> & { readonly stopWords?: boolean | undefined }) | undefined;
  /** Largest weight that 8 bits hold; larger ones become this. The model's own where left out. */
  readonly maxWeight?: number | undefined;
};

/** How an index is opened. */
export type IndexOptions = {
  /** Encodes documents that are added. An index refuses any but the one it was made with. */
  readonly model?: Model | undefined;
  /**
   * Whose vectors will be added, where it is not the model that makes them: the identity as `Model.identity()` tells it,
   * and what messages call it. An index refuses any but those it was made for; of a new one the model then only reads
   * the queries. Vectors of which nobody says whose they are cannot be checked.
   */
  readonly vectorsOf?: { readonly identity: string; readonly name: string } | undefined;
  /** `resident`: all postings in memory. `lean`: those of frequent terms, the others are read when needed. */
  readonly mode?: ReaderMode | undefined;
  /** Threads that search; 0: this one. */
  readonly workers?: number | undefined;
  /** How changes are written. */
  readonly writer?: WriterOptions | undefined;
};

/** What an addition did. */
export type AddReport = {
  readonly numAdded: number;
  /** Of those, documents whose id was there before. */
  readonly numReplaced: number;
  /** Documents of which the model read only the beginning. */
  readonly numTruncated: number;
  /** Weights that were larger than 8 bits hold. */
  readonly numClamped: number;
  readonly numTerms: number;
};

/** How documents are added. */
export type AddOptions = Pick<IndexingOptions, 'signal' | 'logger' | 'onProgress'> & {
  /**
   * Documents are whole: the parts of a page follow each other, and those that the index has besides go when these come.
   * A document without `page` takes the place of all parts of the page with its id. An id that is that of another page's
   * part is refused.
   */
  readonly replacePages?: boolean | undefined;
  /** Called after each group of documents that the writer has taken: a good moment to commit. */
  readonly onGroup?: ((numAdded: number) => Promise<void> | void) | undefined;
};

/** How an index is searched. */
export type IndexSearchOptions = SearchOptions & {
  /** Order and score by the float weights; the index must keep them (`storeVectors`). */
  readonly exact?: boolean | undefined;
  /** Adds to every hit the passage of its text that shows why it was found. */
  readonly snippets?: boolean | undefined;
};

/** Makes an index in a folder that is not there yet, or empty. Without a model, with the embedded one, which it closes itself. */
export async function createIndex(folder: string, options: CreateIndexOptions = {}): Promise<Index> {
  const ownModel = options.kind === 'bm25' || options.model ? undefined : await loadModel();
  try {
    return await createWith(folder, options, ownModel);
  } catch (error) {
    await ownModel?.close();
    throw error;
  }
}

async function createWith(folder: string, options: CreateIndexOptions, ownModel: Model | undefined): Promise<Index> {
  const model = options.kind === 'bm25' ? undefined : (options.model ?? ownModel);
  const settings = await settingsOf(options, model);
  const querySide = model && encodeQuerySide(model);
  const writer = await createStore(folder, { ...settings, querySide }, options.writer);
  try {
    const opened = { ...options, model: options.vectorsOf ? undefined : model };
    return await Index.open(folder, opened, { writer, ownModel });
  } catch (error) {
    await writer.close();
    throw error;
  }
}

/** Opens an index. To add documents that have no vectors yet, give the model it was made with. */
export async function openIndex(folder: string, options: IndexOptions = {}): Promise<Index> {
  return await Index.open(folder, options);
}

async function settingsOf(options: CreateIndexOptions, model: Model | undefined): Promise<StoreSettings> {
  const common = { fields: parseFieldSchema(options.fields ?? {}), storeVectors: options.storeVectors ?? false };
  if (!model) return { ...common, kind: 'bm25', model: null, scale: null, bm25: bm25Settings(options) };
  const identity = options.vectorsOf ?? { identity: await model.identity(), name: storedName(model) };
  const scale = (options.maxWeight ?? model.maxWeight) / MAX_CODE;
  return { ...common, kind: 'sparse', model: identity, scale, bm25: null };
}

function bm25Settings({ bm25 = {} }: CreateIndexOptions): StoreSettings['bm25'] {
  const { k1 = BM25_DEFAULTS.k1, b = BM25_DEFAULTS.b, stopWords = true } = bm25;
  return { k1, b, ...(stopWords ? {} : { stopWords }) }; // left out where true: so it is in manifests from before
}

/** What `createIndex` has opened already. */
type MadeParts = { readonly writer?: StoreWriter | undefined; readonly ownModel?: Model | undefined };

/** An index in a folder. Close it: it holds files, memory, and after a change the writer's lock. */
export class Index implements Engine {
  /** Where it is. */
  readonly folder: string;
  readonly #reader: StoreReader;
  readonly #language: QueryLanguage;
  readonly #options: IndexOptions;
  /** A model that nobody else knows of, to be closed with the index. */
  readonly #ownModel: Model | undefined;
  #writer: Promise<StoreWriter> | undefined;
  #isClosed = false;
  #snippetOf: HitSnippetMaker | undefined;

  /** For `createIndex` and `openIndex`. */
  static async open(folder: string, options: IndexOptions, made: MadeParts = {}): Promise<Index> {
    const reader = await openReader(folder, { mode: options.mode, workers: options.workers });
    try {
      await refuseOtherModel(folder, reader.settings, options);
      return new Index(folder, { ...made, reader, options });
    } catch (error) {
      await reader.close();
      throw error;
    }
  }

  private constructor(
    folder: string,
    parts: MadeParts & { readonly reader: StoreReader; readonly options: IndexOptions },
  ) {
    this.folder = folder;
    this.#ownModel = parts.ownModel;
    this.#reader = parts.reader;
    this.#options = parts.options;
    this.#language = queryLanguageOf(parts.reader);
    this.#writer = parts.writer && Promise.resolve(parts.writer);
  }

  get name(): string {
    return `index:${this.folder}`;
  }

  /** What was fixed when the index was made. */
  get settings(): StoreSettings {
    return this.#reader.settings;
  }

  /** How its queries are read. */
  get language(): QueryLanguage {
    return this.#language;
  }

  /** What was committed together with the documents that searches see. */
  get userState(): UserState {
    return this.#reader.userState;
  }

  /** Adds documents. Weights above the largest of the index are lowered to it; the writer's logger is told how many. */
  async add(documents: Documents): Promise<number> {
    const { numAdded, numClamped } = await this.addAll(documents);
    if (numClamped > 0)
      this.#options.writer?.logger?.warn(
        `${numClamped} weights were above ${this.#maxWeight}, the largest that the index holds, and were lowered to it`,
      );
    return numAdded;
  }

  get #maxWeight(): number {
    return Number(((this.settings.scale ?? 1) * MAX_CODE).toPrecision(6));
  }

  /** Adds documents and says more about it. */
  async addAll(documents: Documents, options: AddOptions = {}): Promise<AddReport> {
    const writer = await this.#openWriter();
    const total = { numAdded: 0, numReplaced: 0, numTruncated: 0, numClamped: 0, numTerms: 0 };
    const vocabulary = this.#language.querySide?.tokenizer.vocabulary;
    const indexing = { ...options, settings: this.settings, model: this.#options.model, vocabulary };
    for await (const { added, ...tally } of indexDocuments(documents, indexing)) {
      const { numReplaced } = await writer.add(added, { replacePages: options.replacePages });
      total.numAdded += added.length;
      total.numReplaced += numReplaced;
      total.numTruncated += tally.numTruncated;
      total.numClamped += tally.numClamped;
      total.numTerms += tally.numTerms;
      await options.onGroup?.(total.numAdded);
    }
    return total;
  }

  /** The id of a page stands for all its parts. */
  async delete(ids: readonly string[]): Promise<number> {
    checkIds(ids);
    return await (await this.#openWriter()).deletePages(ids);
  }

  /**
   * Takes the writer's lock now, not with the first change, and goes on to the newest commit; what an earlier writer has
   * logged and not committed is committed before. So whoever decides what to change by what is there sees all of it.
   */
  async startWriting(): Promise<void> {
    await this.#openWriter();
  }

  /**
   * Makes what was added and deleted visible, and durable.
   *
   * @param userState small JSON to commit together with the documents
   */
  async commit(userState?: UserState): Promise<void> {
    await (await this.#openWriter()).commit(userState);
    await this.#showCommit();
  }

  /** Merges segments to as few as possible and drops deleted documents: searches become faster, files smaller. */
  async merge(call: MergeCall = {}): Promise<void> {
    await (await this.#openWriter()).merge(call);
    await this.#showCommit();
  }

  /**
   * Waits for the merges that commits have begun in the background. `close` stops them: a process that closes after every
   * commit, and never waits, leaves a segment each time. The signal ends the waiting with an InterruptedError.
   */
  async mergesSettled(call: MergeCall = {}): Promise<void> {
    if (!this.#writer) return;
    await (await this.#openWriter()).mergesSettled(call);
    await this.#showCommit();
  }

  /**
   * Goes on to the newest commit, also one of another process; false where this is it. Another index in the place of this
   * one is gone on to as well, but for one that reads queries in another way: IndexStateError.
   */
  async refresh(): Promise<boolean> {
    return await this.#reader.refresh();
  }

  async search(query: EngineQuery, options: IndexSearchOptions = {}): Promise<SearchAnswer> {
    const parsed = this.#language.parse(query);
    return { terms: parsed.terms, hits: await this.#onOneCommit(() => this.#hits(parsed, options)) };
  }

  /** Of a page its best part is explained, and its rank is that among pages. */
  async explain(query: EngineQuery, id: string, options: ExplainOptions = {}): Promise<Explanation | undefined> {
    const parsed = this.#language.parse(query);
    return await this.#onOneCommit(() => this.#explanation(parsed, id, options));
  }

  /** Whether a document is there. */
  has(id: string): boolean {
    return this.#reader.has(id);
  }

  /** The page that a document is a part of, its own id where it is none; undefined where there is no such document. */
  pageOf(id: string): string | undefined {
    return this.#reader.pageOf(id);
  }

  /** Ids of the parts of a page, in their order. */
  partsOf(page: string): string[] {
    return this.#reader.partsOf(page);
  }

  /** A document as it is stored. */
  get(id: string): StoredDocument | undefined {
    return this.#reader.get(id);
  }

  /** All documents as they are stored, in order of addition. */
  *documents(): Generator<StoredDocument> {
    for (const id of this.#reader.ids()) {
      const document = this.#reader.get(id);
      if (document) yield document;
    }
  }

  /** In how many documents each term stands, by token. */
  frequencies(): Map<string, number> {
    return this.#byToken(this.#reader.frequencies());
  }

  /** Bytes of each term's posting lists, by token: what a query with that token reads at most. */
  listSizes(): Map<string, number> {
    return this.#byToken(this.#reader.listSizes());
  }

  /** The postings of all documents, in their order, as one segment: for who takes the index elsewhere. */
  mergedPostings(): Uint8Array {
    return this.#reader.mergedPostings();
  }

  #byToken(values: ReadonlyMap<number | string, number>): Map<string, number> {
    return new Map(Array.from(values, ([term, value]) => [this.#language.tokenOf(term), value]));
  }

  /** How large it is, and what it is made of. */
  async stats(): Promise<EngineStats & { readonly store: StoreStats }> {
    const store = this.#reader.stats();
    const { numDocs, numDeleted, numPostings, sizeBytes } = store;
    const docLen = numDocs + numDeleted > 0 ? numPostings / (numDocs + numDeleted) : undefined;
    return { numDocs, sizeBytes: sizeBytes.total, docLen, store };
  }

  /** Frees files, memory and the writer's lock. What was added and not committed is in the log for the next writer. */
  async close(): Promise<void> {
    this.#isClosed = true;
    try {
      await this.#reader.close();
    } finally {
      // A writer that did not open has said so where it was asked for.
      await (await this.#writer?.catch(() => undefined))?.close();
      await this.#ownModel?.close();
    }
  }

  /** Does what takes several steps on one commit: begins again where a refresh came in between. */
  async #onOneCommit<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      const { commit } = this.#reader;
      const done = await work();
      if (this.#reader.commit === commit) return done;
    }
  }

  async #hits(parsed: ParsedQuery, options: IndexSearchOptions): Promise<Hit[]> {
    const { explain = false, snippets = false, idsOnly = false } = options;
    const found = await this.#find(parsed, options);
    if (idsOnly && !explain) return found.map(({ id, page = id, score }, i) => ({ rank: i + 1, id: page, score }));
    const stored = idsOnly ? [] : await this.#reader.fetch(found);
    const wantsProducts = explain || (snippets && !idsOnly);
    const products = wantsProducts ? await this.#products(parsed, found, options) : [];
    return found.map(({ id, page = id, score }, i): Hit => {
      const hit = { rank: i + 1, id: page, score, ...shownOf(stored[i]), ...(explain ? { explain: products[i] } : {}) };
      return snippets ? { ...hit, ...this.#snippet(hit, products[i] ?? []) } : hit;
    });
  }

  #snippet(hit: Hit, products: readonly Product[]): Pick<Hit, 'snippet'> {
    this.#snippetOf ??= hitSnippets(this.#language);
    const snippet = this.#snippetOf(hit, products);
    return snippet ? { snippet } : {};
  }

  async #explanation(
    parsed: ParsedQuery,
    id: string,
    { rank: wantsRank = true }: ExplainOptions,
  ): Promise<Explanation | undefined> {
    const best = await this.#bestPart(parsed, this.#reader.has(id) ? [id] : this.#reader.partsOf(id));
    if (best === undefined) return undefined;
    const [standing] = await this.#reader.standings(parsed.query, [best], { rank: wantsRank });
    if (!standing) return undefined;
    const products = this.#spell(standing.products);
    const shared = new Set(products.map(({ token }) => token));
    const missing = parsed.terms.filter(({ token }) => !shared.has(token));
    const rank = wantsRank ? await this.#pageRank(parsed, standing, id) : undefined;
    return { id, score: standing.score, rank, products, missing };
  }

  async #find({ query }: ParsedQuery, options: IndexSearchOptions): Promise<readonly FoundPart[]> {
    const { k = DEFAULT_K, filter, exact, parts = false } = options;
    checkK(k);
    if (parts || !this.#reader.hasPages) return await this.#reader.search(query, { k, filter, exact });
    return (await this.#reader.searchPages(query, { k, filter, exact })).hits;
  }

  /** What makes the scores: of an exact search the float weights. */
  async #products(
    { query }: ParsedQuery,
    found: readonly FoundPart[],
    { exact }: IndexSearchOptions,
  ): Promise<Product[][]> {
    const ids = found.map(({ id }) => id);
    if (exact && 'terms' in query) return ids.map((id) => this.#spell(floatProducts(query, this.#reader.vector(id))));
    const standings = await this.#reader.standings(query, ids, { rank: false });
    return standings.map((standing) => this.#spell(standing?.products ?? []));
  }

  async #bestPart({ query }: ParsedQuery, ids: readonly string[]): Promise<string | undefined> {
    const standings = await this.#reader.standings(query, ids, { rank: false });
    const scores = standings.map((standing) => standing?.score ?? -1);
    return ids[scores.indexOf(Math.max(...scores, 0))];
  }

  /** Where a page stands among pages. Behind 10,000 parts it is the rank among parts; so it is for the id of a part. */
  async #pageRank({ query }: ParsedQuery, { rank }: Standing, id: string): Promise<number | undefined> {
    const isPart = this.#reader.get(id)?.page !== undefined;
    if (rank === undefined || rank > MAX_K || isPart || !this.#reader.hasPages) return rank;
    const { hits } = await this.#reader.searchPages(query, { k: rank });
    const at = hits.findIndex(({ page }) => page === id);
    return at < 0 ? rank : at + 1;
  }

  #spell(products: readonly TermProduct[]): Product[] {
    return products
      .map(({ term, ...rest }) => ({ token: this.#language.tokenOf(term), ...rest }))
      .sort((a, b) => b.product - a.product);
  }

  /** What is written stays written, whatever comes of this: the error says so. */
  async #showCommit(): Promise<void> {
    try {
      await this.#reader.refresh();
    } catch (cause) {
      throw new IndexStateError(
        `${this.folder}: what was written is safe, but searches still see the commit before it: ${messageOf(cause)}`,
        { hint: cause instanceof LzeroError ? cause.hint : undefined, cause },
      );
    }
  }

  async #openWriter(): Promise<StoreWriter> {
    if (this.#isClosed) throw new IndexStateError(`the index ${this.folder} is closed`);
    this.#writer ??= this.#beginWriting().catch((error: unknown) => {
      this.#writer = undefined; // another may have released the lock at the next attempt
      throw error;
    });
    return await this.#writer;
  }

  async #beginWriting(): Promise<StoreWriter> {
    const writer = await openWriter(this.folder, this.#options.writer);
    try {
      await refuseOtherModel(this.folder, writer.settings, this.#options); // another index may be there by now
      await this.#reader.refresh();
      if (writer.hasUncommitted) {
        await writer.commit();
        await this.#reader.refresh();
      }
      return writer;
    } catch (error) {
      await writer.close();
      throw error;
    }
  }
}

/** A string would be taken for a list of its characters, which are other ids. */
function checkIds(ids: unknown): void {
  if (!Array.isArray(ids)) throw new UsageError(`ids are a list of strings, got ${JSON.stringify(ids)}`);
  const other = ids.findIndex((id) => typeof id !== 'string');
  if (other >= 0) throw new UsageError(`ids are strings, got ${JSON.stringify(ids[other])} at position ${other}`);
}

type FoundPart = { readonly docId: number; readonly id: string; readonly score: number; readonly page?: string };

/** The products of a query and a vector as they are, without 8 bits between. */
function floatProducts(query: SparseVector, vector: SparseVector | undefined): TermProduct[] {
  const weights = new Map(vector && Array.from(vector.terms, (term, i) => [term, vector.weights[i]]));
  return Array.from(query.terms, (term, i) => {
    const [queryWeight, docWeight] = [query.weights[i], weights.get(term) ?? 0];
    return { term, queryWeight, docWeight, product: queryWeight * docWeight };
  }).filter(({ product }) => product > 0);
}

/** What a hit shows of a stored document. */
function shownOf(stored: StoredDocument | undefined): Partial<Hit> {
  if (!stored) return {};
  const { id, page, origin, ...shown } = stored;
  return shown;
}

/** What an index calls its model: a folder by its whole path, so that it is found from anywhere. */
function storedName({ name, folder }: Model): string {
  return name === folder ? resolve(folder) : name;
}

/** The one place where vectors of different models are kept apart. */
async function refuseOtherModel(folder: string, settings: StoreSettings, options: IndexOptions): Promise<void> {
  const { model, vectorsOf } = options;
  const named = model && { identity: await model.identity(), name: storedName(model) };
  const given = [named ?? [], vectorsOf ?? []].flat();
  const other = given.find(({ identity }) => identity !== settings.model?.identity);
  if (!other) return;
  if (other.name === settings.model?.name)
    throw new IndexStateError(
      `${folder} was made with ${other.name}, but read in another way, or it has changed since`,
      {
        hint: 'give the options that it was made with (--precision, --encode-length, --activation, --prune, --idf), which lzero model import fixes in a folder; made with an embedded model of an older version, it is to be built again',
      },
    );
  const made = settings.model ? `with the model ${settings.model.name}` : 'for BM25, without a model';
  throw new IndexStateError(`${folder} was made ${made}; ${other.name} is another`, {
    hint: 'vectors of different models cannot be compared: use the same model, or build another index',
  });
}
