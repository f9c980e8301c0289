/**
 * The thread behind search-thread.ts: searches memory that it shares with its owner, or files that it reads itself, and reads
 * the text of hits.
 */
import { type MessagePort, parentPort } from 'node:worker_threads';
import { assert, failureOf, IndexStateError } from '../core/index.ts';
import { type SegmentSearcher, SparseSearcher } from '../search/index.ts';
import { FileSource } from './byte-files.ts';
import { createSearcher, type IndexQuery } from './search-host.ts';
import type { PrepareRequest, StoredLine, ThreadAnswer, ThreadReply, ThreadRequest } from './search-thread.ts';
import { openBlocks } from './segment-parts.ts';
import { THREAD_FAILED } from './threads.ts';

class ThreadSearcher {
  #attached: SegmentSearcher<IndexQuery> | undefined;
  /** Kept over loads: it knows which segments it has. */
  #own: SegmentSearcher<IndexQuery> | undefined;

  readonly #blocks = openBlocks();

  /** Its owner believes it to search the segments given last: where they failed, older ones must not answer for them. */
  #isReady = false;

  answer(request: ThreadRequest): ThreadAnswer {
    const answer = this.#answer(request);
    return { ...answer, memoryBytes: this.#own?.memoryBytes ?? 0 }; // what is attached is its owner's
  }

  #answer(request: ThreadRequest) {
    switch (request.kind) {
      case 'attach':
      case 'load':
        this.#prepare(request);
        return { kind: 'ready' } as const;
      case 'search':
        return { kind: 'search', topK: this.#searcher.search(request.query, request.options) } as const;
      case 'standings': {
        const { query, docIds, options } = request;
        const standings = docIds.map((docId) => this.#searcher.standing(query, docId, options));
        return { kind: 'standings', standings } as const;
      }
      case 'lines':
        return { kind: 'lines', lines: request.wanted.map((line) => this.#line(line)) } as const;
      default:
        return request satisfies never;
    }
  }

  #line({ file, range, docId }: StoredLine): string {
    return this.#blocks.line(new FileSource(file), range, docId);
  }

  #prepare(request: PrepareRequest): void {
    this.#isReady = false;
    if (request.kind === 'attach') this.#attached = SparseSearcher.attach(request.description);
    else this.#load(request);
    this.#isReady = true;
  }

  #load({ settings, segments }: Extract<PrepareRequest, { kind: 'load' }>): void {
    this.#own ??= createSearcher(settings);
    this.#own.setSegments(segments.map(({ file, ...segment }) => ({ ...segment, source: new FileSource(file) })));
  }

  get #searcher(): SegmentSearcher<IndexQuery> {
    const searcher = this.#attached ?? this.#own;
    if (!searcher || !this.#isReady) throw new IndexStateError('this search thread has no segments to search');
    return searcher;
  }
}

function serve(port: MessagePort): void {
  const searcher = new ThreadSearcher();
  port.on('message', (request: ThreadRequest) => {
    let reply: ThreadReply;
    try {
      reply = searcher.answer(request);
    } catch (error) {
      reply = failureOf(error, THREAD_FAILED);
    }
    port.postMessage(reply);
  });
}

assert(parentPort !== null, 'search-worker runs as a worker thread only');
serve(parentPort);
