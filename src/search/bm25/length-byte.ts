/**
 * A document's length in one byte: exact below 40, then with four significant bits. Lucene's SmallFloat.intToByte4
 * (https://github.com/apache/lucene/blob/releases/lucene/9.9.1/lucene/core/src/java/org/apache/lucene/util/SmallFloat.java).
 */
import { assert } from '../../core/index.ts';

/** Codes that Lucene gives to the smallest lengths as they are, since a float of 31 bits leaves them free. */
const NUM_EXACT = 24;
const MAX_LENGTH = 2 ** 31 - 1;

/** The code of a length: longer documents have no smaller code; 0 stands for 0 only. */
export function lengthToByte(length: number): number {
  assert(Number.isInteger(length) && length >= 0 && length <= MAX_LENGTH, `length ${length} of a document`);
  if (length < NUM_EXACT) return length;
  const rest = length - NUM_EXACT;
  const numBits = 32 - Math.clz32(rest);
  if (numBits < 4) return NUM_EXACT + rest;
  const shift = numBits - 4; // the highest bit is implied, three more are kept
  return NUM_EXACT + (((rest >>> shift) & 7) | ((shift + 1) << 3));
}

/** The length that a code stands for: the smallest that has it. */
export function byteToLength(byte: number): number {
  if (byte < NUM_EXACT) return byte;
  const code = byte - NUM_EXACT;
  const shift = (code >>> 3) - 1;
  return NUM_EXACT + (shift < 0 ? code : ((code & 7) | 8) * 2 ** shift);
}
