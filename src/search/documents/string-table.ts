/**
 * Numbered, distinct strings on disk: string by number and number by string, each with a few small reads and nothing
 * kept in memory. Ids, pages and keyword values are such tables. Knows nothing of what the strings mean.
 *
 *     name.bytes      UTF-8 of all strings, one after another
 *     name.offsets    (n + 1) × u32: where string i begins, and the end
 *     name.buckets    (b + 1) × u32, b = max(1, ⌈n/8⌉): the first entry of each bucket, and n
 *     name.entries    n × { u32 hash, u32 number }, ascending by hash, then by number
 *
 * A hash h is in bucket ⌊h·b/2³²⌋, so buckets are ranges of the sorted entries: about eight entries, 64 bytes, are read
 * for a string that is there or not; without the text, a wrong guess is one in 2³² per entry. 8.5 bytes a string beside
 * the string and its offset. (Open addressing with the same entries takes 10.7 to 21 bytes.)
 */
import { ByteWriter, InputError } from '../../core/index.ts';
import { growingU32s } from './growing.ts';
import { asU32s, bytesOf, PIECE_BYTES, type SectionFile, type SectionWriter, u32At } from './section-file.ts';

/** Strings per bucket, on average. */
const BUCKET_SIZE = 8;
/** Offsets read at once in a walk over all strings. */
const WALK_STRINGS = 1 << 12;
const MAX_BYTES = 0xffffffff;

const encoder = new TextEncoder();
/** One for all: making it takes longer than decoding an id. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Whether a string survives UTF-8: it has no half of a surrogate pair alone. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/**
 * FNV-1a over the bytes, then the finaliser of MurmurHash3 (both public domain), so that the high bits, which choose the
 * bucket, depend on every byte.
 */
