import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { centralDifferences, relativeError } from '../../test/lib/central-differences.ts';
import { sparseVector } from '../core/index.ts';
import { matrixFromRows } from './matrix.ts';
import { termMse } from './term-mse.ts';

describe('the mean squared error of term weights', () => {
  it('by hand: (1² + 2²)/2 and 2/2 of each difference', () => {
    const w = matrixFromRows([
      [1, 2, 0],
      [0, 0, 3],
    ]);
    const teacher = [sparseVector([1], [2]), sparseVector([0, 2], [2, 3])];
    const dW = matrixFromRows([
      [1, 0, 0],
      [-2, 0, 0],
    ]);
    expect(termMse(w, teacher)).toEqual({ loss: 2.5, dW });
  });

  it('needs a vector for each document', () => {
    const w = matrixFromRows([[1, 2]]);
    expect(() => termMse(w, undefined)).toThrow('sparse teacher');
    expect(() => termMse(w, [])).toThrow('1 documents, but 0 vectors');
  });

  const weight = fc.integer({ min: 0, max: 999 }).map((x) => x / 256);
  const row = fc.array(weight, { minLength: 4, maxLength: 4 });
  test.prop([fc.array(fc.tuple(row, row), { minLength: 1, maxLength: 4 })])(
    'is the mean of the rows’ squared distances, with the gradient of central differences within 1e-5',
    (pairs) => {
      const w = matrixFromRows(pairs.map(([own]) => own));
      const teacher = pairs.map(([, of]) => {
        const terms = [0, 1, 2, 3].filter((j) => of[j] > 0);
        return sparseVector(
          terms,
          terms.map((j) => of[j]),
        );
      });
      const { loss, dW } = termMse(w, teacher);
      const squares = pairs.map(([own, of]) => own.reduce((sum, x, j) => sum + (x - of[j]) ** 2, 0));
      expect(loss).toBeCloseTo(squares.reduce((a, b) => a + b, 0) / pairs.length, 5);
      const numeric = centralDifferences(() => termMse(w, teacher).loss, w.data);
      expect(relativeError(dW.data, numeric)).toBeLessThan(1e-5);
    },
  );
});
