/**
 * Search of a static site, ours and Pagefind's, on the same pages in the same browser: what a visitor loads, how long it
 * takes, what the build takes, and how good the answers are.
 *
 *     sh scripts/site-pages.sh FOLDER && npm install --prefix CACHE pagefind && npm run build
 *     LZERO_CHROMIUM=/usr/bin/chromium LZERO_PAGEFIND=CACHE/node_modules/.bin/pagefind \
 *         npx tsx bench/peers/pagefind.ts --pages FOLDER/site [--root SELECTOR] [--model M] [--headings 300] \
 *         [--ours SITE --build-seconds S] [--json results.json]
 *
 * Queries: bench/peers/site-queries.jsonl, written from memory of what such documentation has, not from its words. And headings of the pages (h2 … h4) that
 * one page alone has, drawn with a fixed seed: the page is the answer. The relevance is 1 for each.
 * Bytes are those of the bodies that a static host sent, text with gzip -9 as hosts do; a visit begins with an empty cache.
 * `--root` is the element that both take for the page, such as div.body; without it each decides for itself.
 * Without LZERO_PAGEFIND only ours is measured. `--ours` takes what `lzero site build` has made of the pages already, in so many
 * seconds, instead of building it.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { Parser } from 'htmlparser2';
import type { Browser, Page } from 'playwright-core';
import { Random } from '../../src/core/index.ts';
import { judgeRanking, ndcg, quantile } from '../../src/eval/index.ts';
import { launchChromium } from '../../test/browser/chromium.ts';
import { type PageHost, startHost } from '../../test/browser/page-host.ts';
import { runLzero } from '../lib/command-line.ts';
import { circumstances, describe } from '../lib/machine.ts';

const DEPTH = 10;
/** One of so many natural queries is asked on a first visit; all are asked on a long one. */
const FIRST_VISIT_EVERY = 10;
const QUERIES = new URL('site-queries.jsonl', import.meta.url);

/** A question and the paths of the pages that answer it. */
type Question = { readonly text: string; readonly pages: readonly string[] };

/** What a page answers: addresses, best first, and milliseconds. */
type Answered = { readonly urls: readonly string[]; readonly firstMs: number; readonly allMs: number };

/** A search that is compared. Scripts run in the page. */
type Contender = {
  readonly name: string;
  readonly folder: string;
  readonly buildMs: number;
  /** Makes `ask` of the page: text → Answered. */
  readonly start: string;
};

/** What was found about one. */
type Outcome = { readonly name: string; readonly figures: Readonly<Record<string, number>> };

const { values } = parseArgs({
  options: {
    pages: { type: 'string' },
    root: { type: 'string' },
    model: { type: 'string' },
    ours: { type: 'string' },
    'build-seconds': { type: 'string', default: 'NaN' },
    headings: { type: 'string', default: '300' },
    json: { type: 'string' },
  },
});
if (values.pages === undefined) throw new Error('--pages names no folder of HTML pages');
const pages = resolve(values.pages);

/** Questions written by hand, of which all pages are there. */
function naturalQuestions(): Question[] {
  const lines = readFileSync(QUERIES, 'utf8').trim().split('\n');
  return lines.map((line) => {
    const { text, pages: answers }: Question = JSON.parse(line);
    for (const page of answers) statSync(join(pages, page));
    return { text, pages: answers };
  });
}

/** Headings that stand in one page only, of two words or more. */
function headingQuestions(count: number): Question[] {
  const owners = new Map<string, Set<string>>();
  for (const path of htmlFiles()) {
    for (const heading of headingsOf(readFileSync(join(pages, path), 'utf8'))) {
      const paths = owners.get(heading) ?? new Set();
      owners.set(heading, paths.add(path));
    }
  }
  const unique = [...owners]
    .filter(([, paths]) => paths.size === 1)
    .map(([text, paths]) => ({ text, pages: [...paths] }));
  const random = new Random(7);
  return Array.from({ length: Math.min(count, unique.length) }, () => {
    const [drawn] = unique.splice(Math.floor(random.uniform() * unique.length), 1);
    return drawn;
  });
}

