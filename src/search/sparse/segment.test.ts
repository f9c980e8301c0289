import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bitmapOf,
  documents,
  MemorySink,
  memorySource,
  searchSegment,
  segmentBytes,
} from '../../../test/lib/sparse-segments.ts';
import { crc32, IndexFormatError, InputError, sparseVector, updateCrc32 } from '../../core/index.ts';
import { collectCodes, writeSparseSegment } from './build.ts';
import type { SparseCodes } from './codes.ts';
import { readDirectory, rowAt } from './directory.ts';
import { mergeSparseSegments } from './merge.ts';
import { SparseSearcher } from './searcher.ts';
import { FOOTER_BYTES, HEADER_BYTES, ROW_BYTES } from './segment-layout.ts';
import { SegmentReader } from './segment-reader.ts';
import { sparseFormat } from './sparse-format.ts';
import { verifySparseSegment } from './verify.ts';

/** Documents as their segment has them. */
function documentsOf(bytes: Uint8Array): [number, number][][] {
  const reader = new SegmentReader(memorySource(bytes));
  const found: [number, number][][] = Array.from({ length: reader.directory.numDocs }, () => []);
  for (let i = 0; i < reader.directory.numTerms; i++) {
    const row = rowAt(reader.directory, i);
    for (const posting of reader.postings(row)) found[posting >>> 8].push([row.term, posting & 255]);
  }
  return found;
}

const pairs = ({ terms, codes }: SparseCodes): [number, number][] => Array.from(terms, (term, i) => [term, codes[i]]);

/** One list of each kind, over several windows: dense, short gaps with skips, long gaps. */
const threeKinds: SparseCodes[] = Array.from({ length: 4000 }, (_, doc) => {
  const terms = [1, ...(doc % 30 === 7 || doc > 3900 ? [2] : []), ...(doc % 1500 === 3 ? [30_000] : [])];
  return { terms: Uint32Array.from(terms), codes: Uint8Array.from(terms, (term) => 1 + ((doc * term) % 255)) };
});

describe('a sparse segment', () => {
  it('gives back the documents it was built from', () => {
    fc.assert(
      fc.property(documents, fc.constantFrom(64, 256, 65_536), (documents, windowSize) => {
        expect(documentsOf(segmentBytes(documents, windowSize))).toEqual(documents.map(pairs));
      }),
      { numRuns: 60 },
    );
  });

  it('has lists of all three kinds, and passes its own verification', () => {
    const bytes = segmentBytes(threeKinds, 1024);
    const directory = readDirectory(memorySource(bytes));
    expect([0, 1, 2].map((i) => rowAt(directory, i).kind)).toEqual([2, 0, 1]);
    expect(documentsOf(bytes)).toEqual(threeKinds.map(pairs));
    expect(verifySparseSegment(memorySource(bytes))).toEqual({
      numDocs: 4000,
      numPostings: threeKinds.reduce((sum, { terms }) => sum + terms.length, 0),
    });
  });

  it('keeps the largest and the kth largest codes of a term', () => {
    const codes = Array.from({ length: 150 }, (_, doc) => ({
      terms: Uint32Array.of(9),
      codes: Uint8Array.of(1 + doc),
    }));
    const { max, kth } = rowAt(readDirectory(memorySource(segmentBytes(codes))), 0);
    expect({ max, kth }).toEqual({ max: 150, kth: [141, 51, 0] }); // 10th of 150 … 1, 100th, and there is no 1000th
  });

  it('of one document takes less than 60 bytes a term', () => {
    const terms = Uint32Array.from({ length: 285 }, (_, i) => 100 * i);
    const bytes = segmentBytes([{ terms, codes: new Uint8Array(285).fill(9) }], 8192);
    expect(bytes.length).toBeLessThan(60 * 285);
  });

  it.each<[string, Partial<Parameters<typeof writeSparseSegment>[0]>]>([
    ['terms that do not ascend', { terms: Uint32Array.of(4, 4) }],
    ['a code of 0', { codes: Uint8Array.of(1, 0) }],
    ['a term beyond 24 bits', { terms: Uint32Array.of(4, 2 ** 24) }],
    ['offsets that do not reach the end', { offsets: Uint32Array.of(0, 1) }],
    ['offsets that go back', { numDocs: 2, offsets: Uint32Array.of(0, 3, 2) }],
    ['a window size that is no power of two', { windowSize: 96 }],
  ])('is not written with %s', (_, wrong) => {
    const right = { ...collectCodes([{ terms: Uint32Array.of(4, 9), codes: Uint8Array.of(1, 2) }]), windowSize: 64 };
    expect(() => writeSparseSegment({ ...right, ...wrong }, new MemorySink())).toThrow(InputError);
  });
});

