/** One piece of work on a thread of its own, from its request to its end: progress, failure, and a stop at any moment. */
import { parentPort, Worker, workerData } from 'node:worker_threads';
import {
  assert,
  errorFrom,
  failureOf,
  InterruptedError,
  LzeroError,
  type ThreadFailure,
  threadFlags,
} from '../core/index.ts';
import { THREAD_FAILED, workerFile } from './threads.ts';

/** What a thread answers: how far it is, and at last what it did. */
type JobReply<Done> =
  | { readonly kind: 'progress'; readonly sizeBytes: number }
  | { readonly kind: 'done'; readonly done: Done }
  | ThreadFailure;

/** What is done, and by which thread. */
export type ThreadJob = { readonly file: 'merge-worker' | 'verify-worker'; readonly request: unknown };

/** How to go about it. */
export type ThreadJobOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Told how many bytes are done. */
  readonly onProgress?: ((sizeBytes: number) => void) | undefined;
};

/** Runs a job; the thread has ended when this resolves or fails. */
export async function runThreadJob<Done>({ file, request }: ThreadJob, options: ThreadJobOptions): Promise<Done> {
  const { signal } = options;
  if (signal?.aborted) throw new InterruptedError();
  const worker = new Worker(workerFile(file), { workerData: request, execArgv: threadFlags(process.execArgv) });
  const stop = (): void => void worker.terminate();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await answerOf<Done>(worker, file, options);
  } finally {
    signal?.removeEventListener('abort', stop);
    await worker.terminate();
  }
}

function answerOf<Done>(worker: Worker, file: string, { signal, onProgress }: ThreadJobOptions): Promise<Done> {
  return new Promise<Done>((resolve, reject) => {
    worker.on('message', (reply: JobReply<Done>) => {
      if (reply.kind === 'progress') onProgress?.(reply.sizeBytes);
      else if (reply.kind === 'done') resolve(reply.done);
      else reject(errorFrom(reply));
    });
    worker.on('error', (cause) => reject(new LzeroError(THREAD_FAILED, `the thread of ${file}: ${cause}`, { cause })));
    worker.on('exit', () =>
      reject(
        signal?.aborted ? new InterruptedError() : new LzeroError(THREAD_FAILED, `the thread of ${file} has ended`),
      ),
    );
  });
}

/** Bytes between two reports of progress. */
const REPORT_BYTES = 16 * 2 ** 20;

/** For the thread: does the work that it was started for, and answers. */
export function answerJob<Request, Done>(work: (request: Request, report: (sizeBytes: number) => void) => Done): void {
  const port = parentPort;
  assert(port !== null, 'this file runs as a worker thread only');
  let next = REPORT_BYTES;
  const report = (sizeBytes: number): void => {
    if (sizeBytes < next) return;
    next = sizeBytes + REPORT_BYTES;
    port.postMessage({ kind: 'progress', sizeBytes } satisfies JobReply<Done>);
  };
  try {
    port.postMessage({ kind: 'done', done: work(workerData, report) } satisfies JobReply<Done>);
  } catch (error) {
    port.postMessage(failureOf(error, THREAD_FAILED));
  }
}
