/** The page of a figure in a real Chromium, from disk: what it shows, by mouse, by keys, on a phone, in the dark. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type FigureFiles, writeFigure } from '../../src/figures/index.ts';
import { SAMPLE } from '../figures/sample-figure.ts';
import { noChromium } from './chromium.ts';
import { expectSound, SCREENS, TIMEOUT_MS, WatchedPages } from './watched-pages.ts';

/** 5 of each sweep, the one that collapsed, 3 published. */
const NUM_POINTS = 14;

/** From disk, and the numbers as a link in itself. */
const pages = new WatchedPages({ addresses: /^(?:file:.*\.html$|data:text\/csv)/ });
let folder: string;
let files: FigureFiles;

async function openPage(options: BrowserContextOptions = {}, path = files.html): Promise<Page> {
  const page = await pages.open(pathToFileURL(path).href, options);
  if (options.javaScriptEnabled !== false) await page.locator('#plot[role=application]').waitFor();
  return page;
}

const marks = (page: Page, text: string) =>
  page.locator(
    `#plot g[aria-description^="points of ${text}"] > *, #plot g[aria-description^="collapsed of ${text}"] > *`,
  );
const tip = (page: Page) => page.locator('#plot g[aria-label=tip] text');

describe.skipIf(noChromium !== '')(`the page of a figure${noChromium}`, { timeout: TIMEOUT_MS }, () => {
  beforeAll(async () => {
    await pages.launch();
    folder = mkdtempSync(join(tmpdir(), 'lzero-figure-page-'));
    files = await writeFigure(SAMPLE, folder);
  }, TIMEOUT_MS);

  afterEach(() => pages.settle());

  afterAll(async () => {
    await pages.close();
    rmSync(folder, { recursive: true });
  });

  it('draws every point, and has a line of the legend for each series, the front and the collapse', async () => {
    const page = await openPage();
    expect(await marks(page, '').count()).toBe(NUM_POINTS);
    const lines = ['baseline', 'mask', 'mask (published)', 'SPLADE-v3-Doc (published)', 'Pareto front'];
    expect(await page.locator('#legend label').allTextContents()).toEqual(lines);
    expect(await page.locator('#legend span').allTextContents()).toEqual(['collapsed (0 is drawn at the edge)']);
    expect(await page.locator('#plot svg').count()).toBe(1); // in place of the one for readers without scripts
  });

  it('hides and shows a series by its box, and what is left does not move', async () => {
    const page = await openPage();
    const place = await marks(page, 'mask').first().boundingBox();
    await page.getByRole('checkbox', { name: 'baseline' }).click();
    await expect.poll(() => marks(page, '').count()).toBe(NUM_POINTS - 6);
    expect(await marks(page, 'mask').first().boundingBox()).toEqual(place);
    await page.getByRole('checkbox', { name: 'Pareto front' }).click();
    await expect.poll(() => page.locator('#plot g[aria-description="Pareto front"]').count()).toBe(0);
    await page.getByRole('checkbox', { name: 'baseline' }).click();
    await expect.poll(() => marks(page, '').count()).toBe(NUM_POINTS);
  });

  it('says what a point is where the pointer is', async () => {
    const page = await openPage();
    const box = await marks(page, 'mask (published)').first().boundingBox();
    if (!box) throw new Error('the mark has no place');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 3 });
    await tip(page).filter({ hasText: 'Table 2' }).waitFor();
    expect(await tip(page).textContent()).toMatch(/mask \(published\).*FLOPS: 1\.6.*NDCG@10: 0\.504/);
  });

  it('is worked by keys alone: from point to point, from series to series, and says them', async () => {
    const page = await openPage();
    const spoken = page.locator('#spoken');
    await page.locator('#plot').focus();
    await page.keyboard.press('ArrowRight');
    await tip(page).filter({ hasText: 'λ 0.001, t 200' }).waitFor();
    await page.keyboard.press('ArrowRight');
    expect(await spoken.textContent()).toContain('baseline, λ 0.01, t 200, FLOPS: 6.6667 (6 to 7.3333)');
    await page.keyboard.press('End');
    expect(await spoken.textContent()).toContain('FLOPS: 0, NDCG@10: 0.01, collapsed; drawn at the edge');
    await page.keyboard.press('ArrowDown');
    expect(await spoken.textContent()).toContain('mask, λ 0.8, t 200');
    await page.keyboard.press('Escape');
    expect(await spoken.textContent()).toBe('');
    await expect.poll(() => tip(page).count()).toBe(0);
  });

  it('gives the numbers as a file and as a table', async () => {
    const page = await openPage();
    await page.getByText('Numbers', { exact: true }).click();
    expect(await page.locator('tbody tr').count()).toBe(NUM_POINTS);
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('Numbers as CSV').click()]);
    expect(download.suggestedFilename()).toBe('figure1.csv');
    expect(readFileSync(await download.path(), 'utf8')).toBe(readFileSync(files.csv, 'utf8'));
  });

  it('shows the figure without scripts', async () => {
    const page = await openPage({ javaScriptEnabled: false });
    expect(await marks(page, '').count()).toBe(NUM_POINTS);
    expect(await page.locator('#legend').isVisible()).toBe(false);
    expect(await page.locator('#plot svg').getByText('SPLADE-v3-Doc (published)').first().isVisible()).toBe(true);
  });

  it('runs nothing that a name brings', async () => {
    const name = '</script><script>document.title="taken"</script><img src=x onerror="document.title=`taken`">';
    const series = SAMPLE.series.map((one) => ({ ...one, name: `${one.name} ${name}` }));
    const { html } = await writeFigure({ ...SAMPLE, id: 'hostile', title: `Names ${name}`, series }, folder);
    const page = await openPage({}, html);
    expect(await page.title()).toBe(`Names ${name}`);
    expect(await page.locator('#legend label').first().textContent()).toBe(`baseline ${name}`);
    expect(await page.locator('img').count()).toBe(0);
  });

  it.each(SCREENS)('%s axe finds nothing, and nothing is wider than the screen', async (_, options) => {
    const page = await openPage(options);
    await page.locator('details').evaluate((element) => element.setAttribute('open', ''));
    await expectSound(page, options, { light: 'rgb(255, 255, 255)', dark: 'rgb(13, 17, 23)' });
    const box = await page.locator('#plot svg').boundingBox();
    expect(box?.width).toBeLessThanOrEqual(options.viewport.width);
  });
});
