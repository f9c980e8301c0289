/**
 * Site search on thousands of pages of real documentation, as Node ranks the same index, and within its bytes. Opt-in: needs
 * what these leave in FOLDER; the second encodes for most of an hour, `--model bow`, as .ci/run has it, takes a minute:
 *
 *     sh scripts/site-pages.sh FOLDER
 *     npx tsx bench/site-index.ts FOLDER/site -o FOLDER/docs.index --cache FOLDER/cache
 *
 * then LZERO_SITE_PAGES=FOLDER.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { open, SiteSearch } from '../../src/browser/index.ts';
import { type Index, openIndex } from '../../src/engines/index.ts';
import {
  measureSite,
  readScripts,
  type SiteContent,
  type SiteFiles,
  siteFiles,
  titleQueries,
} from '../../src/site/index.ts';
import type { LocalServer } from '../http/local-server.ts';
import { contentOfIndex } from '../site/everyday-site.ts';
import { launchChromium, noChromium } from './chromium.ts';
import { serveSite } from './site-server.ts';

const folder = process.env.LZERO_SITE_PAGES ?? '';
const isThere = folder !== '' && existsSync(join(folder, 'docs.index'));
const missing = isThere ? noChromium : ' (skipped: LZERO_SITE_PAGES names no folder with docs.index)';
const TIMEOUT_MS = 900_000;

declare global {
  interface Window {
    openSearch: typeof open;
    search: SiteSearch;
  }
}

describe.skipIf(missing !== '')(`site search on real documentation${missing}`, { timeout: TIMEOUT_MS }, () => {
  let browser: Browser;
  let index: Index;
  let content: SiteContent;
  let site: SiteFiles;
  let server: LocalServer;

  beforeAll(async () => {
    browser = await launchChromium();
    index = await openIndex(join(folder, 'docs.index'));
    content = contentOfIndex(index);
    site = siteFiles(content, await readScripts());
    server = await serveSite(site);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await index?.close();
  });

  it('has at least 5,000 pages', () => {
    expect(site.manifest.numPages).toBeGreaterThanOrEqual(5000);
  });

  it('ranks 200 titles as Node does, scores to the bit', async () => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(server.url);
    await page.waitForFunction(() => 'openSearch' in window);
    await page.evaluate(async () => {
      window.search = await window.openSearch('/search/');
    });
    for (const { text } of titleQueries(content.pages, 200)) {
      const { hits } = await page.evaluate((query) => window.search(query), text);
      const expected = await index.search(text, { k: 10 });
      expect(
        hits.map(({ id, score }) => ({ id, score })),
        text,
      ).toEqual(expected.hits.map(({ id, score }) => ({ id, score })));
    }
  });

  it('costs at most 120 KB before the first query, 150 KB for a first and 60 KB for a later one at the median', async () => {
    const costs = await measureSite(site, titleQueries(content.pages));
    expect(costs.startBytes).toBeLessThanOrEqual(120_000);
    expect(costs.cold.p50).toBeLessThanOrEqual(150_000);
    expect(costs.warm.p50).toBeLessThanOrEqual(60_000);
  });
});
