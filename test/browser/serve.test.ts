/** The page of `lzero serve` in a real Chromium: searching, explaining, comparing, by keys, on a phone, in the dark. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ServeOptions } from '../../src/server/index.ts';
import { makeEveryday, Servers, servedFolder } from '../server/serving.ts';
import { noChromium } from './chromium.ts';
import { expectSound, SCREENS, TIMEOUT_MS, WatchedPages } from './watched-pages.ts';

const TOKEN = '0123456789abcdef';

/** Refusals are asked for on purpose. */
const pages = new WatchedPages({ addresses: /^http:\/\/127\.0\.0\.1/, errors: /status of 40[01]/ });
let folder: string;
const servers = new Servers();

async function openPage(
  options: BrowserContextOptions = {},
  serving: Omit<ServeOptions, 'indexes'> = {},
  hash = '',
): Promise<Page> {
  const indexes = [
    await servedFolder('learned', join(folder, 'learned')),
    await servedFolder('words', join(folder, 'words')),
  ];
  const { url } = await servers.start(indexes, serving);
  return await pages.open(url + hash, options);
}

const results = (page: Page, name: string) => page.getByRole('region', { name: `Results of ${name}` });

describe.skipIf(noChromium !== '')(`the page of a server${noChromium}`, { timeout: TIMEOUT_MS }, () => {
  beforeAll(async () => {
    await pages.launch();
    folder = mkdtempSync(join(tmpdir(), 'lzero-serve-page-'));
    await makeEveryday(join(folder, 'learned'));
    await makeEveryday(join(folder, 'words'), 'bm25');
  }, TIMEOUT_MS);

  afterEach(async () => {
    await pages.settle();
    await servers.closeAll();
  });

  afterAll(async () => {
    await pages.close();
    rmSync(folder, { recursive: true });
  });

  it('searches while one types, in two indexes side by side, with marks and places in the other list', async () => {
    const page = await openPage();
    await page.getByText('241').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('fix a flat tyre');
    await results(page, 'learned').getByRole('listitem').first().waitFor();
    await results(page, 'words').getByRole('listitem').first().waitFor();
    expect(await results(page, 'learned').locator('mark').count()).toBeGreaterThan(0);
    expect(await results(page, 'learned').locator('.place').first().textContent()).toMatch(/in the other list$/);
    expect(page.url()).toContain('#q=fix+a+flat+tyre');
  });

  it('explains a score', async () => {
    const page = await openPage({}, {}, '#q=flat+tyre&in=learned');
    const first = results(page, 'learned').getByRole('listitem').first();
    await first.getByText('Why this score').click();
    expect(await first.getByRole('rowheader').allTextContents()).not.toEqual([]);
    expect(await page.getByRole('region', { name: /^Results/ }).count()).toBe(1);
  });

  it('compares with the hybrid of both', async () => {
    const page = await openPage({}, {}, '#q=flat+tyre&in=learned');
    await page.getByLabel('beside').selectOption('rrf:learned+words');
    const first = results(page, 'hybrid of learned and words').getByRole('listitem').first();
    await first.getByText('Why this score').click();
    for (const name of ['learned', 'words'])
      await first
        .getByRole('region', { name: `In ${name}` })
        .getByText(/^place \d+, score \d/)
        .waitFor();
  });

  it('says how to compare where one index is served', async () => {
    const { url } = await servers.start([await servedFolder('learned', join(folder, 'learned'))]);
    const page = await pages.open(url);
    await page.getByText('lzero serve learned.index words.index').waitFor();
  });

  it('asks for a token where one is needed, and keeps it out of its address', async () => {
    const page = await openPage({}, { tokens: { read: [TOKEN], write: [] } }, '#q=bread');
    await page.getByLabel('Token').fill(TOKEN);
    await page.getByRole('button', { name: 'Use token' }).click();
    await results(page, 'learned').getByRole('listitem').first().waitFor();
    expect(page.url()).not.toContain(TOKEN);
  });

  it('says why there is no answer', async () => {
    const page = await openPage({}, { limits: { maxQueryChars: 5 } }, '#q=flat+tyre&in=learned');
    await results(page, 'learned').getByText('this server takes 5 at most').waitFor();
  });

  it.each(SCREENS)('%s axe finds nothing, and nothing is wider than the screen', async (_, options) => {
    const page = await openPage(options, {}, '#q=fix+a+flat+tyre&in=learned&beside=words');
    const first = results(page, 'learned').getByRole('listitem').first();
    await first.getByText('Why this score').click();
    await results(page, 'words').getByRole('listitem').first().waitFor();
    await expectSound(page, options, { light: 'rgb(243, 245, 247)', dark: 'rgb(13, 17, 23)' });
  });
});
