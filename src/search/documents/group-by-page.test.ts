import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import type { TopK } from '../types.ts';
import { groupByPage } from './group-by-page.ts';

/** Hits by falling score, then by number. */
function searchOver(scores: readonly number[]): (k: number) => TopK {
  const order = scores.map((_, docId) => docId).sort((a, b) => scores[b] - scores[a] || a - b);
  return (k) => ({
    docIds: Uint32Array.from(order.slice(0, k)),
    scores: Float64Array.from(order.slice(0, k), (docId) => scores[docId]),
  });
}

const chunks = fc.array(fc.record({ page: fc.constantFrom('a', 'b', 'c', 'd', 'e'), score: fc.nat(9) }), {
  maxLength: 60,
});

describe('groupByPage', () => {
  test.prop([chunks, fc.integer({ min: 1, max: 7 })])('equals grouping all hits', async (all, k) => {
    const search = searchOver(all.map(({ score }) => score));
    const expected = new Map<string, { page: string; docId: number; score: number }>();
    for (const docId of search(all.length).docIds) {
      const { page, score } = all[docId];
      if (!expected.has(page)) expected.set(page, { page, docId, score });
    }
    const found = await groupByPage({ k, search, pageOf: (docId) => all[docId].page });
    expect(found).toEqual({ hits: [...expected.values()].slice(0, k), complete: true });
  });

  it('asks for twice as many until there are k pages', async () => {
    const asked: number[] = [];
    const search = searchOver(Array.from({ length: 1000 }, (_, i) => 1000 - i));
    const found = await groupByPage({
      k: 3,
      search: (k) => {
        asked.push(k);
        return search(k);
      },
      pageOf: (docId) => String(Math.floor(docId / 10)), // ten chunks a page: the third page begins at hit 21
    });
    expect(found.hits.map(({ docId }) => docId)).toEqual([0, 10, 20]);
    expect(asked).toEqual([6, 12, 24]);
  });

  it('says so where the most hits that can be had are of too few pages', async () => {
    const search = searchOver(Array.from({ length: 100 }, () => 1));
    const found = await groupByPage({ k: 2, search, pageOf: (docId) => (docId < 60 ? 'a' : 'b'), maxHits: 50 });
    expect(found).toEqual({ hits: [{ page: 'a', docId: 0, score: 1 }], complete: false });
  });
});
