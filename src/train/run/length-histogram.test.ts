import { fc, it } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { addLengths, lengthBin } from './length-histogram.ts';

describe('lengthBin', () => {
  it('names a bin by its shortest length: one each below 8, then four an octave', () => {
    const bins = new Set(Array.from({ length: 70 }, (_, length) => lengthBin(length)));
    expect([...bins]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64]);
    expect(lengthBin(30_521)).toBe(28_672);
  });

  it.prop([fc.integer({ min: 8, max: 1e6 })])('no bin is wider than a quarter of its lengths', (length) => {
    const bin = lengthBin(length);
    expect(lengthBin(bin)).toBe(bin);
    expect(length - bin).toBeLessThan(bin / 4);
  });
});

describe('addLengths', () => {
  it('counts documents, bins in ascending order, and leaves what it was given', () => {
    const before = addLengths({}, [100, 3]);
    expect(JSON.stringify(addLengths(before, [3, 111, 112]))).toBe('{"3":2,"96":2,"112":1}');
    expect(before).toEqual({ 3: 1, 96: 1 });
  });
});
