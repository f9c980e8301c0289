/**
 * A service worker that keeps a whole site's search for use without a network, for sites that register it:
 *
 *     navigator.serviceWorker.register('/search/lzero-offline.js')
 *
 * It answers for its own folder: manifest.json from the network, or as it was last; everything else, which is named by its
 * content, from what is kept. Ranges are cut from whole files. Knows nothing of searching.
 */
/// <reference lib="webworker" />
const KEPT = 'lzero-site';
const worker: unknown = globalThis;

function isServiceWorker(scope: unknown): scope is ServiceWorkerGlobalScope {
  return typeof ServiceWorkerGlobalScope !== 'undefined' && scope instanceof ServiceWorkerGlobalScope;
}

async function answer(request: Request): Promise<Response> {
  const cache = await caches.open(KEPT);
  const isNamedByContent = /-[0-9a-f]{10}\.\w+$|\/[pt]\/[0-9a-f]{10}\.bin$/.test(new URL(request.url).pathname);
  const kept = await cache.match(request.url);
  if (kept && isNamedByContent) return await rangeOf(request, kept);
  try {
    const response = await fetch(request.url);
    if (response.ok) await cache.put(request.url, response.clone());
    return await rangeOf(request, response);
  } catch (error) {
    if (kept) return await rangeOf(request, kept);
    throw error;
  }
}

/** What was asked for of a whole file. */
async function rangeOf(request: Request, response: Response): Promise<Response> {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get('Range') ?? '') ?? [];
  if (from === undefined || response.status !== 200) return response;
  const bytes = await response.arrayBuffer();
  const part = bytes.slice(Number(from), Number(to) + 1);
  const place = `bytes ${from}-${Number(from) + part.byteLength - 1}/${bytes.byteLength}`;
  return new Response(part, { status: 206, headers: { 'Content-Range': place } });
}

if (isServiceWorker(worker)) {
  const scope = worker;
  scope.addEventListener('install', () => void scope.skipWaiting());
  scope.addEventListener('activate', (event) => event.waitUntil(scope.clients.claim()));
  scope.addEventListener('fetch', (event) => {
    const { method, url } = event.request;
    if (method === 'GET' && url.startsWith(scope.registration.scope)) event.respondWith(answer(event.request));
  });
}
