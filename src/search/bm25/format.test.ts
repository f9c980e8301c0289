import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bm25Bytes,
  bytesSource,
  collectBytes,
  deletedBits,
  wordLists,
} from '../../../test/golden/lucene/bm25-fixtures.ts';
import { IndexFormatError, Random } from '../../core/index.ts';
import { bm25Format } from './format.ts';
import { byteToLength, lengthToByte } from './length-byte.ts';
import { bestPairs, PostingsCursor, PostingsEncoder, readHead } from './postings.ts';
import { Bm25Searcher } from './searcher.ts';
import { Bm25Segment } from './segment.ts';

describe('length bytes', () => {
  it('are exact below 40, keep the order, and lose less than an eighth', () => {
    for (let length = 0; length < 40; length++) expect(byteToLength(lengthToByte(length))).toBe(length);
    for (let length = 40; length < 100_000; length += 1 + (length >> 8)) {
      const decoded = byteToLength(lengthToByte(length));
      expect(decoded <= length && decoded > (length * 7) / 8 - 4, `${length}`).toBe(true);
      expect(lengthToByte(length)).toBeGreaterThanOrEqual(lengthToByte(length - 1));
    }
  });

  it("are Lucene's: 40 → 40, 41 → 40, 1000 → 984, 2³¹ − 1 → 255", () => {
    expect([40, 41, 42, 1000].map((length) => byteToLength(lengthToByte(length)))).toEqual([40, 40, 42, 984]);
    expect(lengthToByte(2 ** 31 - 1)).toBe(255);
  });
});

describe('postings', () => {
  it('decode(encode(x)) = x, and advance finds what a scan finds', () => {
    const gaps = fc.array(
      fc.tuple(fc.oneof(fc.nat(3), fc.nat(300), fc.nat(70_000)), fc.oneof(fc.nat(1), fc.nat(70_000))),
      {
        minLength: 1,
        maxLength: 600,
      },
    );
    fc.assert(
      fc.property(gaps, fc.array(fc.nat(500_000), { maxLength: 20 }), (steps, targets) => {
        let doc = -1;
        const docs = Uint32Array.from(steps, ([gap]) => (doc += gap + 1));
        const tfs = Uint32Array.from(steps, ([, tf]) => tf + 1);
        const lengths = new Uint8Array(doc + 1).fill(9);
        const bytes = new PostingsEncoder().encode({ docs, tfs, count: docs.length }, lengths).slice();
        const open = () => new PostingsCursor(readHead(bytes, docs.length, 'x'), { numDocs: doc + 1, label: 'x' });
        const found: number[] = [];
        const cursor = open();
        do for (let i = 0; i < cursor.count; i++) found.push(cursor.docs[i], cursor.tfs[i]);
        while (cursor.nextBlock());
        expect(found).toEqual(Array.from(docs, (value, i) => [value, tfs[i]]).flat());
        const walker = open();
        for (const target of targets.sort((a, b) => a - b)) {
          walker.advance(target);
          expect(walker.doc).toBe(docs.find((value) => value >= target) ?? Number.POSITIVE_INFINITY);
        }
      }),
    );
  });

  it('best pairs are those that no other beats', () => {
    // (tf, length): (3, 9) is beaten by (3, 5); (1, 5) by (3, 5); (1, 2) is shorter than all
    const list = { docs: Uint32Array.of(0, 1, 2, 3), tfs: Uint32Array.of(3, 3, 1, 1), count: 4 };
    expect(bestPairs(list, Uint8Array.of(9, 5, 5, 2))).toEqual([
      [3, 5],
      [1, 2],
    ]);
  });
});

describe('dictionary', () => {
  it('finds every term, and no other, in the order of code points', () => {
    const terms = fc.uniqueArray(fc.string({ unit: 'grapheme', maxLength: 5 }), { maxLength: 120 });
    fc.assert(
      fc.property(terms, fc.string({ unit: 'grapheme', maxLength: 5 }), (words, other) => {
        const { dictionary } = new Bm25Segment(bytesSource(bm25Bytes([words])), { resident: true });
        const encoder = new TextEncoder();
        for (const word of words) expect(dictionary.find(encoder.encode(word))?.df).toBe(1);
        if (!words.includes(other)) expect(dictionary.find(encoder.encode(other))).toBeUndefined();
        expect([...dictionary.entries()].length).toBe(words.length);
      }),
    );
    const { dictionary } = new Bm25Segment(bytesSource(bm25Bytes([['\uffee', '😀', 'z', 'a']])), { resident: true });
    const order = [...dictionary.entries()].map(({ bytes }) => new TextDecoder().decode(bytes));
    expect(order).toEqual(['a', 'z', '\uffee', '😀']); // UTF-16 would have 😀 before U+FFEE
  });
});

