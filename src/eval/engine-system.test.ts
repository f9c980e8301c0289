import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Query } from '../data/index.ts';
import { createIndex } from '../engines/index.ts';
import { loadModel } from '../model/index.ts';
import { indexSystem } from './engine-system.ts';
import { type QueryEncoder, rememberQueries } from './query-encoder.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lzero-system-'));
});
afterEach(() => rmSync(root, { recursive: true }));

describe('an index as a system', () => {
  it('costs the same before a deleted document is merged away, where all are alike', async () => {
    const index = await createIndex(join(root, 'index'), { kind: 'bm25', writer: { autoMerge: false } });
    await index.add(['a', 'b', 'c', 'd'].map((id) => ({ id, text: 'bread salt oil' })));
    await index.commit();
    await index.delete(['a', 'b']);
    await index.commit();
    const { costs } = indexSystem(index, { name: 'words', id: 'words' });
    // Three words a document; "bread tide" shares one with each.
    const expected = { flops: 1, docLen: 3, queryLen: 2 };
    expect((await index.stats()).store.numDeleted).toBe(2);
    expect(await costs?.([{ id: 'q', text: 'bread tide' }])).toEqual(expected);
    await index.merge();
    expect((await index.stats()).store.numDeleted).toBe(0);
    expect(await costs?.([{ id: 'q', text: 'bread tide' }])).toEqual(expected);
    await index.close();
  });
});

describe('an index whose queries something else encodes', () => {
  /** Gives "x" the vector of bread and salt, and remembers what it was asked for. */
  function fakeEncoder() {
    const asked: string[][] = [];
    const encode: QueryEncoder = async function* (queries) {
      asked.push(queries.map(({ text }) => text));
      for (const query of queries) yield { ...query, vector: { bread: 2, salt: 1 } };
    };
    return { asked, encode: rememberQueries(encode) };
  }

  async function breadIndex() {
    const index = await createIndex(join(root, 'index'), { model: await loadModel('bow') }); // each word weighs 1
    await index.add([
      { id: 'loaf', text: 'bread' },
      { id: 'sea', text: 'salt oil' },
    ]);
    await index.commit();
    return index;
  }

  const queries: Query[] = [
    { id: '1', text: 'x' },
    { id: '2', text: 'x' },
    { id: '3', text: 'oil', vector: { oil: 3 } },
  ];

  it('finds by the vectors, and keeps those that queries bring along', async () => {
    const index = await breadIndex();
    const { encode } = fakeEncoder();
    const system = indexSystem(index, { name: 'encoded', id: 'encoded', encodeQueries: encode });
    const found: string[][] = [];
    for await (const { hits } of system.search(queries, { k: 10 })) found.push(hits.map(({ id }) => id));
    expect(found).toEqual([['loaf', 'sea'], ['loaf', 'sea'], ['sea']]); // bread weighs more than salt
    await index.close();
  });

  it('costs what the encoded queries cost, and explains by their weights', async () => {
    const index = await breadIndex();
    const { encode } = fakeEncoder();
    const system = indexSystem(index, { name: 'encoded', id: 'encoded', encodeQueries: encode });
    // Two terms, two terms, one; documents have one and two. Σ p_q·p_d: bread ⅔·½ + salt ⅔·½ + oil ⅓·½.
    const costs = await system.costs?.(queries);
    expect(costs?.queryLen).toBeCloseTo(5 / 3, 12);
    expect(costs?.docLen).toBeCloseTo(3 / 2, 12);
    expect(costs?.flops).toBeCloseTo(5 / 6, 12);
    const [product] = (await system.explain?.(queries[0], 'loaf')) ?? [];
    expect(product).toMatchObject({ token: 'bread', queryWeight: 2 });
    await index.close();
  });

  it('encodes each text once, in as few batches as there are calls with new ones', async () => {
    const { asked, encode } = fakeEncoder();
    const vectors = async (...texts: string[]): Promise<number> => {
      let count = 0;
      for await (const { vector } of encode(texts.map((text) => ({ id: text, text })))) count += vector ? 1 : 0;
      return count;
    };
    expect(await vectors('x', 'y', 'x')).toBe(3);
    expect(await vectors('y', 'z')).toBe(2);
    expect(asked).toEqual([['x', 'y'], ['z']]);
  });
});
