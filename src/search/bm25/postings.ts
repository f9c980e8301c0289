/**
 * The documents of one term, as bytes and back. Blocks of 128 postings, every number of a block in the same width, so
 * that decoding is two plain loops.
 *
 *     up to 128 postings     block
 *     more                   u8 n, n × (u8 tf, u8 length)     the pairs that no other posting beats, tf descending
 *                            u32 × blocks                     last document of each block
 *                            u32 × blocks                     end of each block, counted from the first one's start
 *                            u8 × blocks, u8 × blocks         largest tf, least length byte of each block
 *                            block …
 *     block                  u8 widths; gap × count; tf − 1 × count
 *
 * widths: bits 0–1 are the width of gaps (0: 1 byte, 1: 2 bytes, 2: 4 bytes), bits 2–3 of tf (0: none, all are 1; else 1, 2,
 * 4 bytes). A gap is the document's number minus the one before minus 1; before the first stands −1. tf in pairs and
 * maxima is capped at 255, which there means "255 or more". Largest tf and least length of each block are for block-max
 * pruning; not used by today's search.
 */
import { IndexFormatError } from '../../core/index.ts';

/** Postings of a block; the last one of a term may be shorter. */
export const BLOCK_SIZE = 128;
/** A tf that stands for itself and all above. */
export const TF_CAP = 255;

/** Postings in ascending order of documents; the first `count` are valid. */
export type PostingList = { readonly docs: Uint32Array; readonly tfs: Uint32Array; readonly count: number };

/** The value of tf − 1 or of a gap takes one of these widths; 0 where all are 0 and the format allows it. */
function widthFor(max: number): 1 | 2 | 4 {
  return max < 0x100 ? 1 : max < 0x10000 ? 2 : 4;
}

/** Turns lists into bytes, in one buffer that grows. */
export class PostingsEncoder {
  #bytes = new Uint8Array(1 << 16);
  #at = 0;

  /** The bytes of a list; valid until the next call. */
  encode(list: PostingList, lengths: Uint8Array): Uint8Array {
    const numBlocks = Math.ceil(list.count / BLOCK_SIZE);
    this.#reserve(1024 + list.count * 8 + numBlocks * 16);
    this.#at = 0;
    if (numBlocks > 1) this.#writeBlocks(list, lengths, numBlocks);
    else this.#writeBlock(list, 0, list.count);
    return this.#bytes.subarray(0, this.#at);
  }

  #writeBlocks(list: PostingList, lengths: Uint8Array, numBlocks: number): void {
    this.#writePairs(list, lengths);
    const table = this.#at;
    const start = table + 10 * numBlocks;
    this.#at = start;
    for (let i = 0; i < numBlocks; i++) {
      const [from, to] = [i * BLOCK_SIZE, Math.min((i + 1) * BLOCK_SIZE, list.count)];
      this.#writeBlock(list, from, to);
      const end = this.#at;
      this.#put(table + 4 * i, list.docs[to - 1], 4);
      this.#put(table + 4 * (numBlocks + i), end - start, 4);
      const { maxTf, minLength } = corner(list, lengths, from, to);
      this.#bytes[table + 8 * numBlocks + i] = maxTf;
      this.#bytes[table + 9 * numBlocks + i] = minLength;
    }
  }

  #writePairs(list: PostingList, lengths: Uint8Array): void {
    const pairs = bestPairs(list, lengths);
    this.#bytes[this.#at++] = pairs.length;
    for (const [tf, length] of pairs) {
      this.#bytes[this.#at++] = tf;
      this.#bytes[this.#at++] = length;
    }
  }

  #writeBlock({ docs, tfs }: PostingList, from: number, to: number): void {
    let maxGap = 0;
    let maxTf = 1;
    const before = from === 0 ? -1 : docs[from - 1];
    for (let i = from, previous = before; i < to; previous = docs[i++]) {
      maxGap = Math.max(maxGap, docs[i] - previous - 1);
      maxTf = Math.max(maxTf, tfs[i]);
    }
    const gapWidth = widthFor(maxGap);
    const tfWidth = maxTf === 1 ? 0 : widthFor(maxTf - 1);
    this.#bytes[this.#at++] = (gapWidth >> 1) | ((tfWidth === 4 ? 3 : tfWidth) << 2);
    for (let i = from, previous = before; i < to; previous = docs[i++], this.#at += gapWidth)
      this.#put(this.#at, docs[i] - previous - 1, gapWidth);
    if (tfWidth > 0) for (let i = from; i < to; i++, this.#at += tfWidth) this.#put(this.#at, tfs[i] - 1, tfWidth);
  }

  #put(at: number, value: number, width: number): void {
    for (let byte = 0; byte < width; byte++) this.#bytes[at + byte] = value >>> (8 * byte);
  }

  #reserve(sizeBytes: number): void {
    if (sizeBytes > this.#bytes.length) this.#bytes = new Uint8Array(2 * sizeBytes);
  }
}

