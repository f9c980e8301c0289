/**
 * Reads an index: one commit at a time, without a lock, while a writer goes on. Stored fields are read for the hits that
 * are asked for, never for a search. Knows nothing of texts and models: queries come as vectors or analysed words.
 */
import { isDeepStrictEqual } from 'node:util';
import { assert, IndexStateError, type SparseVector, UsageError } from '../core/index.ts';
import {
  type Bitmap,
  checkK,
  compileFilter,
  DEFAULT_K,
  type Filter,
  groupByPage,
  hasBit,
  quantiseQuery,
  rescoreFloat,
  type Standing,
  type StandingOptions,
  type StoredDocument,
  type TopK,
  writtenBytes,
} from '../search/index.ts';
import { isSameCommit, type Manifest, numLiveDocs, type StoreSettings, type UserState } from './manifest.ts';
import { type IndexQuery, LocalHost, type ReaderMode, type SearchHost } from './search-host.ts';
import { SearchPool } from './search-pool.ts';
import { formatOf } from './segment-parts.ts';
import { type DocumentPlace, Snapshot } from './snapshot.ts';
import { type StoreStats, statsOf } from './stats.ts';
import { isDeleted } from './tombstones.ts';
import { Turns } from './turns.ts';

/** How to read. */
export type ReaderOptions = {
  /** Resident: all postings in memory. Lean: those of frequent terms; the others are read when asked for. */
  readonly mode?: ReaderMode | undefined;
  /** Threads that search; 0: this one. */
  readonly workers?: number | undefined;
};

/** What to search for. */
export type SearchOptions = {
  /** Hits wanted, 1 … 10,000. */
  readonly k?: number | undefined;
  /** Conditions on declared fields. */
  readonly filter?: Filter | undefined;
  /** Order and score by the stored float vectors instead of their codes. */
  readonly exact?: boolean | undefined;
};

/** A document that was found. */
export type StoreHit = {
  /** Its number in the commit that was searched; another commit may give it another. */
  readonly docId: number;
  readonly id: string;
  readonly score: number;
};

/** A page that was found, with its best chunk. */
export type StorePageHit = StoreHit & { readonly page: string };

/** Pages that were found. */
export type StorePageHits = {
  readonly hits: readonly StorePageHit[];
  /** False where there may be more pages than were found: see `groupByPage`. */
  readonly complete: boolean;
};

type ChosenOptions = { readonly mode: ReaderMode; readonly workers: number };

/**
 * Opens the newest commit of an index. Checks manifest and directories; `verifyStore` checks every byte. Postings take
 * memory from the first search on: who only adds, or looks documents up, does not pay for them.
 */
export async function openReader(folder: string, options: ReaderOptions = {}): Promise<StoreReader> {
  return await StoreReader.open(folder, options);
}

/** Thrown inside, where a search of several rounds met a refresh. */
const REFRESHED = Symbol('refreshed');

/** Reads an index. Close it: it holds files, memory and threads. */
export class StoreReader {
  readonly #folder: string;
  readonly #options: ChosenOptions;
  readonly #turns = new Turns();
  #snapshot: Snapshot;
  /** Who searches; undefined before the first search. */
  #host: SearchHost | undefined;
  /** Snapshots that a refresh began with and could not finish: what was found in them meanwhile is looked for again. */
  readonly #abandoned = new WeakSet<Snapshot>();
  #isClosed = false;

  /** For `openReader`. */
  static async open(folder: string, { mode = 'resident', workers = 0 }: ReaderOptions): Promise<StoreReader> {
    return new StoreReader(folder, Snapshot.open(folder), { mode, workers });
  }

  private constructor(folder: string, snapshot: Snapshot, options: ChosenOptions) {
    this.#folder = folder;
    this.#snapshot = snapshot;
    this.#options = options;
  }

  /** What was fixed when the index was made. */
  get settings(): StoreSettings {
    return this.#snapshot.manifest;
  }

  /** Which commit is read. */
  get generation(): number {
    return this.#snapshot.manifest.generation;
  }

  /** A name for what is read: another commit has another, and one of another index too. */
  get commit(): string {
    const { id = '', generation } = this.#snapshot.manifest;
    return `${id}/${generation}`;
  }

  /** What was committed with the documents. */
  get userState(): UserState {
    return this.#snapshot.manifest.userState;
  }

