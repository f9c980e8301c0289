/**
 * The vectors that all contenders of bench/search-peers.ts are given, as plain binary files (little endian) that any
 * language maps into memory:
 *
 *     offsets.u32         numDocs + 1    where each document's terms start
 *     terms.u16           ascending inside a document
 *     codes.u8            weights as whole numbers from 1 to 255
 *     query-offsets.u32   query-terms.u16   query-codes.u8     the same for queries
 *     truth.u32           for each query: n, the n best documents, their n scores
 *
 * Both sides are whole numbers so small that a 32-bit float adds their products without rounding: engines that compute in
 * floats and ours must find the very same scores. The largest weight of a query is 255, so that our own scaling of
 * queries (S = 65,535 / 255 = 257) is exact as well.
 */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Vectors one after the other. */
export type Vectors = {
  readonly offsets: Uint32Array;
  readonly terms: Uint16Array;
  readonly codes: Uint8Array;
};

/** The right answer to a query: the best documents by score, then number; beyond the last one wanted all its equals. */
export type Answer = { readonly docIds: Uint32Array; readonly scores: Uint32Array };

/** The largest weight, on both sides. */
export const MAX_WEIGHT = 255;

/** Node reads and writes less than 2 GiB at once. */
const PIECE_BYTES = 1 << 30;

type Numbers = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array;

function writeNumbers(path: string, numbers: Numbers): void {
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  const file = openSync(path, 'w');
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, Math.min(PIECE_BYTES, bytes.length - at));
  closeSync(file);
}

/** The bytes of a file; a typed array may lie over the buffer. */
export function readBuffer(path: string): ArrayBuffer {
  const file = openSync(path, 'r');
  const bytes = new Uint8Array(fstatSync(file).size);
  for (let at = 0; at < bytes.length; ) {
    const count = readSync(file, bytes, at, Math.min(PIECE_BYTES, bytes.length - at), at);
    if (count === 0) throw new Error(`${path} ends at ${at} of ${bytes.length} bytes`);
    at += count;
  }
  closeSync(file);
  return bytes.buffer;
}

/** Writes documents (`prefix` empty) or queries (`query-`). */
export function writeVectors(folder: string, prefix: string, { offsets, terms, codes }: Vectors): void {
  writeNumbers(join(folder, `${prefix}offsets.u32`), offsets);
  writeNumbers(join(folder, `${prefix}terms.u16`), terms);
  writeNumbers(join(folder, `${prefix}codes.u8`), codes);
}

/** Reads documents (`prefix` empty) or queries (`query-`). */
export function readVectors(folder: string, prefix: string): Vectors {
  return {
    offsets: new Uint32Array(readBuffer(join(folder, `${prefix}offsets.u32`))),
    terms: new Uint16Array(readBuffer(join(folder, `${prefix}terms.u16`))),
    codes: new Uint8Array(readBuffer(join(folder, `${prefix}codes.u8`))),
  };
}

/** Writes the right answers. */
export function writeAnswers(folder: string, answers: readonly Answer[]): void {
  const numbers = answers.flatMap(({ docIds, scores }) => [docIds.length, ...docIds, ...scores]);
  writeNumbers(join(folder, 'truth.u32'), Uint32Array.from(numbers));
}

/** Reads the right answers. */
export function readAnswers(folder: string): Answer[] {
  const numbers = new Uint32Array(readBuffer(join(folder, 'truth.u32')));
  const answers: Answer[] = [];
  for (let at = 0; at < numbers.length; at += 1 + 2 * numbers[at]) {
    const end = at + 1 + numbers[at];
    answers.push({ docIds: numbers.slice(at + 1, end), scores: numbers.slice(end, end + numbers[at]) });
  }
  return answers;
}

/** What a contender found: k documents and scores a query, −1 where it found fewer. */
export function writeFound(path: string, docIds: Int32Array, scores: Float32Array): void {
  writeNumbers(`${path}.ids`, docIds);
  writeNumbers(`${path}.scores`, scores);
}

/** Reads what a contender found. */
export function readFound(path: string): { readonly docIds: Int32Array; readonly scores: Float32Array } {
  return {
    docIds: new Int32Array(readBuffer(`${path}.ids`)),
    scores: new Float32Array(readBuffer(`${path}.scores`)),
  };
}
