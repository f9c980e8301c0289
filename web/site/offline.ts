/**
 * A service worker that keeps a site's search for use without a network, for sites that register it:
 *
 *     navigator.serviceWorker.register('/search/lzero-offline.js', { scope: '/' })
 *
 * It answers for the folder it lies in, or that `?folder=` in its own address names: manifest.json and scripts with fixed names
 * from the network, or as they were last; everything else, which is named by its content, from what is kept. Ranges are cut
 * from whole files. A new manifest is a new build: what was kept of the old one goes. Knows nothing of searching.
 */
/// <reference lib="webworker" />
const KEPT = 'lzero-site';
const worker: unknown = globalThis;

function isServiceWorker(scope: unknown): scope is ServiceWorkerGlobalScope {
  return typeof ServiceWorkerGlobalScope !== 'undefined' && scope instanceof ServiceWorkerGlobalScope;
}

/** The folder of the search, from the address of this script. */
function folderOf({ href }: WorkerLocation): string {
  const folder = new URL(href).searchParams.get('folder') ?? '.';
  return new URL(folder.endsWith('/') ? folder : `${folder}/`, href).href;
}

function isNamedByContent(url: string): boolean {
  return /-[0-9a-f]{10}\.\w+$|\/[pt]\/[0-9a-f]{10}\.bin$/.test(new URL(url).pathname);
}

/** How a page wants a file is passed on: `reload` says that what is kept, here or in the browser's cache, is damaged. */
async function answer(request: Request, folder: string): Promise<Response> {
  const { url, cache: mode } = request;
  const cache = await caches.open(KEPT);
  const kept = await cache.match(url);
  if (kept && isNamedByContent(url) && mode !== 'reload') return await rangeOf(request, kept);
  try {
    const response = await fetch(url, { cache: mode });
    if (response.ok && url === `${folder}manifest.json`) await forgetOld(cache, { kept, response, folder });
    if (response.ok) await cache.put(url, response.clone());
    return await rangeOf(request, response);
  } catch (error) {
    if (kept) return await rangeOf(request, kept);
    throw error;
  }
}

type Manifests = { readonly kept: Response | undefined; readonly response: Response; readonly folder: string };

/** Files that both builds have are in the browser's own cache, too, on hosts that permit it. */
async function forgetOld(cache: Cache, { kept, response, folder }: Manifests): Promise<void> {
  if (!kept || (await kept.clone().text()) === (await response.clone().text())) return;
  for (const { url } of await cache.keys())
    if (url.startsWith(folder) && isNamedByContent(url)) await cache.delete(url);
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
  const folder = folderOf(scope.location);
  scope.addEventListener('install', () => void scope.skipWaiting());
  scope.addEventListener('activate', (event) => event.waitUntil(scope.clients.claim()));
  scope.addEventListener('fetch', (event) => {
    const { method, url } = event.request;
    if (method === 'GET' && url.startsWith(folder)) event.respondWith(answer(event.request, folder));
  });
}
