/** What the tests of BM25 segments share: segments in memory, and BM25 in a few plain lines. */
import fc from 'fast-check';
import { IndexFormatError } from '../../../src/core/index.ts';
import { bm25Format } from '../../../src/search/bm25/format.ts';
import { byteToLength, lengthToByte } from '../../../src/search/bm25/length-byte.ts';
import type { Bitmap, ByteSink, ByteSource, SearchSegment } from '../../../src/search/index.ts';

/** Documents of few different words, many of them repeated. */
export const wordLists = fc.array(fc.constantFrom('a', 'b', 'c', 'dd', 'ee', 'f'.repeat(30), 'é', '😀', ''), {
  maxLength: 30,
});

/** All bytes that are written. */
export function collectBytes(write: (sink: ByteSink) => unknown): Uint8Array {
  const pieces: Uint8Array[] = [];
  write({ write: (bytes) => pieces.push(bytes.slice()) });
  return new Uint8Array(Buffer.concat(pieces));
}

/** The bytes of a segment. */
export function bm25Bytes(documents: readonly (readonly string[])[]): Uint8Array {
  return collectBytes((sink) => bm25Format.write(documents, sink));
}

/** Bytes in memory. */
export function bytesSource(bytes: Uint8Array): ByteSource {
  const read = (offset: number, length: number): Uint8Array => {
    if (!(offset >= 0 && offset + length <= bytes.length)) throw new IndexFormatError('test: bytes that are not there');
    return bytes.subarray(offset, offset + length);
  };
  return { label: 'test', sizeBytes: bytes.length, read };
}

/** A set of documents. */
export function deletedBits(gone: readonly boolean[]): Bitmap {
  const bits = new Uint8Array(Math.ceil(gone.length / 8));
  gone.forEach((is, doc) => {
    if (is) bits[doc >> 3] |= 1 << (doc & 7);
  });
  return bits;
}

/** A segment to search. */
export function searchSegment(key: string, documents: readonly (readonly string[])[], deleted?: Bitmap): SearchSegment {
  return { key, source: bytesSource(bm25Bytes(documents)), numDocs: documents.length, deleted };
}

/** Scores of all documents that have a word of the query, straight from the formula, rounded where Lucene rounds. */
export function naiveScores(
  documents: readonly (readonly string[])[],
  query: readonly string[],
  { k1, b }: { readonly k1: number; readonly b: number },
): Map<number, number> {
  const f = Math.fround;
  const filled = documents.filter((words) => words.length > 0);
  const avgdl = f(filled.reduce((sum, words) => sum + words.length, 0) / filled.length);
  const scores = new Map<number, number>();
  for (const term of new Set(query)) {
    const df = documents.filter((words) => words.includes(term)).length;
    const idf = f(Math.log(1 + (filled.length - df + 0.5) / (df + 0.5)));
    const weight = f(query.filter((word) => word === term).length * idf);
    documents.forEach((words, doc) => {
      const tf = words.filter((word) => word === term).length;
      if (tf === 0) return;
      const dl = byteToLength(lengthToByte(words.length));
      const inverse = f(1 / f(f(k1) * f(f(1 - f(b)) + f(f(f(b) * dl) / avgdl))));
      scores.set(doc, (scores.get(doc) ?? 0) + f(weight - f(weight / f(1 + f(tf * inverse)))));
    });
  }
  return new Map([...scores].map(([doc, score]) => [doc, f(score)]));
}

/** Best first; equal scores by ascending document. */
export function ranked(scores: ReadonlyMap<number, number>): { readonly doc: number; readonly score: number }[] {
  return Array.from(scores, ([doc, score]) => ({ doc, score })).sort((a, b) => b.score - a.score || a.doc - b.doc);
}
