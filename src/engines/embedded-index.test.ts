/** What the embedded index does beyond the contract of engines (test/contract). */
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { goldenFolder } from '../../test/golden/model/fixtures.ts';
import { onSyncOf } from '../../test/store/folder-sync.ts';
import { silentLogger, sparseVector } from '../core/index.ts';
import { loadModel, type Model } from '../model/index.ts';
import { type CreateIndexOptions, createIndex, type Index, openIndex } from './embedded-index.ts';
import type { EngineDocument } from './engine.ts';

let root: string;
let numFolders = 0;
let model: Model;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'lzero-engine-'));
  model = await loadModel('bow');
});
afterAll(() => rmSync(root, { recursive: true }));

const folder = (): string => join(root, String(numFolders++));

async function made(documents: readonly EngineDocument[], options: CreateIndexOptions = {}): Promise<Index> {
  const index = await createIndex(folder(), { model, ...options });
  await index.add(documents);
  await index.commit();
  return index;
}

describe('the embedded index', () => {
  it('is opened and searched without a model, and then refuses texts but takes vectors', async () => {
    const first = await made([{ id: 'a', text: 'bread' }]);
    await first.close();
    const index = await openIndex(first.folder);
    expect((await index.search('bread')).hits.map(({ id }) => id)).toEqual(['a']);
    await expect(index.add([{ id: 'b', text: 'salt' }])).rejects.toMatchObject({
      code: 'INDEX_STATE',
      hint: expect.stringContaining('loadModel'),
    });
    const salt = model.tokenizer.vocabulary.idOf('salt') ?? 0;
    await index.add([{ id: 'b', vector: sparseVector([salt], [1]) }]);
    await index.commit();
    expect((await index.search('salt')).hits.map(({ id }) => id)).toEqual(['b']);
    await index.close();
  });

  it('refuses another model than the one it was made with', async () => {
    const first = await made([]);
    await first.close();
    const other = await loadModel(goldenFolder('tied'), { idf: 'none' });
    await expect(openIndex(first.folder, { model: other })).rejects.toMatchObject({ code: 'INDEX_STATE' });
    await other.close();
    await (await openIndex(first.folder, { model })).close();
  });

  it('refuses to write to an index that has come into its place, of another model or made without one', async () => {
    const term = model.tokenizer.vocabulary.idOf('bread') ?? 0;
    const other = await loadModel(goldenFolder('tied'), { idf: 'none' });
    for (const options of [{ model: other }, { kind: 'bm25' }] as const) {
      const first = await made([{ id: 'a', text: 'bread' }]);
      await first.close();
      const open = [await openIndex(first.folder, { model }), await openIndex(first.folder)];
      rmSync(first.folder, { recursive: true });
      await (await createIndex(first.folder, options)).close();
      for (const index of open) {
        await expect(index.add([{ id: 'b', vector: sparseVector([term], [1]) }])).rejects.toMatchObject({
          code: 'INDEX_STATE',
        });
        expect((await index.search('bread')).hits).toHaveLength(1); // what it was opened with
        await index.close();
      }
      const now = await openIndex(first.folder);
      expect((await now.stats()).numDocs).toBe(0);
      await now.close();
    }
    await other.close();
  });

  it('goes on to another index of the same model in its place', async () => {
    const first = await made([{ id: 'a', text: 'bread' }]);
    await first.close();
    const index = await openIndex(first.folder, { model });
    const ids = async () => (await index.search('bread')).hits.map(({ id }) => id);
    expect(await ids()).toEqual(['a']);
    rmSync(first.folder, { recursive: true });
    const second = await createIndex(first.folder, { model });
    await second.add([{ id: 'b', text: 'bread' }]);
    await second.commit();
    await second.close();
    expect([await index.refresh(), await ids()]).toEqual([true, ['b']]);
    await index.close();
  });

  it('shows and knows what a killed writer had logged, once it writes itself', async () => {
    const killed = await made([{ id: 'a', text: 'bread' }]);
    await killed.add([{ id: 'p#0', page: 'p', chunk: 0, text: 'bread' }]);
    await killed.close(); // without a commit
    const index = await openIndex(killed.folder, { model });
    expect([index.has('p#0'), index.partsOf('p')]).toEqual([false, []]);
    await index.startWriting();
    expect([index.has('p#0'), index.partsOf('p'), index.pageOf('p#0')]).toEqual([true, ['p#0'], 'p']);
    await index.add([{ id: 'p#1', page: 'p', chunk: 1, text: 'bread' }]);
    expect(await index.delete(['p'])).toBe(1); // the part that is not committed goes too
    await index.commit();
    expect((await index.search('bread')).hits.map(({ id }) => id)).toEqual(['a']);
    await index.close();
  });

  it('ends no group within a page: whoever commits between groups shows whole pages', async () => {
    const part = (page: string, chunk: number) => ({ id: `${page}#${chunk}`, page, chunk, text: 'bread' });
    const whole = Array.from({ length: 511 }, (_, i) => ({ id: `d${i}`, text: 'salt' }));
    const index = await createIndex(folder(), { model });
    const ends: number[] = [];
    const documents = [...whole, part('p', 0), part('p', 1), part('p', 2), part('q', 0), { id: 'r', text: 'oil' }];
    await index.addAll(documents, { onGroup: (numAdded) => void ends.push(numAdded) });
    expect(ends).toEqual([514, 516]);
    await index.close();
  });

  it('with replacePages drops what a shorter page leaves, and nothing where the page does not arrive', async () => {
    const part = (chunk: number, text: string) => ({ id: `p#${chunk}`, page: 'p', chunk, text });
    const index = await made([part(0, 'bread'), part(1, 'bread'), part(2, 'bread')]);
    async function* broken() {
      yield part(0, 'salt');
      throw new Error('a bad line');
    }
    await expect(index.addAll(broken(), { replacePages: true })).rejects.toThrow('a bad line');
    await index.commit();
    expect(index.partsOf('p')).toEqual(['p#0', 'p#1', 'p#2']);
    await index.addAll([part(0, 'salt')], { replacePages: true });
    await index.commit();
    expect([index.partsOf('p'), (await index.search('bread')).hits]).toEqual([['p#0'], []]);
    await index.close();
  });

  it('keeps where a document came from, and does not show it', async () => {
    const origin = { source: 'docs', hash: 'abc', numParts: 1 };
    const index = await createIndex(folder(), { model });
    await index.addAll([{ id: 'a', text: 'bread', origin }]);
    await index.commit();
    expect(index.get('a')).toEqual({ id: 'a', text: 'bread', origin });
    const [hit] = (await index.search('bread')).hits;
    expect(hit).toEqual({ rank: 1, id: 'a', score: hit.score, text: 'bread' });
    await index.close();
  });

  it.each([
    [[1], [0], 'has term 1 with weight 0'],
    [[1], [-2], 'has term 1 with weight -2'],
    [[1, 2], [1, Number.NaN], 'has term 2 with weight NaN'],
    [[1], [Number.POSITIVE_INFINITY], 'has term 1 with weight Infinity'],
    [[1, 30_522], [1, 1], 'has term 30522; the model of the index has 30522'],
  ])('refuses the vector of terms %j with weights %j', async (terms, weights, words) => {
    const vector = { terms: Uint32Array.from(terms), weights: Float32Array.from(weights) };
    const index = await made([]);
    await expect(index.add([{ id: 'a', vector }])).rejects.toMatchObject({
      code: 'INPUT',
      message: expect.stringContaining(`document "a" ${words}`),
    });
    await index.close();
  });

  it('lets a second writer in only after the first has closed, readers at any time', async () => {
    const first = await made([{ id: 'a', text: 'bread' }]);
    const second = await openIndex(first.folder, { model });
    await expect(second.add([{ id: 'b', text: 'bread' }])).rejects.toThrow(/being written by another/);
    expect((await second.search('bread')).hits).toHaveLength(1);
    await first.close();
    await second.add([{ id: 'b', text: 'bread' }]);
    await second.commit();
    expect((await second.search('bread')).hits).toHaveLength(2);
    await second.close();
  });

  it('sees the commits of another process after a refresh', async () => {
    const writer = await made([{ id: 'a', text: 'bread' }]);
    const reader = await openIndex(writer.folder);
    await writer.add([{ id: 'b', text: 'bread' }]);
    await writer.commit();
    expect((await reader.search('bread')).hits).toHaveLength(1);
    expect([await reader.refresh(), await reader.refresh()]).toEqual([true, false]);
    expect((await reader.search('bread')).hits).toHaveLength(2);
    await reader.close();
    await writer.close();
  });

  it('counts weights above the largest that it holds, and replaced documents', async () => {
    const bread = model.tokenizer.vocabulary.idOf('bread') ?? 0;
    const index = await createIndex(folder(), { model, maxWeight: 2 });
    const twice = [
      { id: 'a', vector: sparseVector([bread], [5]) },
      { id: 'a', vector: sparseVector([bread], [1]) },
    ];
    expect(await index.addAll(twice)).toEqual({
      numAdded: 2,
      numReplaced: 1,
      numTruncated: 0,
      numClamped: 1,
      numTerms: 2,
    });
    await index.close();
  });

  it('tells the logger of weights that it lowers', async () => {
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (text: string) => warnings.push(text) };
    const index = await createIndex(folder(), { model, maxWeight: 2, writer: { logger } });
    await index.add([{ id: 'a', vector: { bread: 2, salt: 1 } }]);
    expect(warnings).toEqual([]);
    await index.add([{ id: 'b', vector: { bread: 2.5, salt: 1 } }]);
    expect(warnings).toEqual([expect.stringMatching(/^1 weights were above 2, .* were lowered/)]);
    await index.close();
  });

  it('in exact mode scores and explains by float weights', async () => {
    const { vocabulary } = model.tokenizer;
    const terms = ['bread', 'salt'].map((token) => vocabulary.idOf(token) ?? 0).sort((a, b) => a - b);
    const weights = [0.123456, 0.654321];
    const documents = [{ id: 'a', vector: sparseVector(terms, weights) }];
    const index = await made(documents, { storeVectors: true, maxWeight: 1 });
    const query = { vector: { bread: 1, salt: 2 } };
    const { hits } = await index.search(query, { exact: true, explain: true });
    const sum = (hits[0].explain ?? []).reduce((total, { product }) => total + product, 0);
    const expected = terms.reduce(
      (total, term, i) => total + weights[i] * (vocabulary.tokens[term] === 'salt' ? 2 : 1),
      0,
    );
    expect(hits[0].score).toBeCloseTo(expected, 6);
    expect(sum).toBeCloseTo(expected, 6);
    expect((await index.search(query)).hits[0].score).not.toBeCloseTo(expected, 6); // eight bits
    await index.close();
  });

  it('explains a page by its best part, with its rank among pages', async () => {
    const part = (page: string, chunk: number, text: string) => ({ id: `${page}#${chunk}`, page, chunk, text });
    const index = await made([
      part('a', 0, 'bread salt'),
      part('a', 1, 'bread salt'),
      part('b', 0, 'bread'),
      part('b', 1, 'oil'),
    ]);
    const pages = (await index.search('bread salt')).hits;
    expect(pages.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(await index.explain('bread salt', 'b')).toMatchObject({
      rank: 2,
      score: pages[1].score,
      missing: [{ token: 'salt' }],
    });
    expect(await index.explain('bread salt', 'b#0')).toMatchObject({ rank: 3 });
    expect((await index.explain('bread salt', 'b#1'))?.rank).toBeUndefined();
    await index.close();
  });

  it('deletes all parts of a page by its id', async () => {
    const index = await made([
      { id: 'p#0', page: 'p', chunk: 0, text: 'bread' },
      { id: 'p#1', page: 'p', chunk: 1, text: 'bread' },
      { id: 'q', text: 'bread' },
    ]);
    expect(await index.delete(['p'])).toBe(1);
    await index.commit();
    expect((await index.search('bread')).hits.map(({ id }) => id)).toEqual(['q']);
    await index.close();
  });

  it('gives back documents as they were stored, in order of addition', async () => {
    const documents = [
      { id: 'z', title: 'Z', text: 'bread', url: '/z', fields: { lang: 'en' } },
      { id: 'a', text: 'salt' },
    ];
    const index = await made(documents);
    expect([...index.documents()]).toEqual(documents);
    expect(index.frequencies().get('salt')).toBe(1);
    expect([...index.listSizes().keys()]).toEqual([...index.frequencies().keys()]);
    await index.close();
  });

  it('is closed for good: a change is refused, and the lock is free', async () => {
    const first = await made([{ id: 'a', text: 'bread' }]);
    await first.close();
    const index = await openIndex(first.folder, { model }); // has no writer yet
    await index.close();
    const closed = { code: 'INDEX_STATE', message: expect.stringContaining('is closed') };
    await expect(index.add([{ id: 'b', text: 'bread' }])).rejects.toMatchObject(closed);
    await expect(index.delete(['a'])).rejects.toMatchObject(closed);
    await expect(index.commit()).rejects.toMatchObject(closed);
    await expect(index.search('bread')).rejects.toMatchObject({ code: 'INDEX_STATE' });
    await index.close();
    const next = await openIndex(index.folder, { model });
    await next.add([{ id: 'b', text: 'bread' }]);
    await next.close();
  });

  it('counts what it deletes by the ids given: pages, parts, unknown, repeated and not yet committed', async () => {
    const index = await made([
      { id: 'p#0', page: 'p', chunk: 0, text: 'bread' },
      { id: 'p#1', page: 'p', chunk: 1, text: 'bread' },
      { id: 'q', text: 'bread' },
    ]);
    await index.add([{ id: 'r', text: 'bread' }]);
    expect(await index.delete(['p', 'p#1', 'q', 'q', 'r', 'unknown'])).toBe(3); // p, q and r
    expect(await index.delete(['q'])).toBe(0);
    await index.commit();
    expect((await index.search('bread')).hits).toEqual([]);
    await index.close();
  });

  it('refuses to delete by anything but a list of strings', async () => {
    const index = await made([
      { id: 'd', text: 'bread' },
      { id: '1', text: 'bread' },
    ]);
    // @ts-expect-error a string is a list of characters, which are other ids
    await expect(index.delete('d1')).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining('"d1"') });
    // @ts-expect-error ids are strings
    await expect(index.delete(['d', 1])).rejects.toMatchObject({ code: 'USAGE' });
    await index.commit();
    expect((await index.search('bread')).hits).toHaveLength(2);
    await index.close();
  });

  it('says that a commit is safe where searches cannot go on to it, and searches the one before', async () => {
    const index = await made([{ id: 'a', text: 'bread' }]);
    const ids = async () => (await index.search('bread')).hits.map(({ id }) => id);
    expect(await ids()).toEqual(['a']);
    await index.add([{ id: 'b', text: 'bread' }]);
    const path = join(index.folder, 'segments', '1.postings');
    await onSyncOf(index.folder, () => renameSync(path, `${path}-away`)); // the manifest names it by now
    await expect(index.commit()).rejects.toMatchObject({
      code: 'INDEX_STATE',
      message: expect.stringMatching(/what was written is safe, .*1\.postings is missing/),
    });
    vi.restoreAllMocks();
    expect(await ids()).toEqual(['a']);
    renameSync(`${path}-away`, path);
    expect([await index.refresh(), await ids()]).toEqual([true, ['a', 'b']]);
    await index.close();
  });

  it('refuses vectors that are said to be of another model', async () => {
    const first = await made([]);
    await first.close();
    const vectorsOf = { identity: 'of-another', name: 'another' };
    await expect(openIndex(first.folder, { vectorsOf })).rejects.toMatchObject({
      code: 'INDEX_STATE',
      message: expect.stringContaining('another is another'),
    });
    const same = { identity: await model.identity(), name: model.name };
    await (await openIndex(first.folder, { vectorsOf: same })).close();
  });

  it('takes vectors by token, with a name for what is wrong with them', async () => {
    const index = await made([{ id: 'a', vector: { bread: 2, salt: 0.5 } }], { storeVectors: true });
    const [hit] = (await index.search({ vector: { bread: 1, salt: 2 } }, { exact: true })).hits;
    expect(hit).toMatchObject({ id: 'a', score: 3 });
    const refused = async (vector: Readonly<Record<string, number>>, message: string): Promise<void> =>
      await expect(index.add([{ id: 'b', vector }])).rejects.toMatchObject({ code: 'INPUT', message });
    await refused({ nosuchtoken: 1 }, 'document "b" has the token "nosuchtoken", the index knows none');
    await refused({ bread: 0 }, 'document "b" gives the token "bread" the weight 0; weights are positive and finite');
    const plain = { terms: [1], weights: [1] };
    // @ts-expect-error for callers without types
    await refused(plain, 'document "b" gives the token "terms" the weight 1; weights are positive and finite');
    await index.close();
  });

  it('takes tokens that are called like the parts of a vector', async () => {
    const index = await made([{ id: 'a', vector: { terms: 1, weights: 1 } }]);
    expect((await index.search('terms')).hits).toHaveLength(1);
    await index.close();
  });

  it.each([[undefined], [null], [17], [{}], [{ vector: 'bread' }], [{ vector: null }]])(
    'refuses %j as a query',
    async (query) => {
      for (const kind of ['sparse', 'bm25'] as const) {
        const index = await made([], { kind });
        // @ts-expect-error for callers without types
        const searching = index.search(query);
        await expect(searching).rejects.toMatchObject({
          code: 'USAGE',
          message: expect.stringContaining('a query is'),
        });
        await index.close();
      }
    },
  );

  it.each([
    [[null], 'INPUT', 'document number 1 is null'],
    [[{ id: 'a', text: 'x' }, 'text'], 'INPUT', 'document number 2 is "text"'],
    [[{ id: 'a', body: 'bread' }], 'INPUT', 'document number 1 has "body", which is no part of a document'],
    [undefined, 'USAGE', 'documents come as a list or a stream, got undefined'],
    [{ id: 'a', text: 'bread' }, 'USAGE', 'documents come as a list or a stream, got an object'],
  ])('refuses %j as documents', async (documents, code, message) => {
    const index = await made([]);
    // @ts-expect-error for callers without types
    const adding = index.add(documents);
    await expect(adding).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    await index.close();
  });

  it('leaves stop words out of BM25 unless told otherwise, in documents and in queries', async () => {
    const documents = [{ id: 'a', text: 'to be or not to be' }];
    const without = await made(documents, { kind: 'bm25' });
    expect((await without.search('to be')).hits).toEqual([]);
    expect(without.settings.bm25).toEqual({ k1: 0.9, b: 0.4 });
    await without.close();
    const first = await made(documents, { kind: 'bm25', bm25: { stopWords: false } });
    await first.close();
    const index = await openIndex(first.folder);
    expect(index.settings.bm25).toEqual({ k1: 0.9, b: 0.4, stopWords: false });
    const { terms, hits } = await index.search('to be', { snippets: true });
    expect(terms.map(({ token }) => token)).toEqual(['to', 'be']);
    expect(hits[0].snippet?.highlights).toEqual([
      [0, 2],
      [3, 5],
      [13, 15],
      [16, 18],
    ]);
    await index.close();
  });

  it('shows of a page the passage of its best part, with the terms that only its vector has', async () => {
    const index = await made([
      { id: 'p#0', page: 'p', chunk: 0, title: 'Sea', text: 'The tide.', vector: { tide: 1 } },
      { id: 'p#1', page: 'p', chunk: 1, title: 'Sea', text: 'Salt and water.', vector: { salt: 2, bread: 1 } },
      { id: 'q', vector: { bread: 0.1 } },
    ]);
    const { hits } = await index.search('salt bread', { snippets: true });
    expect(hits[0]).toMatchObject({
      id: 'p',
      snippet: { text: 'Salt and water.', highlights: [[0, 4]], titleHighlights: [], expansion: ['bread'] },
    });
    expect([hits[0].explain, hits[1].snippet]).toEqual([undefined, undefined]); // not asked for; no text
    expect((await index.search('salt', { snippets: true, idsOnly: true })).hits[0].snippet).toBeUndefined();
    await index.close();
  });

  it.each([0, 2])('explains hits by the commit that it has found them in, on %i threads', async (workers) => {
    const writer = await made([
      { id: 'a', text: 'bread' },
      { id: 'b', text: 'salt' },
    ]);
    const reader = await openIndex(writer.folder, { workers });
    await writer.add([
      { id: 'a', text: 'salt' },
      { id: 'b', text: 'bread salt' },
    ]);
    await writer.commit();
    const searching = reader.search('bread salt', { explain: true });
    const explaining = reader.explain('bread salt', 'a');
    await reader.refresh();
    for (const { score, explain = [] } of (await searching).hits)
      expect(explain.reduce((sum, { product }) => sum + product, 0)).toBeCloseTo(score, 5);
    const { hits } = await reader.search('bread salt');
    expect(await explaining).toMatchObject({ rank: hits.find(({ id }) => id === 'a')?.rank });
    await reader.close();
    await writer.close();
  });
});
