import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { centralDifferences } from '../../test/lib/central-differences.ts';
import { ShapeError } from '../core/index.ts';
import { cosineDistance } from './cosine-distance.ts';
import { matrix, matrixFromRows } from './matrix.ts';

describe('the mean cosine distance', () => {
  it('by hand: cosines 0.6 and 1, and a gradient across the vector, shorter for a longer one', () => {
    const h = matrixFromRows([
      [5, 0],
      [1, 1],
    ]);
    const teacher = matrixFromRows([
      [3, 4],
      [2, 2],
    ]);
    const { loss, dH } = cosineDistance(h, teacher);
    expect(loss).toBeCloseTo(0.2, 12); // (0.4 + 0)/2
    // −½·((0.6, 0.8) − 0.6·(1, 0))/5 = (0, −0.08), and 0 where it points the right way
    [0, -0.08, 0, 0].forEach((slope, i) => {
      expect(dH.data[i]).toBeCloseTo(slope, 7);
    });
  });

  it('refuses an empty batch, and vectors of another number or size', () => {
    expect(() => cosineDistance(matrix(0, 2), matrix(0, 2))).toThrow(ShapeError);
    expect(() => cosineDistance(matrix(2, 3), matrix(2, 4))).toThrow('vectors are [2, 3], those of the teacher [2, 4]');
    expect(() => cosineDistance(matrix(2, 3), matrix(1, 3))).toThrow(ShapeError);
  });

  it('is 1 where a vector has no direction, and its gradient is a number', () => {
    const { loss, dH } = cosineDistance(matrix(1, 2), matrixFromRows([[1, 0]]));
    expect(loss).toBe(1);
    expect(dH.data.every(Number.isFinite)).toBe(true);
  });

  /** Far enough from 0 that differences are small ones. */
  const component = fc.integer({ min: 64, max: 512 }).chain((x) => fc.constantFrom(x / 256, -x / 256));
  const batch = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 2, max: 6 })).chain(([B, H]) => {
    const rows = fc.array(fc.array(component, { minLength: H, maxLength: H }), { minLength: B, maxLength: B });
    return fc.tuple(rows, rows);
  });

  test.prop([batch])('has the gradient of central differences within 1e-4', ([rows, wanted]) => {
    const [h, teacher] = [matrixFromRows(rows), matrixFromRows(wanted)];
    const expected = centralDifferences(() => cosineDistance(h, teacher).loss, h.data);
    const { dH } = cosineDistance(h, teacher);
    expected.forEach((slope, i) => {
      expect(Math.abs(dH.data[i] - slope)).toBeLessThan(1e-4);
    });
  });

  test.prop([batch, fc.constantFrom(0.25, 4)])('does not depend on lengths', ([rows, wanted], factor) => {
    const [h, teacher] = [matrixFromRows(rows), matrixFromRows(wanted)];
    const longer = matrix(
      h.rows,
      h.cols,
      h.data.map((x) => factor * x),
    );
    expect(cosineDistance(longer, teacher).loss).toBeCloseTo(cosineDistance(h, teacher).loss, 10);
    expect(
      cosineDistance(
        h,
        matrix(
          h.rows,
          h.cols,
          teacher.data.map((x) => factor * x),
        ),
      ).loss,
    ).toBeCloseTo(cosineDistance(h, teacher).loss, 10);
  });
});
