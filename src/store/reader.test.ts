import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bestOf, documentOf, QUERIES, SPARSE, scratchFolders, WORDS, wordsOf } from '../../test/store/documents.ts';
import { dot, IndexFormatError, IndexStateError, UsageError } from '../core/index.ts';
import { createStore, openReader, type ReaderOptions, type StoreReader, type StoreWriter } from './index.ts';

const folders = scratchFolders();
afterAll(() => folders.remove());

let folder: string;
let writer: StoreWriter;
const readers: StoreReader[] = [];
beforeEach(async () => {
  folder = folders.next();
  writer = await createStore(folder, SPARSE, { autoMerge: false });
});
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.close();
  await writer.close();
});

async function read(options?: ReaderOptions): Promise<StoreReader> {
  const reader = await openReader(folder, options);
  readers.push(reader);
  return reader;
}

const all = (from: number, to: number, version = 0) =>
  Array.from({ length: to - from }, (_, i) => documentOf(`doc-${from + i}`, version));

async function commit(documents: readonly ReturnType<typeof documentOf>[]): Promise<void> {
  await writer.add(documents);
  await writer.commit();
}

const plain = (hits: readonly { id: string; score: number }[]) => hits.map(({ id, score }) => ({ id, score }));

/** Changes a byte of the footer; what is returned takes it back. */
function damage(path: string): () => void {
  const bytes = readFileSync(path);
  const other = Buffer.from(bytes);
  other[bytes.length - 20] ^= 1;
  writeFileSync(path, other);
  return () => writeFileSync(path, bytes);
}

