/**
 * An index on a server as an engine, behind the same face as the embedded one. The server holds documents and finds them;
 * queries are weighed here, from the model's table, so that no network runs for them.
 *
 * What is added is seen after `commit`, which refreshes the index: indexes that we make refresh at no other time. Unlike an
 * embedded index, another process that commits shows this one's additions too, and so does a deletion while parts of pages
 * are not yet seen: the server finds the parts of a page by a query, and a query finds only what is seen.
 */
import {
  byWeight,
  IndexStateError,
  InputError,
  isJsonObject,
  type JsonObject,
  type Logger,
  type SparseVector,
  UsageError,
} from '../core/index.ts';
import {
  type Engine,
  type EngineDocument,
  type EngineQuery,
  type EngineStats,
  type ExplainOptions,
  type Explanation,
  type Hit,
  isTokenWeights,
  type Product,
  type SearchAnswer,
  type SearchOptions,
  vectorOfTokens,
} from '../engines/index.ts';
import type { Model } from '../model/index.ts';
import { checkK, DEFAULT_K, MAX_K } from '../search/index.ts';
import { encodeQuery, type QueryTerm } from '../text/index.ts';
import { indexIdentity } from './aliases.ts';
import { type BulkOptions, BulkWriter } from './bulk-writer.ts';
import { deleteByQuery } from './delete-by-query.ts';
import { groupsOf, vectorsOf } from './document-groups.ts';
import {
  type DocumentPlace,
  documentSource,
  type FoundDocument,
  foundDocuments,
  givenSource,
  hitOf,
  serverId,
  vectorOfSource,
} from './documents.ts';
import { ServerError } from './errors.ts';
import { filterQuery } from './filter-query.ts';
import { type IndexDescription, isOurs } from './index-body.ts';
import { PassingPages } from './passing-pages.ts';
import {
  type AskedTerms,
  bestParts,
  type CheckedStyle,
  checkStyle,
  isPlain,
  type QueryStyle,
  styledSearch,
  stylePipeline,
} from './query-style.ts';
import { refresh } from './refresh.ts';
import type { Server } from './server.ts';
import type { ServerDescription } from './server-version.ts';
import { storedWeight } from './stored-weight.ts';

/** How an index on a server is opened. */
export type OpenSearchOptions = {
  /** Weighs queries, and encodes documents that have no vector. The index refuses any but the one it was made with. */
  readonly model: Model;
  /** For an index that lzero did not make: the field that holds its vectors, tokens as they are. */
  readonly field?: string | undefined;
  readonly query?: QueryStyle | undefined;
  readonly writer?: BulkOptions | undefined;
};

/** How documents are added. */
export type OpenSearchAddOptions = {
  /**
   * Names the work by all that decides what it writes. Documents that this job has written before are left out, so that
   * the same call goes on after whatever stopped it; their order is that of the stream.
   */
  readonly job?: string | undefined;
  /**
   * Documents are whole: the parts of a page follow each other, and those that the index has besides go when these come. A
   * document without `page` takes the place of all parts of the page with its id.
   */
  readonly replacePages?: boolean | undefined;
  /** Which part of a stream this is, where several share it: numbers of order are then those of the whole. */
  readonly shard?: { readonly part: number; readonly of: number } | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly logger?: Logger | undefined;
  /** Told how many documents of the stream are acknowledged or were there. */
  readonly onProgress?: ((numDone: number) => void) | undefined;
  readonly writer?: BulkOptions | undefined;
};

/** What an addition did. */
export type OpenSearchAddReport = {
  readonly numAdded: number;
  /** Documents that an earlier call of the same job has written. */
  readonly numThere: number;
  readonly numRejected: number;
  /** Parts that went because their pages do not have them any more. */
  readonly numLeftOver: number;
  readonly numTruncated: number;
  readonly numTerms: number;
};

/** Hits of two-phase and hybrid queries are not collapsed by the server: so many parts are asked for each page, at first. */
const PARTS_A_PAGE = 5;

/** A terms query takes 65,536 (`index.max_terms_count`); so many are asked for at a time. */
const MAX_TERMS = 10_000;

/** What an index is opened with. */
export type OpenSearchIndexParts = OpenSearchOptions & {
  readonly description: IndexDescription;
  readonly server: ServerDescription;
};

