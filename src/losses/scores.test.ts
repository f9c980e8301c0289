import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { centralDifferences, relativeError } from '../../test/lib/central-differences.ts';
import { dot, ShapeError, sparseVector } from '../core/index.ts';
import { matrix, matrixFromRows, rowOf } from './matrix.ts';
import type { QueryTerms } from './scores.ts';
import { addScoreGradients, scores } from './scores.ts';

const query = (terms: readonly number[], weights: readonly number[]): QueryTerms => ({
  terms: Uint32Array.from(terms),
  weights: Float32Array.from(weights),
});

/** Documents and queries with published scores: idf [2, 1, 3, .5, 4], queries {0, 2} and {1, 4}. */
const D = matrixFromRows([
  [0.9, 0, 0.3, 0, 0.1],
  [0, 0.5, 0.2, 0.7, 0.4],
  [0.6, 0, 0, 0, 0],
  [0.2, 0.1, 0.8, 0, 0.3],
]);
const QUERIES = [query([0, 2], [2, 3]), query([1, 4], [1, 4])];

describe('scores', () => {
  it('of own documents are the published [[2.7, 0.6], [0, 1.3]]', () => {
    const s = scores(QUERIES, D, 'own');
    expect([s.rows, s.cols]).toEqual([2, 2]);
    expect(relativeError(s.data, [2.7, 0.6, 0, 1.3])).toBeLessThan(1e-7);
  });

  it('of the batch are those of every query with every document', () => {
    const s = scores(QUERIES, D, 'batch');
    expect([s.rows, s.cols]).toEqual([2, 4]);
    // by hand: 2·w_0 + 3·w_2, and w_1 + 4·w_4
    expect(relativeError(s.data, [2.7, 0.6, 1.2, 2.8, 0.4, 2.1, 0, 1.3])).toBeLessThan(1e-7);
  });

  it('of the batch take any number of queries', () => {
    expect(scores([...QUERIES, query([3], [1])], D, 'batch')).toMatchObject({ rows: 3, cols: 4 });
    expect(() => scores([...QUERIES, query([3], [1])], D, 'own')).toThrow(ShapeError);
  });

  it('of a query without terms, or with weights of 0, are 0', () => {
    expect(scores([query([], []), query([0], [0])], D, 'own').data).toEqual(new Float32Array(4));
  });

  it('refuse terms beyond the vocabulary, weights that are missing, and no queries at all', () => {
    expect(() => scores([query([5], [1])], D, 'batch')).toThrow('query 0 has term 5, documents have 5 terms: [4, 5]');
    expect(() => scores([query([1, 2], [1])], D, 'batch')).toThrow('query 0 has 2 terms and 1 weights');
    expect(() => scores([], D, 'batch')).toThrow(ShapeError);
    expect(() => scores(QUERIES, matrix(0, 5), 'batch')).toThrow(ShapeError);
  });
});

describe('gradients of scores', () => {
  it('by hand: ∂s goes to the documents times the weights, and to the weights times the documents', () => {
    const dW = matrix(4, 5);
    const dQueryWeights = [new Float32Array(2), new Float32Array(2)];
    const dScores = matrixFromRows([
      [1, 0],
      [0, -10],
    ]);
    addScoreGradients({ queries: QUERIES, w: D, dScores }, { dW, dQueryWeights });
    expect(dW).toEqual(
      matrixFromRows([
        [2, 0, 3, 0, 0],
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
        [0, -10, 0, 0, -40],
      ]),
    );
    expect(relativeError(dQueryWeights[0], [0.9, 0.3])).toBeLessThan(1e-7);
    expect(relativeError(dQueryWeights[1], [-1, -3])).toBeLessThan(1e-7);
  });

  it('are added to what is there', () => {
    const dW = matrix(4, 5, new Float32Array(20).fill(1));
    const dQueryWeights = [Float32Array.of(5, 5), Float32Array.of(5, 5)];
    addScoreGradients({ queries: QUERIES, w: D, dScores: matrix(2, 2) }, { dW, dQueryWeights });
    expect(dW.data).toEqual(new Float32Array(20).fill(1));
    expect(dQueryWeights).toEqual([Float32Array.of(5, 5), Float32Array.of(5, 5)]);
  });

  it('leave the queries out unless asked for', () => {
    const dW = matrix(4, 5);
    addScoreGradients(
      {
        queries: QUERIES,
        w: D,
        dScores: matrixFromRows([
          [1, 1],
          [1, 1],
        ]),
      },
      { dW },
    );
    expect(dW.data[0]).toBe(2);
  });

  it('refuse shapes that no scores have', () => {
    const dW = matrix(4, 5);
    const gradients = (dScores: ReturnType<typeof matrix>) => () =>
      addScoreGradients({ queries: QUERIES, w: D, dScores }, { dW });
    expect(gradients(matrix(2, 3))).toThrow('scores of 2 queries and documents [4, 5] have no gradient [2, 3]');
    expect(gradients(matrix(3, 2))).toThrow(ShapeError);
    const scored = { queries: QUERIES, w: D, dScores: matrix(2, 2) };
    expect(() => addScoreGradients(scored, { dW: matrix(4, 4) })).toThrow('weights are [4, 5], their gradient [4, 4]');
    expect(() => addScoreGradients(scored, { dW, dQueryWeights: [] })).toThrow(ShapeError);
    const short = [new Float32Array(2), new Float32Array(1)];
    expect(() => addScoreGradients(scored, { dW, dQueryWeights: short })).toThrow(
      'query 1 has 2 weights, its gradient 1',
    );
  });
});