function htmlFiles(): string[] {
  return readdirSync(pages, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.html'))
    .map((entry) => relative(pages, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

function headingsOf(html: string): string[] {
  const headings: string[] = [];
  let depth = 0;
  const parser = new Parser({
    onopentag(name) {
      if (!/^h[234]$/.test(name)) return;
      depth++;
      headings.push('');
    },
    ontext(text) {
      if (depth > 0) headings[headings.length - 1] += text;
    },
    onclosetag(name) {
      if (/^h[234]$/.test(name)) depth--;
    },
  });
  parser.end(html);
  return headings
    .map((text) =>
      text
        .replace(/[¶#]\s*$/, '')
        .replace(/^[\d.]+\s/, '')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .filter((text) => text.includes(' '));
}

async function buildOurs(folder: string): Promise<Contender> {
  if (values.ours !== undefined) return oursIn(resolve(values.ours), 1000 * Number(values['build-seconds']));
  const config = `${folder}.yaml`;
  writeFileSync(config, values.root === undefined ? '{}\n' : `include: [${JSON.stringify(values.root)}]\n`);
  const model = values.model === undefined ? [] : ['--model', values.model];
  const own = ['-o', folder, '--config', config, '--cache', `${folder}.cache`, ...model]; // nothing is encoded already
  const { ms } = await runLzero(['site', 'build', pages, ...own]);
  return oursIn(folder, ms);
}

function oursIn(folder: string, buildMs: number): Contender {
  return {
    name: 'lzero',
    folder,
    buildMs,
    start: `const { open } = await import('/search/lzero.js');
      const search = await open('/search/');
      globalThis.ask = async (text) => {
        const began = performance.now();
        const { hits } = await search(text, { k: ${DEPTH} });
        const ms = performance.now() - began;
        return { urls: hits.map(({ url }) => url), firstMs: ms, allMs: ms };
      };`,
  };
}

function buildPagefind(program: string, folder: string): Contender {
  const root = values.root === undefined ? [] : ['--root-selector', values.root];
  const began = performance.now();
  execFileSync(program, ['--site', pages, '--output-path', folder, '--keep-index-url', '--silent', ...root]);
  return {
    name: 'Pagefind',
    folder,
    buildMs: performance.now() - began,
    start: `const pagefind = await import('/search/pagefind.js');
      await pagefind.options({ baseUrl: '/' });
      await pagefind.init();
      globalThis.ask = async (text) => {
        const began = performance.now();
        const { results } = await pagefind.search(text);
        const texts = results.slice(0, ${DEPTH}).map((result) => result.data());
        await texts[0];
        const firstMs = performance.now() - began;
        const urls = (await Promise.all(texts)).map(({ url }) => url);
        return { urls, firstMs, allMs: performance.now() - began };
      };`,
  };
}

/** A page with the search started, and what that took. */
async function visit(browser: Browser, host: PageHost, start: string) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${host.url}/`);
  const [before, began] = [host.numBytes(), performance.now()];
  await page.evaluate(`(async () => { ${start} })()`);
  return { page, startBytes: host.numBytes() - before, startMs: performance.now() - began };
}

async function ask(page: Page, host: PageHost, text: string): Promise<Answered & { readonly bytes: number }> {
  const before = host.numBytes();
  const answered: Answered = await page.evaluate(`ask(${JSON.stringify(text)})`);
  return { ...answered, bytes: host.numBytes() - before };
}

function quality(answered: readonly Answered[], questions: readonly Question[]): number {
  const scores = questions.map(({ pages: answers }, i) => {
    const ids = answered[i].urls.map((url) => decodeURIComponent(new URL(url, 'http://host').pathname.slice(1)));
    const hits = [...new Set(ids)].map((id, rank) => ({ id, score: -rank }));
    return ndcg(judgeRanking(hits, new Map(answers.map((page) => [page, 1]))), DEPTH);
  });
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

async function measure(
  browser: Browser,
  contender: Contender,
  natural: readonly Question[],
  headings: readonly Question[],
) {
  const blank = mkdtempSync(join(tmpdir(), 'lzero-blank-'));
  writeFileSync(join(blank, 'index.html'), '<!doctype html><title>blank</title>');
  const host = await startHost({ folders: { '/': blank, '/search/': contender.folder } });
  const first = { startBytes: [] as number[], startMs: [] as number[], bytes: [] as number[], ms: [] as number[] };
  for (const { text } of natural.filter((_, i) => i % FIRST_VISIT_EVERY === 0)) {
    const { page, startBytes, startMs } = await visit(browser, host, contender.start);
    const { bytes, firstMs } = await ask(page, host, text);
    first.startBytes.push(startBytes);
    first.startMs.push(startMs);
    first.bytes.push(bytes);
    first.ms.push(startMs + firstMs);
    await page.context().close();
  }
  const { page } = await visit(browser, host, contender.start);
  const run = async (questions: readonly Question[]) => {
    const answers: (Answered & { readonly bytes: number })[] = [];
    for (const { text } of questions) {
      answers.push(await ask(page, host, text));
      if (answers.length % 50 === 0)
        console.error(`${contender.name}: ${answers.length} of ${questions.length} queries`);
    }
    return answers;
  };
  const answers = await run(natural);
  const ofHeadings = await run(headings);
  await page.context().close();
  await host.stop();
  rmSync(blank, { recursive: true });
  const at = (list: readonly number[], share: number): number =>
    quantile(
      list.toSorted((a, b) => a - b),
      share,
    );
  const bytes = answers.map((answer) => answer.bytes);
  const figures = {
    'build, s': contender.buildMs / 1000,
    'folder, MB': folderBytes(contender.folder) / 1e6,
    'start, KB': at(first.startBytes, 0.5) / 1000,
    'first query, KB (p50)': at(first.bytes, 0.5) / 1000,
    'first query, KB (p95)': at(first.bytes, 0.95) / 1000,
    'query of a long visit, KB (p50)': at(bytes, 0.5) / 1000,
    'query of a long visit, KB (p95)': at(bytes, 0.95) / 1000,
    'start and first result, ms (p50)': at(first.ms, 0.5),
    'query of a long visit to its first result, ms (p50)': at(
      answers.map(({ firstMs }) => firstMs),
      0.5,
    ),
    'query of a long visit to all results, ms (p50)': at(
      answers.map(({ allMs }) => allMs),
      0.5,
    ),
    [`NDCG@10, ${natural.length} natural queries`]: quality(answers, natural),
    'natural queries without any result': answers.filter(({ urls }) => urls.length === 0).length,
    [`NDCG@10, ${headings.length} headings`]: quality(ofHeadings, headings),
  };
  return { name: contender.name, figures } satisfies Outcome;
}

function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function printTable(outcomes: readonly Outcome[]): void {
  console.log(`\n| | ${outcomes.map(({ name }) => name).join(' | ')} |\n| --- |${' ---: |'.repeat(outcomes.length)}`);
  for (const row of Object.keys(outcomes[0].figures)) {
    const digits = row.startsWith('NDCG') ? 4 : 1;
    console.log(`| ${row} | ${outcomes.map(({ figures }) => figures[row].toFixed(digits)).join(' | ')} |`);
  }
}

const where = await circumstances();
console.log(describe(where));
const natural = naturalQuestions();
const headings = headingQuestions(Number(values.headings));
console.log(`${htmlFiles().length} pages, ${natural.length} natural queries, ${headings.length} headings`);
const work = mkdtempSync(join(tmpdir(), 'lzero-pagefind-'));
const browser = await launchChromium();
try {
  const contenders = [await buildOurs(join(work, 'lzero'))];
  const program = process.env.LZERO_PAGEFIND;
  if (program === undefined) console.log('LZERO_PAGEFIND names no program: Pagefind is left out');
  else contenders.push(buildPagefind(program, join(work, 'pagefind')));
  const outcomes: Outcome[] = [];
  for (const contender of contenders) outcomes.push(await measure(browser, contender, natural, headings));
  printTable(outcomes);
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ ...where, outcomes }, undefined, 2)}\n`);
} finally {
  await browser.close();
  rmSync(work, { recursive: true });
}