describe('merging', () => {
  it('gives the bytes of a segment built at once from what is left', () => {
    const cut = fc.nat({ max: 400 });
    fc.assert(
      fc.property(documents, cut, fc.constantFrom(0, 1, 2, 13), (documents, cut, deleteEvery) => {
        const isDeleted = (doc: number): boolean => deleteEvery > 0 && doc % deleteEvery === 0;
        const parts = [documents.slice(0, cut), documents.slice(cut)];
        const sink = new MemorySink();
        const inputs = parts.map((part) => ({
          source: memorySource(segmentBytes(part)),
          deleted: deleteEvery > 0 ? bitmapOf(part.length, isDeleted) : undefined,
        }));
        const summary = mergeSparseSegments(inputs, sink);
        const left = parts.flatMap((part) => part.filter((_, doc) => !isDeleted(doc)));
        expect(sink.bytes()).toEqual(segmentBytes(left));
        expect(summary.numDocs).toBe(left.length);
      }),
      { numRuns: 60 },
    );
  });

  it('decides which terms are dense by what is left', () => {
    // Term 1 is in 10 of 100 documents. Without them it is gone, without 90 others it is in all, and without 5 of them
    // and no others it is rare; each time the answer depends on which documents were deleted.
    const hundred = Array.from({ length: 100 }, (_, doc) => {
      const terms = doc < 10 ? [1, 2] : [2];
      return { terms: Uint32Array.from(terms), codes: Uint8Array.from(terms, () => 1) };
    });
    for (const isDeleted of [(doc: number) => doc < 10, (doc: number) => doc >= 10, (doc: number) => doc < 5]) {
      const sink = new MemorySink();
      mergeSparseSegments([{ source: memorySource(segmentBytes(hundred)), deleted: bitmapOf(100, isDeleted) }], sink);
      expect(sink.bytes()).toEqual(segmentBytes(hundred.filter((_, doc) => !isDeleted(doc))));
    }
  });

  it('refuses a damaged list instead of copying it', () => {
    const bytes = segmentBytes(threeKinds, 1024);
    bytes[HEADER_BYTES + 100] ^= 1;
    const inputs = [{ source: memorySource(bytes), deleted: undefined }];
    expect(() => mergeSparseSegments(inputs, new MemorySink())).toThrow(/record does not have its checksum/);
  });
});

