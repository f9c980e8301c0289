import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { centralDifferences, relativeError } from '../../test/lib/central-differences.ts';
import { ShapeError } from '../core/index.ts';
import type { FlopsOptions } from './flops.ts';
import { FLOPS_GROUPINGS, flops } from './flops.ts';
import type { BatchShape } from './matrix.ts';
import { matrix, matrixFromRows } from './matrix.ts';

/** Documents with values that were published for the method. */
const D = [
  [0.9, 0, 0.3, 0, 0.1],
  [0, 0.5, 0.2, 0.7, 0.4],
  [0.6, 0, 0, 0, 0],
  [0.2, 0.1, 0.8, 0, 0.3],
];
const inGroups = (docsPerQuery: number, numRows = 4): BatchShape => ({
  numQueries: numRows / docsPerQuery,
  docsPerQuery,
});

/** Σ_g Σ_j (1/Q Σ_n M·|w|)², read off the formula. */
function bruteForce(rows: readonly number[][], Q: number, threshold: number | null): number {
  const G = rows.length / Q;
  const masked = rows.map((row) =>
    threshold !== null && row.filter((x) => x !== 0).length <= threshold ? row.map(() => 0) : row,
  );
  let loss = 0;
  for (let g = 0; g < G; g++)
    for (let j = 0; j < rows[0].length; j++) {
      let mean = 0;
      for (let n = 0; n < Q; n++) mean += Math.abs(masked[n * G + g][j]) / Q;
      loss += mean ** 2;
    }
  return loss;
}

describe('FLOPS', () => {
  it('by hand: one query, two documents: 1 + .04 + .25 + .36 + .49 + .64, and without the first at t = 2', () => {
    const w = matrixFromRows([
      [1, 0.2, 0, 0],
      [0.5, 0.6, 0.7, 0.8],
    ]);
    expect(flops(w, inGroups(2, 2)).loss).toBeCloseTo(2.78, 6);
    expect(flops(w, inGroups(2, 2), { threshold: 2 }).loss).toBeCloseTo(1.74, 6);
  });

  it.each([
    [1, null, 0.379375],
    [1, 2, 0.274375],
    [1, 3, 0.14875],
    [1, 4, 0],
    [2, null, 1.1825],
    [2, 2, 0.8225],
    [2, 3, 0.595],
    [2, 4, 0],
  ])('G = %d, t = %s: the published %d', (G, threshold, expected) => {
    expect(flops(matrixFromRows(D), inGroups(G), { threshold }).loss).toBeCloseTo(expected, 7);
  });

  it('by hand: the gradient is (2/Q)·ā where a document is active, and 0 where it is not or is masked', () => {
    const w = matrixFromRows([
      [1, 0],
      [3, 2],
    ]);
    // ā = [2, 1], 2/Q = 1
    expect(flops(w, inGroups(1, 2)).dW).toEqual(
      matrixFromRows([
        [2, 0],
        [2, 1],
      ]),
    );
    // the first document is masked but still divides: ā = [1.5, 1]
    expect(flops(w, inGroups(1, 2), { threshold: 1 }).dW).toEqual(
      matrixFromRows([
        [0, 0],
        [1.5, 1],
      ]),
    );
  });

  it('without grouping is the same as G = 1, and never more than by position', () => {
    for (const threshold of [null, 2, 3]) {
      const none = flops(matrixFromRows(D), inGroups(2), { grouping: 'none', threshold });
      expect(none).toEqual(flops(matrixFromRows(D), inGroups(1), { threshold }));
      expect(none.loss).toBeLessThanOrEqual(flops(matrixFromRows(D), inGroups(2), { threshold }).loss);
    }
  });

  it('is 0 with gradient 0 when all documents are masked or empty', () => {
    const zero = { loss: 0, dW: matrix(4, 5) };
    expect(flops(matrixFromRows(D), inGroups(2), { threshold: 5 })).toEqual(zero);
    expect(flops(matrix(4, 5), inGroups(2))).toEqual(zero);
  });

  it('takes one query with one document: the sum of squares', () => {
    expect(flops(matrixFromRows([[3, 4]]), inGroups(1, 1)).loss).toBe(25);
  });

  it('carries a NaN on instead of hiding it', () => {
    expect(flops(matrixFromRows([[Number.NaN, 1]]), inGroups(1, 1)).loss).toBeNaN();
  });

  it('refuses rows that are not Q·G', () => {
    expect(() => flops(matrixFromRows(D), { numQueries: 3, docsPerQuery: 2 })).toThrow(ShapeError);
    expect(() => flops(matrixFromRows(D), { numQueries: 3, docsPerQuery: 2 }, { grouping: 'none' })).toThrow(
      ShapeError,
    );
  });

  const weight = fc.oneof(
    fc.constant(0),
    fc.integer({ min: 1, max: 4096 }).map((x) => x / 1024),
  );
  const batch = fc
    .record({ Q: fc.integer({ min: 1, max: 4 }), G: fc.integer({ min: 1, max: 3 }), V: fc.integer({ min: 1, max: 6 }) })
    .chain(({ Q, G, V }) => {
      const rows = fc.array(fc.array(weight, { minLength: V, maxLength: V }), { minLength: Q * G, maxLength: Q * G });
      return fc.record({ Q: fc.constant(Q), G: fc.constant(G), rows });
    });
  const options: fc.Arbitrary<Required<Omit<FlopsOptions, 'termFactors' | 'standsFor'>>> = fc.record({
    grouping: fc.constantFrom(...FLOPS_GROUPINGS),
    threshold: fc.option(fc.nat(6)),
  });

  it('of a sample of terms counts each for those it stands for, in the sum and in the mask', () => {
    const columns = matrixFromRows(D.map((row) => [...row, row[4], row[4]]));
    const sample = matrixFromRows(D);
    const standsFor = Float32Array.of(1, 1, 1, 1, 3); // the last column stands for three that are alike
    for (const threshold of [null, 3, 5]) {
      const all = flops(columns, inGroups(2), { threshold });
      const some = flops(sample, inGroups(2), { threshold, standsFor });
      expect(some.loss).toBeCloseTo(all.loss, 12);
      const loss = () => flops(sample, inGroups(2), { threshold, standsFor }).loss;
      expect(relativeError(some.dW.data, centralDifferences(loss, sample.data))).toBeLessThan(1e-3);
    }
  });

  test.prop([batch, options])('agrees with the formula within 1e-12', ({ Q, G, rows }, { grouping, threshold }) => {
    const { loss } = flops(matrixFromRows(rows), { numQueries: Q, docsPerQuery: G }, { grouping, threshold });
    expect(loss).toBeCloseTo(bruteForce(rows, grouping === 'none' ? Q * G : Q, threshold), 12);
  });

  test.prop([batch, options])('has the gradient of central differences within 1e-6', ({ Q, G, rows }, choice) => {
    const w = matrixFromRows(rows);
    const shape = { numQueries: Q, docsPerQuery: G };
    const numeric = centralDifferences(() => flops(w, shape, choice).loss, w.data, 2 ** -12);
    // At 0 there is a kink, and the count of terms jumps: only active terms have a slope to compare, and they stay active.
    const active = numeric.map((slope, i) => (w.data[i] === 0 ? 0 : slope));
    expect(relativeError(flops(w, shape, choice).dW.data, active)).toBeLessThan(1e-6);
  });
});
