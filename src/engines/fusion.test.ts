import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuse, type ScoredId } from './fusion.ts';

const list = (...ids: string[]): ScoredId[] => ids.map((id, i) => ({ id, score: 10 - i }));

describe('fuse', () => {
  it('adds 1/(60 + rank) over the lists', () => {
    const fused = fuse([list('a', 'b'), list('b', 'c')], { method: 'rrf' }, 10);
    expect(fused).toEqual([
      { id: 'b', score: 1 / 62 + 1 / 61, parts: [1 / 62, 1 / 61] }, // second and first
      { id: 'a', score: 1 / 61, parts: [1 / 61, 0] }, //          first of one list
      { id: 'c', score: 1 / 62, parts: [0, 1 / 62] }, //          second of one list
    ]);
  });

  it('takes constant and weights of reciprocal ranks', () => {
    const fused = fuse([list('a'), list('b')], { method: 'rrf', constant: 0, weights: [1, 3] }, 10);
    expect(fused).toEqual([
      { id: 'b', score: 3, parts: [0, 3] },
      { id: 'a', score: 1, parts: [1, 0] },
    ]);
  });

  it('sums scores as they are', () => {
    const a = [{ id: 'x', score: 2 }];
    const b = [{ id: 'x', score: 5 }];
    expect(fuse([a, b], { method: 'sum', weights: [2, 1], normalise: 'none' }, 1)).toEqual([
      { id: 'x', score: 9, parts: [4, 5] },
    ]);
  });

  it('brings the scores of each list to 0 … 1 before it sums', () => {
    const a = [
      { id: 'x', score: 300 },
      { id: 'y', score: 200 },
      { id: 'z', score: 100 },
    ];
    const b = [
      { id: 'z', score: 0.2 },
      { id: 'x', score: 0.1 },
    ];
    const fused = fuse([a, b], { method: 'sum', weights: [0.75, 0.25] }, 10);
    expect(fused).toEqual([
      { id: 'x', score: 0.75, parts: [0.75, 0] },
      { id: 'y', score: 0.375, parts: [0.375, 0] },
      { id: 'z', score: 0.25, parts: [0, 0.25] },
    ]);
  });

  it('a list of equal scores counts fully, an empty one not at all', () => {
    const equal = [
      { id: 'a', score: 7 },
      { id: 'b', score: 7 },
    ];
    expect(fuse([equal, []], { method: 'sum' }, 10).map(({ score }) => score)).toEqual([1, 1]);
  });

  it('is the list itself when joined with nothing, for any list and k', () => {
    const lists = fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 30 });
    fc.assert(
      fc.property(lists, fc.integer({ min: 1, max: 40 }), (ids, k) => {
        const fused = fuse([list(...ids), []], { method: 'rrf' }, k);
        expect(fused.map(({ id }) => id)).toEqual(ids.slice(0, k));
      }),
    );
  });

  it('does not depend on the order of the lists', () => {
    const lists = fc.array(fc.uniqueArray(fc.constantFrom(...'abcdefgh'), { maxLength: 8 }), { maxLength: 4 });
    fc.assert(
      fc.property(lists, (all) => {
        const forward = fuse(
          all.map((ids) => list(...ids)),
          { method: 'rrf' },
          8,
        );
        const backward = fuse(all.map((ids) => list(...ids)).reverse(), { method: 'rrf' }, 8);
        expect(backward.map(({ id }) => id).sort()).toEqual(forward.map(({ id }) => id).sort());
        for (const { id, score } of forward)
          expect(backward.find((hit) => hit.id === id)?.score).toBeCloseTo(score, 12);
      }),
    );
  });
});
