import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IndexFormatError } from '../core/index.ts';
import {
  copyTombstones,
  decodeTombstones,
  deletedBitmap,
  encodeTombstones,
  isDeleted,
  markDeleted,
  noTombstones,
  remapTombstones,
  type Tombstones,
} from './tombstones.ts';

function tombstonesOf(flags: readonly boolean[]): Tombstones {
  const tombstones = noTombstones(flags.length);
  for (const [d, flag] of flags.entries()) if (flag) markDeleted(tombstones, d);
  return tombstones;
}

const flagsOf = (tombstones: Tombstones, numDocs: number): boolean[] =>
  Array.from({ length: numDocs }, (_, d) => isDeleted(tombstones, d));

const FLAGS = fc.array(fc.boolean(), { maxLength: 40 });

describe('tombstones', () => {
  it('count a document once', () => {
    const tombstones = noTombstones(9);
    expect(deletedBitmap(tombstones)).toBeUndefined();
    expect([markDeleted(tombstones, 8), markDeleted(tombstones, 8)]).toEqual([true, false]);
    expect(tombstones.numDeleted).toBe(1);
    expect(deletedBitmap(tombstones)).toEqual(Uint8Array.of(0, 1));
  });

  it('are the same after a file', () => {
    fc.assert(
      fc.property(FLAGS, (flags) => {
        const tombstones = tombstonesOf(flags);
        const bytes = encodeTombstones(tombstones, flags.length);
        expect(decodeTombstones(bytes, flags.length, 'x')).toEqual(tombstones);
      }),
    );
  });

  it('with any flipped bit, any missing byte or one too many are refused', () => {
    const bytes = encodeTombstones(tombstonesOf([true, false, true, false, false, false, false, false, true]), 9);
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const flipped = bytes.slice();
      flipped[bit >> 3] ^= 1 << (bit & 7);
      expect(() => decodeTombstones(flipped, 9, 'x')).toThrow(IndexFormatError);
    }
    for (let size = 0; size < bytes.length; size++)
      expect(() => decodeTombstones(bytes.subarray(0, size), 9, 'x')).toThrow(IndexFormatError);
    expect(() => decodeTombstones(Uint8Array.of(...bytes, 0), 9, 'x')).toThrow('1 bytes too many');
    expect(() => decodeTombstones(bytes, 10, 'x')).toThrow('expected number of documents 10, got 9');
  });

  it('carried over a merge are those of the documents that were not left out, in order', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.tuple(fc.boolean(), fc.boolean()), { maxLength: 20 })), (segments) => {
        const leftOut = segments.map((segment) => tombstonesOf(segment.map(([before]) => before)));
        const now = leftOut.map((before, i) => {
          const copy = copyTombstones(before);
          for (const [d, [, later]] of segments[i].entries()) if (later) markDeleted(copy, d);
          return copy;
        });
        const merged = remapTombstones(
          segments.map((segment, i) => ({ numDocs: segment.length, leftOut: leftOut[i] })),
          now,
        );
        const expected = segments.flat().filter(([before]) => !before);
        expect(flagsOf(merged, expected.length)).toEqual(expected.map(([, later]) => later));
        expect(merged.numDeleted).toBe(expected.filter(([, later]) => later).length);
      }),
    );
  });
});
