/**
 * What searches one build of a site: a worker that has the engine, or the engine in the page's own thread where there can be
 * no worker. Knows nothing of newer builds; open.ts does.
 */
import { errorFrom, messageOf, SiteError } from '../core/index.ts';
import type { EngineAnswer, EngineOptions } from './engine.ts';
import type { SiteManifest } from './manifest.ts';
import type { PageMessage, WorkerMessage } from './messages.ts';

/** One build of a site that can be searched. */
export type Backend = {
  search(text: string, options: EngineOptions, signal: AbortSignal | undefined): Promise<EngineAnswer>;
  readonly degraded: readonly string[];
  /** It will answer no more: it was closed, or its worker failed. */
  readonly hasEnded: boolean;
  close(): void;
};

/** Opens a build. `base` is the address of the site's folder. */
export async function openBackend(
  base: string,
  manifest: SiteManifest,
  { worker }: { readonly worker: boolean },
): Promise<Backend> {
  const engine = new URL(manifest.engine, base);
  if (!worker) return await inThisThread(engine, base, manifest);
  const started = await startWorker(engine).catch((cause: unknown) => messageOf(cause));
  if (typeof started !== 'string') return await behindWorker(started, base, manifest);
  const backend = await inThisThread(engine, base, manifest);
  const lack = `no worker could be started (${started}): the page's own thread searches, with the same results`;
  return {
    ...backend,
    get degraded() {
      return [lack, ...backend.degraded];
    },
  };
}

/** The engine as a module of the page. */
async function inThisThread(engine: URL, base: string, manifest: SiteManifest): Promise<Backend> {
  const { openEngine }: typeof import('./engine-worker.ts') = await import(/* @vite-ignore */ engine.href);
  const opened = await openEngine(base, manifest);
  return {
    search: (text, options, signal) => opened.search(text, options, signal),
    get degraded() {
      return opened.degraded;
    },
    hasEnded: false,
    close: () => {},
  };
}

/** The little of a worker that is used; the library is also compiled without the web's types. */
type WorkerLike = {
  postMessage(message: PageMessage): void;
  addEventListener(type: 'message', listener: (event: { readonly data: WorkerMessage }) => void): void;
  addEventListener(type: 'error', listener: (event: { readonly message?: string }) => void): void;
  terminate(): void;
};

declare const Worker: (new (url: URL, options: { readonly type: 'module' }) => WorkerLike) | undefined;

/** Starts a worker; rejects where there are none, or where the page's policy or origin forbids this one. */
async function startWorker(engine: URL): Promise<WorkerLike> {
  if (typeof Worker === 'undefined') throw new Error('this browser has no workers');
  const worker = new Worker(engine, { type: 'module' });
  return await new Promise((resolve, reject) => {
    worker.addEventListener('message', () => resolve(worker)); // `ready`, which it says by itself
    worker.addEventListener('error', ({ message = 'the browser refused it' }) => {
      worker.terminate();
      reject(new Error(message || 'the browser refused it'));
    });
  });
}

async function behindWorker(worker: WorkerLike, base: string, manifest: SiteManifest): Promise<Backend> {
  const waiting = new Map<number, Waiting>();
  let degraded: readonly string[] = [];
  let next = 0;
  let ended: Error | undefined;
  const end = (reason: Error): void => {
    ended ??= reason;
    worker.terminate();
    for (const { reject } of waiting.values()) reject(reason);
    waiting.clear();
  };
  const opened = new Promise<void>((resolve, reject) => {
    worker.addEventListener('error', ({ message }) => {
      const reason = new SiteError(message || 'the worker failed');
      reject(reason);
      end(reason);
    });
    worker.addEventListener('message', ({ data }) => {
      if ('degraded' in data) degraded = data.degraded;
      if (data.kind === 'opened') resolve();
      else if (data.kind === 'ready') return;
      else if (data.kind === 'answer') settle(waiting, data.number)?.resolve(data.answer);
      else if (data.number === undefined) reject(errorFrom(data.failure));
      else settle(waiting, data.number)?.reject(errorFrom(data.failure));
    });
    worker.postMessage({ kind: 'open', base, manifest });
  });
  await opened.catch((error: unknown) => {
    worker.terminate(); // whoever tries again starts another
    throw error;
  });
  return {
    search: (text, options, signal) =>
      new Promise((resolve, reject) => {
        if (ended) return reject(ended); // nobody would answer
        const number = next++;
        waiting.set(number, { resolve, reject });
        signal?.addEventListener('abort', () => {
          worker.postMessage({ kind: 'abort', number });
          settle(waiting, number)?.reject(signal.reason);
        });
        worker.postMessage({ kind: 'search', number, text, options });
      }),
    get degraded() {
      return degraded;
    },
    get hasEnded() {
      return ended !== undefined;
    },
    close: () => end(new SiteError('this search was closed')),
  };
}

type Waiting = { resolve(answer: EngineAnswer): void; reject(reason: unknown): void };

function settle(waiting: Map<number, Waiting>, number: number): Waiting | undefined {
  const found = waiting.get(number);
  waiting.delete(number);
  return found;
}
