import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../core/index.ts';
import { logSoftmax } from './softmax.ts';

describe('the logarithm of a softmax', () => {
  it('by hand: scores 0 and ln 3 are chances of ¼ and ¾', () => {
    expect(Array.from(logSoftmax([0, Math.log(3)], 1), Math.exp)).toEqual([
      expect.closeTo(0.25, 14),
      expect.closeTo(0.75, 14),
    ]);
  });

  it('of one score is 0, of equal ones −log C, however large they are', () => {
    expect(Array.from(logSoftmax([7], 1))).toEqual([0]);
    for (const score of [0, -1e30, 1e30])
      expect(logSoftmax([score, score, score, score], 1)[2]).toBeCloseTo(-Math.log(4));
  });

  it('of scores far apart is finite: 0 and the distance', () => {
    expect(Array.from(logSoftmax([1e6, -1e6], 1))).toEqual([0, -2e6]);
    expect(Array.from(logSoftmax([30, 20], 0.001))).toEqual([0, -10_000]);
  });

  it('carries a NaN on', () => {
    expect(Array.from(logSoftmax([1, Number.NaN], 1))).toEqual([Number.NaN, Number.NaN]);
  });

  it('refuses temperatures that are not above 0', () => {
    for (const temperature of [0, -1, Number.NaN]) expect(() => logSoftmax([1], temperature)).toThrow(ConfigError);
  });

  const score = fc.double({ min: -20, max: 20, noNaN: true });
  test.prop([fc.array(score, { minLength: 1, maxLength: 6 }), fc.double({ min: 0.5, max: 4, noNaN: true })])(
    'agrees with exp and a division within 1e-9',
    (scores, temperature) => {
      const sum = scores.reduce((total, x) => total + Math.exp(x / temperature), 0);
      const chances = Array.from(logSoftmax(scores, temperature), Math.exp);
      chances.forEach((chance, i) => {
        expect(chance).toBeCloseTo(Math.exp(scores[i] / temperature) / sum, 9);
      });
    },
  );
});