  /** Documents that are not deleted. */
  get numDocs(): number {
    return numLiveDocs(this.#snapshot.manifest);
  }

  /** The compact query side; undefined where the index has none. */
  querySide(): Uint8Array | undefined {
    this.#requireOpen();
    return this.#snapshot.querySide();
  }

  /** The best documents, best first; equal scores by ascending document number. */
  async search(query: IndexQuery, options: SearchOptions = {}): Promise<StoreHit[]> {
    return await this.#onOneSnapshot(async (snapshot, host) => {
      const topK = await this.#topK({ snapshot, host }, query, options);
      return hitsOf(snapshot, topK);
    });
  }

  /** The best pages, each by its best chunk. */
  async searchPages(query: IndexQuery, options: SearchOptions = {}): Promise<StorePageHits> {
    return await this.#onOneSnapshot(async (snapshot, host) => {
      const { hits, complete } = await groupByPage({
        k: options.k ?? DEFAULT_K,
        search: (k) => this.#topK({ snapshot, host }, query, { ...options, k }),
        pageOf: (docId) => pageOf(snapshot, docId),
      });
      return { hits: hits.map((hit) => ({ ...hit, id: idOf(snapshot, hit.docId) })), complete };
    });
  }

  /** The stored fields of hits; undefined for a document that a refresh has removed since it was found. */
  async fetch(hits: readonly Pick<StoreHit, 'docId' | 'id'>[]): Promise<(StoredDocument | undefined)[]> {
    return await this.#onOneSnapshot(async (snapshot, host) => {
      const places = hits.map((hit) => placeOfHit(snapshot, hit));
      return await forThoseThere(places, (there) => host.documents(there));
    });
  }

  /** One document by its id. */
  get(id: string): StoredDocument | undefined {
    this.#requireOpen();
    const place = this.#snapshot.find(id);
    return place?.segment.handle.documents.document(place.local);
  }

  /** Whether a document is there. */
  has(id: string): boolean {
    this.#requireOpen();
    return this.#snapshot.find(id) !== undefined;
  }

  /** The page that a document is a chunk of, its own id where it is none; undefined where there is no such document. */
  pageOf(id: string): string | undefined {
    this.#requireOpen();
    const place = this.#snapshot.find(id);
    return place?.segment.handle.documents.pageOf(place.local);
  }

  /** Whether some documents are chunks of pages. */
  get hasPages(): boolean {
    return this.#snapshot.segments.some(({ handle }) => handle.documents.pages.size > 0);
  }

  /** Ids of the chunks of a page, in their order; a document that is no chunk is its own page. */
  partsOf(page: string): string[] {
    this.#requireOpen();
    return this.#snapshot.segments.flatMap(({ handle: { documents }, tombstones }) =>
      documents
        .docsOfPage(page)
        .filter((local) => !isDeleted(tombstones, local))
        .map((local) => documents.idOf(local)),
    );
  }

  /** The float weights of a document, of an index that keeps them; undefined where there is no such document. */
  vector(id: string): SparseVector | undefined {
    this.#requireOpen();
    if (!this.settings.storeVectors) throw keepsNoVectors();
    const place = this.#snapshot.find(id);
    return place && vectorOf(this.#snapshot, docIdOf(place));
  }

  /** Score, products and rank of documents; undefined where there is no such document. */
  async standings(
    query: IndexQuery,
    ids: readonly string[],
    options?: StandingOptions,
  ): Promise<(Standing | undefined)[]> {
    this.#checkQuery(query);
    return await this.#onOneSnapshot((snapshot, host) =>
      forThoseThere(
        ids.map((id) => snapshot.find(id)),
        (places) => host.standings(query, places.map(docIdOf), options),
      ),
    );
  }

  /** The ids of all documents, by document number. */
  *ids(): Generator<string> {
    this.#requireOpen();
    const snapshot = this.#snapshot.use();
    try {
      yield* snapshot.ids();
    } finally {
      snapshot.release();
    }
  }

  /** In how many documents each term stands; those of deleted documents count until they are merged away. */
  frequencies(): Map<number | string, number> {
    return this.#sumOverSegments('frequencies');
  }

  /** Bytes of the posting lists of each term, over all segments. */
  listSizes(): Map<number | string, number> {
    return this.#sumOverSegments('listSizes');
  }

  /** The postings of all documents, as those of one segment, without what is deleted. */
  mergedPostings(): Uint8Array {
    this.#requireOpen();
    const format = formatOf(this.settings);
    return writtenBytes((sink) => format.merge(this.#snapshot.searchSegments, sink));
  }

  #sumOverSegments(what: 'frequencies' | 'listSizes'): Map<number | string, number> {
    this.#requireOpen();
    const format = formatOf(this.settings);
    const total = new Map<number | string, number>();
    for (const { handle } of this.#snapshot.segments)
      for (const [term, value] of format[what](handle.postings)) total.set(term, (total.get(term) ?? 0) + value);
    return total;
  }

  /** What the index holds and takes. */
  stats(): StoreStats {
    return statsOf(this.#snapshot.manifest, this.#host?.memoryBytes ?? 0);
  }

  /**
   * Goes on to the newest commit; false where this is it. Only new segments and tombstones are loaded, unless another
   * index has taken the place of this one; IndexStateError where its queries are read in another way. A refresh that
   * fails leaves the reader with the commit it has.
   */
  async refresh(): Promise<boolean> {
    return await this.#turns.take(async () => {
      this.#requireOpen();
      const last = this.#snapshot;
      const next = Snapshot.open(this.#folder, last);
      const isSame = isSameCommit(next.manifest, last.manifest);
      const other = otherQueries(last.manifest, next.manifest);
      if (isSame || other) next.release();
      if (isSame) return false;
      if (other) throw isAnother(this.#folder, other);
      await this.#goOn(last, next);
      return true;
    });
  }

  async #goOn(last: Snapshot, next: Snapshot): Promise<void> {
    const ready = this.#host?.setSegments(next.searchSegments);
    this.#snapshot = next; // at once: searches from here on are posted behind the new segments
    try {
      await ready;
    } catch (error) {
      this.#snapshot = last;
      this.#abandoned.add(next);
      next.release();
      throw error;
    }
    last.release();
  }

  /** Frees files, memory and threads. */
  async close(): Promise<void> {
    await this.#turns.take(async () => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      await this.#host?.close();
      this.#snapshot.release();
    });
  }

  /** Does work of several steps on one commit; begins again where a refresh came in between. */
  async #onOneSnapshot<T>(work: (snapshot: Snapshot, host: SearchHost) => Promise<T>): Promise<T> {
    for (;;) {
      this.#requireOpen();
      const host = this.#host;
      if (!host) {
        await this.#place();
        continue; // it may have been closed meanwhile
      }
      const snapshot = this.#snapshot.use();
      try {
        const found = await work(snapshot, host);
        if (!this.#abandoned.has(snapshot)) return found;
      } catch (error) {
        if (error !== REFRESHED && !this.#abandoned.has(snapshot)) throw error;
      } finally {
        snapshot.release();
      }
    }
  }

  /** Brings the postings to whoever searches, for the first search. */
  async #place(): Promise<void> {
    await this.#turns.take(async () => {
      this.#requireOpen();
      if (this.#host) return;
      const settings = searcherSettings(this.#snapshot.manifest, this.#options.mode);
      const { workers } = this.#options;
      const host = workers > 0 ? new SearchPool(settings, workers) : new LocalHost(settings);
      try {
        await host.setSegments(this.#snapshot.searchSegments);
      } catch (error) {
        await host.close();
        throw error;
      }
      this.#host = host;
    });
  }

  async #topK(
    { snapshot, host }: { readonly snapshot: Snapshot; readonly host: SearchHost },
    query: IndexQuery,
    options: SearchOptions,
  ): Promise<TopK> {
    const { k = DEFAULT_K, filter, exact = false } = options;
    checkK(k);
    this.#checkQuery(query);
    const bitmaps = filter && filterBitmaps(snapshot, filter);
    const search = async (wanted: number): Promise<TopK> => {
      if (this.#snapshot !== snapshot) throw REFRESHED;
      return await host.search(query, { k: wanted, filter: bitmaps });
    };
    if (!exact) return await search(k);
    return await exactTopK(snapshot, query, { k, search, bitmaps });
  }

  #checkQuery(query: IndexQuery): void {
    const { kind } = this.#snapshot.manifest;
    if (Array.isArray(query) !== (kind === 'bm25'))
      throw new UsageError(
        `${this.#folder} is searched with ${kind === 'bm25' ? 'analysed words' : 'a sparse vector'}`,
      );
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new IndexStateError(`the reader of ${this.#folder} is closed`);
  }
}