export function hashBytes(bytes: Uint8Array): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i++) h = Math.imul(h ^ bytes[i], 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function numBuckets(size: number): number {
  return Math.max(1, Math.ceil(size / BUCKET_SIZE));
}

function bucketOf(hash: number, buckets: number): number {
  return Math.floor((hash * buckets) / 2 ** 32);
}

/** Collects strings in the order of their numbers and writes their table. Strings must differ: `write` checks it. */
export class StringTableWriter {
  readonly #bytes = new ByteWriter();
  readonly #offsets = growingU32s();
  readonly #hashes = growingU32s();

  constructor() {
    this.#offsets.push(0);
  }

  /** How many strings there are. */
  get size(): number {
    return this.#hashes.length;
  }

  /** Appends a well-formed string. */
  add(text: string): void {
    this.addBytes(encoder.encode(text));
  }

  /** Appends a string in UTF-8. */
  addBytes(bytes: Uint8Array): void {
    if (this.#bytes.length + bytes.length > MAX_BYTES)
      throw new InputError('the ids of one segment take more than 4 GiB', { hint: 'use shorter ids' });
    this.#bytes.bytes(bytes);
    this.#offsets.push(this.#bytes.length);
    this.#hashes.push(hashBytes(bytes));
  }

  /** Writes the four sections; an InputError where a string occurs twice. `what` is what messages call a string. */
  write(out: SectionWriter, name: string, what: string): void {
    const bytes = this.#bytes.finish();
    const offsets = this.#offsets.finish();
    const { starts, entries } = sortByHash(this.#hashes.finish());
    rejectRepeated(bytes, { offsets, entries, what });
    const sections = sectionsOf(name);
    out.section(sections.bytes, bytes);
    out.section(sections.offsets, bytesOf(offsets));
    out.section(sections.buckets, bytesOf(starts));
    out.section(sections.entries, bytesOf(entries));
  }
}

/** Numbers by hash, then by number: counted into buckets, then sorted within each. */
function sortByHash(hashes: Uint32Array): { readonly starts: Uint32Array; readonly entries: Uint32Array } {
  const buckets = numBuckets(hashes.length);
  const starts = new Uint32Array(buckets + 1);
  for (const hash of hashes) starts[bucketOf(hash, buckets) + 1]++;
  for (let b = 0; b < buckets; b++) starts[b + 1] += starts[b];
  const numbers = new Uint32Array(hashes.length);
  const next = starts.slice();
  hashes.forEach((hash, number) => {
    numbers[next[bucketOf(hash, buckets)]++] = number;
  });
  const byHash = (a: number, b: number): number => hashes[a] - hashes[b] || a - b;
  for (let b = 0; b < buckets; b++) numbers.subarray(starts[b], starts[b + 1]).sort(byHash);
  const entries = new Uint32Array(2 * hashes.length);
  numbers.forEach((number, i) => {
    entries[2 * i] = hashes[number];
    entries[2 * i + 1] = number;
  });
  return { starts, entries };
}

type Written = { readonly offsets: Uint32Array; readonly entries: Uint32Array; readonly what: string };

/** Equal strings have equal hashes, so they stand in one run of entries. */
function rejectRepeated(bytes: Uint8Array, { offsets, entries, what }: Written): void {
  const textOf = (number: number): Uint8Array => bytes.subarray(offsets[number], offsets[number + 1]);
  for (let i = 0, first = 0; i < entries.length; i += 2) {
    if (entries[i] !== entries[first]) first = i;
    for (let j = first; j < i; j += 2) {
      if (!equalBytes(textOf(entries[i + 1]), textOf(entries[j + 1]))) continue;
      const text = new TextDecoder().decode(textOf(entries[j + 1]));
      throw new InputError(`${what} ${JSON.stringify(text)} occurs twice`, {
        hint: 'ids are unique: adding a document again replaces it only in an index that is open for writing',
      });
    }
  }
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** Names of the four sections, put together once: a table is asked for every hit. */
type TableSections = Readonly<Record<'bytes' | 'offsets' | 'buckets' | 'entries', string>>;

function sectionsOf(name: string): TableSections {
  return { bytes: `${name}.bytes`, offsets: `${name}.offsets`, buckets: `${name}.buckets`, entries: `${name}.entries` };
}

/** A table that StringTableWriter wrote. */
export class StringTable {
  /** How many strings there are. */
  readonly size: number;
  readonly #file: SectionFile;
  readonly #sections: TableSections;
  readonly #buckets: number;

  constructor(file: SectionFile, name: string) {
    this.#file = file;
    this.#sections = sectionsOf(name);
    this.size = file.lengthOf(this.#sections.offsets) / 4 - 1;
    if (!Number.isInteger(this.size) || this.size < 0)
      throw file.error(this.#sections.offsets, 'expected n + 1 numbers of four bytes');
    this.#buckets = numBuckets(this.size);
    file.requireLength(this.#sections.buckets, 4 * (this.#buckets + 1));
    file.requireLength(this.#sections.entries, 8 * this.size);
  }

  /** The string of a number below `size`. */
  stringAt(number: number): string {
    return this.#decode(this.bytesAt(number), number);
  }

  /** The same in UTF-8. */
  bytesAt(number: number): Uint8Array {
    const bounds = this.#file.slice(this.#sections.offsets, 4 * number, 8);
    return this.#bytes(number, u32At(bounds, 0), u32At(bounds, 4));
  }

  /** The number of a string, or undefined where it is not there. */
  numberOf(text: string): number | undefined {
    if (!isWellFormed(text)) return undefined;
    const bytes = encoder.encode(text);
    const hash = hashBytes(bytes);
    const entries = this.#bucket(bucketOf(hash, this.#buckets));
    for (let i = 0; i < entries.length; i += 2) {
      if (entries[i] !== hash) continue;
      const number = this.#requireNumber(entries[i + 1]);
      if (equalBytes(this.bytesAt(number), bytes)) return number;
    }
    return undefined;
  }

  /** All strings in UTF-8, by ascending number, with few reads. */
  *walk(): Generator<Uint8Array> {
    for (let first = 0; first < this.size; first += WALK_STRINGS) {
      const offsets = this.#file.u32s(this.#sections.offsets, first, Math.min(WALK_STRINGS, this.size - first) + 1);
      const base = offsets[0];
      const span = offsets[offsets.length - 1] - base;
      const together = span >= 0 && span <= PIECE_BYTES ? this.#bytes(first, base, base + span) : undefined;
      for (let i = 0; i + 1 < offsets.length; i++) {
        const [start, end] = [offsets[i], offsets[i + 1]];
        const within = together !== undefined && base <= start && start <= end && end <= base + span;
        yield within ? together.subarray(start - base, end - base) : this.#bytes(first + i, start, end);
      }
    }
  }

  /** All strings, by ascending number. */
  *strings(): Generator<string> {
    let number = 0;
    for (const bytes of this.walk()) yield this.#decode(bytes, number++);
  }

  /** Reads everything: strings are sound and distinct, and every one is found under its hash. */
  verify(): void {
    const hashes = new Uint32Array(this.size);
    let number = 0;
    let end = 0;
    for (const bytes of this.walk()) {
      this.#decode(bytes, number);
      hashes[number++] = hashBytes(bytes);
      end += bytes.length;
    }
    this.#file.requireLength(this.#sections.bytes, end);
    this.#verifyEntries(hashes);
  }

  /** Entries that ascend, each with the hash of its own string, are a permutation of all strings. */
  #verifyEntries(hashes: Uint32Array): void {
    let before: { readonly hash: number; readonly number: number } | undefined;
    for (let bucket = 0; bucket < this.#buckets; bucket++) {
      const entries = this.#bucket(bucket);
      for (let i = 0; i < entries.length; i += 2) {
        const entry = { hash: entries[i], number: this.#requireNumber(entries[i + 1]) };
        const sound = entry.hash === hashes[entry.number] && bucketOf(entry.hash, this.#buckets) === bucket;
        if (!sound || (before && !this.#follows(before, entry)))
          throw this.#file.error(
            this.#sections.entries,
            `bucket ${bucket} has a wrong entry for string ${entry.number}`,
          );
        before = entry;
      }
    }
    const [first] = this.#file.u32s(this.#sections.buckets, 0, 1);
    const [last] = this.#file.u32s(this.#sections.buckets, this.#buckets, 1);
    if (first !== 0 || last !== this.size) throw this.#file.error(this.#sections.buckets, 'entries are left out');
  }

  #follows(a: { readonly hash: number; readonly number: number }, b: typeof a): boolean {
    if (a.hash !== b.hash) return a.hash < b.hash;
    return a.number < b.number && !equalBytes(this.bytesAt(a.number), this.bytesAt(b.number));
  }

  #bucket(bucket: number): Uint32Array {
    const bounds = this.#file.slice(this.#sections.buckets, 4 * bucket, 8);
    const [start, end] = [u32At(bounds, 0), u32At(bounds, 4)];
    if (!(start <= end && end <= this.size))
      throw this.#file.error(this.#sections.buckets, `bucket ${bucket} is out of range`, 4 * bucket);
    return asU32s(this.#file.slice(this.#sections.entries, 8 * start, 8 * (end - start)));
  }

  #bytes(number: number, start: number, end: number): Uint8Array {
    if (!(start <= end && end <= this.#file.lengthOf(this.#sections.bytes)))
      throw this.#file.error(this.#sections.offsets, `string ${number} is out of range`, 4 * number);
    return this.#file.slice(this.#sections.bytes, start, end - start);
  }

  #requireNumber(number: number): number {
    if (number < this.size) return number;
    throw this.#file.error(this.#sections.entries, `number ${number}, there are ${this.size} strings`);
  }

  #decode(bytes: Uint8Array, number: number): string {
    try {
      return decoder.decode(bytes);
    } catch {
      throw this.#file.error(this.#sections.bytes, `string ${number} is not UTF-8`);
    }
  }
}
