import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { compareCodePoints, compareHits, rankHits } from './run-order.ts';

const ids = (hits: readonly { readonly id: string }[]): string[] => hits.map(({ id }) => id);

describe('the order of a ranking', () => {
  it('is descending by score, equal scores by descending id', () => {
    const hits = [
      { id: 'a', score: 1 },
      { id: 'c', score: 1 },
      { id: 'b', score: 2 },
      { id: 'b10', score: 1 },
      { id: 'b9', score: 1 },
    ];
    expect(ids(rankHits(hits))).toEqual(['b', 'c', 'b9', 'b10', 'a']);
  });

  it('takes scores as 32-bit floats: 1 + 1e-9 equals 1, 1 + 1e-6 does not', () => {
    const b = { id: 'b', score: 1 };
    expect(ids(rankHits([{ id: 'a', score: 1 + 1e-9 }, b]))).toEqual(['b', 'a']);
    expect(ids(rankHits([{ id: 'a', score: 1 + 1e-6 }, b]))).toEqual(['a', 'b']);
  });

  it('goes by code points: U+10000 is above U+FFFD, which UTF-16 would put after it', () => {
    expect('\u{10000}' < '\ufffd').toBe(true);
    expect(compareCodePoints('\u{10000}', '\ufffd')).toBeGreaterThan(0);
  });

  test.prop([fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })])(
    'compares ids as their UTF-8 bytes',
    (a, b) => {
      const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
      expect(Math.sign(compareCodePoints(a, b))).toBe(bytes);
    },
  );

  it('leaves the list it was given as it was', () => {
    const hits = [
      { id: 'a', score: 1 },
      { id: 'b', score: 2 },
    ];
    rankHits(hits);
    expect(ids(hits)).toEqual(['a', 'b']);
    expect(compareHits(hits[0], hits[0])).toBe(0);
  });
});
