/** The documents of the kept segments, and where those are. Lists of all kinds, several windows, ties. */
import { fileURLToPath } from 'node:url';
import type { SparseCodes } from '../../../src/search/index.ts';

/** The kept segment of a version of the format. */
export function goldenFile(version: number): string {
  return fileURLToPath(new URL(`sparse-segment-${version}.bin`, import.meta.url));
}

/** 500 documents: term 1 in all, 2 in every third, 40 in every twentieth, 7000 in two. */
export function goldenDocuments(): SparseCodes[] {
  return Array.from({ length: 500 }, (_, doc) => {
    const terms = [
      1,
      ...(doc % 3 === 0 ? [2] : []),
      ...(doc % 20 === 7 ? [40] : []),
      ...(doc % 250 === 249 ? [7000] : []),
    ];
    return { terms: Uint32Array.from(terms), codes: Uint8Array.from(terms, (term) => 1 + ((doc * 7 + term) % 255)) };
  });
}
