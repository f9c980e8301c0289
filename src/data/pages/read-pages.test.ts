import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { InputError, InterruptedError } from '../../core/index.ts';
import type { Problem } from '../bad-line.ts';
import { readDocuments } from '../documents.ts';
import { type Page, pageText, pageUrl } from './page.ts';
import { planPages } from './plan-pages.ts';
import { type PageOptions, readPages } from './read-pages.ts';

const FIXTURES = resolve(import.meta.dirname, '../../../test/fixtures/pages');
const root = mkdtempSync(join(tmpdir(), 'lzero-pages-'));
let folder: string;
let count = 0;

beforeEach(() => {
  folder = join(root, String(count++));
  mkdirSync(folder);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const pagesOf = (options: PageOptions = {}): Promise<Page[]> => collect(readPages(folder, options));
const idsOf = async (options: PageOptions = {}): Promise<string[]> => (await pagesOf(options)).map(({ id }) => id);

describe('a folder of pages', () => {
  it('gives HTML, Markdown and text, with title, headings, paragraphs, fields and address', async () => {
    const pages = await collect(readPages(FIXTURES, { baseUrl: 'https://lindhaven.example/' }));
    expect(pages.map(({ id, url, title }) => [id, url, title])).toEqual([
      ['guide/mooring.md', 'https://lindhaven.example/guide/mooring.md', 'Mooring'],
      ['index.html', 'https://lindhaven.example/', 'Harbour handbook'],
      ['notes/tides.txt', 'https://lindhaven.example/notes/tides.txt', 'Tides at Lindhaven'],
    ]);
    const [mooring, index, tides] = pages;
    expect(mooring.headings.map(({ text, anchor }) => [text, anchor])).toEqual([
      ['Mooring a vessel', 'mooring-a-vessel'],
      ['Lines', 'lines'],
      ['Lines', 'lines'],
    ]);
    expect(mooring.paragraphs).toEqual([
      { text: 'Approach against the wind or current, whichever is stronger.', heading: 0 },
      { text: 'line\tpurpose\nbow line\tkeeps the bow in\nspring\tstops fore-and-aft motion', heading: 1 },
      { text: 'moorctl assign --berth 14', heading: 1 },
      { text: 'Pass the bow line first.', heading: 2 },
      { text: 'Then the aft_spring.', heading: 2 },
    ]);
    expect(mooring.fields).toEqual({ weight: 3, draft: false, tags: ['ropes', 'berths'] });
    expect(index.fields).toEqual({ lang: 'en', description: 'How ships are moored, loaded and cleared.' });
    expect(pageText(index)).toBe(
      'Harbour handbook\n\nEverything a skipper needs to know before the first line goes ashore.\n\n' +
        'Call the harbour master on channel 12.\n\nHave fenders ready on both sides.',
    );
    expect(tides.paragraphs.map(({ text }) => text)).toEqual([
      'High water comes fifty minutes later each day.\nThe range is four metres at springs.',
      'At neaps the range is barely two.',
    ]);
  });

  it('may have pages in encodings of old', async () => {
    const html =
      '<meta charset="windows-1252"><title>Caf\xe9 au quai</title><p>Le caf\xe9 ouvre \x96 m\xeame le dimanche.';
    file('cafe.htm', Buffer.from(html, 'latin1'));
    const [cafe] = await pagesOf();
    expect([cafe.title, pageText(cafe)]).toEqual(['Café au quai', 'Le café ouvre – même le dimanche.']);
  });

  it('is walked in the order of names, without hidden files, packages and what is no page', async () => {
    for (const name of [
      'b.txt',
      'a/z.MD',
      'a.html',
      'B.txt',
      '.hidden/x.txt',
      '.x.txt',
      'node_modules/p/readme.md',
      'c.png',
      'd.txt.gz',
      '_sources/a.txt',
    ])
      file(name, 'text');
    expect(await idsOf()).toEqual(['B.txt', 'a/z.MD', 'a.html', 'b.txt']);
  });

  it('with links in circles ends, and has each page once', async () => {
    file('a/page.txt', 'text');
    symlinkSync('..', join(folder, 'a/up'));
    symlinkSync('a', join(folder, 'twin'));
    symlinkSync('a/page.txt', join(folder, 'copy.txt'));
    symlinkSync('self', join(folder, 'self'));
    const outside = join(root, 'outside');
    mkdirSync(outside, { recursive: true });
    writeFileSync(join(outside, 'far.txt'), 'text');
    symlinkSync(folder, join(outside, 'back'));
    symlinkSync(outside, join(folder, 'out'));
    const pages = readPages(folder, { skipBad: true });
    expect((await collect(pages)).map(({ id }) => id)).toEqual(['a/page.txt', 'out/far.txt']);
    // A link to itself leads nowhere, and has no name of a page.
    expect(pages.report.numBad).toBe(0);
  });

  it('without pages is an InputError, as is one that does not exist', async () => {
    await expect(pagesOf()).rejects.toThrow(`no pages and no corpus.jsonl in ${folder}`);
    await expect(collect(readPages(join(folder, 'none')))).rejects.toThrow(InputError);
    file('x.css', '');
    await expect(pagesOf()).rejects.toThrow(InputError);
  });

  it('stops at a page that cannot be used, or leaves it out and says why', async () => {
    file('a.txt', 'good');
    file('binary.md', Uint8Array.of(65, 0, 0, 66));
    file('large.html', 'x'.repeat(101));
    symlinkSync('/nonexistent/target.txt', join(folder, 'lost.txt'));
    file('empty.html', '<title>nothing</title>');
    await expect(pagesOf({ maxPageBytes: 100 })).rejects.toThrow(/binary\.md: not text/);
    const problems: Problem[] = [];
    const pages = readPages(folder, { maxPageBytes: 100, skipBad: true, onBad: (problem) => problems.push(problem) });
    expect((await collect(pages)).map(({ id }) => id)).toEqual(['a.txt']);
    expect(problems.map(({ reason, line }) => [reason, line])).toEqual([
      ['not-text', undefined],
      ['too-large', undefined],
      ['unreadable', undefined],
    ]);
    expect(problems[1].message).toBe('101 bytes, a page has at most 100');
    expect(pages.report).toMatchObject({ numRead: 1, numEmpty: 1, numBad: 3 });
    expect([...pages.unread]).toEqual(['binary.md', 'large.html', 'lost.txt']);
  });

  it.skipIf(process.getuid?.() === 0)('names files and folders that may not be read', async () => {
    file('a.txt', 'good');
    file('locked/b.txt', 'x');
    chmodSync(file('c.txt', 'x'), 0);
    chmodSync(join(folder, 'locked'), 0);
    const pages = readPages(folder, { skipBad: true });
    await collect(pages);
    expect([...pages.unread]).toEqual(['c.txt', 'locked/']);
    chmodSync(join(folder, 'locked'), 0o700);
  });

  it('has bad pages where the caller cannot use what they say about themselves', async () => {
    file('good.md', '---\nyear: 2020\n---\ntext');
    file('bad.md', '---\nyear: soon\n---\ntext');
    const check = ({ fields }: Pick<Page, 'fields'>) =>
      fields.year === 'soon' ? 'year: expected a number' : undefined;
    await expect(pagesOf({ check })).rejects.toThrow(/bad\.md: year: expected a number$/);
    const pages = readPages(folder, { check, skipBad: true });
    expect((await collect(pages)).map(({ id }) => id)).toEqual(['good.md']);
    expect([pages.report.badByReason, [...pages.unread]]).toEqual([{ 'wrong-type': 1 }, ['bad.md']]);
  });

  it('stops when told to', async () => {
    file('a.txt', 'x');
    await expect(pagesOf({ signal: AbortSignal.abort() })).rejects.toThrow(InterruptedError);
  });

  it('is an input of documents, unless it is a BEIR folder', async () => {
    file('a.md', '# Title\n\ntext');
    expect(await collect(readDocuments(folder))).toEqual([
      { id: 'a.md', title: 'Title', text: 'Title\n\ntext', url: 'a.md', fields: {} },
    ]);
    file('corpus.jsonl', '{"_id":"1","text":"beir"}');
    expect(await collect(readDocuments(folder))).toEqual([{ id: '1', text: 'beir' }]);
  });
});

describe('the title of a page of text', () => {
  const titleOf = async (content: string): Promise<string> => {
    file('some_long-name.txt', content);
    return (await pagesOf())[0].title;
  };

  it('is its first line, else its file name', async () => {
    expect(await titleOf('First\nsecond')).toBe('First');
    expect(await titleOf('x'.repeat(81))).toBe('some long name');
    expect(await titleOf('-----\nx')).toBe('some long name');
  });
});

describe('the address of a page', () => {
  it('is its path, percent-encoded, and of an index its folder', () => {
    expect(['a b/@c#d?.md', 'x/index.html', 'index.htm', 'myindex.html', 'é.txt'].map((id) => pageUrl(id))).toEqual([
      'a%20b/@c%23d%3F.md',
      'x/',
      './',
      'myindex.html',
      '%C3%A9.txt',
    ]);
  });
});

describe('a plan for changed pages', () => {
  const hashes = (pages: readonly Page[]) => new Map(pages.map(({ id, contentHash }) => [id, contentHash]));

  it('encodes new and changed pages, keeps equal ones, and names those that are gone', async () => {
    file('same.html', '<title>T</title><nav>menu of Monday</nav><main><p>text</p></main>');
    file('other.txt', 'one\n\ntwo');
    file('gone.txt', 'text');
    const before = hashes(await pagesOf());
    // Another menu around the same text is no change.
    file('same.html', '<title>T</title><nav>menu of Tuesday</nav><main>\n<p>text</p></main>');
    file('other.txt', 'one\n\nthree');
    file('new.txt', 'text');
    rmSync(join(folder, 'gone.txt'));
    const plan = planPages(before, readPages(folder));
    expect(() => plan.removed).toThrow('read to their end');
    expect((await collect(plan.changed)).map(({ id }) => id)).toEqual(['new.txt', 'other.txt']);
    expect([plan.unchanged, plan.removed]).toEqual([['same.html'], ['gone.txt']]);
  });

  it('does not take pages for removed that could not be read', async () => {
    file('keep.txt', 'text');
    file('sub/deep/broken.md', 'text');
    const before = hashes(await pagesOf());
    file('sub/deep/broken.md', Uint8Array.of(65, 0, 0));
    const plan = planPages(before, readPages(folder, { skipBad: true }));
    await collect(plan.changed);
    expect(plan.removed).toEqual([]);
    const nothing: Page[] = [];
    const none = planPages(before, Object.assign(nothing, { unread: new Set(['sub/']) }));
    await collect(none.changed);
    expect(none.removed).toEqual(['keep.txt']);
  });
});
