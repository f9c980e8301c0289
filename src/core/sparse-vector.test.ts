import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ShapeError } from './errors.ts';
import { byWeight, dot, type SparseVector, sparseVector, sumOf } from './sparse-vector.ts';

const VOCABULARY = 12;
/** Rows over a small vocabulary, half of them zeros. */
const dense = fc
  .array(fc.float({ min: Math.fround(-2), max: 2, noNaN: true }), { minLength: VOCABULARY, maxLength: VOCABULARY })
  .map((row) => Float32Array.from(row, (weight) => Math.max(0, weight)));

/** The sparse vector of such a row. */
function sparse(row: Float32Array): SparseVector {
  const terms = [...row.keys()].filter((term) => row[term] > 0);
  return sparseVector(
    terms,
    terms.map((term) => row[term]),
  );
}

describe('a sparse vector', () => {
  it('is sorted by term id', () => {
    const { terms, weights } = sparseVector([7, 2, 5], [0.5, 1, 2]);
    expect([...terms]).toEqual([2, 5, 7]);
    expect([...weights]).toEqual([1, 2, 0.5]);
  });

  it.each([
    ['lists of different lengths', [1, 2], [1]],
    ['a term twice', [3, 3], [1, 2]],
    ['a negative term', [-1], [1]],
    ['a fractional term', [0.5], [1]],
    ['a term beyond 32 bits', [2 ** 32], [1]],
    ['a term that is no number', [Number.NaN], [1]],
    ['weight zero', [1], [0]],
    ['a negative weight', [1], [-1]],
    ['a weight that is no number', [1], [Number.NaN]],
    ['an infinite weight', [1], [Number.POSITIVE_INFINITY]],
    ['a weight beyond 32-bit floats', [1], [1e39]],
    ['a weight that vanishes as a 32-bit float', [1], [1e-46]],
  ])('refuses %s', (_, terms, weights) => {
    expect(() => sparseVector(terms, weights)).toThrow(ShapeError);
  });

  it('may be empty', () => {
    expect(sparseVector([], []).terms).toHaveLength(0);
  });
});

describe('dot', () => {
  it('sums over the terms that both have: 2·3 + 4·0.5 = 8', () => {
    expect(dot(sparseVector([1, 4, 9], [2, 1, 4]), sparseVector([1, 5, 9], [3, 7, 0.5]))).toBe(8);
  });

  test.prop([dense, dense])('equals the dense product within 1e-12, and is symmetric', (a, b) => {
    const expected = a.reduce((sum, weight, i) => sum + weight * b[i], 0);
    expect(Math.abs(dot(sparse(a), sparse(b)) - expected)).toBeLessThan(1e-12);
    expect(dot(sparse(a), sparse(b))).toBe(dot(sparse(b), sparse(a)));
  });
});

describe('byWeight', () => {
  it('orders by descending weight, equal weights by ascending term', () => {
    const vector = sparseVector([8, 3, 5, 1], [1, 2, 1, 0.5]);
    expect(byWeight(vector).map((i) => vector.terms[i])).toEqual([3, 5, 8, 1]);
  });
});

describe('the sum of vectors', () => {
  const anyVector = fc
    .uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 12 })
    .chain((terms) =>
      fc.tuple(fc.constant(terms), fc.array(fc.constantFrom(0.5, 1, 2, 4), { minLength: 12, maxLength: 12 })),
    )
    .map(([terms, weights]) => sparseVector(terms, weights.slice(0, terms.length)));

  test.prop([anyVector, anyVector, anyVector])('scores as its parts do together', (v, w, q) => {
    expect(dot(q, sumOf(v, w))).toBe(dot(q, v) + dot(q, w)); // exact: all weights are powers of two
    const { terms } = sumOf(v, w);
    expect([...terms]).toEqual([...new Set([...v.terms, ...w.terms])].sort((a, b) => a - b));
  });
});
