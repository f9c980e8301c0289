import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { centralDifferences, relativeError } from '../../test/lib/central-differences.ts';
import { ShapeError } from '../core/index.ts';
import type { InfoNceOptions } from './info-nce.ts';
import { infoNce } from './info-nce.ts';
import { matrix, matrixFromRows } from './matrix.ts';

/** −log(exp(s⁺) / Σ exp(s)) over the candidates that the options allow, one query at a time. */
function bruteForce(scores: readonly number[][], options: InfoNceOptions): number {
  const G = options.inBatchNegatives ? scores[0].length / scores.length : scores[0].length;
  const losses = scores.map((row, n) => {
    const own = options.inBatchNegatives ? n * G : 0;
    let sum = 0;
    row.forEach((x, c) => {
      const isOtherPositive = c !== own && c % G === 0;
      if (!isOtherPositive || options.otherPositives) sum += Math.exp(x);
    });
    return -Math.log(Math.exp(row[own]) / sum);
  });
  return losses.reduce((a, b) => a + b, 0) / losses.length;
}

describe('InfoNCE', () => {
  it('by hand: own documents, scores ln 3 and 0: −ln ¾, gradient −¼ and ¼', () => {
    const { loss, dScores } = infoNce(matrixFromRows([[Math.log(3), 0]]));
    expect(loss).toBeCloseTo(-Math.log(0.75), 7);
    expect(Array.from(dScores.data)).toEqual([expect.closeTo(-0.25, 7), expect.closeTo(0.25, 7)]);
  });

  it('by hand: in the batch, equal scores: two queries, G = 2: ln 4 with other positives, ln 3 without', () => {
    const options = { inBatchNegatives: true };
    const all = infoNce(matrix(2, 4), options);
    expect(all.loss).toBeCloseTo(Math.log(4), 12);
    // query 1's positive is column 2; each gradient is (¼ − 1[positive])/2
    expect(Array.from(all.dScores.data)).toEqual([-0.375, 0.125, 0.125, 0.125, 0.125, 0.125, -0.375, 0.125]);
    const negatives = infoNce(matrix(2, 4), { ...options, otherPositives: false });
    expect(negatives.loss).toBeCloseTo(Math.log(3), 12);
    // the other query's positive, column 2 for query 0 and column 0 for query 1, gets none
    const [positive, negative] = [(1 / 3 - 1) / 2, 1 / 3 / 2];
    const expected = [positive, negative, 0, negative, 0, negative, positive, negative];
    expect(relativeError(negatives.dScores.data, expected)).toBeLessThan(1e-7);
  });

  it('by hand: what is left out of the batch competes with nothing and gets no gradient', () => {
    const leftOut = [new Set([2]), new Set([0, 1])];
    const { loss, dScores } = infoNce(matrix(2, 4), { inBatchNegatives: true, leftOut });
    expect(loss).toBeCloseTo((Math.log(3) + Math.log(2)) / 2, 12);
    const expected = [(1 / 3 - 1) / 2, 1 / 6, 0, 1 / 6, 0, 0, -0.25, 0.25];
    expect(relativeError(dScores.data, expected)).toBeLessThan(1e-7);
  });

  it('of one query is the same with in-batch negatives and without', () => {
    const s = matrixFromRows([[1, 2, 3]]);
    for (const otherPositives of [true, false])
      expect(infoNce(s, { inBatchNegatives: true, otherPositives })).toEqual(infoNce(s));
  });

  it('is 0 with gradient 0 where the positive has nothing to compete with', () => {
    const nothing = { loss: 0, dScores: matrix(3, 1) };
    expect(infoNce(matrixFromRows([[1], [2], [3]]))).toEqual(nothing);
    const alone = infoNce(
      matrixFromRows([
        [1, 9],
        [9, 1],
      ]),
      { inBatchNegatives: true, otherPositives: false },
    );
    expect(alone).toEqual({ loss: 0, dScores: matrix(2, 2) });
  });

  it('of huge scores is finite', () => {
    expect(infoNce(matrixFromRows([[-1e8, 1e8]])).loss).toBe(2e8);
    expect(infoNce(matrixFromRows([[1e8, -1e8]])).loss).toBe(0);
  });

  it('with a temperature is the same as with scores divided beforehand', () => {
    expect(infoNce(matrixFromRows([[4, 2, 0]]), { temperature: 2 }).loss).toBe(
      infoNce(matrixFromRows([[2, 1, 0]])).loss,
    );
  });

  it('refuses in-batch scores whose columns are not Q·G, and scores of nothing', () => {
    expect(() => infoNce(matrix(2, 3), { inBatchNegatives: true })).toThrow(
      'in-batch scores have Q·G columns, got [2, 3]',
    );
    expect(() => infoNce(matrix(0, 3))).toThrow(ShapeError);
  });

  const score = fc.integer({ min: -2048, max: 2048 }).map((x) => x / 256);
  const options = fc.record({ inBatchNegatives: fc.boolean(), otherPositives: fc.boolean() });
  const input = fc
    .record({ Q: fc.integer({ min: 1, max: 4 }), G: fc.integer({ min: 1, max: 3 }), options })
    .chain(({ Q, G, options }) => {
      const cols = options.inBatchNegatives ? Q * G : G;
      const rows = fc.array(fc.array(score, { minLength: cols, maxLength: cols }), { minLength: Q, maxLength: Q });
      return fc.record({ rows, options: fc.constant(options) });
    });

  test.prop([input])('agrees with exp and a division within 1e-9', ({ rows, options }) => {
    expect(infoNce(matrixFromRows(rows), options).loss).toBeCloseTo(bruteForce(rows, options), 9);
  });

  test.prop([input])('has the gradient of central differences within 1e-6', ({ rows, options }) => {
    const s = matrixFromRows(rows);
    const numeric = centralDifferences(() => infoNce(s, options).loss, s.data);
    infoNce(s, options).dScores.data.forEach((slope, i) => {
      expect(Math.abs(slope - numeric[i])).toBeLessThan(1e-6);
    });
  });
});
