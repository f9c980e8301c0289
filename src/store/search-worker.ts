/** The thread behind search-thread.ts: searches memory that it shares with its owner, or files that it reads itself. */
import { type MessagePort, parentPort } from 'node:worker_threads';
import { assert, failureOf, IndexStateError } from '../core/index.ts';
import { type SegmentSearcher, SparseSearcher } from '../search/index.ts';
import { FileSource } from './byte-files.ts';
import { createSearcher, type IndexQuery } from './search-host.ts';
import type { PrepareRequest, ThreadReply, ThreadRequest } from './search-thread.ts';
import { THREAD_FAILED } from './threads.ts';

class ThreadSearcher {
  #attached: SegmentSearcher<IndexQuery> | undefined;
  /** Kept over loads: it knows which segments it has. */
  #own: SegmentSearcher<IndexQuery> | undefined;

  /** Its owner believes it to search the segments given last: where they failed, older ones must not answer for them. */
  #isReady = false;

  answer(request: ThreadRequest): ThreadReply {
    switch (request.kind) {
      case 'attach':
      case 'load':
        return { kind: 'ready', memoryBytes: this.#prepare(request) };
      case 'search':
        return { kind: 'search', topK: this.#searcher.search(request.query, request.options) };
      case 'standing':
        return { kind: 'standing', standing: this.#searcher.standing(request.query, request.docId, request.options) };
      default:
        return request satisfies never;
    }
  }

  /** Bytes that this thread holds on its own. */
  #prepare(request: PrepareRequest): number {
    this.#isReady = false;
    const memoryBytes = request.kind === 'attach' ? this.#attach(request) : this.#load(request);
    this.#isReady = true;
    return memoryBytes;
  }

  #attach({ description }: Extract<PrepareRequest, { kind: 'attach' }>): number {
    this.#attached = SparseSearcher.attach(description);
    return 0;
  }

  #load({ settings, segments }: Extract<PrepareRequest, { kind: 'load' }>): number {
    this.#own ??= createSearcher(settings);
    this.#own.setSegments(segments.map(({ file, ...segment }) => ({ ...segment, source: new FileSource(file) })));
    return this.#own.memoryBytes;
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