describe('a reader', () => {
  it('gives ids as they were added, also one that begins with a byte-order mark', async () => {
    const id = '\ufeffdoc';
    await commit([documentOf(id, 0)]);
    const reader = await read();
    expect([[...reader.ids()], (await reader.search(QUERIES[0])).map((hit) => hit.id)]).toEqual([[id], [id]]);
  });

  it('keeps answering from its commit while a writer deletes, merges and removes its files', async () => {
    for (let i = 0; i < 5; i++) await commit(all(10 * i, 10 * i + 10));
    const modes: ReaderOptions[] = [{}, { mode: 'lean' }, { workers: 2 }, { workers: 1, mode: 'lean' }];
    const old = await Promise.all(modes.map(read));
    await writer.delete(['doc-0', 'doc-1']);
    await commit(all(20, 40, 1));
    await writer.merge();
    for (const reader of old) {
      for (const query of QUERIES)
        expect(plain(await reader.search(query, { k: 20 }))).toEqual(bestOf(all(0, 50), query, 20));
      expect(reader.get('doc-0')).toEqual(documentOf('doc-0', 0).document);
    }
    const now = [...all(2, 20), ...all(40, 50), ...all(20, 40, 1)];
    for (const reader of old) {
      expect([await reader.refresh(), reader.numDocs]).toEqual([true, 48]);
      for (const query of QUERIES) expect(plain(await reader.search(query, { k: 20 }))).toEqual(bestOf(now, query, 20));
      expect([reader.has('doc-0'), reader.has('doc-2')]).toEqual([false, true]);
    }
  });

  it('gives each of many searches at once the answer to its own query, over refreshes', async () => {
    await commit(all(0, 30));
    const reader = await read({ workers: 2 });
    await reader.search(QUERIES[0]); // the first one waits for postings, and may come to see a later commit
    const allowed = [new Map(QUERIES.map((query) => [query, bestOf(all(0, 30), query, 5)]))];
    for (let round = 1; round <= 4; round++) {
      const searches = Array.from({ length: 60 }, (_, i) => QUERIES[i % QUERIES.length]);
      const found = searches.map(async (query) => ({ query, hits: plain(await reader.search(query, { k: 5 })) }));
      await commit(all(0, 30, round));
      allowed.push(new Map(QUERIES.map((query) => [query, bestOf(all(0, 30, round), query, 5)])));
      await reader.refresh();
      for (const { query, hits } of await Promise.all(found)) expect(hits).toEqual(allowed[round - 1].get(query));
      for (const query of QUERIES)
        expect(plain(await reader.search(query, { k: 5 }))).toEqual(allowed[round].get(query));
    }
  });

  it('opens and refreshes while a writer commits and merges without pause', async () => {
    await commit(all(0, 5));
    const reader = await read();
    let isWriting = true;
    const writing = (async () => {
      for (let version = 1; version <= 12; version++) {
        await commit(all(0, 5, version));
        if (version % 3 === 0) await writer.merge();
      }
      isWriting = false;
    })();
    while (isWriting) {
      const fresh = await openReader(folder);
      await reader.refresh();
      for (const one of [fresh, reader]) {
        const titles = [...one.ids()].map((id) => one.get(id)?.title?.split(' ').at(-1));
        expect([titles.length, new Set(titles).size]).toEqual([5, 1]); // all of one commit
      }
      await fresh.close();
      await setImmediate(); // let the writer go on: opening and searching here wait for nobody
    }
    await writing;
  });

  it('filters, with and without threads', async () => {
    await commit(all(0, 20));
    await commit(all(20, 40));
    const filter = { lang: 'en', year: { lt: 2007 } };
    const passing = all(0, 40).filter(({ document }) => {
      const { lang, year } = { lang: '', year: 0, ...document.fields };
      return lang === 'en' && Number(year) < 2007;
    });
    for (const options of [{}, { workers: 1 }]) {
      const reader = await read(options);
      for (const query of QUERIES)
        expect(plain(await reader.search(query, { k: 10, filter }))).toEqual(bestOf(passing, query, 10));
      await expect(reader.search(QUERIES[0], { filter: { colour: 'red' } })).rejects.toThrow(IndexStateError);
    }
  });

  it('scores by stored floats where asked to', async () => {
    await commit(all(0, 40));
    const reader = await read();
    for (const query of QUERIES) {
      const expected = all(0, 40)
        .map(({ document, vector }) => ({ id: document.id, score: vector ? dot(query, vector) : 0 }))
        .filter(({ score }) => score > 0)
        .sort((a, b) => b.score - a.score)
        .slice(0, 10);
      expect(plain(await reader.search(query, { k: 10, exact: true }))).toEqual(expected);
    }
  });

  it('groups chunks by their page, each page by its best chunk', async () => {
    const chunks = all(0, 30).map((one, i) => ({
      ...one,
      document: { ...one.document, page: `page-${i % 4}`, chunk: Math.floor(i / 4) },
    }));
    await commit(chunks);
    const reader = await read();
    const ranked = bestOf(chunks, QUERIES[4], 30);
    const best = new Map<string, (typeof ranked)[number]>();
    for (const hit of ranked) {
      const page = `page-${Number(hit.id.split('-')[1]) % 4}`;
      if (!best.has(page)) best.set(page, hit);
    }
    const { hits, complete } = await reader.searchPages(QUERIES[4], { k: 3 });
    expect(complete).toBe(true);
    expect(hits.map(({ page, id, score }) => [page, { id, score }])).toEqual([...best].slice(0, 3));
  });

  it('reads stored fields for hits, also after a refresh has moved or removed them', async () => {
    await commit(all(0, 4));
    const reader = await read();
    const hits = [...reader.ids()].map((id, docId) => ({ id, docId }));
    await writer.delete(['doc-0', 'doc-2']);
    await writer.commit();
    await writer.merge();
    await reader.refresh();
    expect((await reader.fetch(hits)).map((document) => document?.id)).toEqual([
      undefined,
      'doc-1',
      undefined,
      'doc-3',
    ]);
  });

  it('tells where a document stands', async () => {
    await commit(all(0, 30));
    const ranked = bestOf(all(0, 30), QUERIES[2], 30);
    for (const options of [{}, { workers: 1 }]) {
      const ids = [ranked[6].id, 'none', ranked[2].id];
      expect(await (await read(options)).standings(QUERIES[2], ids)).toMatchObject([
        { rank: 7, score: ranked[6].score },
        undefined,
        { rank: 3, score: ranked[2].score },
      ]);
    }
  });

  it('adds up what the index takes', async () => {
    await commit(all(0, 10));
    await writer.delete(['doc-3']);
    await writer.commit();
    const { sizeBytes, ...stats } = (await read()).stats();
    const numPostings = all(0, 10).reduce((sum, { payload }) => sum + payload.terms.length, 0);
    expect(stats).toMatchObject({ kind: 'sparse', numDocs: 9, numDeleted: 1, numSegments: 1, numPostings });
    expect(stats.bytesPerPosting).toBe(sizeBytes.postings / numPostings);
    const { total, ...parts } = sizeBytes;
    expect(total).toBe(Object.values(parts).reduce((a, b) => a + b));
  });

  it('of words is searched with words, in threads too', async () => {
    const other = folders.next();
    const words = await createStore(other, WORDS);
    await words.add(Array.from({ length: 20 }, (_, i) => wordsOf(`doc-${i}`, 0)));
    await words.commit();
    await words.close();
    const answers = [];
    for (const options of [{}, { mode: 'lean' as const }, { workers: 2 }]) {
      const reader = await openReader(other, options);
      answers.push(await reader.search(['w3', 'w7'], { k: 5 }));
      await expect(reader.search(QUERIES[0])).rejects.toThrow(UsageError);
      await reader.close();
    }
    expect(answers[0].length).toBe(5);
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  it('names a file that has vanished, and one that has become shorter', async () => {
    await commit(all(0, 4));
    rmSync(join(folder, 'segments', '0.documents'));
    await expect(openReader(folder)).rejects.toThrow(IndexFormatError);
    await expect(openReader(folder)).rejects.toThrow('0.documents is missing');
  });

  it('takes memory for postings from the first search on, not for adding and looking documents up', async () => {
    await commit(all(0, 10));
    for (const options of [{}, { workers: 1 }, { mode: 'lean' as const }]) {
      const reader = await read(options);
      await commit(all(10, 20));
      await reader.refresh();
      expect([reader.get('doc-3')?.id, reader.partsOf('doc-4'), reader.numDocs]).toEqual(['doc-3', ['doc-4'], 20]);
      expect(reader.stats().memoryBytes).toBe(0);
      await reader.search(QUERIES[0]);
      const { memoryBytes } = reader.stats();
      expect(memoryBytes).toBeGreaterThan(0);
      await commit(all(20, 40));
      await reader.refresh();
      expect(reader.stats().memoryBytes).toBeGreaterThan(memoryBytes);
      await writer.delete(all(10, 40).map(({ document }) => document.id));
      await writer.commit();
      await writer.merge();
    }
  });

  it.each(['sparse', 'bm25'] as const)('of %s names a damaged directory when it is opened', async (kind) => {
    const other = folders.next();
    const store = await createStore(other, kind === 'sparse' ? SPARSE : WORDS);
    await store.add([kind === 'sparse' ? documentOf('a', 0) : wordsOf('a', 0)]);
    await store.commit();
    await store.close();
    damage(join(other, 'segments', '0.postings'));
    await expect(openReader(other)).rejects.toThrow(IndexFormatError);
  });

  it.each([0, 2])('on %i threads goes on with its commit when the next one is damaged', async (workers) => {
    await commit(all(0, 20));
    const reader = await read({ workers });
    const expectOld = async () => {
      for (const query of QUERIES)
        expect(plain(await reader.search(query, { k: 5 }))).toEqual(bestOf(all(0, 20), query, 5));
    };
    await expectOld();
    await commit(all(20, 30));
    const repair = damage(join(folder, 'segments', '1.postings'));
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(reader.refresh()).rejects.toThrow(IndexFormatError);
      await expectOld();
    }
    repair();
    expect([await reader.refresh(), reader.numDocs]).toEqual([true, 30]);
    for (const query of QUERIES)
      expect(plain(await reader.search(query, { k: 5 }))).toEqual(bestOf(all(0, 30), query, 5));
  });

  it('that is closed says so, and may be closed twice', async () => {
    const reader = await read({ workers: 1 });
    await reader.close();
    await reader.close();
    await expect(reader.search(QUERIES[0])).rejects.toThrow('is closed');
    expect(() => reader.has('x')).toThrow('is closed');
    await expect(reader.refresh()).rejects.toThrow('is closed');
  });
});
