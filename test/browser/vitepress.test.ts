/**
 * examples/vitepress for real: VitePress builds our own docs with the example's theme, `lzero site build` makes their search,
 * and a reader uses it. VitePress is not one of our packages; LZERO_VITEPRESS names a folder that has it:
 *
 *     npm install --prefix FOLDER vitepress@1
 *     LZERO_VITEPRESS=FOLDER LZERO_CHROMIUM=/usr/bin/chromium npx vitest run test/browser/vitepress.test.ts
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { violations } from './axe.ts';
import { buildSite } from './build-site.ts';
import { launchChromium, noChromium } from './chromium.ts';
import { type PageHost, startHost } from './page-host.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const TIMEOUT_MS = 120_000;
const installed = process.env.LZERO_VITEPRESS;
const why = noChromium || (installed ? '' : ' (skipped: LZERO_VITEPRESS names no folder with VitePress)');

let browser: Browser;
let folder: string;
let host: PageHost;

async function openPage(path: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(host.url + path);
  return page;
}

const trigger = (page: Page) => page.locator('lzero-search').getByRole('button', { name: 'Search' });
const options = (page: Page) => page.locator('lzero-search a[role=option]');

describe.skipIf(why !== '')(`the example for VitePress${why}`, { timeout: TIMEOUT_MS }, () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lzero-vitepress-'));
    const docs = join(folder, 'docs');
    cpSync(join(ROOT, 'examples/vitepress'), docs, { recursive: true });
    for (const name of readdirSync(join(ROOT, 'docs'))) cpSync(join(ROOT, 'docs', name), join(docs, name));
    renameSync(join(docs, 'README.md'), join(docs, 'index.md'));
    // Some links of our docs lead out of them.
    renameSync(join(docs, '.vitepress/config.mts'), join(docs, '.vitepress/example.mts'));
    const config = "import example from './example.mts';\nexport default { ...example, ignoreDeadLinks: true };\n";
    writeFileSync(join(docs, '.vitepress/config.mts'), config);
    symlinkSync(resolve(installed ?? '', 'node_modules'), join(folder, 'node_modules'));
    const program = join(folder, 'node_modules/vitepress/bin/vitepress.js');
    execFileSync(process.execPath, [program, 'build', docs], { cwd: folder, stdio: 'pipe' });
    const dist = join(docs, '.vitepress/dist');
    await buildSite(dist, join(dist, 'search'));
    host = await startHost({ folders: { '/': dist } });
    browser = await launchChromium();
  }, 3 * TIMEOUT_MS);

  afterAll(async () => {
    await browser?.close();
    await host?.stop();
    rmSync(folder, { recursive: true });
  });

  it('finds a section of another page, and shows it without loading the site anew', async () => {
    const page = await openPage('/GLOSSARY.html');
    await page.evaluate('globalThis.isSameDocument = true');
    await trigger(page).click();
    await page.keyboard.type('which keys go through the results');
    const wanted = options(page).filter({ hasText: 'Keys and screen readers' }).first();
    await wanted.waitFor();
    await wanted.click();
    await page.waitForURL('**/SEARCH-BOX.html#keys-and-screen-readers');
    await page.getByRole('heading', { name: 'Keys and screen readers' }).waitFor();
    expect(await page.evaluate('globalThis.isSameDocument')).toBe(true);
    await page.locator('lzero-search').getByRole('dialog').waitFor({ state: 'hidden' });
  });

  it('opens by Ctrl K and follows the switch of VitePress to the dark', async () => {
    const page = await openPage('/');
    await page.locator('lzero-search:defined').waitFor();
    const ink = () => trigger(page).evaluate((element) => getComputedStyle(element).backgroundColor);
    expect(await ink()).toBe('rgb(255, 255, 255)');
    await page.evaluate("document.documentElement.classList.add('dark')");
    expect(await ink()).toBe('rgb(22, 27, 34)');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('sparse vector');
    await options(page).first().waitFor();
    const wrong = await violations(page);
    expect(wrong.filter((line) => line.includes('lzero') || line.includes('part='))).toEqual([]);
    if (process.env.LZERO_SCREENSHOTS)
      await page.screenshot({ path: join(process.env.LZERO_SCREENSHOTS, 'vitepress.png') });
  });
});
