/**
 * Searches on several threads at once. Sparse vectors that are resident lie once in memory that all threads share; in lean
 * mode, and for words, each thread has its own searcher over the same open files.
 */
import { assert, IndexStateError } from '../core/index.ts';
import type {
  SearchSegment,
  SharedSearch,
  SparseSearcher,
  Standing,
  StandingOptions,
  TopK,
  TopKOptions,
} from '../search/index.ts';
import { FileSource } from './byte-files.ts';
import { createSparseSearcher, type IndexQuery, type SearcherSettings, type SearchHost } from './search-host.ts';
import { SearchThread, type ThreadSegment } from './search-thread.ts';

/** A pool of search threads. */
export class SearchPool implements SearchHost {
  readonly #settings: SearcherSettings;
  readonly #threads: readonly SearchThread[];
  /** Owns the shared memory; undefined where threads have their own. */
  readonly #owner: SparseSearcher | undefined;
  /** What each thread searches, to be given back when it has gone on to the next. */
  #descriptions: readonly SharedSearch[] = [];
  #failure: unknown;

  constructor(settings: SearcherSettings, numThreads: number) {
    this.#settings = settings;
    this.#threads = Array.from({ length: numThreads }, () => new SearchThread());
    const isShared = settings.kind === 'sparse' && settings.mode === 'resident';
    this.#owner = isShared ? createSparseSearcher(settings, { shared: true }) : undefined;
  }

  get memoryBytes(): number {
    return this.#threads.reduce((sum, { memoryBytes }) => sum + memoryBytes, this.#owner?.memoryBytes ?? 0);
  }

  async setSegments(segments: readonly SearchSegment[]): Promise<void> {
    // Everything is posted before the first wait: searches that are asked for from now on come after it.
    try {
      await (this.#owner ? this.#attachAll(this.#owner, segments) : this.#loadAll(segments));
    } catch (error) {
      this.#failure = error; // threads may have different segments now
      throw error;
    }
  }

  async #attachAll(owner: SparseSearcher, segments: readonly SearchSegment[]): Promise<void> {
    owner.setSegments(segments);
    const before = this.#descriptions;
    this.#descriptions = this.#threads.map(() => owner.share());
    const descriptions = this.#descriptions;
    await Promise.all(
      this.#threads.map((thread, i) => thread.prepare({ kind: 'attach', description: descriptions[i] })),
    );
    for (const description of before) owner.release(description);
  }

  async #loadAll(segments: readonly SearchSegment[]): Promise<void> {
    const loaded = segments.map(threadSegment);
    const request = { kind: 'load', settings: this.#settings, segments: loaded } as const;
    await Promise.all(this.#threads.map((thread) => thread.prepare(request)));
  }

  async search(query: IndexQuery, options: TopKOptions): Promise<TopK> {
    return await this.#leastBusy().search(query, options);
  }

  async standing(query: IndexQuery, docId: number, options?: StandingOptions): Promise<Standing> {
    return await this.#leastBusy().standing(query, docId, options);
  }

  async close(): Promise<void> {
    this.#failure ??= new IndexStateError('the reader is closed');
    await Promise.all(this.#threads.map((thread) => thread.close()));
    this.#owner?.setSegments([]);
  }

  #leastBusy(): SearchThread {
    if (this.#failure !== undefined) throw this.#failure;
    return this.#threads.reduce((best, thread) => (thread.numWaiting < best.numWaiting ? thread : best));
  }
}

function threadSegment({ key, source, numDocs, deleted }: SearchSegment): ThreadSegment {
  assert(source instanceof FileSource, 'a search thread can read files only');
  return { key, file: source.openFile, numDocs, deleted };
}
