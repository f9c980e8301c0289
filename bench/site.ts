/**
 * What search in a built site costs a visitor, in a real Chromium over loopback: bytes before the first query, bytes and time
 * of a first query, bytes and time of later ones, and keystroke to results while a query is typed letter by letter.
 *
 *     sh scripts/site-pages.sh FOLDER                                  5,400 pages of Debian's documentation, once
 *     lzero site build FOLDER/site -o FOLDER/search
 *     LZERO_CHROMIUM=/usr/bin/chromium npx tsx bench/site.ts FOLDER/search [QUERIES.txt]
 *
 * Queries are lines of a file, else some that people ask of documentation. Times are of a quiet machine or of none.
 *
 * Bars, at 5,000 pages: 120 KB before the first query; at the median 150 KB for a first query, 60 KB for a later one, and 30 ms
 * from keystroke to results.
 */
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, normalize } from 'node:path';
import { gzipSync } from 'node:zlib';
import { chromium, type Page } from 'playwright-core';
import { circumstances } from './lib/machine.ts';
import { atMost, printPart } from './lib/report.ts';

const QUERIES = [
  'sort a list of dictionaries by key',
  'undo the last commit',
  'create an index on a column',
  'set compiler flags for one target',
  'read a file line by line',
  'connect to a database with ssl',
  'redirect a url permanently',
  'asynchronous context manager',
  'many to many relationship',
  'multiply two matrices',
  'recover a deleted branch',
  'user permissions and groups',
];
/** Queries after which one is warm. */
const WARM_AFTER = 4;

type Visit = { readonly bytes: number; readonly ms: number };

async function main(): Promise<void> {
  const [folder, file] = process.argv.slice(2);
  const executablePath = process.env.LZERO_CHROMIUM;
  if (folder === undefined || !executablePath)
    throw new Error('usage: LZERO_CHROMIUM=… npx tsx bench/site.ts DIR [QUERIES]');
  const queries = file === undefined ? QUERIES : readFileSync(file, 'utf8').trim().split('\n');
  const { url, sent, stop } = await serve(folder);
  const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
  try {
    const open = async (): Promise<Page> => {
      const page = await (await browser.newContext()).newPage();
      await page.goto(url);
      await page.waitForFunction(() => 'search' in window);
      return page;
    };
    const cold: Visit[] = [];
    let startBytes = 0;
    for (const text of queries) {
      const before = sent();
      const page = await open();
      startBytes = sent() - before;
      cold.push(await ask(page, text));
      await page.context().close();
    }
    const page = await open();
    const warm: Visit[] = [];
    for (const text of queries) warm.push(await ask(page, text));
    const keys: number[] = [];
    for (const text of queries)
      for (let end = 3; end <= text.length; end++) keys.push((await ask(page, text.slice(0, end), true)).ms);
    const visits = { cold: spread(cold), warm: spread(warm.slice(WARM_AFTER)) };
    const keystrokeMs = { p50: quantile(keys, 0.5), p95: quantile(keys, 0.95) };
    const where = await circumstances();
    console.log(
      JSON.stringify({ ...where, queries: queries.length, startBytes, ...visits, keystrokeMs }, undefined, 2),
    );
    const claims = [
      atMost('before the first query', startBytes / 1000, { limit: 120, unit: 'KB' }),
      atMost('a first query', visits.cold.bytes.p50 / 1000, { limit: 150, unit: 'KB' }),
      atMost('a later query', visits.warm.bytes.p50 / 1000, { limit: 60, unit: 'KB' }),
      atMost('keystroke to results', keystrokeMs.p50, { limit: 30, unit: 'ms' }),
    ];
    printPart({ title: 'bars', rows: [], claims });
  } finally {
    await browser.close();
    stop();
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

function spread(visits: readonly Visit[]) {
  const of = (pick: (visit: Visit) => number, share: number): number => quantile(visits.map(pick), share);
  return {
    bytes: { p50: of(({ bytes }) => bytes, 0.5), p95: of(({ bytes }) => bytes, 0.95) },
    ms: { p50: of(({ ms }) => ms, 0.5), p95: of(({ ms }) => ms, 0.95) },
  };
}

/** A search as the page's script makes it, timed in the page. */
async function ask(page: Page, text: string, prefix = false): Promise<Visit> {
  return await page.evaluate(
    async ([query, isPrefix]) => {
      const search: unknown = Reflect.get(window, 'search');
      if (typeof search !== 'function') throw new Error('the page has no search');
      const began = performance.now();
      const { bytes } = await search(query, { prefix: isPrefix });
      return { bytes, ms: performance.now() - began };
    },
    [text, prefix] as const,
  );
}

const TYPES: Readonly<Record<string, string>> = { js: 'text/javascript', json: 'application/json' };
const PAGE =
  '<!doctype html><script type="module">import { open } from "/search/lzero.js"; window.search = await open("/search/");</script>';

/** A host with ranges that compresses text, as hosts do; the rest is packed already. Counts what it sends. */
async function serve(folder: string): Promise<{ url: string; sent: () => number; stop: () => void }> {
  let numSent = 0;
  const server = createServer((request, response) => {
    const path = normalize(decodeURI(request.url ?? '/'));
    if (!path.startsWith('/search/')) {
      response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
      return;
    }
    const file = join(folder, path.slice('/search/'.length));
    const type = TYPES[file.split('.').at(-1) ?? ''];
    if (type !== undefined) {
      const body = gzipSync(readFileSync(file));
      numSent += body.length;
      response
        .writeHead(200, { 'content-type': type, 'content-encoding': 'gzip', 'content-length': body.length })
        .end(body);
      return;
    }
    const { size } = statSync(file);
    const [, from = '0', to = String(size - 1)] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const [start, end] = [Number(from), Math.min(Number(to), size - 1)];
    numSent += end - start + 1;
    const place = request.headers.range ? { 'content-range': `bytes ${start}-${end}/${size}` } : {};
    const headers = { 'content-type': 'application/octet-stream', 'content-length': end - start + 1, ...place };
    response.writeHead(request.headers.range ? 206 : 200, headers);
    createReadStream(file, { start, end }).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return { url: `http://127.0.0.1:${address.port}/`, sent: () => numSent, stop: () => server.close() };
}

await main();
