import { describe, expect, it } from 'vitest';
import { Random } from '../core/index.ts';
import { planFullMerge, planTieredMerge, type SegmentSize } from './merge-plan.ts';

const segment = (sizeBytes: number, numDeleted = 0): SegmentSize => ({ numDocs: 100, numDeleted, sizeBytes });
const KIB = 1024;
const MIB = 1024 * KIB;

function apply(segments: readonly SegmentSize[], { from, to }: { from: number; to: number }): SegmentSize[] {
  const joined = segments.slice(from, to).reduce(
    (sum, { numDocs, numDeleted, sizeBytes }) => ({
      numDocs: sum.numDocs + numDocs - numDeleted,
      numDeleted: 0,
      sizeBytes: sum.sizeBytes + (sizeBytes * (numDocs - numDeleted)) / numDocs,
    }),
    { numDocs: 0, numDeleted: 0, sizeBytes: 0 },
  );
  return [...segments.slice(0, from), joined, ...segments.slice(to)];
}

describe('tiered merging', () => {
  it('waits for six segments of a size', () => {
    const five = Array.from({ length: 5 }, () => segment(KIB));
    expect(planTieredMerge(five)).toBeUndefined();
    expect(planTieredMerge([segment(50 * MIB), ...five, segment(KIB)])).toEqual({ from: 1, to: 7 });
    expect(planTieredMerge([])).toBeUndefined();
  });

  it('writes a segment anew that is mostly deleted', () => {
    expect(planTieredMerge([segment(MIB, 35), segment(MIB, 36)])).toEqual({ from: 1, to: 2 });
  });

  it('does not copy a large segment for the sake of a few small ones', () => {
    const five = Array.from({ length: 5 }, () => segment(KIB));
    expect(planTieredMerge([segment(MIB), ...five])).toBeUndefined();
    expect(planTieredMerge([...five, segment(MIB), ...five])).toBeUndefined();
  });

  it('takes small segments along that stand between those it merges', () => {
    const pairs = Array.from({ length: 6 }, () => [segment(MIB), segment(KIB)]).flat();
    expect(planTieredMerge(pairs)).toEqual({ from: 0, to: 12 });
  });

  it('merges 24 neighbours whatever their sizes', () => {
    const mixed = Array.from({ length: 24 }, (_, i) => segment(KIB * 6 ** (2 + (i % 5))));
    expect(planTieredMerge(mixed)).toEqual({ from: 0, to: 24 });
    expect(planTieredMerge(mixed.slice(1, 20))).toBeUndefined();
  });

  it('makes no segment larger than the limit, unless one is so already', () => {
    const segments = Array.from({ length: 12 }, () => segment(100 * MIB));
    expect(planTieredMerge(segments, 850 * MIB)).toEqual({ from: 0, to: 8 });
    expect(planTieredMerge(segments, 550 * MIB)).toBeUndefined();
  });

  it('of 5,000 random commits keeps at most 24 segments and copies each byte at most 4 times', () => {
    const random = new Random(5);
    let segments: SegmentSize[] = [];
    let written = 0;
    let copied = 0;
    let most = 0;
    for (let i = 0; i < 5000; i++) {
      const added = segment(20 * KIB + random.below(200 * KIB));
      written += added.sizeBytes;
      segments.push(added);
      for (let range = planTieredMerge(segments); range; range = planTieredMerge(segments)) {
        segments = apply(segments, range);
        copied += segments[range.from].sizeBytes;
      }
      most = Math.max(most, segments.length);
    }
    expect(most).toBeLessThanOrEqual(24);
    expect(copied / written).toBeLessThanOrEqual(4);
  });
});

describe('a full merge', () => {
  it('leaves one segment where the limit allows it', () => {
    expect(planFullMerge([segment(KIB), segment(MIB), segment(KIB)])).toEqual([{ from: 0, to: 3 }]);
  });

  it('leaves a single segment alone unless something of it is deleted', () => {
    expect(planFullMerge([segment(KIB)])).toEqual([]);
    expect(planFullMerge([segment(KIB, 1)])).toEqual([{ from: 0, to: 1 }]);
    expect(planFullMerge([])).toEqual([]);
  });

  it('fills segments from the left up to the limit', () => {
    const sizes = [60, 30, 20, 200, 50, 50].map((size) => segment(size * MIB));
    expect(planFullMerge(sizes, 100 * MIB)).toEqual([
      { from: 0, to: 2 }, // 90
      { from: 4, to: 6 }, // 100; 20 and 200 stay alone
    ]);
  });
});
