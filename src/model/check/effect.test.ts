import { describe, expect, it } from 'vitest';
import { sparseVector } from '../../core/index.ts';
import { effectBetween, effectOf, largest, largestChange, withoutTerms } from './effect.ts';

describe('effectBetween', () => {
  it('counts changes beyond the tolerance, and means over all pairs', () => {
    const effect = effectBetween([[1, 2, 0]], [[1, 2.5, 0.00001]]);
    expect(effect).toMatchObject({ numPairs: 3, numChangedScores: 1, largestChange: 0.5 });
    expect(effect.meanChange).toBeCloseTo(0.50001 / 3, 9);
  });

  it('measures the tolerance by the size of the score', () => {
    expect(effectBetween([[100]], [[100.009]]).numChangedScores).toBe(0);
    expect(effectBetween([[100]], [[100.011]]).numChangedScores).toBe(1);
  });

  it('sees a changed top ten where two documents change places, or one leaves', () => {
    expect(effectBetween([[2, 1]], [[1, 2]]).numChangedTopTens).toBe(1);
    expect(effectBetween([[2, 1]], [[2, 0]]).numChangedTopTens).toBe(1);
    expect(effectBetween([[2, 1]], [[4, 3]]).numChangedTopTens).toBe(0);
  });

  it('does not count documents that change places at equal scores', () => {
    expect(effectBetween([[1, 1]], [[1, 1 + 1e-7]]).numChangedTopTens).toBe(0);
  });

  it('leaves the eleventh document out of account', () => {
    const ten = [20, 19, 18, 17, 16, 15, 14, 13, 12, 11];
    expect(effectBetween([[...ten, 2, 1]], [[...ten, 1, 2]]).numChangedTopTens).toBe(0);
  });
});

describe('effectOf', () => {
  it('scores by dot products: 2·3 before, 2·3 + 1·4 after', () => {
    const before = { queries: [sparseVector([1, 5], [2, 1])], documents: [sparseVector([1], [3])] };
    const after = { ...before, documents: [sparseVector([1, 5], [3, 4])] };
    expect(effectOf(before, after)).toMatchObject({ largestChange: 4, meanChange: 4, numChangedScores: 1 });
  });
});

describe('withoutTerms', () => {
  it('drops terms of queries and of documents, with their weights', () => {
    const vector = sparseVector([1, 2, 3], [0.5, 0.25, 0.125]);
    const { queries, documents } = withoutTerms({ queries: [vector], documents: [vector] }, new Set([2]));
    for (const { terms, weights } of [...queries, ...documents]) {
      expect([...terms]).toEqual([1, 3]);
      expect([...weights]).toEqual([0.5, 0.125]);
    }
  });
});

describe('largest', () => {
  it('is the largest effect, and unknown where one of them is', () => {
    const [small, large] = [effectBetween([[1]], [[2]]), effectBetween([[1]], [[5]])];
    expect(largest([small])).toBe(small);
    expect(largest([large, small])).toBe(large);
    expect(largest([small, large])).toBe(large);
    expect(largest([large, undefined])).toBeUndefined();
    expect(largest([undefined, large])).toBeUndefined();
  });
});

describe('largestChange', () => {
  it('counts a token that one side lacks as 0', () => {
    expect(largestChange(new Map([['a', 1]]), new Map([['b', 2]]))).toBe(2);
  });
});
