/** One thread of the search pool as its owner sees it, and the messages between them. */
import { Worker } from 'node:worker_threads';
import {
  assert,
  errorFrom,
  IndexStateError,
  LzeroError,
  messageOf,
  type ThreadFailure,
  threadFlags,
} from '../core/index.ts';
import type {
  Bitmap,
  BlockRange,
  SharedSearch,
  Standing,
  StandingOptions,
  TopK,
  TopKOptions,
} from '../search/index.ts';
import type { OpenFile } from './byte-files.ts';
import type { IndexQuery, SearcherSettings } from './search-host.ts';
import { THREAD_FAILED, workerFile } from './threads.ts';

/** A segment for a thread that reads files itself. */
export type ThreadSegment = {
  readonly key: string;
  readonly file: OpenFile;
  readonly numDocs: number;
  readonly deleted: Bitmap | undefined;
};

/** Segments for a thread: in memory that it shares with its owner, or to be loaded. */
export type PrepareRequest =
  | { readonly kind: 'attach'; readonly description: SharedSearch }
  | { readonly kind: 'load'; readonly settings: SearcherSettings; readonly segments: readonly ThreadSegment[] };

/** A document's line, in a block of a file. */
export type StoredLine = { readonly file: OpenFile; readonly range: BlockRange; readonly docId: number };

/** What a thread is asked. */
export type ThreadRequest =
  | PrepareRequest
  | { readonly kind: 'search'; readonly query: IndexQuery; readonly options: TopKOptions }
  | {
      readonly kind: 'standings';
      readonly query: IndexQuery;
      readonly docIds: readonly number[];
      readonly options: StandingOptions | undefined;
    }
  | { readonly kind: 'lines'; readonly wanted: readonly StoredLine[] };

/** What it answers, in the order of asking. */
export type ThreadAnswer = (
  | { readonly kind: 'ready' }
  | { readonly kind: 'search'; readonly topK: TopK }
  | { readonly kind: 'standings'; readonly standings: Standing[] }
  | { readonly kind: 'lines'; readonly lines: readonly string[] }
) & {
  /** Bytes that the thread now holds on its own; every search may add to them. */
  readonly memoryBytes: number;
};

/** What it sends. */
export type ThreadReply = ThreadAnswer | ThreadFailure;

type Waiting = { resolve(reply: ThreadReply): void; reject(error: Error): void };

/** A thread that searches. Close it, or the process stays alive. */
export class SearchThread {
  readonly #worker = new Worker(workerFile('search-worker'), { execArgv: threadFlags(process.execArgv) });
  readonly #waiting: Waiting[] = [];
  #ended: Error | undefined;
  /** Bytes that the thread holds on its own, as of its last answer. */
  memoryBytes = 0;

  constructor() {
    this.#worker.on('message', (reply: ThreadReply) => {
      const first = this.#waiting.shift();
      assert(first !== undefined, 'a search thread answered what nobody asked');
      first.resolve(reply);
    });
    this.#worker.on('error', (cause) =>
      this.#end(new LzeroError(THREAD_FAILED, `a search thread failed: ${messageOf(cause)}`, { cause })),
    );
    this.#worker.on('exit', () => this.#end(new IndexStateError('the reader is closed: a search thread has ended')));
  }

  /** Questions that are not answered yet. */
  get numWaiting(): number {
    return this.#waiting.length;
  }

  /** Whether it can be asked nothing any more. */
  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Gives it segments; resolves when all that was asked before is answered. One that fails has none to search. */
  async prepare(request: PrepareRequest): Promise<void> {
    await this.#ask(request);
  }

  async search(query: IndexQuery, options: TopKOptions): Promise<TopK> {
    const answer = await this.#ask({ kind: 'search', query, options });
    assert(answer.kind === 'search', `asked to search, got the answer to ${answer.kind}`);
    return answer.topK;
  }

  async standings(query: IndexQuery, docIds: readonly number[], options?: StandingOptions): Promise<Standing[]> {
    const answer = await this.#ask({ kind: 'standings', query, docIds, options });
    assert(answer.kind === 'standings', `asked for standings, got the answer to ${answer.kind}`);
    return answer.standings;
  }

  /** Lines of documents; their files must stay open until then. */
  async lines(wanted: readonly StoredLine[]): Promise<readonly string[]> {
    const answer = await this.#ask({ kind: 'lines', wanted });
    assert(answer.kind === 'lines', `asked for lines, got the answer to ${answer.kind}`);
    return answer.lines;
  }

  /** Ends the thread; questions that are not answered fail. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  async #ask(request: ThreadRequest): Promise<ThreadAnswer> {
    if (this.#ended) throw this.#ended;
    const reply = await new Promise<ThreadReply>((resolve, reject) => {
      // Sent first: what cannot be cloned throws here, and must not wait for an answer that is another's.
      this.#worker.postMessage(request);
      this.#waiting.push({ resolve, reject });
    });
    if (reply.kind === 'failure') throw errorFrom(reply);
    this.memoryBytes = reply.memoryBytes;
    return reply;
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended);
  }
}
