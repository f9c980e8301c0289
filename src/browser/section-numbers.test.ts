import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sectionNumbers } from './section-numbers.ts';

describe('numbers of sections', () => {
  it('begin each page at a multiple of the step, and each group at one of eight', () => {
    const { numbers, numNumbers } = sectionNumbers([3, 5, 4, 4], [2, 2]); // 4 sections a page: step 4, groups of 32
    expect([...numbers]).toEqual([0, 1, 2, 4, 5, 6, 7, 8, 32, 33, 34, 35, 36, 37, 38, 39]);
    expect(numNumbers).toBe(64);
  });

  it('of other pages stay where a page has a section more, and in its group has room', () => {
    const before = sectionNumbers([3, 5, 4, 4], [2, 2]).numbers;
    const more = sectionNumbers([4, 5, 4, 4], [2, 2]).numbers; // its own room
    expect([...more].filter((number) => !before.includes(number))).toEqual([3]);
    const grown = sectionNumbers([3, 5, 5, 4], [2, 2]).numbers; // that of its group: the last page moves, the first do not
    expect([...grown.subarray(0, 12)]).toEqual([...before.subarray(0, 12)]);
    const added = sectionNumbers([3, 5, 4, 4, 4], [3, 2]).numbers; // a page more in the first group
    expect([...added.subarray(-8)]).toEqual([...before.subarray(-8)]);
  });

  it('property: ascend, and are at most twice the sections and 8 steps a group more', () => {
    const counts = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(counts, fc.integer({ min: 1, max: 40 }), (sections, size) => {
        const first = Math.min(size, sections.length);
        const groups = [first, sections.length - first].filter((count) => count > 0);
        const { numbers, numNumbers } = sectionNumbers(sections, groups);
        const mean = numbers.length / sections.length;
        for (let i = 1; i < numbers.length; i++) expect(numbers[i]).toBeGreaterThan(numbers[i - 1]);
        expect(numbers[numbers.length - 1]).toBeLessThan(numNumbers);
        expect(numNumbers).toBeLessThan(2 * numbers.length + 8 * mean * groups.length);
      }),
    );
  });
});
