/** <lzero-search> in a real Chromium, on a site that `lzero site build` made: mouse, keys, screen readers, failures, looks. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { violations } from './axe.ts';
import { HOSTILE, writeBicyclePages } from './bicycle-site.ts';
import { buildSite } from './build-site.ts';
import { launchChromium, noChromium } from './chromium.ts';
import { type PageHost, startHost } from './page-host.ts';

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };
const TIMEOUT_MS = 60_000;
/** Nothing inline, nothing from elsewhere. */
const POLICY = `default-src 'none'; img-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'`;
/** What every page of the test has besides the box. */
const PAGE_STYLE = `html { color-scheme: light dark; background: Canvas; color: CanvasText; } a { color: LinkText; }
header { display: flex; justify-content: space-between; gap: 16px; font-weight: 700; line-height: 4; text-transform: uppercase; white-space: nowrap; } lzero-search { flex: 0 1 260px; }
.light { color-scheme: light; } .dark { color-scheme: dark; }`;

let browser: Browser;
let folder: string;
let host: PageHost;
/** Set by tests that want the host to misbehave. */
let meddle: ((path: string, response: ServerResponse) => boolean) | undefined;
let complaints: string[] = [];

type Opening = {
  readonly attributes?: string;
  readonly html?: string;
  readonly query?: string;
  readonly options?: BrowserContextOptions;
};

async function openPage({
  attributes = '',
  html = '<html lang="en">',
  query = '',
  options,
}: Opening = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('request', (request) => {
    if (!request.url().startsWith(host.url)) complaints.push(request.url());
  });
  writeFileSync(join(folder, 'pages/style.css'), PAGE_STYLE);
  writeFileSync(
    join(folder, 'pages/index.html'),
    `<!doctype html>${html}<head><meta charset="utf-8"><title>Bicycles</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/style.css">
<script type="module" src="/search/lzero-search.js"></script></head><body>
<header><a href="/">Bicycles</a><lzero-search src="/search/" ${attributes}><a href="/all.html">All pages</a></lzero-search></header>
<main><h1>Bicycles</h1><p><label>Notes <input id="notes"></label></p></main></body></html>`,
  );
  await page.goto(`${host.url}/index.html${query}`);
  await page.locator('lzero-search:defined').waitFor();
  return page;
}

const box = (page: Page) => page.getByRole('combobox', { includeHidden: false }).and(page.locator('input'));
const options = (page: Page) => page.locator('a[role=option]');
const pageTitles = (page: Page) => page.locator('a.page .title').allTextContents();
const status = (page: Page) => page.getByRole('status');
const whyButton = (page: Page) => page.getByRole('button', { name: 'Why this result?' });

async function ask(page: Page, text: string): Promise<void> {
  await box(page).fill(text);
  await options(page).first().waitFor();
  await page.locator('.waiting').waitFor({ state: 'detached' });
}

/** The option that a screen reader is told to be at. */
async function activeTitle(page: Page): Promise<string | undefined> {
  const id = await box(page).getAttribute('aria-activedescendant');
  if (id === null) return undefined;
  expect(await page.locator(`#${id}`).getAttribute('aria-selected')).toBe('true');
  expect(await page.locator('[role=option][aria-selected=true]').count()).toBe(1);
  return (await page.locator(`#${id} .title`).textContent()) ?? undefined;
}

