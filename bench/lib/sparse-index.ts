/** Segments of a collection for benches and runs, in memory or in a file, and the plain scorer they are held against. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import type { SparseVector } from '../../src/core/index.ts';
import {
  type ByteSource,
  type QueryWeights,
  quantiseWeights,
  type SearchSegment,
  writeSparseSegment,
} from '../../src/search/index.ts';
import { LARGEST_WEIGHT, type SyntheticCollection } from './synthetic.ts';

/** What one step of a code is worth in synthetic collections. */
export const SCALE = LARGEST_WEIGHT / 255;

/** The codes of all weights of a collection. */
export function codesOf({ weights }: SyntheticCollection): Uint8Array {
  const codes = new Uint8Array(weights.length);
  quantiseWeights(weights, SCALE, codes);
  return codes;
}

/** The bytes of one segment of the documents from `from` to `to`. */
export function buildSegment(
  { offsets, terms }: SyntheticCollection,
  codes: Uint8Array,
  { from, to }: { readonly from: number; readonly to: number },
): Uint8Array {
  const [start, end] = [offsets[from], offsets[to]];
  const sink = new MemorySink(BYTES_PER_POSTING * (end - start));
  writeSparseSegment(
    {
      numDocs: to - from,
      offsets: start === 0 ? offsets.subarray(0, to + 1) : offsets.slice(from, to + 1).map((offset) => offset - start),
      terms: terms.subarray(start, end),
      codes: codes.subarray(start, end),
    },
    sink,
  );
  return sink.bytes;
}

/** What a segment takes at most, usually; it may be more. */
const BYTES_PER_POSTING = 2.5;

/** Gathers bytes in one piece of memory. */
class MemorySink {
  #memory: Uint8Array;
  #size = 0;

  constructor(expectedBytes: number) {
    this.#memory = new Uint8Array(expectedBytes);
  }

