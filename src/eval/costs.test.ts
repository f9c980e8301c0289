import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { type SparseVector, sparseVector } from '../core/index.ts';
import { costsOf, TermCounter } from './costs.ts';

function counted(vectors: readonly SparseVector[]): TermCounter {
  const counter = new TermCounter();
  for (const vector of vectors) counter.add(vector);
  return counter;
}

describe('costs', () => {
  it('are FLOPS 1.375, Doc_Len 3, query length 2 for the worked example', () => {
    const documents = [
      sparseVector([0, 2, 4], [0.9, 0.3, 0.1]),
      sparseVector([1, 2, 3, 4], [0.5, 0.2, 0.7, 0.4]),
      sparseVector([0], [0.6]),
      sparseVector([0, 1, 2, 4], [0.2, 0.1, 0.8, 0.3]),
    ];
    // p_d = (3, 2, 3, 1, 3)/4, p_q = (1, 1, 1, 0, 1)/2
    const queries = [sparseVector([0, 2], [2, 3]), sparseVector([1, 4], [1, 4])];
    expect(costsOf(counted(queries), counted(documents))).toEqual({ flops: 1.375, docLen: 3, queryLen: 2 });
  });

  it('of nothing are 0', () => {
    expect(costsOf(new TermCounter(), new TermCounter())).toEqual({ flops: 0, docLen: 0, queryLen: 0 });
  });

  it('count empty vectors', () => {
    expect(counted([sparseVector([], []), sparseVector([7], [1])]).meanLength).toBe(0.5);
  });

  const vector = fc
    .uniqueArray(fc.nat(200_000), { maxLength: 12 })
    .map((terms) => sparseVector(terms, new Float32Array(terms.length).fill(1)));
  const vectors = fc.array(vector, { minLength: 1, maxLength: 8 });
  test.prop([vectors, vectors])(
    'are the mean number of shared terms over all pairs, within 1e-12',
    (queries, documents) => {
      const shared = (q: SparseVector, d: SparseVector): number =>
        q.terms.filter((term) => d.terms.includes(term)).length;
      let sum = 0;
      for (const q of queries) for (const d of documents) sum += shared(q, d);
      const { flops } = costsOf(counted(queries), counted(documents));
      expect(Math.abs(flops - sum / queries.length / documents.length)).toBeLessThan(1e-12);
    },
  );

  test.prop([vectors, vectors])('from document frequencies are those from vectors', (queries, documents) => {
    const frequencies = new Map<number, number>();
    for (const { terms } of documents)
      for (const term of terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
    const fromIndex = new TermCounter();
    fromIndex.addFrequencies(documents.length, frequencies);
    expect(costsOf(counted(queries), fromIndex)).toEqual(costsOf(counted(queries), counted(documents)));
  });
});
