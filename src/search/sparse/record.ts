/**
 * One term's postings as a record, and back. In between a posting is one u32, document · 256 + code, so that lists of any
 * kind are one array and sort by document.
 *
 *     maxima   u8 per window, filled up to 4 bytes     largest code of the window, 0 where it has none
 *     starts   u32 per window, and one more            first entry (rare) or code (dense) of each window
 *
 *     rare:    entries, window by window               gap to the document before (to the window's start for the first)
 *                kind 0   u8 gap   u8 code             gap 255 with code 0 is no posting: 255 documents on
 *                kind 1   u16 gap  u8 code
 *     dense:   u64 bits per 64 documents, u16 ranks per 64 documents (codes before them in the window), u8 codes, one 0
 *
 * Ranks count from the window's start, so two bytes do. With bits and ranks in two arrays a window of a dense term is
 * 1.25 KB beside its codes, which stays in the first cache while candidates are looked up; one row of bits, rank and
 * padding per 64 documents would take 2 KB.
 */
import { DENSE, LONG_GAPS, SHORT_GAPS } from '../../kernels/index.ts';
import {
  KTH_RANKS,
  kindOf,
  type RecordKind,
  type RecordShape,
  roundUp4,
  type SegmentShape,
  shapeOf,
} from './segment-layout.ts';

/** A term's postings: document · 256 + code, ascending. */
export type Postings = Uint32Array;

/** The gap that one byte cannot hold: it goes this far on, without a posting. */
const SKIP = 255;

/** An encoded record; its bytes are valid until the next one is encoded. */
export type EncodedRecord = {
  readonly bytes: Uint8Array;
  readonly kind: RecordKind;
  readonly max: number;
  readonly kth: readonly [number, number, number];
};

/** Encodes the records of one segment, one after the other, in one buffer that grows to the largest. */
export class RecordEncoder {
  readonly #segment: SegmentShape;
  readonly #histogram = new Uint32Array(256);
  #buffer = new ArrayBuffer(1 << 16);

  constructor(segment: SegmentShape) {
    this.#segment = segment;
  }