describe('bm25Format', () => {
  it('payloads survive the log, and damaged ones are named', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (words) => {
        expect(bm25Format.decodePayload(bm25Format.encodePayload(words))).toEqual(words);
      }),
    );
    const bytes = bm25Format.encodePayload(['one', 'two']);
    expect(() => bm25Format.decodePayload(bytes.subarray(0, -1))).toThrow(IndexFormatError);
    expect(() => bm25Format.decodePayload(Uint8Array.of(...bytes, 0))).toThrow('1 bytes too many');
  });

  it('merging gives the bytes of building at once, without the deleted documents', () => {
    const parts = fc.array(fc.array(fc.tuple(wordLists, fc.boolean()), { maxLength: 40 }), { maxLength: 4 });
    fc.assert(
      fc.property(parts, (segments) => {
        const inputs = segments.map((documents) => ({
          source: bytesSource(bm25Bytes(documents.map(([words]) => words))),
          deleted: deletedBits(documents.map(([, gone]) => gone)),
        }));
        const merged = collectBytes((sink) => bm25Format.merge(inputs, sink));
        const kept = segments.flat().filter(([, gone]) => !gone);
        expect(merged).toEqual(bm25Bytes(kept.map(([words]) => words)));
      }),
      { numRuns: 60 },
    );
  });

  it('merging long lists gives the bytes of building at once', () => {
    const random = new Random(3);
    const documents = Array.from({ length: 900 }, () =>
      Array.from({ length: random.below(30) }, () => `w${Math.floor(random.uniform() ** 3 * 40)}`),
    );
    const inputs = [documents.slice(0, 500), documents.slice(500)].map((part) => ({
      source: bytesSource(bm25Bytes(part)),
      deleted: undefined,
    }));
    const merged = collectBytes((sink) => bm25Format.merge(inputs, sink));
    expect(merged).toEqual(bm25Bytes(documents));
    expect(bm25Format.verify(bytesSource(merged))).toEqual({
      numDocs: 900,
      numPostings: documents.reduce((sum, words) => sum + new Set(words).size, 0),
    });
  });

  it('refuses words that are not Unicode text', () => {
    expect(() => bm25Bytes([['a\ud800']])).toThrow('is not Unicode text');
  });

  it('a segment of version 1 is read for ever, and written as on the first day', () => {
    const hex = [
      '4c5a424d010000000300020400010000010002000161010300016202030002c3a9010200000000000000000300000003',
      '0000000400000005000000000000000300000067060913080000002d09f8c510000000610e843f0800000069df2265df',
      'aee9414c5a424d',
    ].join('');
    const bytes = new Uint8Array(Buffer.from(hex, 'hex'));
    expect(bm25Format.verify(bytesSource(bytes))).toEqual({ numDocs: 3, numPostings: 4 });
    expect(bm25Bytes([['a', 'b', 'a'], [], ['b', 'é']])).toEqual(bytes);
  });

  it('a segment of no documents, and of empty documents, is a segment', () => {
    expect(bm25Format.verify(bytesSource(bm25Bytes([])))).toEqual({ numDocs: 0, numPostings: 0 });
    expect(bm25Format.verify(bytesSource(bm25Bytes([[], []])))).toEqual({ numDocs: 2, numPostings: 0 });
  });
});

describe('a damaged segment', () => {
  const random = new Random(11);
  const documents = Array.from({ length: 300 }, () =>
    Array.from({ length: 1 + random.below(20) }, () => `w${Math.floor(random.uniform() ** 2 * 60)}`),
  );
  const whole = bm25Bytes(documents);
  const query = Array.from({ length: 60 }, (_, i) => `w${i}`);

  it('with any one byte changed does not pass verify', () => {
    for (let at = 0; at < whole.length; at++) {
      const bytes = whole.slice();
      bytes[at] ^= 1 + random.below(255);
      expect(() => bm25Format.verify(bytesSource(bytes)), `byte ${at}`).toThrow(IndexFormatError);
    }
  });

  it('with some bytes changed is searched without crashing: hits, or an IndexFormatError', () => {
    let refused = 0;
    const rounds = 500;
    for (let round = 0; round < rounds; round++) {
      const bytes = whole.slice();
      for (let change = 0; change <= random.below(4); change++) bytes[random.below(bytes.length)] = random.below(256);
      try {
        const searcher = new Bm25Searcher();
        searcher.setSegments([{ key: 'x', source: bytesSource(bytes), numDocs: documents.length, deleted: undefined }]);
        searcher.search(query, { k: 10 });
      } catch (error) {
        expect(error).toBeInstanceOf(IndexFormatError);
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(rounds / 4); // postings carry no checksum when searched, the rest does
  });

  it('that is cut off anywhere is refused', () => {
    for (let length = 0; length < whole.length; length += 7)
      expect(() => bm25Format.verify(bytesSource(whole.slice(0, length)))).toThrow(IndexFormatError);
  });

  it('is not merged, so damage gets no new checksum', () => {
    const bytes = whole.slice();
    bytes[8 + documents.length + 20] ^= 1; // in postings
    const merge = () => bm25Format.merge([{ source: bytesSource(bytes), deleted: undefined }], { write: () => {} });
    expect(merge).toThrow('postings: wrong checksum');
  });

  it('of another version says so', () => {
    const bytes = whole.slice();
    bytes[4] = 9;
    expect(() => bm25Format.verify(bytesSource(bytes))).toThrow('version 9 of BM25 segments, this program knows 1');
  });
});