/** Largest tf and least length of some postings: no score among them is above that of this pair. */
export function corner(
  { docs, tfs }: PostingList,
  lengths: Uint8Array,
  from: number,
  to: number,
): { readonly maxTf: number; readonly minLength: number } {
  let maxTf = 0;
  let minLength = 255;
  for (let i = from; i < to; i++) {
    maxTf = Math.max(maxTf, tfs[i]);
    minLength = Math.min(minLength, lengths[docs[i]]);
  }
  return { maxTf: Math.min(maxTf, TF_CAP), minLength };
}

/**
 * Pairs (tf, length) such that every posting has no more tf and no less length than one of them: whatever k1, b and avgdl
 * are, one of them has the best score.
 */
export function bestPairs({ docs, tfs, count }: PostingList, lengths: Uint8Array): [tf: number, length: number][] {
  const minLengths = new Uint16Array(TF_CAP + 1).fill(256);
  for (let i = 0; i < count; i++) {
    const tf = Math.min(tfs[i], TF_CAP);
    minLengths[tf] = Math.min(minLengths[tf], lengths[docs[i]]);
  }
  const pairs: [number, number][] = [];
  let least = 256;
  for (let tf = TF_CAP; tf > 0; tf--) {
    if (minLengths[tf] >= least) continue;
    least = minLengths[tf];
    pairs.push([tf, least]);
  }
  return pairs;
}

/** The head of a term's postings, unpacked: enough to find any block. */
export type PostingsHead = {
  readonly df: number;
  readonly numBlocks: number;
  /** Pairs that bound every posting's score; undefined for a term of one block. */
  readonly pairs: Uint8Array | undefined;
  /** Last document of each block; of a single block unknown, and given as the largest number. */
  readonly lastDocs: Uint32Array;
  /** Where each block ends in `blocks`. */
  readonly ends: Uint32Array;
  readonly maxTfs: Uint8Array;
  readonly minLengths: Uint8Array;
  readonly blocks: Uint8Array;
};

const NO_BYTES = new Uint8Array(0);

/** Unpacks the head and checks that all of it is there. */
export function readHead(bytes: Uint8Array, df: number, label: string): PostingsHead {
  const numBlocks = Math.ceil(df / BLOCK_SIZE);
  if (numBlocks === 1) {
    const [lastDocs, ends] = [Uint32Array.of(0xffffffff), Uint32Array.of(bytes.length)];
    return { df, numBlocks, pairs: undefined, lastDocs, ends, maxTfs: NO_BYTES, minLengths: NO_BYTES, blocks: bytes };
  }
  const table = 1 + 2 * bytes[0];
  const start = table + 10 * numBlocks;
  if (!(start <= bytes.length) || bytes[0] === 0) throw damaged(label, 'the table of blocks is cut off');
  return {
    df,
    numBlocks,
    pairs: bytes.subarray(1, table),
    lastDocs: u32Array(bytes.subarray(table, table + 4 * numBlocks)),
    ends: u32Array(bytes.subarray(table + 4 * numBlocks, table + 8 * numBlocks)),
    maxTfs: bytes.subarray(table + 8 * numBlocks, table + 9 * numBlocks),
    minLengths: bytes.subarray(table + 9 * numBlocks, start),
    blocks: bytes.subarray(start),
  };
}

function u32Array(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(new Uint8Array(bytes).buffer); // all platforms of JavaScript are little-endian
}

function damaged(label: string, what: string): IndexFormatError {
  return new IndexFormatError(`${label}: postings: ${what}`);
}

/** What a cursor must know of its segment. */
export type PostingsPlace = { readonly numDocs: number; readonly label: string };