function searcherSettings({ kind, scale, bm25 }: StoreSettings, mode: ReaderMode) {
  return { kind, scale, bm25, mode };
}

/** How queries are read and scored: a reader has it from the beginning, and so has whoever made queries with it. */
function queryRules({ kind, model, scale, bm25, querySide }: Manifest): Readonly<Record<string, unknown>> {
  return { kind, model: model?.identity, scale, bm25, 'query side': querySide?.crc32 };
}

/** The first rule that is another, if there is one. */
function otherQueries(last: Manifest, next: Manifest): string | undefined {
  const rules = queryRules(next);
  return Object.entries(queryRules(last)).find(([name, rule]) => !isDeepStrictEqual(rule, rules[name]))?.[0];
}

function isAnother(folder: string, rule: string): IndexStateError {
  return new IndexStateError(`${folder} is another index now: its ${rule} is not that of the one that was opened`, {
    hint: 'close it and open it again',
  });
}

function filterBitmaps(snapshot: Snapshot, filter: Filter): Bitmap[] {
  const compiled = compileFilter(filter, snapshot.manifest.fields);
  return snapshot.segments.map(({ handle }) => compiled(handle.documents));
}

/** A loop: `Array.from` over a typed array takes as long as looking up the ids. */
function hitsOf(snapshot: Snapshot, { docIds, scores }: TopK): StoreHit[] {
  const hits: StoreHit[] = [];
  for (let i = 0; i < docIds.length; i++)
    hits.push({ docId: docIds[i], id: idOf(snapshot, docIds[i]), score: scores[i] });
  return hits;
}

