/** Sparse segments in memory, for tests: bytes to write to and read from, and random documents that like to be difficult. */
import fc from 'fast-check';
import { Random } from '../../src/core/index.ts';
import {
  type Bitmap,
  type ByteSink,
  type ByteSource,
  collectCodes,
  type SearchSegment,
  type SparseCodes,
  writeSparseSegment,
} from '../../src/search/index.ts';

/** Collects what is written. */
export class MemorySink implements ByteSink {
  readonly #pieces: Uint8Array[] = [];

  write(bytes: Uint8Array): void {
    this.#pieces.push(bytes.slice());
  }

  /** Everything written so far. */
  bytes(): Uint8Array {
    const all = new Uint8Array(this.#pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of this.#pieces) {
      all.set(piece, at);
      at += piece.length;
    }
    return all;
  }
}

/** Bytes as a source. */
export function memorySource(bytes: Uint8Array, label = 'segment'): ByteSource {
  return { label, sizeBytes: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) };
}

/** The bytes of a segment of these documents. */
export function segmentBytes(documents: readonly SparseCodes[], windowSize = 64): Uint8Array {
  const sink = new MemorySink();
  writeSparseSegment({ ...collectCodes(documents), windowSize }, sink);
  return sink.bytes();
}

/** A segment of these documents, to be searched. */
export function searchSegment(
  key: string,
  documents: readonly SparseCodes[],
  { windowSize = 64, deleted }: { windowSize?: number | undefined; deleted?: Bitmap | undefined } = {},
): SearchSegment {
  return { key, source: memorySource(segmentBytes(documents, windowSize), key), numDocs: documents.length, deleted };
}

/** A bitmap of the documents for which `has` holds. */
export function bitmapOf(numDocs: number, has: (doc: number) => boolean): Bitmap {
  const bitmap = new Uint8Array(Math.ceil(numDocs / 8));
  for (let doc = 0; doc < numDocs; doc++) if (has(doc)) bitmap[doc >> 3] |= 1 << (doc & 7);
  return bitmap;
}

/** How often each term of random documents occurs: lists of all kinds, up to terms that almost never do. */
const FREQUENCIES = [1, 0.9, 0.5, 0.3, 0.1, 0.09, 0.07, 0.05, 0.02, 0.01, 0.004, 0.001];

/** Term ids of random documents are below this. */
export const NUM_TERMS = FREQUENCIES.length;

/** Few distinct codes, so that scores tie; the extremes, so that bounds are met exactly; and all of them. */
const PALETTES = [[1], [255], [1, 2], [1, 255], [3, 100, 101], Array.from({ length: 255 }, (_, i) => i + 1)];

/** Up to a few hundred documents, sometimes in runs that are the same. */
export const documents: fc.Arbitrary<SparseCodes[]> = fc
  .record({
    numDocs: fc.integer({ min: 0, max: 600 }),
    seed: fc.nat(),
    palette: fc.constantFrom(...PALETTES),
    runLength: fc.constantFrom(1, 1, 3, 100),
  })
  .map(({ numDocs, seed, palette, runLength }) => {
    const random = new Random(seed);
    const distinct = Array.from({ length: Math.ceil(numDocs / runLength) }, () => randomDocument(random, palette));
    return Array.from({ length: numDocs }, (_, doc) => distinct[Math.floor(doc / runLength)]);
  });

function randomDocument(random: Random, palette: readonly number[]): SparseCodes {
  const terms = FREQUENCIES.flatMap((frequency, term) => (random.uniform() < frequency ? [term] : []));
  return {
    terms: Uint32Array.from(terms),
    codes: Uint8Array.from(terms, () => palette[random.below(palette.length)]),
  };
}