/** An index on a server. Closing it ends the server's connections. */
export class OpenSearchIndex implements Engine {
  /** Its name, or that of an alias. */
  readonly index: string;
  /** What it is. */
  readonly description: IndexDescription;
  readonly #server: Server;
  readonly #serverDescription: ServerDescription;
  readonly #options: OpenSearchOptions;
  readonly #style: CheckedStyle;
  #hasPages: boolean | undefined;
  #nextOrder: number | undefined;
  /** Whether parts of pages were added that searches do not see yet. */
  #hasNewParts = false;

  /** For `createOpenSearchIndex` and `openOpenSearchIndex`. */
  constructor(server: Server, index: string, { description, server: its, ...options }: OpenSearchIndexParts) {
    this.index = index;
    this.description = description;
    this.#server = server;
    this.#serverDescription = its;
    this.#options = options;
    this.#style = checkStyle(options.query ?? {}, description, its);
  }

  get name(): string {
    return `opensearch:${this.#server.url}/${this.index}`;
  }

  /** Version and plugins of the server. */
  get server(): ServerDescription {
    return this.#serverDescription;
  }

  /** Whether every document is scored: not so in two steps, by clusters, or where BM25 is joined. */
  get isExact(): boolean {
    return isPlain(this.#style) && this.description.vector.type === 'rank_features';
  }

  /** Whether BM25 is joined. */
  get isHybrid(): boolean {
    return this.#style.hybridShare !== undefined;
  }

  /** How the vocabulary spells a term. */
  tokenOf(term: number): string | undefined {
    return this.#options.model.tokenizer.vocabulary.tokens[term];
  }

  async add(documents: Iterable<EngineDocument> | AsyncIterable<EngineDocument>): Promise<number> {
    return (await this.addAll(documents)).numAdded;
  }

  /** Adds documents and says more about it. Returns when the server has acknowledged them. */
  async addAll(
    documents: Iterable<EngineDocument> | AsyncIterable<EngineDocument>,
    options: OpenSearchAddOptions = {},
  ): Promise<OpenSearchAddReport> {
    const tally = { numAdded: 0, numThere: 0, numLeftOver: 0, numTruncated: 0, numTerms: 0 };
    let numDone = 0;
    const writer = new BulkWriter(this.#server, this.index, {
      probe: () => this.#probe(),
      ...this.#options.writer,
      ...options.writer,
      onAcknowledged: (count) => {
        numDone += count;
        options.onProgress?.(numDone);
      },
    });
    const isResumed = options.job !== undefined && (await this.#hasJob(options.job));
    const identity = await this.#identity();
    let order = options.job === undefined ? await this.#firstOrder() : 0;
    const pages = options.replacePages ? await this.#passingPages() : undefined;
    try {
      for await (const group of groupsOf(documents)) {
        options.signal?.throwIfAborted();
        const there = isResumed ? await this.#written(group, options.job) : new Set<string>();
        if (there.size < group.length) await this.#addGroup(group, { writer, there, order, tally, options });
        for (const document of group) pages?.pass(document);
        tally.numLeftOver += await this.#dropLeftovers(pages?.leftovers({ hasEnded: false }));
        order += group.length;
        tally.numThere += there.size;
        numDone += there.size;
        if (there.size > 0) options.onProgress?.(numDone);
        if (options.job === undefined) this.#nextOrder = order;
      }
    } catch (error) {
      await writer.settle(); // what is encoded already is not lost
      throw error;
    }
    await writer.flush();
    this.#requireSame(identity, await this.#identity());
    tally.numLeftOver += await this.#dropLeftovers(pages?.leftovers({ hasEnded: true }));
    return { ...tally, numAdded: writer.numIndexed, numRejected: writer.numRejected };
  }

  /** The id of a page stands for all its parts, but for those that another process has added and not committed. */
  async delete(ids: readonly string[]): Promise<number> {
    const writer = new BulkWriter(this.#server, this.index, this.#options.writer);
    for (const id of new Set(ids)) await writer.write({ kind: 'delete', id });
    await writer.flush();
    return writer.numDeleted + (await this.#deletePages(ids));
  }

  /** Deletes all documents that a job has not written; what is added is seen with it. Returns how many. */
  async deleteOthers(job: string): Promise<number> {
    await this.commit();
    const numDeleted = await this.#deleteByQuery({ bool: { must_not: [{ term: { job } }] } });
    await this.commit();
    return numDeleted;
  }

  /** Whether it has documents that a job has not written; what is added is seen with it. */
  async hasOthers(job: string): Promise<boolean> {
    await this.commit();
    const query = { bool: { must_not: [{ term: { job } }] } };
    const { body } = await this.#search({ size: 0, track_total_hits: 1, query });
    return totalOf(body) > 0;
  }

  async commit(): Promise<void> {
    await refresh(this.#server, { index: this.index, type: this.description.vector.type });
    this.#hasPages = undefined;
    this.#hasNewParts = false;
  }

  async search(query: EngineQuery, options: SearchOptions = {}): Promise<SearchAnswer> {
    const k = checkK(options.k ?? DEFAULT_K);
    const { terms, text } = this.#parse(query);
    const filter = filterQuery(options.filter, this.description.fields);
    const hasWords = this.isHybrid && text !== undefined;
    if (terms.length === 0 && !hasWords) return { terms, hits: [] };
    if (options.explain) this.#requireExplanations();
    const found = await this.#find({ terms, text }, { ...options, k, restriction: filter });
    const hits = found.map((document, i): Hit => {
      const hit = { rank: i + 1, ...hitOf(document, { asPage: !options.parts, isOurs: this.#isOurs }) };
      return options.explain ? { ...hit, explain: this.#products(terms, document) } : hit;
    });
    return { terms, hits };
  }

  async explain(
    query: EngineQuery,
    id: string,
    { rank: wantsRank = true }: ExplainOptions = {},
  ): Promise<Explanation | undefined> {
    this.#requireExplanations();
    const { terms } = this.#parse(query);
    const parts = await this.#documentsOf(id);
    if (parts.length === 0) return undefined;
    const [best] = parts
      .map((part) => ({ part, products: this.#products(terms, part) }))
      .map(({ part, products }) => ({ part, products, score: products.reduce((sum, { product }) => sum + product, 0) }))
      .sort((a, b) => b.score - a.score);
    const shared = new Set(best.products.map(({ token }) => token));
    const isPart = this.#isOurs && typeof best.part.source.page === 'string' && best.part.source.page !== id;
    return {
      id,
      score: best.score,
      rank: wantsRank && best.products.length > 0 ? await this.#rankOf(query, id, isPart) : undefined,
      products: best.products,
      missing: terms.filter(({ token }) => !shared.has(token)),
    };
  }

  async stats(): Promise<EngineStats> {
    const { body } = await this.#search({
      size: 0,
      track_total_hits: true,
      aggs: { docLen: { avg: { field: 'numTerms' } } },
    });
    const stats = await this.#server.ask({ method: 'GET', path: `${this.#path}/_stats/store` });
    const all = isJsonObject(stats.body._all) ? stats.body._all : {};
    const total = isJsonObject(all.total) && isJsonObject(all.total.store) ? all.total.store : {};
    const docLen = aggregated(body, 'docLen');
    return {
      numDocs: totalOf(body),
      ...(typeof total.size_in_bytes === 'number' ? { sizeBytes: total.size_in_bytes } : {}),
      ...(docLen === undefined ? {} : { docLen }),
    };
  }

  async close(): Promise<void> {
    this.#server.close();
  }

  /**
   * The scores of some documents for a query, as the server computes them, and their stored vectors; for parity checks.
   */
  async scoresOf(
    query: EngineQuery,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, { readonly score: number; readonly vector: SparseVector | undefined }>> {
    const { terms, text } = this.#parse(query);
    const only = this.#isOurs ? { terms: { id: ids } } : { ids: { values: ids.map(serverId) } };
    const numWanted = this.#isOurs || this.isExact ? ids.length : MAX_K; // clusters find others before these
    const body = { ...this.#asked({ terms, text }, numWanted, only), size: ids.length, track_total_hits: false };
    const answer = terms.length === 0 || ids.length === 0 ? {} : (await this.#search(body)).body;
    return new Map(
      foundDocuments(answer).map((document) => [
        hitOf(document, { asPage: false, isOurs: this.#isOurs }).id,
        { score: document.score, vector: this.#vectorOf(document) },
      ]),
    );
  }

  get #isOurs(): boolean {
    return isOurs(this.description);
  }

  // ---- asking

  get #path(): string {
    return `/${encodeURIComponent(this.index)}`;
  }

  async #post(action: string, body?: JsonObject) {
    return await this.#server.ask({
      method: 'POST',
      path: `${this.#path}/${action}`,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  }

  /** All shards, or an error: hits of some of them look like an answer and are none. */
  async #search(body: JsonObject) {
    const answer = await this.#post('_search?allow_partial_search_results=false', body);
    const { hits, timed_out: isPartial } = answer.body;
    if (isPartial === true) throw new ServerError(`${this.name}: the search ran out of time, and its hits are not all`);
    if (!isJsonObject(hits))
      throw new ServerError(`${this.name}: the answer to a search has no hits`, {
        hint: 'is this an OpenSearch server?',
      });
    return answer;
  }

  /** Words or weights as terms of the model's vocabulary. */
  #parse(query: EngineQuery): AskedTerms {
    const { model } = this.#options;
    if (typeof query === 'string') return { terms: encodeQuery(model, query).terms, text: query };
    if (!isJsonObject(query) || !isTokenWeights(query.vector))
      throw new UsageError('a query is a text or { vector: weights by token }');
    vectorOfTokens(query.vector, model.tokenizer.vocabulary, (problem) => new UsageError(`the query ${problem}`));
    return { terms: Object.entries(query.vector).map(([token, weight]) => ({ token, weight })), text: undefined };
  }

  #asked(asked: AskedTerms, numWanted: number, filter: JsonObject | undefined): JsonObject {
    const { vocabulary } = this.#options.model.tokenizer;
    const { description } = this;
    const idOf = (token: string) => vocabulary.idOf(token);
    return styledSearch(asked, this.#style, { description, idOf, numWanted, filter });
  }

  /** Best first; of pages the best part. */
  async #find(asked: AskedTerms, options: FindOptions): Promise<readonly FoundDocument[]> {
    const { k, restriction, parts = false, idsOnly = false, explain = false } = options;
    const asPages = !parts && this.#isOurs;
    const mayHavePages = asPages && (await this.#anyPages());
    const canSort = isPlain(this.#style);
    const isApproximate = this.description.vector.type === 'sparse_vector';
    const source = idsOnly && !explain ? ['id', 'page', 'chunk', 'order'] : undefined;
    const body = {
      track_total_hits: false,
      _source: source ?? (explain ? true : { excludes: [this.description.field] }),
      ...(canSort ? this.#plainOrder(mayHavePages && !isApproximate) : { search_pipeline: stylePipeline(this.#style) }),
    };
    if (!canSort || isApproximate) return await this.#findMore(asked, body, { k, restriction, asPages, mayHavePages });
    const found = foundDocuments(
      (await this.#search({ ...body, ...this.#asked(asked, k, restriction), size: k })).body,
    );
    if (asPages && !mayHavePages && found.some(({ source: { page } }) => page !== undefined)) {
      this.#hasPages = true; // somebody else has added some
      return await this.#find(asked, options);
    }
    return found;
  }

  /**
   * Where the server does not collapse, pages of many parts may crowd out others, and of what clusters give a filter may take
   * too many away: then more is asked for.
   */
  async #findMore(
    asked: AskedTerms,
    body: JsonObject,
    { k, restriction, asPages, mayHavePages }: FindMore,
  ): Promise<readonly FoundDocument[]> {
    const isApproximate = this.description.vector.type === 'sparse_vector';
    for (let size = mayHavePages ? Math.min(MAX_K, k * PARTS_A_PAGE) : k; ; size = Math.min(MAX_K, size * 4)) {
      const answer = await this.#search({ ...body, ...this.#asked(asked, size, restriction), size });
      // Where few documents fit a filter all of them are hits of clusters, those without a term of the query with 0.
      const found = foundDocuments(answer.body).filter(({ score }) => !isApproximate || this.isHybrid || score > 0);
      const best = bestParts(found, { k, asPages });
      const areAll = found.length < size && !(isApproximate && restriction);
      if (best.length >= k || areAll || size >= MAX_K) return best;
    }
  }

  #plainOrder(collapses: boolean): JsonObject {
    return {
      ...(this.#isOurs ? { sort: [{ _score: 'desc' }, { order: 'asc' }] } : {}),
      ...(collapses ? { collapse: { field: 'group' } } : {}),
    };
  }

  /** Asked once for each commit of ours. */
  async #anyPages(): Promise<boolean> {
    if (this.#hasPages === undefined) {
      const { body } = await this.#search({ size: 0, track_total_hits: 1, query: { exists: { field: 'page' } } });
      this.#hasPages = totalOf(body) > 0;
    }
    return this.#hasPages;
  }

  // ---- explaining

  #requireExplanations(): void {
    if (this.#style.hybridShare !== undefined)
      throw new UsageError('the score of a hybrid is no sum of products', { hint: 'leave out the share of BM25' });
    if (!this.description.storeVectors)
      throw new IndexStateError(`${this.name} does not keep vectors as they were sent`, {
        hint: 'explanations need them: fill an index with storeVectors',
      });
  }

  #vectorOf({ source }: FoundDocument): SparseVector | undefined {
    return vectorOfSource(source, this.description, { vocabulary: this.#options.model.tokenizer.vocabulary });
  }

  /**
   * Products with the weights as the server keeps them, largest first. Segments of a sparse_vector field that are searched
   * approximately have coarser ones, so there the products need not add up to the score.
   */
  #products(terms: readonly QueryTerm[], document: FoundDocument): Product[] {
    const { tokens } = this.#options.model.tokenizer.vocabulary;
    const vector = this.#vectorOf(document);
    const weights = new Map(vector && byWeight(vector).map((i) => [tokens[vector.terms[i]], vector.weights[i]]));
    return terms
      .flatMap(({ token, weight }) => {
        const docWeight = storedWeight(weights.get(token) ?? 0);
        return docWeight > 0 ? [{ token, queryWeight: weight, docWeight, product: weight * docWeight }] : [];
      })
      .sort((a, b) => b.product - a.product);
  }

  /** The document of an id, or the parts of a page. */
  async #documentsOf(id: string): Promise<FoundDocument[]> {
    const should = [{ ids: { values: [serverId(id)] } }, ...(this.#isOurs ? [{ term: { page: id } }] : [])];
    const { body } = await this.#search({ size: 1000, track_total_hits: false, query: { bool: { should } } });
    return foundDocuments(body);
  }

  /** Where a document stands; undefined behind 10,000 others. */
  async #rankOf(query: EngineQuery, id: string, parts: boolean): Promise<number | undefined> {
    for (const k of [100, MAX_K]) {
      const { hits } = await this.search(query, { k, parts, idsOnly: true });
      const rank = hits.find((hit) => hit.id === id)?.rank;
      if (rank !== undefined || hits.length < k) return rank;
    }
    return undefined;
  }

  // ---- changing

  async #firstOrder(): Promise<number> {
    if (this.#nextOrder === undefined) {
      const { body } = await this.#search({
        size: 0,
        track_total_hits: false,
        aggs: { last: { max: { field: 'order' } } },
      });
      this.#nextOrder = (aggregated(body, 'last') ?? -1) + 1;
    }
    return this.#nextOrder;
  }

  async #addGroup(group: readonly EngineDocument[], context: GroupContext): Promise<void> {
    const { writer, there, order, tally, options } = context;
    const { model } = this.#options;
    const { signal, logger, job, shard: { part = 1, of = 1 } = {} } = options;
    const vectors = await vectorsOf(group, model, { signal, logger, onTruncated: () => tally.numTruncated++ });
    for (const [i, document] of group.entries()) {
      if (there.has(document.id)) continue;
      this.#hasNewParts ||= document.page !== undefined;
      const place = { order: (order + i) * of + part - 1, job };
      const vector = vectors[i];
      const source = vector instanceof InputError ? vector : this.#sourceOf(document, vector, place);
      if (!(vector instanceof InputError)) tally.numTerms += vector.terms.length;
      if (typeof source === 'string') await writer.write({ kind: 'index', id: document.id, source });
      else await writer.refuse({ id: document.id, source: givenSource(document) }, source);
    }
  }

  /** A document as it is sent, or what is wrong with it. */
  #sourceOf(document: EngineDocument, vector: SparseVector, place: DocumentPlace): string | InputError {
    const { vocabulary } = this.#options.model.tokenizer;
    try {
      return documentSource(document, vector, { description: this.description, vocabulary, place });
    } catch (error) {
      if (error instanceof InputError) return error;
      throw error;
    }
  }

  /** A document that nothing is wrong with. */
  #probe(): string {
    const vector = { terms: Uint32Array.of(0), weights: Float32Array.of(1) };
    const { vocabulary } = this.#options.model.tokenizer;
    const place = { order: 0 };
    const document = { id: 'probe', title: 'probe', text: 'probe' };
    return documentSource(document, vector, { description: this.description, vocabulary, place });
  }

  async #hasJob(job: string): Promise<boolean> {
    await this.commit(); // what was acknowledged before a kill may not be seen yet
    const { body } = await this.#search({ size: 0, track_total_hits: 1, query: { term: { job } } });
    return totalOf(body) > 0;
  }

  /** Which of these documents this job has written. */
  async #written(group: readonly EngineDocument[], job: string | undefined): Promise<Set<string>> {
    const { body } = await this.#post('_mget?_source_includes=job', { ids: group.map(({ id }) => serverId(id)) });
    const answers = Array.isArray(body.docs) ? body.docs : [];
    const isOfJob = (answer: unknown): boolean =>
      isJsonObject(answer) && answer.found === true && isJsonObject(answer._source) && answer._source.job === job;
    return new Set(group.flatMap(({ id }, i) => (isOfJob(answers[i]) ? [id] : [])));
  }

  /** Of an index that others made we ask no more than is needed. */
  async #identity(): Promise<string | undefined> {
    return this.#isOurs ? await indexIdentity(this.#server, this.index) : undefined;
  }

  /** To an index that was deleted a server adds by making another of its name; an alias may have moved. */
  #requireSame(before: string | undefined, after: string | undefined): void {
    if (before === after) return;
    throw new IndexStateError(
      `${this.name} is another index than when this addition began: it was deleted, or its alias was moved, and documents went to both`,
      { hint: 'see what has the name now, delete it where the server made it by itself, and run it again' },
    );
  }

  /** Follows what is added; undefined where the index is empty, and nothing can be left over. */
  async #passingPages(): Promise<PassingPages | undefined> {
    await this.commit(); // what an addition before has written may not be seen yet
    const { body } = await this.#search({ size: 0, track_total_hits: 1 });
    return totalOf(body) === 0 ? undefined : new PassingPages({ hasParts: await this.#anyPages() });
  }

  /** A deletion is a task of the server, so it is first asked whether there is anything to delete. */
  async #dropLeftovers(queries: readonly JsonObject[] = []): Promise<number> {
    let numDeleted = 0;
    for (const query of queries) {
      const { body } = await this.#search({ size: 0, track_total_hits: 1, query });
      if (totalOf(body) > 0) numDeleted += await this.#deleteByQuery(query);
    }
    return numDeleted;
  }

  async #deletePages(ids: readonly string[]): Promise<number> {
    if (this.#hasNewParts) await this.commit();
    if (!this.#isOurs || !(await this.#anyPages())) return 0;
    const pages = [...new Set(ids)];
    let numDeleted = 0;
    for (let first = 0; first < pages.length; first += MAX_TERMS)
      numDeleted += await this.#deleteByQuery({ terms: { page: pages.slice(first, first + MAX_TERMS) } });
    return numDeleted;
  }

  async #deleteByQuery(query: JsonObject): Promise<number> {
    return await deleteByQuery(this.#server, { index: this.index, type: this.description.vector.type, query });
  }
}

type FindOptions = SearchOptions & { readonly k: number; readonly restriction: JsonObject | undefined };

type FindMore = Pick<FindOptions, 'k' | 'restriction'> & { readonly asPages: boolean; readonly mayHavePages: boolean };

type GroupContext = {
  readonly writer: BulkWriter;
  readonly there: ReadonlySet<string>;
  readonly order: number;
  readonly tally: { numTruncated: number; numTerms: number };
  readonly options: OpenSearchAddOptions;
};

function totalOf({ hits }: JsonObject): number {
  const total = isJsonObject(hits) ? hits.total : undefined;
  return isJsonObject(total) && typeof total.value === 'number' ? total.value : 0;
}

function aggregated({ aggregations }: JsonObject, name: string): number | undefined {
  const found = isJsonObject(aggregations) ? aggregations[name] : undefined;
  return isJsonObject(found) && typeof found.value === 'number' ? found.value : undefined;
}