function idOf(snapshot: Snapshot, docId: number): string {
  return snapshot.idAt(placeOf(snapshot, docId));
}

function pageOf(snapshot: Snapshot, docId: number): string {
  const { segment, local } = placeOf(snapshot, docId);
  return segment.handle.documents.pageOf(local);
}

function placeOf(snapshot: Snapshot, docId: number): DocumentPlace {
  const place = snapshot.placeOf(docId);
  assert(place !== undefined, `a search found document ${docId}, which is not there`);
  return place;
}

/** What `ask` gives for the places that are there, each at its own position; undefined at the others. */
async function forThoseThere<T>(
  places: readonly (DocumentPlace | undefined)[],
  ask: (there: readonly DocumentPlace[]) => Promise<readonly T[]>,
): Promise<(T | undefined)[]> {
  const answers = await ask(places.filter((place) => place !== undefined));
  let next = 0;
  return places.map((place) => place && answers[next++]);
}

function docIdOf({ segment, local }: DocumentPlace): number {
  return segment.firstDocId + local;
}

/** Where a hit is now: it was found in this snapshot, or in one before it. */
function placeOfHit(snapshot: Snapshot, { docId, id }: Pick<StoreHit, 'docId' | 'id'>): DocumentPlace | undefined {
  const there = snapshot.placeOf(docId);
  return there && snapshot.idAt(there) === id ? there : snapshot.find(id);
}

/** The float-exact mode over a snapshot. */
async function exactTopK(
  snapshot: Snapshot,
  query: IndexQuery,
  { k, search, bitmaps }: { k: number; search: (k: number) => Promise<TopK>; bitmaps: Bitmap[] | undefined },
): Promise<TopK> {
  const { scale, storeVectors } = snapshot.manifest;
  if (!storeVectors || scale === null || !('terms' in query)) throw keepsNoVectors();
  const { weights, unit } = quantiseQuery(query);
  return await rescoreFloat({
    k,
    query,
    queryCodes: weights,
    unit,
    scale,
    maxWeight: Math.max(0, ...snapshot.segments.map(({ handle }) => handle.vectors?.maxWeight ?? 0)),
    candidates: search,
    vectorOf: (docId) => vectorOf(snapshot, docId),
    documents: () => liveDocIds(snapshot, bitmaps),
  });
}

function keepsNoVectors(): IndexStateError {
  return new IndexStateError('this index keeps no float vectors', {
    hint: 'whether an index keeps float vectors is decided when it is made',
  });
}

function vectorOf(snapshot: Snapshot, docId: number): SparseVector {
  const { segment, local } = placeOf(snapshot, docId);
  assert(segment.handle.vectors !== undefined, 'a segment without float vectors');
  return segment.handle.vectors.vectorAt(local);
}

function* liveDocIds(snapshot: Snapshot, bitmaps: readonly Bitmap[] | undefined): Generator<number> {
  for (const [i, { entry, firstDocId, tombstones }] of snapshot.segments.entries()) {
    const allowed = bitmaps?.[i];
    for (let local = 0; local < entry.numDocs; local++) {
      const isAllowed = !allowed || hasBit(allowed, local);
      if (isAllowed && !isDeleted(tombstones, local)) yield firstDocId + local;
    }
  }
}
