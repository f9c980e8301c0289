/**
 * Searches on several threads at once. Sparse vectors that are resident lie once in memory that all threads share; in lean
 * mode, and for words, each thread has its own searcher over the same open files.
 */
import { assert, IndexStateError } from '../core/index.ts';
import type {
  SearchSegment,
  SparseSearcher,
  Standing,
  StandingOptions,
  StoredDocument,
  TopK,
  TopKOptions,
} from '../search/index.ts';
import { FileSource } from './byte-files.ts';
import { createSparseSearcher, type IndexQuery, type SearcherSettings, type SearchHost } from './search-host.ts';
import { type PrepareRequest, SearchThread, type StoredLine, type ThreadSegment } from './search-thread.ts';
import type { DocumentPlace } from './snapshot.ts';

/** The segments of one commit, as they are given to each thread. */
type Prepared = readonly PrepareRequest[];

/** A pool of search threads. */
export class SearchPool implements SearchHost {
  readonly #settings: SearcherSettings;
  readonly #threads: SearchThread[];
  /** Owns the shared memory; undefined where threads have their own. */
  readonly #owner: SparseSearcher | undefined;
  /** What the threads search, or will when they have answered what was asked before. */
  #prepared: Prepared | undefined;
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
    const before = this.#prepared;
    const next = this.#prepare(segments); // what fails here has changed nothing
    // Everything is posted before the first wait: searches that are asked for from now on come after it.
    this.#prepared = next;
    try {
      await this.#post(next);
    } catch (error) {
      this.#goBack(before, next);
      throw error;
    }
    this.#failure = undefined;
    this.#release(before ?? []);
  }

  async search(query: IndexQuery, options: TopKOptions): Promise<TopK> {
    return await this.#leastBusy().search(query, options);
  }

  async standings(query: IndexQuery, docIds: readonly number[], options?: StandingOptions): Promise<Standing[]> {
    return docIds.length === 0 ? [] : await this.#leastBusy().standings(query, docIds, options);
  }

  /** Unpacking the text of ten hits takes longer than most searches: threads do it, and send only the hits' own lines. */
  async documents(places: readonly DocumentPlace[]): Promise<StoredDocument[]> {
    if (places.length === 0) return [];
    const lines = await this.#leastBusy().lines(places.map(storedLine));
    return places.map(({ segment, local }, i) =>
      segment.handle.documents.documentIn({ firstDoc: local, lines: [lines[i]] }, local),
    );
  }

  async close(): Promise<void> {
    this.#failure ??= new IndexStateError('the reader is closed');
    await Promise.all(this.#threads.map((thread) => thread.close()));
    this.#owner?.setSegments([]);
  }

  // ---- commits

  #prepare(segments: readonly SearchSegment[]): Prepared {
    if (this.#owner) return this.#share(this.#owner, segments);
    const request = { kind: 'load', settings: this.#settings, segments: segments.map(threadSegment) } as const;
    return this.#threads.map(() => request);
  }

  #share(owner: SparseSearcher, segments: readonly SearchSegment[]): Prepared {
    owner.setSegments(segments);
    const requests: PrepareRequest[] = [];
    try {
      for (const _ of this.#threads) requests.push({ kind: 'attach', description: owner.share() });
      return requests;
    } catch (error) {
      this.#release(requests);
      throw error;
    }
  }

  async #post(prepared: Prepared): Promise<void> {
    await Promise.all(prepared.map((request, i) => this.#living(i).prepare(request)));
  }

  /**
   * A thread has failed to go on, others may have gone on: all are told to search again what they had. The owner keeps
   * the new segments in memory, for the next attempt.
   */
  #goBack(before: Prepared | undefined, failed: Prepared): void {
    this.#prepared = before;
    this.#post(before ?? []).then(
      () => this.#release(failed),
      (error: unknown) => {
        this.#failure ??= error; // threads have different segments now
      },
    );
  }

  /** Gives back memory that no thread searches any more. */
  #release(prepared: Prepared): void {
    for (const request of prepared) if (request.kind === 'attach') this.#owner?.release(request.description);
  }

  // ---- threads

  #leastBusy(): SearchThread {
    if (this.#failure !== undefined) throw this.#failure;
    const threads = this.#threads.map((thread, i) => (thread.hasEnded ? this.#revive(i) : thread));
    return threads.reduce((best, thread) => (thread.numWaiting < best.numWaiting ? thread : best));
  }

  /** A thread in the place of one that has ended, with the same segments. Its first search waits for them. */
  #revive(i: number): SearchThread {
    const thread = this.#living(i);
    const request = this.#prepared?.[i];
    // What goes wrong meets whoever searches: the thread then has no segments, or has ended.
    if (request) thread.prepare(request).catch(() => {});
    return thread;
  }

  #living(i: number): SearchThread {
    if (this.#threads[i].hasEnded) this.#threads[i] = new SearchThread();
    return this.#threads[i];
  }
}

function storedLine({ segment: { handle }, local }: DocumentPlace): StoredLine {
  return { file: handle.documentsFile, range: handle.documents.blockOf(local), docId: local };
}

function threadSegment({ key, source, numDocs, deleted }: SearchSegment): ThreadSegment {
  assert(source instanceof FileSource, 'a search thread can read files only');
  return { key, file: source.openFile, numDocs, deleted };
}
