/** Pages in a real Chromium, and everything that they complain of: errors, and what they ask for elsewhere. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { violations } from './axe.ts';
import { launchChromium } from './chromium.ts';

/** Starting a browser, and a test in it. */
export const TIMEOUT_MS = 60_000;

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };

/** A screen that pages are looked at on. */
export type PageScreen = BrowserContextOptions & {
  readonly viewport: { readonly width: number; readonly height: number };
};

/** The screens. */
export const SCREENS: [string, PageScreen][] = [
  ['on a desktop', { viewport: DESKTOP }],
  ['in the dark', { viewport: DESKTOP, colorScheme: 'dark' }],
  ['on a phone', { viewport: PHONE, hasTouch: true, isMobile: true, deviceScaleFactor: 2 }],
];

/** What a page may do without being complained of. */
export type Expected = {
  /** Addresses that it may ask for. */
  readonly addresses: RegExp;
  /** Errors that the test provokes. */
  readonly errors?: RegExp | undefined;
};

/** A browser, its pages and their complaints. Launch it before the tests of a file, close it after them. */
export class WatchedPages {
  readonly #expected: Expected;
  #browser: Browser | undefined;
  #complaints: string[] = [];

  constructor(expected: Expected) {
    this.#expected = expected;
  }

  /** Starts the browser. */
  async launch(): Promise<void> {
    this.#browser = await launchChromium();
  }

  /** Opens an address, on a desktop where nothing else is said. */
  async open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    if (!this.#browser) throw new Error('launch the browser first');
    const context = await this.#browser.newContext({ viewport: DESKTOP, ...options });
    const page = await context.newPage();
    page.on('pageerror', (error) => this.#complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && this.#complaints.push(message.text()));
    page.on('request', (request) => {
      if (!this.#expected.addresses.test(request.url())) this.#complaints.push(request.url());
    });
    await page.goto(url);
    return page;
  }

  /** Forgets complaints that a test has provoked. */
  forgive(text: string): void {
    this.#complaints = this.#complaints.filter((complaint) => !complaint.includes(text));
  }

  /** After each test: closes its pages, who must not have complained of anything. */
  async settle(): Promise<void> {
    for (const context of this.#browser?.contexts() ?? []) await context.close();
    const { errors } = this.#expected;
    const found = this.#complaints.filter((complaint) => !errors?.test(complaint));
    this.#complaints = [];
    expect(found).toEqual([]);
  }

  /** Ends the browser. */
  async close(): Promise<void> {
    await this.#browser?.close();
  }
}

/** Nothing that axe finds, nothing wider than the screen, and paper of the scheme's colour. */
export async function expectSound(
  page: Page,
  screen: PageScreen,
  paper: { light: string; dark: string },
): Promise<void> {
  expect(await violations(page)).toEqual([]);
  const width: number = await page.evaluate('document.documentElement.scrollWidth'); // room for a scroll bar is not in it
  expect(width).toBeLessThanOrEqual(screen.viewport.width);
  const colour = await page.evaluate('getComputedStyle(document.body).backgroundColor');
  expect(colour).toBe(paper[screen.colorScheme === 'dark' ? 'dark' : 'light']);
}
