import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { centralDifferences, relativeError } from '../../test/lib/central-differences.ts';
import { InputError, ShapeError } from '../core/index.ts';
import { kl } from './kl.ts';
import { matrix, matrixFromRows } from './matrix.ts';

/** Scores with published values. */
const S = matrixFromRows([
  [2.7, 0.6],
  [0, 1.3],
]);
const T = matrixFromRows([
  [9, 4.4],
  [5, 6.5],
]);

/** Mean over queries of Σ p·log(p/q), with p and q by exp and a division. */
function bruteForce(scores: readonly number[][], teacher: readonly number[][], temperature: number): number {
  const softmax = (row: readonly number[]) => {
    const powers = row.map((x) => Math.exp(x / temperature));
    return powers.map((x) => x / powers.reduce((a, b) => a + b, 0));
  };
  const rows = scores.map((row, n) => {
    const q = softmax(row);
    return softmax(teacher[n]).reduce((sum, p, g) => sum + p * Math.log(p / q[g]), 0);
  });
  return rows.reduce((a, b) => a + b, 0) / rows.length;
}

describe('KL', () => {
  it('has the published value 0.041874', () => {
    expect(kl(S, T).loss).toBeCloseTo(0.041874, 6);
  });

  it('by hand: the teacher sure of the first of two that the student finds equal: ln 2, gradient q − p', () => {
    const { loss, dScores } = kl(matrixFromRows([[1, 1]]), matrixFromRows([[100, 0]]));
    expect(loss).toBeCloseTo(Math.LN2, 12);
    expect(dScores).toEqual(matrixFromRows([[-0.5, 0.5]]));
  });

  it('is 0 with gradient 0 where the student agrees up to a constant, and for a single document', () => {
    const shifted = matrixFromRows([
      [10, 5.4],
      [-5, -3.5],
    ]);
    const teacher = matrixFromRows([
      [9, 4.4],
      [5, 6.5],
    ]);
    expect(kl(shifted, teacher).loss).toBeCloseTo(0, 9);
    expect(kl(matrixFromRows([[3], [4]]), matrixFromRows([[1], [9]]))).toEqual({ loss: 0, dScores: matrix(2, 1) });
  });

  it('of equal scores and an equal teacher is 0', () => {
    expect(kl(matrix(3, 4), matrix(3, 4)).loss).toBe(0);
  });

  it('of huge scores is finite, and a chance of 0 adds nothing', () => {
    const { loss, dScores } = kl(matrixFromRows([[1e8, 0, -1e8]]), matrixFromRows([[0, 1e8, -1e8]]));
    expect(loss).toBe(1e8); // p = q's opposite: 1·(0 − (0 − 10⁸))
    expect(dScores).toEqual(matrixFromRows([[1, -1, 0]]));
  });

  it('with two temperatures is the same as with scores divided beforehand', () => {
    const by = (m: typeof S, divisor: number) => ({ ...m, data: m.data.map((x) => x / divisor) });
    const { loss, dScores } = kl(S, T, { temperature: 2, teacherTemperature: 0.25 });
    const divided = kl(by(S, 2), by(T, 0.25));
    expect(loss).toBeCloseTo(divided.loss, 7);
    expect(
      relativeError(
        dScores.data,
        divided.dScores.data.map((x) => x / 2),
      ),
    ).toBeLessThan(1e-6);
  });

  it('names what is wrong with a teacher: missing, of another shape, not a number', () => {
    expect(() => kl(S, undefined)).toThrow(InputError);
    expect(() => kl(S, undefined)).toThrow('KL learns from teacher scores, and this batch has none');
    expect(() => kl(S, matrix(2, 3))).toThrow(ShapeError);
    const bad = matrixFromRows([
      [1, 2],
      [3, Number.NaN],
    ]);
    expect(() => kl(S, bad)).toThrow(InputError);
    expect(() => kl(S, bad)).toThrow('teacher score of query 1, document 1 is NaN');
    expect(() =>
      kl(
        S,
        matrixFromRows([
          [1, Infinity],
          [0, 0],
        ]),
      ),
    ).toThrow('query 0, document 1 is Infinity');
    expect(() => kl(matrix(0, 2), matrix(0, 2))).toThrow(ShapeError);
  });

  const score = fc.integer({ min: -2048, max: 2048 }).map((x) => x / 256);
  const pair = fc.record({ Q: fc.integer({ min: 1, max: 4 }), G: fc.integer({ min: 1, max: 5 }) }).chain(({ Q, G }) => {
    const rows = fc.array(fc.array(score, { minLength: G, maxLength: G }), { minLength: Q, maxLength: Q });
    return fc.record({ scores: rows, teacher: rows });
  });

  test.prop([pair, fc.constantFrom(0.5, 1, 3)])(
    'is never negative, and agrees with exp and divisions within 1e-9',
    ({ scores, teacher }, temperature) => {
      const { loss } = kl(matrixFromRows(scores), matrixFromRows(teacher), { temperature });
      expect(loss).toBeGreaterThanOrEqual(-1e-12);
      expect(loss).toBeCloseTo(bruteForce(scores, teacher, temperature), 9);
    },
  );

  test.prop([pair, fc.constantFrom(1, 3)])(
    'has the gradient of central differences within 1e-6, and gradients of a query sum to 0',
    ({ scores, teacher }, temperature) => {
      const s = matrixFromRows(scores);
      const t = matrixFromRows(teacher);
      const { dScores } = kl(s, t, { temperature });
      const numeric = centralDifferences(() => kl(s, t, { temperature }).loss, s.data);
      dScores.data.forEach((slope, i) => {
        expect(Math.abs(slope - numeric[i])).toBeLessThan(1e-6);
      });
      expect(dScores.data.reduce((a, b) => a + b, 0)).toBeCloseTo(0, 6);
    },
  );
});
