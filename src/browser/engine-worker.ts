/**
 * The script that searches, `lzero-engine-HASH.js` of a site: as a worker it answers messages, as a module it is what pages
 * without workers import.
 */
import { failureOf } from '../core/index.ts';
import { SiteEngine } from './engine.ts';
import type { SiteManifest } from './manifest.ts';
import type { PageMessage, WorkerMessage } from './messages.ts';
import { FetchingHost, httpFetch } from './site-host.ts';

/** Opens an engine over HTTP; `base` is the address of the site's folder. */
export function openEngine(base: string, manifest: SiteManifest): Promise<SiteEngine> {
  return SiteEngine.open(new FetchingHost(httpFetch(base)), manifest, { count: () => {} });
}

/** The little of a worker's world that is used; the library is also compiled without its types. */
type WorkerScope = {
  postMessage(message: WorkerMessage): void;
  addEventListener(type: 'message', listener: (event: { readonly data: PageMessage }) => void): void;
};

declare const DedicatedWorkerGlobalScope: (new () => WorkerScope) | undefined;

function serve(scope: WorkerScope): void {
  const running = new Map<number, AbortController>();
  let engine: Promise<SiteEngine> | undefined;
  const search = async ({ number, text, options }: PageMessage & { kind: 'search' }): Promise<void> => {
    const controller = new AbortController();
    running.set(number, controller);
    try {
      const opened = await engine;
      if (!opened) throw new Error('bug: a search before the site was opened');
      const answer = await opened.search(text, options, controller.signal);
      scope.postMessage({ kind: 'answer', number, answer, degraded: opened.degraded });
    } catch (error) {
      scope.postMessage({ kind: 'failed', number, failure: failureOf(error, 'SITE') });
    } finally {
      running.delete(number);
    }
  };
  const opened = async (coming: Promise<SiteEngine>): Promise<void> => {
    try {
      scope.postMessage({ kind: 'opened', degraded: (await coming).degraded });
    } catch (error) {
      scope.postMessage({ kind: 'failed', failure: failureOf(error, 'SITE') });
    }
  };
  scope.addEventListener('message', ({ data }) => {
    if (data.kind === 'open') {
      engine = openEngine(data.base, data.manifest);
      void opened(engine);
    } else if (data.kind === 'search') void search(data);
    else running.get(data.number)?.abort();
  });
  scope.postMessage({ kind: 'ready' });
}

const scope: unknown = globalThis;
if (typeof DedicatedWorkerGlobalScope !== 'undefined' && scope instanceof DedicatedWorkerGlobalScope) serve(scope);
