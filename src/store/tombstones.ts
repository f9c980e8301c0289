/**
 * Which documents of a segment are deleted: a bitmap in memory, and its file.
 *
 *     u32 magic "LZDT" · u32 version 1 · u32 numDocs · u32 numDeleted · ⌈numDocs / 8⌉ bytes · u32 CRC of all before
 *
 * Numbers are little-endian; bit d & 7 of byte d >> 3 is document d. Written new at each commit that deletes something.
 */
import { ByteReader, ByteWriter, crc32 } from '../core/index.ts';
import { type Bitmap, countBits, emptyBitmap, hasBit, setBit } from '../search/index.ts';

const MAGIC = 0x54445a4c; // "LZDT"
const VERSION = 1;

/** A set of documents of one segment that grows. */
export type Tombstones = { readonly bits: Uint8Array; numDeleted: number };

/** Nothing deleted. */
export function noTombstones(numDocs: number): Tombstones {
  return { bits: emptyBitmap(numDocs), numDeleted: 0 };
}

/** The same set, to be changed on its own. */
export function copyTombstones({ bits, numDeleted }: Tombstones): Tombstones {
  return { bits: bits.slice(), numDeleted };
}

/** Whether document `d` is deleted. */
export function isDeleted({ bits }: Tombstones, d: number): boolean {
  return hasBit(bits, d);
}

/** Deletes document `d`; false if it was deleted before. */
export function markDeleted(tombstones: Tombstones, d: number): boolean {
  if (isDeleted(tombstones, d)) return false;
  setBit(tombstones.bits, d);
  tombstones.numDeleted++;
  return true;
}

/** As searchers and merges want it: undefined where nothing is deleted. */
export function deletedBitmap({ bits, numDeleted }: Tombstones): Bitmap | undefined {
  return numDeleted === 0 ? undefined : bits;
}

/** One segment that was merged: its size, and what was left out. */
export type MergedInput = { readonly numDocs: number; readonly leftOut: Tombstones };

/**
 * Carries deletes over to the merge of some segments. A document that was left out of the merge has no number there;
 * one that `now` has deleted since gets its bit at its new number.
 */
export function remapTombstones(inputs: readonly MergedInput[], now: readonly Tombstones[]): Tombstones {
  const numDocs = inputs.reduce((sum, { numDocs, leftOut }) => sum + numDocs - leftOut.numDeleted, 0);
  const merged = noTombstones(numDocs);
  let next = 0;
  inputs.forEach(({ numDocs, leftOut }, i) => {
    for (let d = 0; d < numDocs; d++) {
      if (isDeleted(leftOut, d)) continue;
      if (isDeleted(now[i], d)) markDeleted(merged, next);
      next++;
    }
  });
  return merged;
}

/** The bytes of the file. */
export function encodeTombstones({ bits, numDeleted }: Tombstones, numDocs: number): Uint8Array {
  const writer = new ByteWriter();
  for (const value of [MAGIC, VERSION, numDocs, numDeleted]) writer.u32(value);
  writer.bytes(bits);
  writer.u32(crc32(writer.finish()));
  return writer.finish();
}

/** Reads the file of a segment of `numDocs` documents. Everything in it is checked: it is small. */
export function decodeTombstones(bytes: Uint8Array, numDocs: number, label: string): Tombstones {
  const reader = new ByteReader(bytes, label);
  expectEqual(reader, 'the magic number of tombstones', MAGIC);
  expectEqual(reader, 'version', VERSION);
  expectEqual(reader, 'number of documents', numDocs);
  const numDeleted = reader.u32();
  const bits = new Uint8Array(reader.bytes(Math.ceil(numDocs / 8)));
  const crc = crc32(bytes.subarray(0, reader.position));
  expectEqual(reader, 'checksum', crc);
  if (reader.left > 0) throw reader.error(`${reader.left} bytes too many`);
  if (countBits(bits) !== numDeleted || bits.at(-1) !== lastByte(bits, numDocs))
    throw reader.error(`expected ${numDeleted} of ${numDocs} documents to be deleted, got ${countBits(bits)}`);
  return { bits, numDeleted };
}

function expectEqual(reader: ByteReader, what: string, expected: number): void {
  const at = reader.position;
  const value = reader.u32();
  if (value !== expected) throw reader.error(`expected ${what} ${expected}, got ${value}`, at);
}

/** The last byte without bits beyond the last document. */
function lastByte(bits: Uint8Array, numDocs: number): number | undefined {
  const last = bits.at(-1);
  return last === undefined || numDocs % 8 === 0 ? last : last & ((1 << (numDocs % 8)) - 1);
}
