/** Site search in a real Chromium: as Node to the bit, on hosts of every kind, without network, worker or WebAssembly. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { open, SiteAnswer, SiteSearch } from '../../src/browser/index.ts';
import type { Index } from '../../src/engines/index.ts';
import { readScripts, type SiteFiles, siteFiles } from '../../src/site/index.ts';
import type { LocalServer } from '../http/local-server.ts';
import { contentOfIndex, everydayQueries, makeEverydayIndex, siteOfIndex } from '../site/everyday-site.ts';
import { launchChromium, noChromium } from './chromium.ts';
import { type HostKind, serveSite } from './site-server.ts';

const TIMEOUT_MS = 120_000;
const STRICT = "default-src 'none'; script-src 'self'; connect-src 'self'";

declare global {
  interface Window {
    /** What the page's script imports of lzero.js. */
    openSearch: typeof open;
    search: SiteSearch;
    worker: Worker;
  }
}

let browser: Browser;
let folder: string;
let index: Index;
let site: SiteFiles;
const servers: LocalServer[] = [];

/** A page of a host, before anything is opened. */
async function visit(kind: HostKind = {}, files = site.files): Promise<{ page: Page; server: LocalServer }> {
  const server = await serveSite({ files }, kind);
  servers.push(server);
  const page = await (await browser.newContext()).newPage();
  await page.goto(server.url);
  await page.waitForFunction(() => 'openSearch' in window);
  return { page, server };
}

async function reload(page: Page): Promise<void> {
  await page.reload();
  await page.waitForFunction(() => 'openSearch' in window);
}

/** What a new build does to a host. */
function replaceFiles(served: Map<string, Uint8Array>, files: ReadonlyMap<string, Uint8Array>): void {
  served.clear();
  for (const [name, bytes] of files) served.set(name, bytes);
}

/** Opens the search as a page does; says what is degraded. */
async function openSite(page: Page, options: { worker?: boolean } = {}): Promise<readonly string[]> {
  return await page.evaluate(async (given) => {
    window.search = await window.openSearch('/search/', given);
    return window.search.degraded;
  }, options);
}

async function ask(page: Page, text: string, options: object = {}): Promise<SiteAnswer> {
  return await page.evaluate(([query, given]) => window.search(String(query), Object(given)), [text, options]);
}

/** The same site as the next build has it: other titles, so that no file of texts has the name that it had. */
async function renamedSite(): Promise<SiteFiles> {
  const { pages, ...rest } = contentOfIndex(index);
  const renamed = pages.map((page) => ({ ...page, title: `New ${page.title}` }));
  return siteFiles({ pages: renamed, ...rest }, await readScripts());
}

/** What must be the same everywhere. */
function ranking({ hits }: Pick<SiteAnswer, 'hits'>): { id: string; score: number }[] {
  return hits.map(({ id, score }) => ({ id, score }));
}

async function expected(text: string): Promise<{ id: string; score: number }[]> {
  return (await index.search(text, { k: 10 })).hits.map(({ id, score }) => ({ id, score }));
}

async function expectSame(page: Page, numQueries = 5): Promise<void> {
  for (const text of everydayQueries().slice(0, numQueries))
    expect(ranking(await ask(page, text)), text).toEqual(await expected(text));
}

