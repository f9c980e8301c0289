import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { centralDifferences, relativeError } from '../../test/lib/central-differences.ts';
import { ShapeError } from '../core/index.ts';
import { l1 } from './l1.ts';
import { matrix, matrixFromRows } from './matrix.ts';

describe('L1', () => {
  it('by hand: the mean of the sums 3 and 2, and ½ for each active term', () => {
    const w = matrixFromRows([
      [1, 2, 0],
      [0, 0, 2],
    ]);
    const dW = matrixFromRows([
      [0.5, 0.5, 0],
      [0, 0, 0.5],
    ]);
    expect(l1(w)).toEqual({ loss: 2.5, dW });
  });

  it('is 0 with gradient 0 for empty documents, and refuses an empty batch', () => {
    expect(l1(matrix(2, 3))).toEqual({ loss: 0, dW: matrix(2, 3) });
    expect(() => l1(matrix(0, 3))).toThrow(ShapeError);
  });

  const rows = fc.integer({ min: 1, max: 5 }).chain((V) =>
    fc.array(
      fc.array(
        fc.integer({ min: 0, max: 999 }).map((x) => x / 256),
        { minLength: V, maxLength: V },
      ),
      {
        minLength: 1,
        maxLength: 5,
      },
    ),
  );
  test.prop([rows])(
    'is the mean of the rows’ sums, and has the gradient of central differences within 1e-6',
    (list) => {
      const w = matrixFromRows(list);
      const { loss, dW } = l1(w);
      expect(loss).toBeCloseTo(list.flat().reduce((a, b) => a + b, 0) / list.length, 10);
      const numeric = centralDifferences(() => l1(w).loss, w.data); // at 0, where |·| has a kink, they give 0 as well
      expect(relativeError(dW.data, numeric)).toBeLessThan(1e-6);
    },
  );
});
