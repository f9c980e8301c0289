/**
 * Numbers of sections in postings, with room to grow, so that a section more or less leaves the numbers of other pages, and
 * with them the files of postings, as they are. Numbers ascend with sections:
 *
 *     page 0, 3 sections   page 1, 5          group ends   next group
 *     0 1 2 ·              4 5 6 7 8 · · ·    · … ·        32 …         step 4
 *
 * A page takes a multiple of `step` numbers, the power of two at or below the mean of sections per page. Pages stand in
 * groups, whose borders hashes of page ids choose (src/site/page-groups.ts), and a group takes a multiple of 8 steps: what a
 * page needs more of, its group mostly has. On 5,417 pages of documentation a section more or less moved no other page in 94
 * of 100 cases, and those of later groups in one or two. A page more or less moves those behind it in its group, and in four
 * of ten cases later groups, too: most files are new then, as without room.
 *
 * These pages have 1.47 times as many numbers as sections, which costs their postings 7 % of their bytes (bag of words).
 * Pairs of page and section, tried first, cost a fifth.
 */

/** Steps that a group takes a multiple of. */
const GROUP_STEPS = 8;

/** Numbers of the sections, in order, and how many numbers there are, unused ones included. */
export type SectionNumbers = { readonly numbers: Uint32Array; readonly numNumbers: number };

/**
 * Gives each section its number.
 *
 * @param sections sections of each page
 * @param groups pages of each group
 */
export function sectionNumbers(sections: readonly number[], groups: readonly number[]): SectionNumbers {
  const numSections = sections.reduce((sum, count) => sum + count, 0);
  const step = 2 ** Math.floor(Math.log2(Math.max(1, numSections / sections.length)));
  const numbers = new Uint32Array(numSections);
  let [page, section, next] = [0, 0, 0];
  for (const numPages of groups) {
    for (const end = page + numPages; page < end; page++) {
      for (let i = 0; i < sections[page]; i++) numbers[section++] = next + i;
      next = roundedUp(next + sections[page], step);
    }
    next = roundedUp(next, GROUP_STEPS * step);
  }
  return { numbers, numNumbers: next };
}

function roundedUp(value: number, unit: number): number {
  return Math.ceil(value / unit) * unit;
}
