import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ensembleScores } from './ensemble.ts';

describe('scores of an ensemble', () => {
  it('are 30 times the mean of each teacher’s scores within its range', () => {
    // first: (5−1)/(5−1) = 1, (3−1)/4 = 0.5, 0; second: 0, 0.25, 1
    const scores = ensembleScores([
      [5, 3, 1],
      [0.2, 0.3, 0.6],
    ]);
    [15, 11.25, 15].forEach((expected, g) => {
      expect(scores[g]).toBeCloseTo(expected, 3);
    });
  });

  it('of a list without differences are 0', () => {
    expect(ensembleScores([[2, 2]])).toEqual([0, 0]);
  });

  it('as they are: the mean, times the scale', () => {
    const rows = [
      [1, 2],
      [3, 6],
    ];
    expect(ensembleScores(rows, { normalise: 'none', scale: 10 })).toEqual([20, 40]);
  });

  test.prop([fc.array(fc.double({ min: -50, max: 50, noNaN: true }), { minLength: 1, maxLength: 20 })])(
    'of one teacher rank as the teacher does, from 0 to 30',
    (row) => {
      const scores = ensembleScores([row]);
      for (const [i, s] of row.entries())
        for (const [j, other] of row.entries()) if (s < other) expect(scores[i]).toBeLessThanOrEqual(scores[j]);
      expect(Math.min(...scores)).toBe(0);
      expect(Math.max(...scores)).toBeLessThanOrEqual(30);
    },
  );
});
