import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Query } from '../data/index.ts';
import { createIndex, type Index } from '../engines/index.ts';
import { loadModel } from '../model/index.ts';
import { bytesPerQuery } from './bytes-per-query.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lzero-bytes-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const asked = (...texts: string[]): Query[] => texts.map((text, i) => ({ id: String(i), text }));

async function wordIndex(texts: readonly string[]): Promise<Index> {
  const index = await createIndex(join(root, 'index'), { model: await loadModel('bow') });
  await index.add(texts.map((text, i) => ({ id: String(i), text })));
  await index.commit();
  return index;
}

describe('bytes that a query reads', () => {
  it('are the records of its terms, 24 bytes each where two documents have one posting', async () => {
    const index = await wordIndex(['bread', 'salt oil']);
    // A dense record of 2 documents: maxima 4, starts 8, bits 8, ranks 2, one code and the 0 behind it 2.
    expect(bytesPerQuery(index, asked('bread'))).toBe(24);
    // 48 of two terms, 24 of one, 0 of a word that no document has.
    expect(bytesPerQuery(index, asked('bread salt', 'oil', 'tide'))).toBe(24);
    expect(bytesPerQuery(index, [])).toBe(0);
    await index.close();
  });

  it('are, over all terms, the file of postings without header, directory and footer', async () => {
    const index = await wordIndex(Array.from({ length: 300 }, (_, i) => (i % 50 === 0 ? 'bread salt' : 'oil')));
    const sizes = [...index.listSizes().values()];
    const { postings } = (await index.stats()).store.sizeBytes;
    expect(16 + sizes.reduce((a, b) => a + b) + 28 * sizes.length + 32).toBe(postings); // docs/FORMAT.md
    await index.close();
  });

  it('add up over the segments of an index', async () => {
    const index = await wordIndex(['bread', 'salt']);
    const one = bytesPerQuery(index, asked('bread'));
    await index.add([{ id: 'more', text: 'bread' }]);
    await index.commit();
    expect((await index.stats()).store.numSegments).toBe(2);
    expect(bytesPerQuery(index, asked('bread'))).toBe(one + 24);
    await index.close();
  });

  it('are those of the words where an index is of BM25', async () => {
    const index = await createIndex(join(root, 'words'), { kind: 'bm25' });
    await index.add([{ id: 'a', text: 'bread salt' }]);
    await index.commit();
    expect(bytesPerQuery(index, asked('bread'))).toBeGreaterThan(0);
    expect(bytesPerQuery(index, asked('tide'))).toBe(0);
    await index.close();
  });
});