/** The first of `values[low … high − 1]`, which ascend, that is not below `value`; `high` if all are. */
export function lowerBound(
  values: Int32Array | Uint32Array,
  value: number,
  range: { readonly low: number; readonly high: number },
): number {
  let { low, high } = range;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where a decoded block goes. Signed, since engines compute with signed integers faster; all numbers are below 2³¹. */
export type BlockTarget = { readonly docs: Int32Array; readonly tfs: Int32Array };

/** Decodes a block to the start of both arrays. Returns how many postings it has. */
export function decodeBlock(head: PostingsHead, place: PostingsPlace, block: number, target: BlockTarget): number {
  const { df, numBlocks, ends, blocks, lastDocs } = head;
  const count = Math.min(BLOCK_SIZE, df - block * BLOCK_SIZE);
  const start = block === 0 ? 0 : ends[block - 1];
  const widths = blocks[start];
  const gapWidth = 1 << (widths & 3);
  const tfWidth = TF_WIDTHS[widths >> 2];
  const tfStart = start + 1 + count * gapWidth;
  if (tfStart + count * tfWidth !== ends[block] || gapWidth > 4 || ends[block] > blocks.length)
    throw damaged(place.label, `block ${block} has another size than its widths say`);
  const before = block === 0 ? -1 : lastDocs[block - 1];
  const last = decodeDocs(target.docs, blocks, { at: start + 1, count, width: gapWidth, before });
  if (last >= place.numDocs || (numBlocks > 1 && last !== lastDocs[block]))
    throw damaged(place.label, `block ${block} ends at document ${last} of ${place.numDocs}`);
  decodeTfs(target.tfs, blocks, { at: tfStart, count, width: tfWidth });
  return count;
}

/** Walks over the postings of a term, forwards only. */
export class PostingsCursor {
  /** Documents and frequencies of the block at hand; valid from `position` to `count`. */
  readonly docs = new Int32Array(BLOCK_SIZE);
  readonly tfs = new Int32Array(BLOCK_SIZE);
  /** Postings of the block at hand; 0 after the last block. */
  count = 0;
  /** The posting at hand. */
  position = 0;
  readonly #head: PostingsHead;
  readonly #place: PostingsPlace;
  #block = -1;

  constructor(head: PostingsHead, place: PostingsPlace) {
    this.#head = head;
    this.#place = place;
    this.nextBlock();
  }

  /** The document at hand; Infinity behind the last one. */
  get doc(): number {
    return this.position < this.count ? this.docs[this.position] : Number.POSITIVE_INFINITY;
  }

  /** Goes to the first posting of the next block; false where there is none. */
  nextBlock(): boolean {
    return this.#load(this.#block + 1);
  }

  /** Goes forward to the first posting of `doc` or a later document. */
  advance(doc: number): void {
    if (this.count === 0) return;
    const { lastDocs, numBlocks } = this.#head;
    if (
      this.docs[this.count - 1] < doc &&
      !this.#load(lowerBound(lastDocs, doc, { low: this.#block + 1, high: numBlocks }))
    )
      return;
    this.position = lowerBound(this.docs, doc, { low: this.position, high: this.count });
    if (this.position === this.count) this.nextBlock();
  }

  #load(block: number): boolean {
    this.#block = block;
    this.position = 0;
    this.count = block < this.#head.numBlocks ? decodeBlock(this.#head, this.#place, block, this) : 0;
    return this.count > 0;
  }
}

const TF_WIDTHS: readonly number[] = [0, 1, 2, 4];

type Run = { readonly at: number; readonly count: number; readonly width: number };

/** Gaps to documents, the last of which it returns. A loop for each width: this is where searching spends its time. */
function decodeDocs(docs: Int32Array, bytes: Uint8Array, run: Run & { readonly before: number }): number {
  const { at, count, width } = run;
  let doc = run.before;
  if (width === 1) {
    for (let i = 0; i < count; i++) {
      doc += bytes[at + i] + 1;
      docs[i] = doc;
    }
  } else if (width === 2) {
    for (let i = 0, p = at; i < count; i++, p += 2) {
      doc += (bytes[p] | (bytes[p + 1] << 8)) + 1;
      docs[i] = doc;
    }
  } else {
    for (let i = 0, p = at; i < count; i++, p += 4) {
      doc += readU32(bytes, p) + 1;
      docs[i] = doc;
    }
  }
  return doc;
}

function decodeTfs(tfs: Int32Array, bytes: Uint8Array, { at, count, width }: Run): void {
  if (width === 0) tfs.fill(1, 0, count);
  else if (width === 1) for (let i = 0; i < count; i++) tfs[i] = bytes[at + i] + 1;
  else if (width === 2) for (let i = 0, p = at; i < count; i++, p += 2) tfs[i] = (bytes[p] | (bytes[p + 1] << 8)) + 1;
  else for (let i = 0, p = at; i < count; i++, p += 4) tfs[i] = readU32(bytes, p) + 1;
}

function readU32(bytes: Uint8Array, at: number): number {
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}