  write(bytes: Uint8Array): void {
    if (this.#size + bytes.length > this.#memory.length) {
      const grown = new Uint8Array(2 * (this.#size + bytes.length));
      grown.set(this.#memory.subarray(0, this.#size));
      this.#memory = grown;
    }
    this.#memory.set(bytes, this.#size);
    this.#size += bytes.length;
  }

  get bytes(): Uint8Array {
    return this.#memory.subarray(0, this.#size);
  }
}

/** A collection as equal segments, to be searched. */
export function buildSegments(
  collection: SyntheticCollection,
  codes: Uint8Array,
  { numSegments, isDeleted }: { readonly numSegments: number; readonly isDeleted?: (doc: number) => boolean },
): SearchSegment[] {
  const { numDocs } = collection;
  return Array.from({ length: numSegments }, (_, i) => {
    const from = Math.floor((i * numDocs) / numSegments);
    const to = Math.floor(((i + 1) * numDocs) / numSegments);
    const bytes = buildSegment(collection, codes, { from, to });
    const deleted = isDeleted ? bitmapOf(to - from, (doc) => isDeleted(from + doc)) : undefined;
    return { key: `${numSegments}/${i}`, source: memorySource(bytes), numDocs: to - from, deleted };
  });
}

/** A bitmap of the documents for which `has` holds. */
export function bitmapOf(numDocs: number, has: (doc: number) => boolean): Uint8Array {
  const bitmap = new Uint8Array(Math.ceil(numDocs / 8));
  for (let doc = 0; doc < numDocs; doc++) if (has(doc)) bitmap[doc >>> 3] |= 1 << (doc & 7);
  return bitmap;
}

/** Bytes as a source. */
export function memorySource(bytes: Uint8Array): ByteSource {
  return { label: 'segment', sizeBytes: bytes.length, read: (at, length) => bytes.subarray(at, at + length) };
}

/** A source that reads a file by position, as lean mode does on a disk. The bytes are written there first. */
export function fileSource(path: string, bytes: Uint8Array): ByteSource & { close(): void } {
  const file = openSync(path, 'w+');
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, Math.min(1 << 28, bytes.length - at), at);
  const readInto = (at: number, target: Uint8Array): void => {
    const { length } = target;
    for (let done = 0; done < length; )
      done += readSync(file, target, done, Math.min(1 << 28, length - done), at + done);
  };
  return {
    label: path,
    sizeBytes: bytes.length,
    read: (at, length) => {
      const piece = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer, 0, length);
      readInto(at, piece);
      return piece;
    },
    readInto,
    close: () => closeSync(file),
  };
}

/** The lists of a collection side by side, without any structure. */
export type PlainLists = {
  readonly numDocs: number;
  /** Where each term's list starts, and where the last ends. */
  readonly starts: Uint32Array;
  readonly docs: Uint32Array;
  readonly codes: Uint8Array;
  readonly weights: Float32Array;
};

/** Inverts a collection. */
export function plainLists({ numDocs, offsets, terms, weights }: SyntheticCollection, codes: Uint8Array): PlainLists {
  const starts = new Uint32Array(2 ** 16 + 1);
  for (let i = 0; i < terms.length; i++) starts[terms[i] + 1]++;
  for (let term = 0; term < starts.length - 1; term++) starts[term + 1] += starts[term];
  const next = starts.slice();
  const lists = {
    docs: new Uint32Array(terms.length),
    codes: new Uint8Array(terms.length),
    weights: new Float32Array(terms.length),
  };
  for (let doc = 0; doc < numDocs; doc++) {
    for (let i = offsets[doc]; i < offsets[doc + 1]; i++) {
      const at = next[terms[i]]++;
      lists.docs[at] = doc;
      lists.codes[at] = codes[i];
      lists.weights[at] = weights[i];
    }
  }
  return { numDocs, starts, ...lists };
}

/** Integer scores of all documents: every posting of every term of the query, added. */
export function scoreAll({ numDocs, starts, docs, codes }: PlainLists, { terms, weights }: QueryWeights): Uint32Array {
  const scores = new Uint32Array(numDocs);
  terms.forEach((term, i) => {
    for (let at = starts[term]; at < starts[term + 1]; at++) scores[docs[at]] += weights[i] * codes[at];
  });
  return scores;
}

/**
 * Plain term-at-a-time search in 32-bit floats, what one writes first: add every posting into one table, then find the
 * best k with a heap.
 */
export class TermAtATime {
  readonly #lists: PlainLists;
  readonly #scores: Float32Array;

  constructor(lists: PlainLists) {
    this.#lists = lists;
    this.#scores = new Float32Array(lists.numDocs);
  }

  /** Documents of the k best, in no particular order. */
  search({ terms, weights }: SparseVector, k: number): Uint32Array {
    const scores = this.#scores.fill(0);
    const { starts, docs, weights: docWeights } = this.#lists;
    for (let i = 0; i < terms.length; i++) {
      const weight = weights[i];
      const end = starts[terms[i] + 1];
      for (let at = starts[terms[i]]; at < end; at++) scores[docs[at]] += weight * docWeights[at];
    }
    return bestOf(scores, k);
  }
}

function bestOf(scores: Float32Array, k: number): Uint32Array {
  const heap = new Uint32Array(k); // its root has the lowest score
  let size = 0;
  let threshold = 0;
  for (let doc = 0; doc < scores.length; doc++) {
    if (scores[doc] <= threshold) continue;
    if (size < k) {
      rise(heap, scores, size++, doc);
      if (size < k) continue;
    } else sink(heap, scores, doc);
    threshold = scores[heap[0]];
  }
  return heap.subarray(0, size);
}

function rise(heap: Uint32Array, scores: Float32Array, at: number, doc: number): void {
  let i = at;
  for (; i > 0; i = (i - 1) >> 1) {
    const parent = heap[(i - 1) >> 1];
    if (scores[parent] <= scores[doc]) break;
    heap[i] = parent;
  }
  heap[i] = doc;
}

function sink(heap: Uint32Array, scores: Float32Array, doc: number): void {
  let i = 0;
  for (;;) {
    let child = 2 * i + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && scores[heap[child + 1]] < scores[heap[child]]) child++;
    if (scores[heap[child]] >= scores[doc]) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = doc;
}
