/** Who searches for a reader, and reads what it found: this thread, or a pool of others (search-pool.ts). */
import { assert, type SparseVector } from '../core/index.ts';
import type {
  SearchSegment,
  SegmentSearcher,
  Standing,
  StandingOptions,
  StoredDocument,
  TopK,
  TopKOptions,
} from '../search/index.ts';
import { Bm25Searcher, SparseSearcher } from '../search/index.ts';
import type { StoreSettings } from './manifest.ts';
import type { DocumentPlace } from './snapshot.ts';

/** A query: a sparse vector, or analysed words. */
export type IndexQuery = SparseVector | readonly string[];

/** How much lies in memory: all postings, or those of frequent terms. */
export type ReaderMode = 'resident' | 'lean';

/** How to search. */
export type SearcherSettings = Pick<StoreSettings, 'kind' | 'scale' | 'bm25'> & { readonly mode: ReaderMode };

/** Searches segments, here or elsewhere. */
export type SearchHost = {
  /** Searches asked for after the call see these segments; resolves when no earlier search is going on any more. */
  setSegments(segments: readonly SearchSegment[]): Promise<void>;
  search(query: IndexQuery, options: TopKOptions): Promise<TopK>;
  /** Where some documents stand; asked for at once, because each question costs as much as several answers. */
  standings(query: IndexQuery, docIds: readonly number[], options?: StandingOptions): Promise<Standing[]>;
  /** Documents with their stored fields. Their snapshot must be in use until then. */
  documents(places: readonly DocumentPlace[]): Promise<StoredDocument[]>;
  /** Bytes held in memory for searching, by all threads. */
  readonly memoryBytes: number;
  close(): Promise<void>;
};

/** The searcher of an index. */
export function createSearcher(settings: SearcherSettings): SegmentSearcher<IndexQuery> {
  const { kind, mode, bm25 } = settings;
  if (kind === 'sparse') return createSparseSearcher(settings, { shared: false });
  assert(bm25 !== null, 'an index of words without parameters');
  return new Bm25Searcher({ ...bm25, lean: mode === 'lean' });
}

/** The searcher of an index of sparse vectors. */
export function createSparseSearcher(
  { scale, mode }: SearcherSettings,
  { shared }: { readonly shared: boolean },
): SparseSearcher {
  assert(scale !== null, 'an index of vectors without a scale');
  return new SparseSearcher({ scale, mode, shared });
}

/** Searches in this thread. */
export class LocalHost implements SearchHost {
  readonly #searcher: SegmentSearcher<IndexQuery>;

  constructor(settings: SearcherSettings) {
    this.#searcher = createSearcher(settings);
  }

  get memoryBytes(): number {
    return this.#searcher.memoryBytes;
  }

  async setSegments(segments: readonly SearchSegment[]): Promise<void> {
    this.#searcher.setSegments(segments);
  }

  async search(query: IndexQuery, options: TopKOptions): Promise<TopK> {
    return this.#searcher.search(query, options);
  }

  async standings(query: IndexQuery, docIds: readonly number[], options?: StandingOptions): Promise<Standing[]> {
    return docIds.map((docId) => this.#searcher.standing(query, docId, options));
  }

  async documents(places: readonly DocumentPlace[]): Promise<StoredDocument[]> {
    return places.map(({ segment, local }) => segment.handle.documents.document(local));
  }

  async close(): Promise<void> {
    this.#searcher.setSegments([]);
  }
}
