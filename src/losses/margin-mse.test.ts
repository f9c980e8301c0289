import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { centralDifferences, relativeError } from '../../test/lib/central-differences.ts';
import { InputError, ShapeError } from '../core/index.ts';
import { marginMse } from './margin-mse.ts';
import { matrix, matrixFromRows } from './matrix.ts';

describe('MarginMSE', () => {
  it('by hand, and as published: margins 2.1 and −1.3 against 4.6 and −1.5: (6.25 + 0.04)/2 = 3.145', () => {
    const s = matrixFromRows([
      [2.7, 0.6],
      [0, 1.3],
    ]);
    const t = matrixFromRows([
      [9, 4.4],
      [5, 6.5],
    ]);
    const { loss, dScores } = marginMse(s, t);
    expect(loss).toBeCloseTo(3.145, 5);
    // δ = −2.5 and 0.2, halved twice over: ∂ℓ/∂s_0 = 2δ/2
    expect(relativeError(dScores.data, [-2.5, 2.5, 0.2, -0.2])).toBeLessThan(1e-6);
  });

  it('by hand: three documents, all compared with the first', () => {
    const { loss, dScores } = marginMse(matrixFromRows([[5, 3, 1]]), matrixFromRows([[0, 0, 0]]));
    expect(loss).toBe((2 ** 2 + 4 ** 2) / 2);
    expect(dScores).toEqual(matrixFromRows([[6, -2, -4]]));
  });

  it('is 0 where margins agree, whatever the scores are', () => {
    const { loss, dScores } = marginMse(matrixFromRows([[10, 8]]), matrixFromRows([[-3, -5]]));
    expect([loss, ...dScores.data.map(Math.abs)]).toEqual([0, 0, 0]);
    expect(marginMse(matrix(2, 3), matrix(2, 3)).loss).toBe(0);
  });

  it('takes scores of 1e15 without losing them', () => {
    expect(marginMse(matrixFromRows([[2 ** 50, 0]]), matrixFromRows([[0, 0]])).loss).toBe(2 ** 100);
  });

  it('refuses lists of one document, and names what is wrong with a teacher', () => {
    expect(() => marginMse(matrix(3, 1), matrix(3, 1))).toThrow(ShapeError);
    expect(() => marginMse(matrix(3, 2), undefined)).toThrow(InputError);
    expect(() => marginMse(matrix(3, 2), matrix(2, 3))).toThrow('scores are [3, 2], teacher scores [2, 3]');
    expect(() => marginMse(matrix(1, 2), matrixFromRows([[Number.NaN, 0]]))).toThrow('query 0, document 0 is NaN');
  });

  const score = fc.integer({ min: -2048, max: 2048 }).map((x) => x / 256);
  const pair = fc.record({ Q: fc.integer({ min: 1, max: 4 }), G: fc.integer({ min: 2, max: 5 }) }).chain(({ Q, G }) => {
    const rows = fc.array(fc.array(score, { minLength: G, maxLength: G }), { minLength: Q, maxLength: Q });
    return fc.record({ scores: rows, teacher: rows });
  });

  test.prop([pair])('is the mean over all margins within 1e-9', ({ scores, teacher }) => {
    const errors = scores.flatMap((s, n) => {
      const t = teacher[n];
      return s.slice(1).map((x, i) => (s[0] - x - (t[0] - t[i + 1])) ** 2);
    });
    const mean = errors.reduce((a, b) => a + b, 0) / errors.length;
    expect(marginMse(matrixFromRows(scores), matrixFromRows(teacher)).loss).toBeCloseTo(mean, 9);
  });

  test.prop([pair])('has the gradient of central differences within 1e-6', ({ scores, teacher }) => {
    const [s, t] = [matrixFromRows(scores), matrixFromRows(teacher)];
    const numeric = centralDifferences(() => marginMse(s, t).loss, s.data);
    expect(relativeError(marginMse(s, t).dScores.data, numeric)).toBeLessThan(1e-6);
  });
});
