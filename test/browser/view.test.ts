/** The page of `lzero view` in a real Chromium: what it shows, by mouse, by keys, on a phone, in the dark, and live. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContextOptions, Download, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type View, viewRuns } from '../../src/view/index.ts';
import { makeRun } from '../view/make-run.ts';
import { noChromium } from './chromium.ts';
import { expectSound, SCREENS, TIMEOUT_MS, WatchedPages } from './watched-pages.ts';

const pages = new WatchedPages({ addresses: /^(?:http:\/\/127\.0\.0\.1|data:image\/svg|blob:)/ });
let folder: string;
let view: View | undefined;

const place = (name: string): string => join(folder, name);

async function openPage(names: readonly string[], options: BrowserContextOptions = {}, port = 0): Promise<Page> {
  view = await viewRuns(names.map(place), { port });
  const page = await pages.open(view.url, options);
  await page.getByText('live', { exact: true }).waitFor();
  return page;
}

const readout = (page: Page, metric: string) => page.locator(`section:has(#chart-${metric}) output`).first();
const chart = (page: Page, metric: string) => page.locator(`section:has(#chart-${metric}) .plot`);

describe.skipIf(noChromium !== '')(`the page of a view${noChromium}`, { timeout: TIMEOUT_MS }, () => {
  beforeAll(async () => {
    await pages.launch();
    folder = mkdtempSync(join(tmpdir(), 'lzero-page-'));
    makeRun(place('mask.run'), { numLines: 600, evaluateEvery: 1000, isFinished: true });
    makeRun(place('strong.run'), { numLines: 600, seed: 2, lambda: 0.4, evaluateEvery: 1000, collapseAt: 4000 });
  }, TIMEOUT_MS);

  afterEach(async () => {
    await pages.settle();
    await view?.close();
    view = undefined;
  });

  afterAll(async () => {
    await pages.close();
    rmSync(folder, { recursive: true });
  });

  it('has a chart for each loss by its name, λ, rate, lengths, shares and pace, with the newest numbers', async () => {
    const page = await openPage(['mask.run']);
    await readout(page, 'loss').filter({ hasText: /\d/ }).waitFor();
    const titles = await page.locator('.panel h3').allTextContents();
    for (const title of ['loss', 'kl', 'flops, before λ', 'λ', 'learning rate', 'masked share', 'documents a second'])
      expect(titles).toContain(title);
    expect(titles).toEqual(expect.arrayContaining(['NDCG@10 against FLOPS', 'Doc_Len histogram', 'Pinned documents']));
    expect(await readout(page, 'lambda').textContent()).toBe('0.04');
    expect(await page.locator('table.runs tbody tr').allTextContents()).toEqual([
      expect.stringMatching(/mask\.run✓ finished6,000 \/ 6,000/),
    ]);
    const pixels =
      'new Set(new Uint32Array(document.querySelector(".plot canvas").getContext("2d").getImageData(0, 0, 600, 200).data.buffer)).size';
    expect(Number(await page.evaluate(pixels))).toBeGreaterThan(5); // something is drawn
    expect(await page.locator('#frontier').locator('xpath=ancestor::section').locator('circle').count()).toBe(6);
  });

  it('compares runs, marks a collapse, lists settings that differ, and hides a run', async () => {
    const page = await openPage(['mask.run', 'strong.run']);
    await page.getByText('strong.run has collapsed').waitFor();
    expect(await page.locator('td.collapsed').textContent()).toBe('✕ collapsed');
    expect(await page.locator('section:has(#chart-loss) output').count()).toBe(2);
    await page.getByText('Settings in which the runs differ').click();
    expect(await page.locator('section[aria-label=Settings] tbody').textContent()).toMatch(/sparsity\.lambda0\.040\.4/);
    await page.getByRole('checkbox', { name: 'strong.run' }).click();
    await page.locator('section:has(#chart-loss) output').nth(1).waitFor({ state: 'detached' });
  });

  it('pinned documents change from evaluation to evaluation', async () => {
    const page = await openPage(['mask.run']);
    const panel = page.locator('section:has(#pinned)');
    await panel.getByText('after step 6,000').waitFor();
    expect(await panel.locator('article').count()).toBe(3);
    const before = await panel.locator('article').first().textContent();
    await panel.getByRole('slider').focus();
    await page.keyboard.press('ArrowLeft');
    await panel.getByText('after step 5,000').waitFor();
    expect(await panel.locator('article').first().textContent()).not.toBe(before);
  });

  it('the histogram follows its slider back to longer documents', async () => {
    const page = await openPage(['mask.run']);
    const panel = page.locator('section:has(#lengths)');
    await panel.getByText('128', { exact: true }).waitFor();
    await panel.getByRole('slider').fill('30');
    await panel.getByText('1,024', { exact: true }).waitFor();
  });

  it('shows new lines within two seconds of their being written', async () => {
    const { addLine } = makeRun(place('live.run'), { numLines: 50 });
    const page = await openPage(['live.run']);
    await page.getByText('500 / 500').waitFor();
    addLine();
    await page.getByText('510 / 500').waitFor({ timeout: 2000 });
  });

  it('survives a run that is begun anew, and one that is not there yet', async () => {
    const page = await openPage(['anew.run']);
    await page.getByText('no run there yet').waitFor();
    makeRun(place('anew.run'), { numLines: 50 });
    await page.getByText('500 / 500').waitFor();
    rmSync(place('anew.run'), { recursive: true });
    makeRun(place('anew.run'), { numLines: 20, seed: 9 });
    await page.getByText('200 / 200').waitFor();
    await readout(page, 'loss').filter({ hasText: /\d/ }).waitFor();
  });

  it('survives a server that is ended and started again at the same place', async () => {
    const page = await openPage(['mask.run']);
    const port = Number(new URL(view?.url ?? '').port);
    await view?.close();
    await page.getByText('connection lost').waitFor();
    pages.forgive('ERR_'); // the browser says that nobody answers
    makeRun(place('mask.run'), { numLines: 700, evaluateEvery: 1000, isFinished: true });
    view = await viewRuns([place('mask.run')], { port });
    await page.getByText('7,000 / 7,000').waitFor({ timeout: 20_000 });
    makeRun(place('mask.run'), { numLines: 600, evaluateEvery: 1000, isFinished: true });
    pages.forgive('ERR_');
  });

  it('is worked by keys alone: the cursor, zoom, all', async () => {
    const page = await openPage(['mask.run']);
    await readout(page, 'loss').filter({ hasText: /\d/ }).waitFor();
    for (let tabs = 0; tabs < 40; tabs++) {
      await page.keyboard.press('Tab');
      if (await chart(page, 'loss').evaluate((element) => element === document.activeElement)) break;
    }
    expect(await chart(page, 'loss').evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press('ArrowRight');
    await readout(page, 'loss').filter({ hasText: /at \d/ }).waitFor();
    expect(await page.locator('section:has(#chart-loss) [aria-live]').textContent()).toMatch(/at \d/);
    const all = page.getByRole('button', { name: 'all' });
    expect(await all.isDisabled()).toBe(true);
    await page.keyboard.press('+');
    await page.locator('.buttons button:last-child:enabled').waitFor();
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('0');
    await page.locator('.buttons button:last-child:disabled').waitFor();
  });

  it('zooms by dragging, shows all by a double click, draws by time and in logarithms', async () => {
    const page = await openPage(['mask.run']);
    await readout(page, 'loss').filter({ hasText: /\d/ }).waitFor();
    const box = await page.locator('section:has(#chart-loss) .u-over').boundingBox();
    if (!box) throw new Error('the chart has no place');
    await page.mouse.move(box.x + 0.2 * box.width, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.6 * box.width, box.y + 60, { steps: 5 });
    await page.mouse.up();
    await page.locator('.buttons button:last-child:enabled').waitFor();
    await page.mouse.dblclick(box.x + 0.5 * box.width, box.y + 50);
    await page.locator('.buttons button:last-child:disabled').waitFor();
    await page.getByLabel('log scale').check();
    await page.getByLabel('by', { exact: false }).first().selectOption('time');
    await page.mouse.move(box.x + 0.5 * box.width, box.y + 50);
    await readout(page, 'loss')
      .filter({ hasText: /at \d+:\d\d min/ })
      .waitFor();
  });

  it('saves charts as SVG and PNG', async () => {
    const page = await openPage(['mask.run', 'strong.run']);
    await readout(page, 'loss').filter({ hasText: /\d/ }).waitFor();
    const saved = async (name: string): Promise<Download> => {
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
      return download;
    };
    const svg = await saved('Save loss as SVG');
    expect(svg.suggestedFilename()).toBe('loss.svg');
    const text = readFileSync(await svg.path(), 'utf8');
    for (const part of ['<svg xmlns', 'mask.run', 'strong.run', 'collapse of strong.run', '#0969da'])
      expect(text).toContain(part);
    expect(text.length).toBeLessThan(100_000);
    const png = readFileSync(await (await saved('Save ndcg-flops as PNG')).path());
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1440, 840]);
    expect(png.length).toBeGreaterThan(5000); // not empty paper
  });

  it.each(SCREENS)('%s axe finds nothing, and nothing is wider than the screen', async (_, options) => {
    const page = await openPage(['mask.run', 'strong.run', 'later.run'], options);
    await page.locator('.pinned article').first().waitFor();
    await expectSound(page, options, { light: 'rgb(243, 245, 247)', dark: 'rgb(13, 17, 23)' });
  });

  it('draws 100,000 logged steps, and moves through them without a frame above 100 ms on average', async () => {
    makeRun(place('long.run'), { numLines: 100_000, evaluateEvery: 20_000 });
    const page = await openPage(['long.run']);
    await page.getByText('1,000,000 / 1,000,000').waitFor();
    await chart(page, 'loss').focus();
    await page.evaluate(
      'window.frames_ = []; (function next(t) { frames_.push(t); requestAnimationFrame(next); })(performance.now())',
    );
    for (let i = 0; i < 12; i++) await page.keyboard.press(i < 8 ? '+' : 'Shift+ArrowRight');
    const times = (await page.evaluate('frames_')) as number[];
    expect((times[times.length - 1] - times[0]) / (times.length - 1)).toBeLessThan(100);
    await readout(page, 'loss').filter({ hasText: /\d/ }).waitFor();
  });
});
