/**
 * Opens a site's search in a page: a worker that has the engine, or the engine in the page itself where there can be none.
 * This is `lzero.js` of a site: small, because all else is fetched beside the index.
 */
import { errorFrom, messageOf, SiteError } from '../core/index.ts';
import type { EngineAnswer, EngineOptions } from './engine.ts';
import { MANIFEST_NAME, parseManifest, type SiteManifest } from './manifest.ts';
import type { PageMessage, WorkerMessage } from './messages.ts';
import type { OpenOptions, SiteAnswer, SiteSearch, SiteSearchOptions } from './types.ts';

/** What searches: behind a worker, or in this thread. */
type Backend = {
  search(text: string, options: EngineOptions, signal: AbortSignal | undefined): Promise<EngineAnswer>;
  readonly degraded: readonly string[];
  close(): void;
};

/** Opens the search of a site. `url` is the folder that `lzero site build` wrote, such as "/search/". */
export async function open(url: string | URL, { worker = true }: OpenOptions = {}): Promise<SiteSearch> {
  const base = folderOf(url);
  const manifest = await fetchManifest(base);
  const engine = new URL(manifest.engine, base);
  if (!worker) return searchOf(await inThisThread(engine, base, manifest), manifest);
  const started = await startWorker(engine).catch((cause: unknown) => messageOf(cause));
  if (typeof started !== 'string') return searchOf(await behindWorker(started, base, manifest), manifest);
  const backend = await inThisThread(engine, base, manifest);
  const message = `no worker could be started (${started}): the page's own thread searches, with the same results`;
  return searchOf(backend, manifest, [message]);
}

declare const document: { readonly baseURI: string } | undefined;

function folderOf(url: string | URL): string {
  const from = typeof document === 'undefined' ? undefined : document.baseURI;
  const { href } = new URL(url, from);
  return href.endsWith('/') ? href : `${href}/`;
}

/** The one file that changes in place: asked for anew, and taken from the cache where there is no network. */
async function fetchManifest(base: string): Promise<SiteManifest> {
  const url = new URL(MANIFEST_NAME, base);
  const get = (cache: 'no-cache' | 'force-cache'): Promise<Response> => {
    const init: RequestInit & { cache: typeof cache } = { cache };
    return fetch(url, init);
  };
  try {
    const response = await get('no-cache').catch(() => get('force-cache'));
    if (!response.ok) throw new SiteError(`${url.href} is missing: the host answered ${response.status}`);
    return parseManifest(await response.text(), url.href);
  } catch (cause) {
    if (cause instanceof SiteError) throw cause;
    throw new SiteError(`${url.href} cannot be fetched: ${messageOf(cause)}`, {
      hint: 'is this the address of the folder that `lzero site build` wrote?',
      cause,
    });
  }
}

/** The search that a page calls. */
function searchOf(backend: Backend, manifest: SiteManifest, degraded: readonly string[] = []): SiteSearch {
  const { numPages, numSections, labels } = manifest;
  let newest = 0;
  let isClosed = false;
  const search = async (text: string, options: SiteSearchOptions = {}): Promise<SiteAnswer> => {
    if (isClosed) throw new SiteError('this search was closed');
    const { signal, ...sent } = options;
    signal?.throwIfAborted();
    const own = ++newest;
    const began = performance.now();
    const answer = await backend.search(text, sent, signal);
    return { query: text, tookMs: performance.now() - began, stale: own !== newest, ...answer };
  };
  const close = (): void => {
    isClosed = true;
    backend.close();
  };
  const site = { numPages, numSections, labels };
  return Object.defineProperties(Object.assign(search, { site, close, degraded }), {
    degraded: { get: () => [...degraded, ...backend.degraded] },
  });
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
  const endAll = (error: Error): void => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  await new Promise<void>((resolve, reject) => {
    worker.addEventListener('error', ({ message = 'the worker failed' }) => {
      reject(new SiteError(message));
      endAll(new SiteError(message));
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
  return {
    search: (text, options, signal) =>
      new Promise((resolve, reject) => {
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
    close: () => {
      worker.terminate();
      endAll(new SiteError('this search was closed'));
    },
  };
}

type Waiting = { resolve(answer: EngineAnswer): void; reject(reason: unknown): void };

function settle(waiting: Map<number, Waiting>, number: number): Waiting | undefined {
  const found = waiting.get(number);
  waiting.delete(number);
  return found;
}
