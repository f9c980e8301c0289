import { describe, expect, it } from 'vitest';
import { sectionNumbers } from '../browser/index.ts';
import { Random } from '../core/index.ts';
import { bytesSource, collectCodes, writeSparseSegment, writtenBytes } from '../search/index.ts';
import { postingFiles } from './posting-files.ts';

const NUM_TERMS = 4000;
const NUM_DOCS = 2000;

type Codes = Parameters<typeof collectCodes>[0][number];

/** Documents with terms of every rarity, from a fixed seed. */
function makeDocuments(): Codes[] {
  const random = new Random(12);
  return Array.from({ length: NUM_DOCS }, () => {
    const drawn = Array.from({ length: 100 }, () => Math.floor(NUM_TERMS * random.uniform() ** 2));
    const terms = Uint32Array.from(new Set(drawn)).sort();
    return { terms, codes: Uint8Array.from(terms, () => 1 + Math.floor(255 * random.uniform())) };
  });
}

function filesOf(
  documents: readonly Codes[],
  numbers: Uint32Array = Uint32Array.from(documents.keys()),
): ReadonlyMap<string, Uint8Array> {
  const bytes = writtenBytes((sink) => writeSparseSegment(collectCodes(documents), sink));
  const renumbered = Uint32Array.from({ length: NUM_TERMS }, (_, term) => term);
  return postingFiles(bytesSource(bytes, 'postings'), { numbers, renumbered }).files;
}

describe('files of postings', () => {
  const documents = makeDocuments();
  const before = filesOf(documents);

  it('have 32 KiB on average, within a quarter, and 48 at most where no list is longer', () => {
    const sizes = Array.from(before.values(), ({ length }) => length);
    const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
    expect(Math.abs(mean / (32 * 1024) - 1)).toBeLessThan(0.25);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(48 * 1024);
  });

  it('keep their borders behind terms that get longer lists: the rest of the alphabet stays as it is', () => {
    const first = Uint32Array.from({ length: 40 }, (_, term) => term);
    for (const numMore of [5, 20, 80]) {
      const more = Array.from({ length: numMore }, () => ({
        terms: first,
        codes: new Uint8Array(first.length).fill(9),
      }));
      const differs = [...filesOf([...documents, ...more]).keys()].filter((name) => !before.has(name));
      expect(differs.length).toBeGreaterThan(0);
      expect(differs.length).toBeLessThanOrEqual(4); // of 15: those of the 40 terms, and the one where borders meet again
    }
  });

  it('of other terms stay where a page has a part more', () => {
    const pages = Array.from({ length: NUM_DOCS / 5 }, (_, i) => documents.slice(5 * i, 5 * i + 5));
    const groups = Array.from({ length: pages.length / 20 }, () => 20);
    const numbered = (parts: readonly (readonly Codes[])[], sizes: readonly number[]) =>
      filesOf(
        parts.flat(),
        sectionNumbers(
          parts.map(({ length }) => length),
          sizes,
        ).numbers,
      );
    const known = numbered(pages, groups);
    const part = { terms: Uint32Array.of(7, 8), codes: Uint8Array.of(9, 9) };
    const more = numbered(
      pages.map((parts, i) => (i === 30 ? [...parts, part] : parts)),
      groups,
    );
    expect([...more.keys()].filter((name) => !known.has(name))).toHaveLength(1);
  });
});
