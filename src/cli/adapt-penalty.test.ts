/** Which penalty is taken, from rankings that are written down. */
import { describe, expect, it } from 'vitest';
import { NoGainError } from '../core/index.ts';
import type { HeldOutClicks, HeldOutRankings } from '../model/index.ts';
import { choosePenalty } from './adapt-penalty.ts';

const NUM_QUERIES = 20;
const opened = Array.from({ length: NUM_QUERIES }, () => [0]);
/** Rankings in which the first `numRight` queries have their document first, the others behind another one. */
const right = (numRight: number): HeldOutRankings =>
  opened.map((_, q) => {
    const [first, second] = q < numRight ? [0, 1] : [1, 0];
    return [
      { document: first, score: 2 },
      { document: second, score: 1 },
    ];
  });
/** NDCG@10 where so many are right: 1 at rank 1, 1/log₂3 at rank 2. */
const ndcg = (numRight: number): number => (numRight + (NUM_QUERIES - numRight) / Math.log2(3)) / NUM_QUERIES;

const choose = (before: number, after: readonly (readonly [number, number])[]) =>
  choosePenalty({
    opened,
    numDocuments: 2,
    before: right(before),
    after: new Map(after.map(([penalty, numRight]) => [penalty, right(numRight)])),
  });

describe('the penalty of adapting', () => {
  it('is the one by which most is found, with what it gains', () => {
    const { before, best, tried } = choose(5, [
      [0.3, 8],
      [1, 15],
      [10, 7],
    ]);
    expect(before).toBeCloseTo(ndcg(5), 9);
    expect(best).toMatchObject({ penalty: 1, ndcg: expect.closeTo(ndcg(15), 9) });
    expect(best.difference.mean).toBeCloseTo(ndcg(15) - ndcg(5), 9);
    expect(tried.map(({ penalty }) => penalty)).toEqual([0.3, 1, 10]);
  });

  it('is, of those that find alike, the one that moves words least', () => {
    expect(
      choose(5, [
        [0.3, 15],
        [3, 15],
        [10, 14],
      ]).best.penalty,
    ).toBe(3);
  });

  it.each([
    ['nothing changes', 5],
    ['less is found', 4],
  ])('is refused where %s, with the table of what was tried', (_, after) => {
    const refused = expect(() => choose(5, [[1, after]]));
    refused.toThrow(NoGainError);
    refused.toThrow(/do not help[\s\S]*among 2 documents[\s\S]*\n {6}1 {3}0\.\d{4}/);
  });

  it('is refused where the model as it is finds alike, to 0.002: it moves words least of all', () => {
    const gain = (share: number): HeldOutClicks => ({
      opened: Array.from({ length: 1000 }, () => [0]),
      numDocuments: 2,
      before: Array.from({ length: 1000 }, () => [{ document: 1, score: 1 }]), // NDCG@10 0
      after: new Map([[1, Array.from({ length: 1000 }, (_, q) => [{ document: q < share ? 0 : 1, score: 1 }])]]),
    });
    expect(() => choosePenalty(gain(1))).toThrow(NoGainError);
    expect(choosePenalty(gain(3)).best).toMatchObject({ penalty: 1, ndcg: 0.003 });
  });
});
