/** Sets of documents of one segment as bits: bit `d & 7` of byte `d >> 3`, bits beyond the last document 0. */
import type { Bitmap } from '../types.ts';

/** Bytes that the bits of this many documents take. */
export function bitmapBytes(numDocs: number): number {
  return Math.ceil(numDocs / 8);
}

/** No document. */
export function emptyBitmap(numDocs: number): Bitmap {
  return new Uint8Array(bitmapBytes(numDocs));
}

/** Every document. */
export function fullBitmap(numDocs: number): Bitmap {
  return complement(emptyBitmap(numDocs), numDocs);
}

/** Whether a document is in the set. */
export function hasBit(bitmap: Bitmap, docId: number): boolean {
  return ((bitmap[docId >>> 3] >>> (docId & 7)) & 1) === 1;
}

/** Puts a document into the set. */
export function setBit(bitmap: Bitmap, docId: number): void {
  bitmap[docId >>> 3] |= 1 << (docId & 7);
}

/** The documents of both sets, a new set. */
export function intersect(a: Bitmap, b: Bitmap): Bitmap {
  return a.map((byte, i) => byte & b[i]);
}

/** The documents of either set, a new set. */
export function unite(a: Bitmap, b: Bitmap): Bitmap {
  return a.map((byte, i) => byte | b[i]);
}

/** The documents that are not in the set, a new set. */
export function complement(bitmap: Bitmap, numDocs: number): Bitmap {
  const out = new Uint8Array(bitmapBytes(numDocs));
  for (let i = 0; i < out.length; i++) out[i] = ~bitmap[i];
  if (numDocs & 7) out[out.length - 1] &= 0xff >>> (8 - (numDocs & 7));
  return out;
}

/** How many documents the set has. */
export function countBits(bitmap: Bitmap): number {
  let count = 0;
  for (let i = 0; i < bitmap.length; i++) for (let rest = bitmap[i]; rest > 0; rest &= rest - 1) count++;
  return count;
}