  /** @param postings at least one */
  encode(postings: Postings): EncodedRecord {
    const kind = kindOf(postings.length, this.#segment.numDocs);
    const shape = shapeOf(kind, postings.length, this.#segment);
    const bytes = this.#clearedBytes(shape.bytes + (kind === SHORT_GAPS ? this.#skipBytes() : 0));
    this.#writeMaxima(postings, bytes);
    const size = this.#writeLists(kind, postings, shape);
    return { bytes: bytes.subarray(0, roundUp4(size)), kind, ...this.#largestCodes(postings) };
  }

  /** The most that gaps above one byte can add. */
  #skipBytes(): number {
    return 2 * Math.ceil(this.#segment.numDocs / SKIP) + 4;
  }

  #clearedBytes(size: number): Uint8Array {
    if (size > this.#buffer.byteLength)
      this.#buffer = new ArrayBuffer(Math.max(roundUp4(size), 2 * this.#buffer.byteLength));
    return new Uint8Array(this.#buffer, 0, size).fill(0);
  }

  #writeMaxima(postings: Postings, maxima: Uint8Array): void {
    const shift = windowShift(this.#segment);
    for (let i = 0; i < postings.length; i++) {
      const window = postings[i] >>> shift;
      const code = postings[i] & 255;
      if (code > maxima[window]) maxima[window] = code;
    }
  }

  /** Starts and what follows; returns where the record ends. */
  #writeLists(kind: RecordKind, postings: Postings, shape: RecordShape): number {
    const starts = new Uint32Array(this.#buffer, shape.starts, shape.numWindows + 1);
    if (kind === DENSE) return this.#writeDense(postings, shape, starts);
    const u8 = new Uint8Array(this.#buffer);
    return kind === SHORT_GAPS
      ? writeShortGaps(postings, u8, { shape, starts, segment: this.#segment })
      : writeLongGaps(postings, u8, { shape, starts, segment: this.#segment });
  }

  #writeDense(postings: Postings, shape: RecordShape, starts: Uint32Array): number {
    const numWords = (shape.ranks - shape.stream) / 8;
    const bits = new Uint32Array(this.#buffer, shape.stream, 2 * numWords);
    const ranks = new Uint16Array(this.#buffer, shape.ranks, numWords);
    const codes = new Uint8Array(this.#buffer, shape.codes, postings.length);
    const wordsPerWindow = this.#segment.windowSize / 64;
    let next = 0;
    for (let word = 0; word < numWords; word++) {
      const window = Math.floor(word / wordsPerWindow);
      if (word % wordsPerWindow === 0) starts[window] = next;
      ranks[word] = next - starts[window];
      for (; next < postings.length && postings[next] >>> 14 === word; next++) {
        const doc = postings[next] >>> 8;
        bits[doc >>> 5] |= 1 << (doc & 31);
        codes[next] = postings[next];
      }
    }
    starts[shape.numWindows] = next;
    return shape.codes + postings.length + 1;
  }

  #largestCodes(postings: Postings): Pick<EncodedRecord, 'max' | 'kth'> {
    const histogram = this.#histogram.fill(0);
    for (let i = 0; i < postings.length; i++) histogram[postings[i] & 255]++;
    const atRank = (rank: number): number => {
      let code = 255;
      for (let seen = histogram[code]; seen < rank && code > 0; seen += histogram[code]) code--;
      return code;
    };
    const [first, second, third] = KTH_RANKS;
    return { max: atRank(1), kth: [atRank(first), atRank(second), atRank(third)] };
  }
}

/** How far a posting is shifted to give its window. */
function windowShift({ windowSize }: SegmentShape): number {
  return 8 + Math.log2(windowSize);
}

type RareList = { readonly shape: RecordShape; readonly starts: Uint32Array; readonly segment: SegmentShape };

function writeShortGaps(postings: Postings, u8: Uint8Array, { shape, starts, segment }: RareList): number {
  let at = shape.stream;
  let i = 0;
  for (let window = 0; window < shape.numWindows; window++) {
    starts[window] = (at - shape.stream) >>> 1;
    const end = (window + 1) * segment.windowSize;
    for (let previous = window * segment.windowSize; i < postings.length; i++) {
      const doc = postings[i] >>> 8;
      if (doc >= end) break;
      let gap = doc - previous;
      for (; gap >= SKIP; gap -= SKIP) {
        u8[at] = SKIP;
        at += 2;
      }
      u8[at] = gap;
      u8[at + 1] = postings[i];
      at += 2;
      previous = doc;
    }
  }
  starts[shape.numWindows] = (at - shape.stream) >>> 1;
  return at;
}

function writeLongGaps(postings: Postings, u8: Uint8Array, { shape, starts, segment }: RareList): number {
  let at = shape.stream;
  let i = 0;
  for (let window = 0; window < shape.numWindows; window++) {
    starts[window] = i;
    const end = (window + 1) * segment.windowSize;
    for (let previous = window * segment.windowSize; i < postings.length; i++) {
      const doc = postings[i] >>> 8;
      if (doc >= end) break;
      const gap = doc - previous;
      u8[at] = gap;
      u8[at + 1] = gap >>> 8;
      u8[at + 2] = postings[i];
      at += 3;
      previous = doc;
    }
  }
  starts[shape.numWindows] = i;
  return at;
}

/** A record whose bytes passed the directory's checks. */
export type StoredRecord = {
  readonly bytes: Uint8Array;
  readonly kind: RecordKind;
  readonly df: number;
};

/**
 * The postings of a record, or what is wrong with it. Nothing of the record is trusted: documents must ascend inside
 * their windows and codes be above 0. (Whether maxima, ranks and padding are right too, only encoding again tells.)
 */
export function decodeRecord(record: StoredRecord, segment: SegmentShape, out: Postings): string | undefined {
  const shape = shapeOf(record.kind, record.df, segment);
  const starts = startsOf(record.bytes, shape);
  const problem = problemOfStarts(starts, record, shape);
  if (problem) return problem;
  return record.kind === DENSE
    ? decodeDense(record, shape, { segment, out, starts })
    : decodeRare(record, shape, { segment, out, starts });
}

function startsOf(bytes: Uint8Array, shape: RecordShape): Uint32Array {
  return new Uint32Array(bytes.slice(shape.starts, shape.stream).buffer);
}

function problemOfStarts(
  starts: Uint32Array,
  { bytes, kind, df }: StoredRecord,
  shape: RecordShape,
): string | undefined {
  const limit = kind === DENSE ? df : Math.floor((bytes.length - shape.stream) / (kind === SHORT_GAPS ? 2 : 3));
  if (starts[0] !== 0) return `the first window begins at ${starts[0]}`;
  for (let window = 0; window < shape.numWindows; window++)
    if (starts[window] > starts[window + 1]) return `window ${window} ends before it begins`;
  const last = starts[shape.numWindows];
  return last > limit ? `windows end at ${last}, after the list's end at ${limit}` : undefined;
}

type Decoding = { readonly segment: SegmentShape; readonly out: Postings; readonly starts: Uint32Array };

function decodeRare(record: StoredRecord, shape: RecordShape, { segment, out, starts }: Decoding): string | undefined {
  const { bytes, kind, df } = record;
  const isShort = kind === SHORT_GAPS;
  let n = 0;
  for (let window = 0; window < shape.numWindows; window++) {
    let doc = window * segment.windowSize;
    const end = Math.min(doc + segment.windowSize, segment.numDocs);
    const first = n;
    for (let entry = starts[window]; entry < starts[window + 1]; entry++) {
      const at = shape.stream + entry * (isShort ? 2 : 3);
      const gap = isShort ? bytes[at] : bytes[at] | (bytes[at + 1] << 8);
      const code = bytes[isShort ? at + 1 : at + 2];
      doc += gap;
      if (doc >= end) return `document ${doc} is not in window ${window}`;
      if (isShort && gap === SKIP && code === 0) continue;
      if (code === 0) return `document ${doc} has code 0`;
      if (n >= df) return `more than ${df} postings`;
      if (n > first && doc <= out[n - 1] >>> 8) return `document ${doc} comes twice`;
      out[n++] = (doc << 8) | code;
    }
  }
  return n === df ? undefined : `${n} postings, expected ${df}`;
}

function decodeDense(record: StoredRecord, shape: RecordShape, { segment, out, starts }: Decoding): string | undefined {
  const { bytes, df } = record;
  let n = 0;
  for (let at = shape.stream; at < shape.ranks; at++) {
    const firstDoc = 8 * (at - shape.stream);
    for (let bits = bytes[at]; bits !== 0; bits &= bits - 1) {
      const doc = firstDoc + 31 - Math.clz32(bits & -bits);
      if (doc >= segment.numDocs) return `document ${doc} of ${segment.numDocs}`;
      if (n >= df) return `more than ${df} postings`;
      const code = bytes[shape.codes + n];
      if (code === 0) return `document ${doc} has code 0`;
      out[n++] = (doc << 8) | code;
    }
  }
  return n === df && starts[shape.numWindows] === df ? undefined : `${n} postings, expected ${df}`;
}

/** The code of a document, 0 where it does not have the term. For a record of a segment that is being searched. */
export function codeOf(record: StoredRecord, segment: SegmentShape, doc: number): number {
  const shape = shapeOf(record.kind, record.df, segment);
  const window = Math.floor(doc / segment.windowSize);
  const starts = startsOf(record.bytes, shape);
  return record.kind === DENSE
    ? denseCodeOf(record.bytes, shape, { doc, start: starts[window] })
    : rareCodeOf(record, shape, { doc: doc % segment.windowSize, from: starts[window], to: starts[window + 1] });
}

function denseCodeOf(bytes: Uint8Array, shape: RecordShape, { doc, start }: { doc: number; start: number }): number {
  const word = doc >>> 6;
  const at = shape.stream + (doc >>> 3);
  if (((bytes[at] >>> (doc & 7)) & 1) === 0) return 0;
  let rank = start + (bytes[shape.ranks + 2 * word] | (bytes[shape.ranks + 2 * word + 1] << 8));
  for (let before = shape.stream + 8 * word; before < at; before++) rank += countBits(bytes[before]);
  return bytes[shape.codes + rank + countBits(bytes[at] & ((1 << (doc & 7)) - 1))];
}

function countBits(byte: number): number {
  let count = 0;
  for (let bits = byte; bits !== 0; bits &= bits - 1) count++;
  return count;
}

function rareCodeOf(
  { bytes, kind }: StoredRecord,
  shape: RecordShape,
  { doc, from, to }: { doc: number; from: number; to: number },
): number {
  const size = kind === LONG_GAPS ? 3 : 2;
  const stop = Math.min(shape.stream + to * size, bytes.length);
  let position = 0;
  for (let at = shape.stream + from * size; at < stop; at += size) {
    position += size === 3 ? bytes[at] | (bytes[at + 1] << 8) : bytes[at];
    if (position === doc && bytes[at + size - 1] > 0) return bytes[at + size - 1];
    if (position > doc) return 0;
  }
  return 0;
}
