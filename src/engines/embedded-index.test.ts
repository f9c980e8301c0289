/** What the embedded index does beyond the contract of engines (test/contract). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { goldenFolder } from '../../test/golden/model/fixtures.ts';
import { sparseVector } from '../core/index.ts';
import { loadModel, type Model } from '../model/index.ts';
import { type CreateIndexOptions, createIndex, type Index, openIndex } from './embedded-index.ts';
import type { EngineDocument } from './engine.ts';

let root: string;
let numFolders = 0;
let model: Model;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'lzero-engine-'));
  model = await loadModel();
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
    await index.close();
  });
});