describe.skipIf(noChromium !== '')(`site search in a browser${noChromium}`, { timeout: TIMEOUT_MS }, () => {
  beforeAll(async () => {
    browser = await launchChromium();
    folder = mkdtempSync(join(tmpdir(), 'lzero-site-page-'));
    index = await makeEverydayIndex(join(folder, 'index'));
    site = await siteOfIndex(index);
  }, TIMEOUT_MS);

  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    for (const server of servers.splice(0)) await server.stop();
  });

  afterAll(async () => {
    await browser?.close();
    await index?.close();
    rmSync(folder, { recursive: true });
  });

  it('ranks every query as Node does, scores to the bit, with nothing degraded', async () => {
    const { page, server } = await visit();
    expect(await openSite(page)).toEqual([]);
    await expectSame(page, everydayQueries().length);
    expect(await page.evaluate(() => window.search.degraded)).toEqual([]);
    expect(server.asked.some(({ headers }) => headers.range !== undefined)).toBe(true);
    const answer = await ask(page, 'keep bread fresh', { explain: true, k: 3 });
    const node = (await index.search('keep bread fresh', { explain: true, k: 3 })).hits;
    expect(answer.hits.map(({ explain = [] }) => explain.map(({ product }) => product))).toEqual(
      node.map(({ explain = [] }) => explain.map(({ product }) => product)),
    );
    expect(await page.evaluate(() => window.search.site)).toEqual({
      numPages: site.manifest.numPages,
      numSections: site.manifest.numSections,
      labels: { shelf: ['shelf 0', 'shelf 1', 'shelf 2', 'shelf 3'] },
    });
  });

  it('gives the same answers where a host sends whole files, compresses, or compresses ranges; and says so', async () => {
    const noRanges = expect.stringContaining('does not give ranges');
    for (const [kind, degraded] of [
      [{ ranges: 'ignored' }, [noRanges]],
      [{ ranges: 'yes', gzip: true }, []],
      [{ ranges: 'ignored', gzip: true }, [noRanges]],
      [{ ranges: 'encoded', gzip: true }, [noRanges]],
    ] satisfies [HostKind, unknown[]][]) {
      const { page } = await visit(kind);
      await openSite(page);
      await expectSame(page);
      expect(await page.evaluate(() => window.search.degraded), JSON.stringify(kind)).toEqual(degraded);
    }
  });

  it('runs in JavaScript under a policy without wasm-unsafe-eval, in WebAssembly with it', async () => {
    const { page } = await visit({ policy: STRICT });
    expect(await openSite(page)).toEqual([expect.stringContaining('wasm-unsafe-eval')]);
    await expectSame(page, 20);
    const { page: permitted } = await visit({
      policy: STRICT.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'"),
    });
    expect(await openSite(permitted)).toEqual([]);
    await expectSame(permitted);
  });

  it('runs without WebAssembly, and without a worker, and says which', async () => {
    const { page } = await visit();
    expect(await openSite(page, { worker: false })).toEqual([]);
    await expectSame(page);
    const { page: noWorker } = await visit();
    await noWorker.evaluate(() => Reflect.deleteProperty(window, 'Worker'));
    expect(await openSite(noWorker)).toEqual([expect.stringContaining('no worker could be started')]);
    await expectSame(noWorker);
    const { page: forbidden } = await visit({ policy: `${STRICT}; worker-src 'none'` });
    expect(await openSite(forbidden)).toContainEqual(expect.stringContaining('no worker could be started'));
    await expectSame(forbidden);
    const { page: noWasm } = await visit();
    await noWasm.evaluate(() => Reflect.deleteProperty(window, 'WebAssembly'));
    expect(await openSite(noWasm, { worker: false })).toEqual([expect.stringContaining('WebAssembly is missing')]);
    await expectSame(noWasm);
  });

  it('goes on without a network with what it has, and names what it cannot fetch', async () => {
    const { page } = await visit();
    await openSite(page);
    const [known, unknown] = ['keep bread fresh', 'clean a rusty bicycle chain'];
    const before = await ask(page, known);
    await page.context().setOffline(true);
    expect(ranking(await ask(page, known))).toEqual(ranking(before));
    await expect(ask(page, unknown)).rejects.toThrow('cannot be fetched');
    await page.context().setOffline(false);
    expect(ranking(await ask(page, unknown))).toEqual(await expected(unknown));
  });

  it('works without a network after a reload, where the service worker keeps the site, until there is a new build', async () => {
    let isDown = false;
    let isPortal = false;
    const change = (name: string, bytes: Uint8Array): Uint8Array =>
      isPortal && name.endsWith('.bin') ? new TextEncoder().encode('<!doctype html><title>Log in</title>') : bytes;
    const served = new Map(site.files);
    const { page } = await visit({ maxAge: 3600, isDown: () => isDown, change }, served);
    await page.evaluate(async () => {
      await navigator.serviceWorker.register('/lzero-offline.js?folder=/search/');
    });
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await reload(page);
    await openSite(page);
    const text = 'keep bread fresh';
    isPortal = true;
    await expect(ask(page, text)).rejects.toThrow('is damaged');
    isPortal = false;
    expect(ranking(await ask(page, text))).toEqual(await expected(text)); // past what is kept
    const session = await page.context().newCDPSession(page);
    await session.send('Network.clearBrowserCache'); // only the service worker has anything
    isDown = true;
    await reload(page);
    await openSite(page);
    expect(ranking(await ask(page, text))).toEqual(await expected(text));
    isDown = false;
    replaceFiles(served, (await renamedSite()).files);
    await reload(page);
    await openSite(page);
    const { hits } = await ask(page, text);
    expect(hits.every(({ title }) => title.startsWith('New '))).toBe(true); // though the old manifest is fresh for an hour
    const kept = await page.evaluate(async () => {
      const requests = await (await caches.open('lzero-site')).keys();
      return requests.map(({ url }) => url.replace(/^.*\/search\//, ''));
    });
    expect(kept).toContain('manifest.json');
    expect(kept.filter((name) => !served.has(name))).toEqual([]);
  });

  it('names a damaged file, and answers again once it is whole', async () => {
    let isDamaged = true;
    const change = (name: string, bytes: Uint8Array): Uint8Array =>
      isDamaged && name.startsWith('p/') ? bytes.map((byte, i) => (i % 16 === 9 ? byte ^ 4 : byte)) : bytes;
    const { page } = await visit({ change });
    await openSite(page);
    await expect(ask(page, 'keep bread fresh')).rejects.toThrow(/p\/[0-9a-f]{10}\.bin, byte \d+, is damaged/);
    isDamaged = false; // what the browser has in its cache still is
    expect(ranking(await ask(page, 'keep bread fresh'))).toEqual(await expected('keep bread fresh'));
  });

  it('answers although a page in place of a file has come into the cache', async () => {
    let isPortal = true;
    const change = (name: string, bytes: Uint8Array): Uint8Array =>
      isPortal && name.endsWith('.bin') ? new TextEncoder().encode('<!doctype html><title>Log in</title>') : bytes;
    for (const ranges of ['yes', 'ignored'] as const) {
      isPortal = false;
      const { page } = await visit({ change, ranges, maxAge: 3600 });
      await openSite(page);
      isPortal = true;
      await expect(ask(page, 'keep bread fresh')).rejects.toThrow('is damaged');
      isPortal = false;
      expect(ranking(await ask(page, 'keep bread fresh')), ranges).toEqual(await expected('keep bread fresh'));
      await reload(page);
      await openSite(page);
      expect(ranking(await ask(page, 'keep bread fresh')), ranges).toEqual(await expected('keep bread fresh'));
    }
  });

  it('goes on with the new build where the site was built anew under an open page', async () => {
    const renamed = await renamedSite();
    for (const [kind, worker] of [
      [{}, true],
      [{ fallback: true }, false],
    ] satisfies [HostKind, boolean][]) {
      const served = new Map(site.files);
      const { page } = await visit(kind, served);
      await openSite(page, { worker });
      await expectSame(page, 2);
      replaceFiles(served, renamed.files);
      const answers = await page.evaluate(
        (texts) => Promise.all(texts.map((text) => window.search(text))),
        everydayQueries().slice(2, 6),
      );
      for (const { query, hits } of answers) {
        expect(ranking({ hits }), query).toEqual(await expected(query));
        expect(hits.every(({ title }) => title.startsWith('New '))).toBe(true);
      }
      expect(page.workers()).toHaveLength(worker ? 1 : 0);
    }
  });

  it('leaves no worker behind where opening failed, and starts another where one has', async () => {
    const served = new Map(site.files);
    const { page } = await visit({}, served);
    served.delete(site.manifest.start.name);
    await expect(openSite(page)).rejects.toThrow('the host answered 404');
    await expect.poll(() => page.workers().length).toBe(0);
    served.set(site.manifest.start.name, site.files.get(site.manifest.start.name) ?? new Uint8Array());
    await page.evaluate(() => {
      const Started = window.Worker;
      window.Worker = class extends Started {
        constructor(...given: ConstructorParameters<typeof Started>) {
          super(...given);
          window.worker = this;
        }
      };
    });
    await openSite(page);
    await expectSame(page, 2);
    const running = page.evaluate(() => window.search('clean a rusty bicycle chain'));
    await page.evaluate(() => window.worker.dispatchEvent(new ErrorEvent('error', { message: 'out of memory' })));
    expect(ranking(await running)).toEqual(await expected('clean a rusty bicycle chain'));
    await expectSame(page);
    expect(page.workers()).toHaveLength(1);
  });

  it('tells which of overlapping answers is stale on a slow network, and aborts', async () => {
    const { page } = await visit({ delayMs: 150 });
    await openSite(page);
    const [first, second] = await page.evaluate(() =>
      Promise.all([window.search('bread'), window.search('bread mould')]),
    );
    expect([first.stale, second.stale]).toEqual([true, false]);
    expect(ranking(second)).toEqual(await expected('bread mould'));
    const reason = await page.evaluate(async () => {
      const controller = new AbortController();
      const answer = window.search('clean a rusty bicycle chain', { signal: controller.signal });
      setTimeout(() => controller.abort(), 20);
      return await answer.then(
        () => 'answered',
        (error: Error) => error.name,
      );
    });
    expect(reason).toBe('AbortError');
    expect(ranking(await ask(page, 'clean a rusty bicycle chain'))).toEqual(
      await expected('clean a rusty bicycle chain'),
    );
  });

  it('refuses what is not a site, wrong options, and searches after close', async () => {
    const { page } = await visit();
    const opening = page.evaluate(async () => {
      await window.openSearch('/nothing/');
    });
    await expect(opening).rejects.toThrow('the host answered 404');
    await openSite(page);
    await expect(ask(page, 'bread', { k: 0 })).rejects.toThrow('k must be a whole number');
    await page.evaluate(() => window.search.close());
    await expect(ask(page, 'bread')).rejects.toThrow('closed');
  });
});
