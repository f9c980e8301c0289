import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentOfIndex, everydayQueries, makeEverydayIndex, siteOfIndex } from '../../test/site/everyday-site.ts';
import { FetchingHost, SiteEngine } from '../browser/index.ts';
import type { Index } from '../engines/index.ts';
import { bytesSource, sparseFormat, writtenBytes } from '../search/index.ts';
import { fitSite } from './fit-site.ts';
import { measureSite, titleQueries } from './measure-site.ts';
import { readScripts } from './scripts.ts';
import { type SiteContent, type SiteFiles, siteFiles } from './site-files.ts';
import { writeSite } from './write-site.ts';

const TIMEOUT_MS = 120_000;
let folder: string;
let index: Index;
let site: SiteFiles;

type HostChoices = {
  readonly ranges?: boolean;
  readonly change?: (name: string, bytes: Uint8Array) => Uint8Array;
  /** What a cache on the way answers in place of a file; it is passed by where the file is asked for anew. */
  readonly cached?: (name: string, bytes: Uint8Array) => Uint8Array | undefined;
};

/** An engine over the files in memory. */
async function engineOf(
  { files, manifest }: SiteFiles,
  { ranges = true, change = (_, bytes) => bytes, cached = () => undefined }: HostChoices = {},
) {
  const asked: string[] = [];
  const host = new FetchingHost(async (name, range, { isFresh }) => {
    asked.push(`${name}${range ? ` ${range.offset}+${range.length}` : ''}`);
    const found = files.get(name);
    if (!found) throw new Error(`no file ${name}`);
    const instead = isFresh ? undefined : cached(name, found);
    if (instead) return { bytes: instead, isWhole: true };
    const bytes = change(name, found);
    if (!range || !ranges) return { bytes, isWhole: true };
    return { bytes: bytes.subarray(range.offset, range.offset + range.length), isWhole: false };
  });
  return { engine: await SiteEngine.open(host, manifest, { count: () => {} }), asked, host };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-site-'));
  index = await makeEverydayIndex(join(folder, 'index'));
  site = await siteOfIndex(index);
}, TIMEOUT_MS);

afterAll(async () => {
  await index?.close();
  rmSync(folder, { recursive: true });
});