describe('damaged segments', () => {
  const whole = segmentBytes(threeKinds, 1024);
  const query = sparseVector([1, 2, 30_000], [1, 2, 3]);
  const position = fc.nat({ max: whole.length - 1 });

  it('fail verification, whichever bit is flipped', () => {
    fc.assert(
      fc.property(position, fc.nat({ max: 7 }), (at, bit) => {
        const damaged = whole.slice();
        damaged[at] ^= 1 << bit;
        expect(() => verifySparseSegment(memorySource(damaged))).toThrow(IndexFormatError);
      }),
      { numRuns: 300 },
    );
  });

  it('fail to open, wherever they are cut', () => {
    fc.assert(
      fc.property(position, (length) => {
        expect(() => readDirectory(memorySource(whole.subarray(0, length)))).toThrow(IndexFormatError);
      }),
    );
  });

  it.each(['wasm', 'typescript'] as const)('never lead the %s kernel astray: wrong scores at most', (kernel) => {
    const directory = readDirectory(memorySource(whole));
    const damage = fc.array(fc.tuple(fc.nat({ max: directory.recordsEnd - HEADER_BYTES - 1 }), fc.nat({ max: 255 })), {
      maxLength: 40,
    });
    // Starts and maxima are where damage does most: the front of each record is hit as often as all the rest.
    const fronts = [0, 1, 2].map((i) => rowAt(directory, i).offset - HEADER_BYTES);
    const front = fc.array(fc.tuple(fc.constantFrom(...fronts), fc.nat({ max: 23 }), fc.constantFrom(0, 1, 127, 255)), {
      maxLength: 10,
    });
    fc.assert(
      fc.property(damage, front, fc.constantFrom(1, 10, 5000), (bytes, frontBytes, k) => {
        const damaged = whole.slice();
        for (const [at, value] of bytes) damaged[HEADER_BYTES + at] = value;
        for (const [start, at, value] of frontBytes) damaged[HEADER_BYTES + start + at] = value;
        const segment = { key: 'a', source: memorySource(damaged), numDocs: 4000, deleted: undefined };
        const intact = searchSegment('b', threeKinds.slice(0, 500), { windowSize: 1024 });
        const searcher = new SparseSearcher({ scale: 1, kernel });
        searcher.setSegments([intact]);
        const expected = searcher.searchIntegers(query, { k });
        searcher.setSegments([segment, intact]);
        const { docIds } = searcher.searchIntegers(query, { k });
        expect(docIds.every((docId) => docId < 4500)).toBe(true);
        expect(docIds.length).toBeLessThanOrEqual(k);
        searcher.setSegments([intact]); // still where it was, and whole
        expect(searcher.searchIntegers(query, { k })).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it.each<[string, (words: Uint32Array) => void, RegExp]>([
    ['a term that comes twice', (rows) => rows.copyWithin(7, 0, 1), /terms do not ascend/],
    ['a record outside the file', (rows) => rows.fill(2 ** 31, 2, 3), /is not between/],
    ['a record of another length', (rows) => rows.fill(64, 3, 4), /expected/],
    ['an unknown kind', (rows) => rows.fill(rows[5] | 3, 5, 6), /unknown record kind 3/],
    ['another kind', (rows) => rows.fill(rows[5] & ~255, 5, 6), /record kind 0/],
    ['more documents than there are', (rows) => rows.fill(4001, 1, 2), /4001 of 4000/],
    ['bytes that must be 0', (rows) => rows.fill(256, 6, 7), /must be 0/],
  ])('with %s in a directory that has its checksum fail to open', (_, spoil, message) => {
    expect(() => readDirectory(memorySource(withDirectory(whole, spoil)))).toThrow(message);
  });

  it.each<[string, number, RegExp]>([
    ['a foreign file', 0, /not a sparse segment/],
    ['another version', 4, /version/],
    ['a missing end', whole.length - 1, /end of the sparse segment is missing/],
    ['a spoilt footer', whole.length - 20, /checksum/],
    ['a spoilt directory', whole.length - FOOTER_BYTES - 1, /directory does not have its checksum/],
  ])('say what is wrong: %s', (_, at, message) => {
    const damaged = whole.slice();
    damaged[at] ^= 1;
    expect(() => readDirectory(memorySource(damaged))).toThrow(message);
  });
});

/** The segment with a changed directory and the checksums that go with it. */
function withDirectory(whole: Uint8Array, change: (words: Uint32Array) => void): Uint8Array {
  const bytes = whole.slice();
  const { recordsEnd, numTerms } = readDirectory(memorySource(whole));
  const rows = new Uint32Array(bytes.slice(recordsEnd, recordsEnd + numTerms * ROW_BYTES).buffer);
  change(rows);
  const directory = new Uint8Array(rows.buffer);
  bytes.set(directory, recordsEnd);
  const footer = new DataView(bytes.buffer, bytes.length - FOOTER_BYTES);
  footer.setUint32(20, crc32(directory), true);
  const fields = bytes.subarray(bytes.length - FOOTER_BYTES, bytes.length - 8);
  footer.setUint32(24, updateCrc32(crc32(bytes.subarray(0, HEADER_BYTES)), fields), true);
  return bytes;
}

describe('the sparse format', () => {
  it('writes, merges and verifies what it logged', () => {
    const logged = threeKinds
      .slice(0, 50)
      .map((codes) => sparseFormat.decodePayload(sparseFormat.encodePayload(codes)));
    const sink = new MemorySink();
    expect(sparseFormat.write(logged, sink)).toEqual(sparseFormat.verify(memorySource(sink.bytes())));
    expect(sink.bytes()).toEqual(segmentBytes(threeKinds.slice(0, 50), 8192));
  });
});