describe.skipIf(noChromium !== '')(`<lzero-search>${noChromium}`, { timeout: TIMEOUT_MS }, () => {
  beforeAll(async () => {
    browser = await launchChromium();
    folder = mkdtempSync(join(tmpdir(), 'lzero-search-box-'));
    writeBicyclePages(join(folder, 'pages'));
    writeFileSync(join(folder, 'pages/favicon.ico'), ''); // browsers ask for it
    await buildSite(join(folder, 'pages'), join(folder, 'search'), '--chunk', '48'); // a part for each heading
    host = await startHost({
      folders: { '/': join(folder, 'pages'), '/search/': join(folder, 'search') },
      headers: { 'content-security-policy': POLICY },
      meddle: (path, response) => meddle?.(path, response) ?? false,
    });
  }, 5 * TIMEOUT_MS);

  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    meddle = undefined;
    const found = complaints;
    complaints = [];
    expect(found).toEqual([]);
  });

  afterAll(async () => {
    await browser.close();
    await host.stop();
    rmSync(folder, { recursive: true });
  });

  it('loads nothing but itself until somebody wants to search', async () => {
    const before = host.asked.length;
    const page = await openPage();
    const asked = () => host.asked.slice(before).map(({ path }) => path);
    expect(asked().filter((path) => path.startsWith('/search/'))).toEqual(['/search/lzero-search.js']);
    await box(page).focus();
    await expect.poll(asked).toContain('/search/manifest.json');
  });

  it('stays small: box, runtime and engine are within 60 KB of gzip, the box alone within 13', async () => {
    const scripts = readdirSync(join(folder, 'search')).filter((name) => name.endsWith('.js') && !/offline/.test(name));
    const sizes = scripts.map((name) => gzipSync(readFileSync(join(folder, 'search', name)), { level: 9 }).length);
    expect(scripts).toContain('lzero-search.js');
    expect(sizes[scripts.indexOf('lzero-search.js')]).toBeLessThan(13_000);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(60_000);
  });

  it('finds pages, with marked words and their headings as links of their own', async () => {
    const page = await openPage();
    await ask(page, 'patch a hole in the tube');
    expect(await pageTitles(page)).toContain('Repair a flat tyre');
    const group = page.getByRole('group', { name: 'Repair a flat tyre' });
    expect(await group.locator('mark').allTextContents()).toContain('hole');
    const section = group.locator('a.section', { hasText: 'Patch the tube' });
    expect(await section.getAttribute('href')).toBe(`${host.url}/guide/flat-tyre.html#part-2`);
    await section.click();
    await page.waitForURL('**/guide/flat-tyre.html#part-2');
  });

  it('is a combobox: arrows, Home, End, Enter and Escape do what the pattern says', async () => {
    const page = await openPage();
    expect(await box(page).getAttribute('aria-expanded')).toBe('false');
    await ask(page, 'tyre');
    expect(await box(page).getAttribute('aria-expanded')).toBe('true');
    expect(await page.getByRole('listbox', { name: 'Search results' }).getAttribute('id')).toBe(
      await box(page).getAttribute('aria-controls'),
    );
    const titles = await page.locator('a[role=option] .title').allTextContents();
    expect(await activeTitle(page)).toBeUndefined();
    await page.keyboard.press('ArrowDown');
    expect(await activeTitle(page)).toBe(titles[0]);
    await page.keyboard.press('End');
    expect(await activeTitle(page)).toBe(titles.at(-1));
    await page.keyboard.press('ArrowDown');
    expect(await activeTitle(page)).toBeUndefined(); // the text again
    await page.keyboard.press('ArrowUp');
    expect(await activeTitle(page)).toBe(titles.at(-1));
    await page.keyboard.press('Home');
    expect(await activeTitle(page)).toBe(titles[0]);
    await page.keyboard.press('Escape');
    expect(await box(page).getAttribute('aria-expanded')).toBe('false');
    expect(await box(page).inputValue()).toBe('tyre');
    await page.keyboard.press('ArrowDown');
    expect(await activeTitle(page)).toBe(titles[0]); // open again
    const href = await options(page).first().getAttribute('href');
    await page.keyboard.press('Enter');
    await page.waitForURL(href ?? '');
  });

  it('a second Escape clears the text; Home and End move in it as long as no option is active', async () => {
    const page = await openPage();
    await ask(page, 'tyre');
    await page.keyboard.press('Home');
    await page.keyboard.type('flat ');
    expect(await box(page).inputValue()).toBe('flat tyre');
    expect(await activeTitle(page)).toBeUndefined();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    expect(await box(page).inputValue()).toBe('');
    expect(await page.getByRole('listbox').count()).toBe(0);
  });

  it('Enter without an option opens the first result, with Ctrl in a new tab where one is active', async () => {
    const page = await openPage();
    await ask(page, 'squealing brakes');
    await page.keyboard.press('ArrowDown');
    const [tab] = await Promise.all([page.context().waitForEvent('page'), page.keyboard.press('Control+Enter')]);
    await tab.waitForURL('**/guide/brakes.html*');
    expect(page.url()).toContain('/index.html');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/guide/brakes.html*');
  });

  it('hotkeys lead to the box, but not from where one types', async () => {
    const page = await openPage({ attributes: 'hotkey="/ ctrl+k"' });
    await page.locator('#notes').focus();
    await page.keyboard.press('/');
    expect(await page.locator('#notes').inputValue()).toBe('/');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('oil');
    expect(await box(page).inputValue()).toBe('oil');
    expect(await box(page).getAttribute('aria-keyshortcuts')).toBe('/ Control+K');
    await page.locator('h1').click();
    await page.keyboard.press('/');
    await page.keyboard.type('chain'); // over what was there
    expect(await box(page).inputValue()).toBe('chain');
  });

  it('says how many results there are, and that there are none', async () => {
    const page = await openPage();
    await ask(page, 'tyre');
    const count = await page.locator('a.page').count();
    await expect.poll(() => status(page).textContent()).toBe(count === 1 ? '1 result' : `${count} results`);
    await box(page).fill('zzzqqq');
    await page.getByText('No results for “zzzqqq”').first().waitFor();
    await expect.poll(() => status(page).textContent()).toBe('No results for “zzzqqq”');
    expect(await box(page).getAttribute('aria-expanded')).toBe('false');
    expect(await box(page).getAttribute('aria-label')).toBe('Search this site');
  });

  it('leaving the box closes results; coming back shows them', async () => {
    const page = await openPage();
    await ask(page, 'tyre');
    await page.locator('#notes').focus();
    await page.getByRole('listbox').waitFor({ state: 'hidden' });
    await box(page).click();
    await page.getByRole('listbox').waitFor();
  });

  it('explains the active result by the products that make its score', async () => {
    const page = await openPage();
    await ask(page, 'repair a flat tyre');
    await whyButton(page).click();
    const why = page.getByRole('region', { name: 'Why this result?' });
    await why.waitFor();
    const numbers = await why
      .locator('tbody tr')
      .evaluateAll((rows) =>
        rows.map((row) => Array.from(row.querySelectorAll('td:not(.bar)'), (cell) => Number(cell.textContent))),
      );
    expect(numbers.length).toBeGreaterThan(1);
    for (const [query, onPage, product] of numbers) expect(Math.abs(query * onPage - product)).toBeLessThan(0.05);
    const score = Number(await why.locator('tfoot td').first().textContent());
    const sum = numbers.reduce((total, [, , product]) => total + product, 0);
    expect(Math.abs(sum - score)).toBeLessThan(0.01 * numbers.length);
    const titles = await pageTitles(page);
    expect(await why.getByLabel('Result explained').inputValue()).toBe('1');
    await page.keyboard.press('ArrowUp'); // from the button, too: the last option
    await expect.poll(() => why.locator('option:checked').textContent()).toBe(`${titles.length}. ${titles.at(-1)}`);
    await why.getByLabel('Result explained').selectOption('1');
    expect(await why.locator('tfoot td').first().textContent()).toBe(score.toFixed(2));
  });

  it('a click on the question mark of a result explains it, and does not go there', async () => {
    const page = await openPage();
    await ask(page, 'tyre');
    await page.locator('a.page .ask-why').nth(1).click();
    await expect.poll(() => page.locator('.explained').inputValue()).toBe('2');
    expect(page.url()).toContain('/index.html');
  });

  it('filters by label', async () => {
    const page = await openPage();
    await ask(page, 'tyre');
    const all = await page.locator('a.page').count();
    await page.getByRole('group', { name: 'Filters' }).getByLabel('section').selectOption('reference');
    await expect.poll(() => page.locator('a.page').count()).toBeLessThan(all);
    expect(new Set(await page.locator('a.page .label').allTextContents())).toEqual(new Set(['reference']));
    expect(await pageTitles(page)).toContain('Table of tyre pressures');
  });

  /** Holds answers of the host, but for scripts, until it is told to go on. */
  function holdAnswers(): () => void {
    let release = (): void => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    meddle = (path, response) => {
      if (!path.startsWith('/search/') || path.endsWith('.js')) return false;
      void held.then(() => response.writeHead(307, { location: path }).end());
      return true;
    };
    return () => {
      meddle = undefined;
      release();
    };
  }

  it('shows the answer to what was typed last, and none to what was typed before', async () => {
    const page = await openPage();
    await page.evaluate(`globalThis.answered = [];
      document.addEventListener('lzero-answer', ({ detail }) => answered.push(detail.query))`);
    const release = holdAnswers();
    await box(page).fill('squealing brakes');
    await box(page).fill('oil the chain');
    await box(page).fill('winter salt');
    release();
    await options(page).first().waitFor();
    expect((await pageTitles(page))[0]).toBe('Ride in winter');
    await page.evaluate("const box = document.querySelector('lzero-search'); box.value = 'oil'; box.value = '';");
    expect(await options(page).count()).toBe(0);
    await ask(page, 'disc brakes');
    expect(await page.evaluate('answered')).toEqual(['winter salt', 'disc brakes']);
  });

  it('says that it waits where the network is slow, and opens what Enter was pressed for', async () => {
    const page = await openPage();
    const release = holdAnswers();
    await box(page).fill('squealing brakes');
    await page.locator('.notice', { hasText: 'Loading the search index …' }).waitFor();
    await expect.poll(() => status(page).textContent()).toBe('Loading the search index …');
    await box(page).press('Enter');
    release();
    await page.waitForURL('**/guide/brakes.html*');
  });

  it('says that the network is gone, and goes on when it is back', async () => {
    const page = await openPage();
    await page.context().setOffline(true);
    await box(page).fill('chain');
    await page.getByText('The search index cannot be reached. Are you offline?').first().waitFor();
    await expect.poll(() => status(page).textContent()).toContain('cannot be reached');
    await page.context().setOffline(false); // tries again by itself
    await options(page).first().waitFor();
    complaints = complaints.filter((text) => !/ERR_INTERNET_DISCONNECTED/.test(text));
  });

  it('says that the index is damaged, and tries again when asked to', async () => {
    meddle = (path, response) => {
      if (!path.endsWith('manifest.json')) return false;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"format": 1');
      return true;
    };
    const page = await openPage();
    await box(page).fill('chain');
    await page.getByText('The search index of this site is damaged.').first().waitFor();
    meddle = undefined;
    await page.getByRole('button', { name: 'Try again' }).click();
    await options(page).first().waitFor();
  });

  it('shows markup of pages and queries as text', async () => {
    const page = await openPage();
    await ask(page, 'angle brackets in titles');
    expect(await pageTitles(page)).toContain(`Markup ${HOSTILE} in titles`);
    await whyButton(page).click();
    await page.getByRole('table').waitFor();
    await box(page).fill(HOSTILE);
    await page.locator('.waiting').waitFor({ state: 'detached' });
    expect(await page.locator('lzero-search img, lzero-search script').count()).toBe(0);
    expect(await page.title()).toBe('Bicycles');
  });

  it('lets the page go to a result in its own way', async () => {
    const page = await openPage();
    await page.evaluate(`document.addEventListener('lzero-select', (event) => {
      event.preventDefault();
      document.querySelector('h1').textContent = event.detail.hit.title + ' ' + new URL(event.detail.url).pathname;
    })`);
    await ask(page, 'squealing brakes');
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      options(page)
        .first()
        .click({ modifiers: ['Control'] }), // a new tab is the browser's business
    ]);
    await tab.waitForURL('**/guide/brakes.html*');
    expect(await page.locator('h1').textContent()).toBe('Bicycles');
    await options(page).first().click();
    expect(await page.locator('h1').textContent()).toBe('Adjust the brakes /guide/brakes.html');
    await page.getByRole('listbox').waitFor({ state: 'hidden' });
  });

  it('in a page reads its query from the address, and keeps it there', async () => {
    const page = await openPage({ attributes: 'mode="page" deep-link', query: '?q=squealing+brakes&x=1' });
    await options(page).first().waitFor();
    expect(await box(page).inputValue()).toBe('squealing brakes');
    await ask(page, 'winter salt');
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('winter salt');
    expect(new URL(page.url()).searchParams.get('x')).toBe('1');
    await page.locator('#notes').focus();
    expect(await options(page).first().isVisible()).toBe(true); // results of a page stay
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => page.url()).not.toContain('q=');
  });

  it('leads to a page of results by Enter where there is one', async () => {
    const page = await openPage({ attributes: 'action="/index.html"' });
    await ask(page, 'oil & salt');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/index.html?q=oil+%26+salt');
  });

  it('opens as a dialog, keeps the focus in it, and gives it back', async () => {
    const page = await openPage({ attributes: 'mode="dialog" hotkey="ctrl+k"' });
    const trigger = page.getByRole('button', { name: 'Search' });
    expect(await trigger.textContent()).toBe('SearchCtrl K');
    await trigger.click();
    await page.getByRole('dialog', { name: 'Search this site' }).waitFor();
    await ask(page, 'tyre');
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate("['LZERO-SEARCH', 'BODY'].includes(document.activeElement.tagName)")).toBe(true);
    }
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await trigger.evaluate((element) => element.matches(':focus'))).toBe(true);
    await page.keyboard.press('Control+k');
    expect(await box(page).inputValue()).toBe('tyre');
    await page.mouse.click(5, 700); // beside it
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });

  it('speaks the language of the page, in its direction, with words of its own', async () => {
    const german = await openPage({
      html: '<html lang="de-AT">',
      attributes: `strings='{"retry": "Nochmal"}' placeholder="Stöbern"`,
    });
    await ask(german, 'tyre');
    expect(await box(german).getAttribute('placeholder')).toBe('Stöbern');
    await expect.poll(() => status(german).textContent()).toMatch(/^\d+ Ergebnisse$/);
    const arabic = await openPage({ html: '<html lang="ar" dir="rtl">' });
    await ask(arabic, 'tyre');
    const panel = await arabic.locator('.panel').boundingBox();
    const field = await arabic.locator('.box').boundingBox();
    if (!panel || !field) throw new Error('the box has no place');
    expect(panel.x).toBeGreaterThanOrEqual(0);
    expect(await arabic.getByRole('button', { name: 'لماذا هذه النتيجة؟' }).count()).toBe(1);
  });

  it('takes the colours of its page: its theme, its color-scheme, its variables', async () => {
    const paper = async (attributes: string, html?: string): Promise<string> => {
      const page = await openPage({ attributes, ...(html ? { html } : {}), options: { colorScheme: 'light' } });
      return page.locator('.form').evaluate((element) => getComputedStyle(element).backgroundColor);
    };
    const [light, dark] = ['rgb(255, 255, 255)', 'rgb(22, 27, 34)'];
    expect(await paper('')).toBe(light);
    expect(await paper('theme="dark"')).toBe(dark);
    expect(await paper('theme="page"', '<html lang="en" class="dark">')).toBe(dark);
    expect(await paper('', '<html lang="en" class="dark">')).toBe(light); // as the reader prefers
  });

  it('does not move for readers who prefer less motion', async () => {
    const page = await openPage({ options: { reducedMotion: 'reduce' } });
    await ask(page, 'tyre');
    await page.locator('.box').evaluate((element) => element.classList.add('waiting'));
    const name = await page.locator('.form').evaluate((element) => getComputedStyle(element, '::after').animationName);
    expect(name).toBe('none');
  });

  const screens: [string, BrowserContextOptions & { viewport: typeof PHONE }][] = [
    ['on a desktop', { viewport: DESKTOP }],
    ['in the dark', { viewport: DESKTOP, colorScheme: 'dark' }],
    ['on a phone', { viewport: PHONE, hasTouch: true, isMobile: true, deviceScaleFactor: 2 }],
    ['on a phone in the dark', { viewport: PHONE, hasTouch: true, isMobile: true, colorScheme: 'dark' }],
  ];
  const modes = ['popup', 'page', 'dialog'];
  it.each(screens.flatMap(([name, screen]) => modes.map((mode) => [name, mode, screen] as const)))(
    '%s, as %s, axe finds nothing, and nothing is wider than the screen',
    async (name, mode, screen) => {
      const page = await openPage({ attributes: `mode="${mode}" hotkey="/"`, options: screen });
      expect(await violations(page)).toEqual([]);
      await page.locator('body').press('/');
      await ask(page, 'repair a flat tyre');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      await whyButton(page).click();
      await page.getByRole('table').waitFor();
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(screen.viewport.width);
      expect(await page.locator('.list').evaluate((list) => list.scrollWidth <= list.clientWidth)).toBe(true); // all wraps
      const panel = await page.locator('.panel').boundingBox();
      expect(panel && panel.x >= 0 && panel.x + panel.width <= screen.viewport.width).toBe(true);
      await shoot(page, `${name} ${mode}`);
      await box(page).fill('zzzqqq');
      await page.locator('.notice', { hasText: 'No results' }).waitFor();
      expect(await violations(page)).toEqual([]);
    },
  );
});

/** For people who want to look: LZERO_SCREENSHOTS names a folder. */
async function shoot(page: Page, name: string): Promise<void> {
  const place = process.env.LZERO_SCREENSHOTS;
  if (place) await page.screenshot({ path: join(place, `${name.replaceAll(' ', '-')}.png`) });
}