const V = 6;
const value = fc.integer({ min: 0, max: 1024 }).map((x) => x / 256);
const positive = fc.integer({ min: 1, max: 1024 }).map((x) => x / 256);
const queryOf = fc
  .uniqueArray(fc.nat(V - 1), { maxLength: V })
  .chain((terms) =>
    fc.tuple(fc.constant(terms), fc.array(positive, { minLength: terms.length, maxLength: terms.length })),
  );
const batch = fc
  .record({
    Q: fc.integer({ min: 1, max: 3 }),
    G: fc.integer({ min: 1, max: 3 }),
    candidates: fc.constantFrom('own', 'batch'),
  })
  .chain(({ Q, G, candidates }) =>
    fc.record({
      candidates: fc.constant(candidates),
      queries: fc.array(queryOf, { minLength: Q, maxLength: Q }),
      rows: fc.array(fc.array(value, { minLength: V, maxLength: V }), { minLength: Q * G, maxLength: Q * G }),
      seeds: fc.array(value, { minLength: Q * Q * G, maxLength: Q * Q * G }),
    }),
  );

describe('scores of any batch', () => {
  test.prop([batch])('are the dots of sparse vectors within 1e-6', ({ queries, rows, candidates }) => {
    const w = matrixFromRows(rows);
    const s = scores(
      queries.map(([terms, weights]) => query(terms, weights)),
      w,
      candidates,
    );
    queries.forEach(([terms, weights], n) => {
      for (let c = 0; c < s.cols; c++) {
        const document = rowOf(w, candidates === 'own' ? n * s.cols + c : c);
        const active = Array.from(document.keys()).filter((j) => document[j] > 0);
        const vector = sparseVector(
          active,
          active.map((j) => document[j]),
        );
        expect(rowOf(s, n)[c]).toBeCloseTo(dot(sparseVector(terms, weights), vector), 5);
      }
    });
  });

  test.prop([batch])(
    'have the gradients of central differences within 1e-6',
    ({ queries, rows, candidates, seeds }) => {
      const w = matrixFromRows(rows);
      const list = queries.map(([terms, weights]) => query(terms, weights));
      const { rows: Q, cols } = scores(list, w, candidates);
      const dScores = matrix(Q, cols, Float32Array.from(seeds.slice(0, Q * cols)));
      // A linear loss Σ seed·s has the seeds as its gradient by s; values in 256ths keep 32-bit scores exact.
      const loss = () => scores(list, w, candidates).data.reduce((sum, s, i) => sum + s * dScores.data[i], 0);
      const dW = matrix(w.rows, w.cols);
      const dQueryWeights = list.map(({ weights }) => new Float32Array(weights.length));
      addScoreGradients({ queries: list, w, dScores }, { dW, dQueryWeights });
      expect(relativeError(dW.data, centralDifferences(loss, w.data, 2 ** -4))).toBeLessThan(1e-6);
      list.forEach(({ weights }, n) => {
        expect(relativeError(dQueryWeights[n], centralDifferences(loss, weights, 2 ** -4))).toBeLessThan(1e-6);
      });
    },
  );
});
