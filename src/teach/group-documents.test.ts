import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { groupDocuments } from './group-documents.ts';

/** Numbers of the same hundred are alike. */
const alike = (i: number, j: number): number => (Math.floor(i / 100) === Math.floor(j / 100) ? 1 : 0);

describe('documents in groups', () => {
  it('stand with like ones, another seed gives other groups', () => {
    const options = { size: 5, among: 300, seed: 1 };
    const groups = groupDocuments(300, alike, options);
    expect(groups).toHaveLength(60);
    for (const [first, ...others] of groups) for (const j of others) expect(alike(first, j)).toBe(1);
    expect(groupDocuments(300, alike, options)).toEqual(groups);
    expect(groupDocuments(300, alike, { ...options, seed: 2 })).not.toEqual(groups);
  });

  test.prop([fc.nat(60), fc.integer({ min: 1, max: 7 }), fc.integer({ min: 7, max: 70 }), fc.nat()])(
    'stand in one group each, none larger than asked',
    (numDocs, size, among, seed) => {
      const groups = groupDocuments(numDocs, (i, j) => i * j, { size, among, seed });
      expect(groups.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: numDocs }, (_, i) => i));
      for (const group of groups) expect(group.length).toBeLessThanOrEqual(size);
    },
  );
});