describe('a site', { timeout: TIMEOUT_MS }, () => {
  it('answers every query as the index does: pages, order, scores to the bit, products', async () => {
    const { engine } = await engineOf(site);
    for (const text of everydayQueries()) {
      const expected = await index.search(text, { k: 10, explain: true });
      const { hits, terms } = await engine.search(text, { k: 10, explain: true });
      expect(terms).toEqual(expected.terms);
      expect(hits.map(({ id, score, rank }) => ({ id, score, rank }))).toEqual(
        expected.hits.map(({ id, score, rank }) => ({ id, score, rank })),
      );
      const byToken = (a: { token: string }, b: { token: string }): number => (a.token < b.token ? -1 : 1);
      expect(hits.map(({ explain = [] }) => [...explain].sort(byToken))).toEqual(
        expected.hits.map(({ explain = [] }) => [...explain].sort(byToken)),
      );
    }
  });

  it('answers filters over labels as the index does over fields', async () => {
    const { engine } = await engineOf(site);
    for (const filter of [{ shelf: 'shelf 1' }, { not: { shelf: { in: ['shelf 0', 'shelf 2'] } } }])
      for (const text of everydayQueries().slice(0, 20)) {
        const expected = await index.search(text, { k: 5, filter });
        const { hits } = await engine.search(text, { k: 5, filter });
        expect(hits.map(({ id, score }) => ({ id, score }))).toEqual(
          expected.hits.map(({ id, score }) => ({ id, score })),
        );
        const wanted = 'not' in filter ? ['shelf 1', 'shelf 3'] : ['shelf 1'];
        expect(hits.every(({ labels }) => wanted.includes(labels.shelf))).toBe(true);
      }
    await expect(engine.search('water', { filter: { colour: 'red' } })).rejects.toThrow('no field "colour"');
  });

  it('answers searches that overlap as it answers them one by one', async () => {
    const texts = everydayQueries().slice(0, 12);
    const alone = [];
    for (const text of texts) alone.push((await (await engineOf(site)).engine.search(text, {})).hits);
    const { engine } = await engineOf(site);
    const together = await Promise.all(texts.map((text) => engine.search(text, {})));
    expect(together.map(({ hits }) => hits)).toEqual(alone);
  });

  it('shows the page, its sections by heading with anchors, and a passage with the words of the query', async () => {
    const { engine } = await engineOf(site);
    const { hits } = await engine.search('how do I stop bread from going mouldy', {});
    const [{ url, title, sections }] = hits;
    expect(url).toMatch(/^\/page-\d+\.html$/);
    expect(title).toMatch(/^Page \d+$/);
    const marked = hits.flatMap(({ snippet }) =>
      snippet.marks.map(([start, end]) => snippet.text.slice(start, end).toLowerCase()),
    );
    expect(marked).toContain('bread');
    const asked = 'how do i stop bread from going mouldy'.split(' ');
    expect(marked.filter((word) => !asked.some((known) => word.startsWith(known.slice(0, 4))))).toEqual([]);
    const anchored = hits.flatMap((hit) => hit.sections.map((section) => section.url.startsWith(`${hit.url}#`)));
    expect(anchored.length).toBeGreaterThan(0);
    expect(anchored.every(Boolean)).toBe(true);
    expect(sections.every(({ title: heading }) => !heading.startsWith('Page '))).toBe(true);
  });

  it('completes the last word while it is typed, and takes a finished text as it is', async () => {
    const { engine } = await engineOf(site);
    const finished = await engine.search('brea', {});
    const typed = await engine.search('brea', { prefix: true });
    expect(finished.terms.map(({ token }) => token)).not.toContain('bread');
    expect(typed.terms.map(({ token }) => token)).toContain('bread');
    const whole = await engine.search('bread', {});
    const share = typed.terms.find(({ token }) => token === 'bread')?.weight ?? 0;
    expect(share).toBeCloseTo(whole.terms[0].weight / 2, 5);
    expect((await engine.search('bread ', { prefix: true })).terms).toEqual(whole.terms);
  });

  it('fetches pieces of files, and nothing twice', async () => {
    const { engine, asked } = await engineOf(site);
    const text = everydayQueries()[0];
    const first = await engine.search(text, {});
    expect(asked.some((request) => / \d+\+\d+$/.test(request))).toBe(true);
    const before = asked.length;
    const second = await engine.search(text, {});
    expect(asked.length).toBe(before);
    expect(second.hits).toEqual(first.hits);
    expect([first.bytes > 0, second.bytes]).toEqual([true, 0]);
  });

  it('gives the same answers on a host without ranges, which it says', async () => {
    const { engine } = await engineOf(site);
    const { engine: whole } = await engineOf(site, { ranges: false });
    for (const text of everydayQueries().slice(0, 10))
      expect((await whole.search(text, {})).hits).toEqual((await engine.search(text, {})).hits);
    expect(engine.degraded).toEqual([]);
    expect(whole.degraded).toEqual([expect.stringContaining('does not give ranges')]);
  });

  it('names a damaged file, wherever the wrong bit is', async () => {
    for (const kind of ['start-', 'pages-', 'p/', 't/']) {
      const change = (name: string, bytes: Uint8Array): Uint8Array =>
        name.startsWith(kind) ? bytes.map((byte, i) => (i % 16 === 9 ? byte ^ 4 : byte)) : bytes;
      const name = expect.stringContaining(kind);
      const failed = engineOf(site, { change }).then(({ engine }) => engine.search('keep bread fresh', {}));
      await expect(failed, kind).rejects.toMatchObject({ code: 'SITE', message: name });
    }
  });

  it('fetches once more what came in the wrong length, and still uses ranges', async () => {
    const text = 'keep bread fresh';
    const expected = (await (await engineOf(site)).engine.search(text, {})).hits;
    const html = new TextEncoder().encode('<!doctype html><title>Accept the terms of this network</title>');
    for (const ranges of [true, false])
      for (const instead of [() => html, (_: string, bytes: Uint8Array) => bytes.subarray(0, bytes.length >> 1)])
        for (const kind of ['start-', 'pages-', 'p/', 't/']) {
          const cached = (name: string, bytes: Uint8Array) =>
            name.startsWith(kind) ? instead(name, bytes) : undefined;
          const { engine } = await engineOf(site, { ranges, cached });
          expect((await engine.search(text, {})).hits, kind).toEqual(expected);
          expect(engine.degraded.length, kind).toBe(ranges ? 0 : 1);
        }
  });

  it('names a file that always comes in the wrong length, and asks for it again at the next search', async () => {
    const text = 'keep bread fresh';
    for (const ranges of [true, false]) {
      let isCut = true;
      const change = (name: string, bytes: Uint8Array): Uint8Array =>
        isCut && name.startsWith('p/') ? bytes.subarray(0, 100) : bytes;
      const { engine } = await engineOf(site, { ranges, change });
      await expect(engine.search(text, {})).rejects.toThrow(/p\/[0-9a-f]{10}\.bin is damaged: expected \d+ bytes, got/);
      isCut = false;
      expect((await engine.search(text, {})).hits.length).toBeGreaterThan(0);
    }
  });

  it('is byte-identical when built again, and writes nothing then', async () => {
    const again = await siteOfIndex(index);
    expect([...again.files.keys()]).toEqual([...site.files.keys()]);
    const out = join(folder, 'out');
    expect((await writeSite(out, site)).numKept).toBe(0);
    const digest = hashOfFolder(out);
    expect(await writeSite(out, again)).toEqual({ numWritten: 0, numKept: site.files.size, numRemoved: 0 });
    expect(hashOfFolder(out)).toBe(digest);
  });

  it('changes one file of texts when the text of one page changes, and removes what has no name any more', async () => {
    const content = contentOfIndex(index);
    const pages = content.pages.map((page, i) =>
      i === 40 ? { ...page, parts: page.parts.map((part) => ({ ...part, text: `${part.text} Changed.` })) } : page,
    );
    const changed = siteFiles({ ...content, pages }, await readScripts());
    const differs = [...changed.files.keys()].filter((name) => !site.files.has(name));
    expect(differs.filter((name) => name.startsWith('t/'))).toHaveLength(1);
    const out = join(folder, 'changed');
    await writeSite(out, site);
    writeFileSync(join(out, 'index.html'), 'not ours');
    const { numRemoved } = await writeSite(out, changed);
    expect(numRemoved).toBe(differs.length);
    expect(statSync(join(out, 'index.html')).isFile()).toBe(true);
  });

  it('moves the borders of text files only around a page that is added', async () => {
    const content = contentOfIndex(index);
    const texts = (pages: typeof content.pages): string[] =>
      [...siteFiles({ ...content, pages }, scripts).files.keys()].filter((name) => name.startsWith('t/'));
    const scripts = await readScripts();
    const all = texts(content.pages);
    const without = texts(content.pages.filter((_, i) => i !== 20));
    const added = all.filter((name) => !without.includes(name));
    expect(all.length).toBeGreaterThan(4);
    expect(added.length).toBeLessThanOrEqual(2);
  });

  it('prunes until a budget holds, with the least pruning that does', async () => {
    const content = manyTimes(contentOfIndex(index), 20);
    const scripts = await readScripts();
    const queries = everydayQueries()
      .slice(0, 8)
      .map((text) => ({ text, page: content.pages[0].id }));
    const whole = await measureSite(siteFiles(content, scripts), queries);
    const least = await measureSite(siteFiles(content, scripts, { minCode: 127 }), queries);
    expect(least.cold.p50).toBeLessThan(whole.cold.p50);
    const budgetBytes = Math.round((whole.cold.p50 + least.cold.p50) / 2);
    const fit = await fitSite(content, scripts, { budgetBytes, queries });
    expect(fit.fits).toBe(true);
    expect(fit.minCode).toBeGreaterThan(1);
    expect(fit.costs.cold.p50).toBeLessThanOrEqual(budgetBytes);
    const less = await measureSite(siteFiles(content, scripts, { minCode: fit.minCode - 1 }), queries);
    expect(less.cold.p50).toBeGreaterThan(budgetBytes);
    const impossible = await fitSite(content, scripts, { budgetBytes: 10, queries });
    expect(impossible.fits).toBe(false);
  });

  it('keeps the script and the engine within 60 KB as gzip', async () => {
    const { startBytes } = await measureSite(site, titleQueries(contentOfIndex(index).pages, 1));
    const [start = 0] = [...site.files].flatMap(([name, bytes]) => (name.startsWith('start-') ? [bytes.length] : []));
    expect(startBytes - start).toBeLessThan(60_000);
    expect(startBytes).toBeLessThan(120_000);
  });
});

/** A site of as many copies: lists of terms become so long that most of a query's bytes are theirs. */
function manyTimes({ pages, segment, ...rest }: SiteContent, times: number): SiteContent {
  const copies = Array.from({ length: times }, (_, copy) => copy);
  const inputs = copies.map(() => ({ source: segment, deleted: undefined }));
  return {
    ...rest,
    pages: copies.flatMap((copy) => pages.map((page) => ({ ...page, id: `${copy}/${page.id}` }))),
    segment: bytesSource(
      writtenBytes((sink) => sparseFormat.merge(inputs, sink)),
      'copies',
    ),
  };
}

function hashOfFolder(path: string): string {
  const hash = createHash('sha256');
  for (const entry of readdirSync(path, { recursive: true, withFileTypes: true }).filter((found) => found.isFile()))
    hash.update(entry.name).update(readFileSync(join(entry.parentPath, entry.name)));
  return hash.digest('hex');
}
