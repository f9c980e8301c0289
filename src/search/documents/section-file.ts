/**
 * A file of named sections with checksums, written in one go without seeking back. The documents and the vectors of a
 * segment are such files; what a section means is their business.
 *
 *     magic, 4 bytes      u8 version      3 zero bytes
 *     the sections, one after another
 *     footer:  u32 n, then n × { string name, u32 length (low), u32 length (high), u32 CRC-32 of the section }
 *     u32 bytes of the footer      u32 CRC-32 of the footer      magic again
 *
 * Opening reads header and footer. A section is then read whole and checked, or by position and unchecked: `verify` is
 * for the bytes that nobody reads whole.
 */
import { ByteReader, ByteWriter, crc32, IndexFormatError, updateCrc32 } from '../../core/index.ts';
import type { ByteSink, ByteSource } from '../types.ts';

/** What kind of file it is. */
export type FileKind = {
  /** What messages call it: 'documents file'. */
  readonly name: string;
  /** Four letters. */
  readonly magic: string;
  readonly version: number;
};

const HEADER_BYTES = 8;
const TRAILER_BYTES = 12;
/** Bytes that are read at once where a section is walked through. */
export const PIECE_BYTES = 1 << 20;
/** A name and its length, two halves of a length, a checksum. */
const MIN_ENTRY_BYTES = 13;
/** Lengths and positions stay exact integers. */
const MAX_HIGH = 0x1fffff;

/** Writes a file section by section. */
export class SectionWriter {
  readonly #sink: ByteSink;
  readonly #kind: FileKind;
  readonly #finished: Section[] = [];
  #current: { readonly name: string; lengthBytes: number; crc: number } | undefined;
  #offset = HEADER_BYTES;

  constructor(sink: ByteSink, kind: FileKind) {
    this.#sink = sink;
    this.#kind = kind;
    sink.write(Uint8Array.of(...magicBytes(kind), kind.version, 0, 0, 0));
  }

  /** Ends the section before and begins the next. */
  begin(name: string): void {
    this.#end();
    this.#current = { name, lengthBytes: 0, crc: 0 };
  }

  /** Appends to the section begun last. */
  write(bytes: Uint8Array): void {
    const section = this.#current;
    if (!section) throw new Error('bug: bytes before the first section');
    section.crc = updateCrc32(section.crc, bytes);
    section.lengthBytes += bytes.length;
    this.#sink.write(bytes);
  }

  /** A whole section at once. */
  section(name: string, bytes: Uint8Array): void {
    this.begin(name);
    this.write(bytes);
  }

  /** Ends the last section and writes the footer. */
  finish(): void {
    this.#end();
    const footer = new ByteWriter();
    footer.u32(this.#finished.length);
    for (const { name, lengthBytes, crc } of this.#finished) {
      footer.string(name);
      footer.u32(lengthBytes % 2 ** 32);
      footer.u32(Math.floor(lengthBytes / 2 ** 32));
      footer.u32(crc);
    }
    const bytes = footer.finish();
    const trailer = new ByteWriter();
    trailer.u32(bytes.length);
    trailer.u32(crc32(bytes));
    trailer.bytes(magicBytes(this.#kind));
    this.#sink.write(bytes);
    this.#sink.write(trailer.finish());
  }

  #end(): void {
    if (!this.#current) return;
    this.#finished.push({ ...this.#current, offset: this.#offset });
    this.#offset += this.#current.lengthBytes;
    this.#current = undefined;
  }
}

type Section = {
  readonly name: string;
  readonly offset: number;
  readonly lengthBytes: number;
  readonly crc: number;
};

/** A file that SectionWriter wrote. Anything else is an IndexFormatError that names file and byte. */
export class SectionFile {
  readonly source: ByteSource;
  readonly #sections: ReadonlyMap<string, Section>;

  constructor(source: ByteSource, kind: FileKind) {
    this.source = source;
    if (source.sizeBytes < HEADER_BYTES + TRAILER_BYTES)
      throw new IndexFormatError(`${source.label}: not a ${kind.name}: it has ${source.sizeBytes} bytes`);
    checkHeader(source, kind);
    this.#sections = readFooter(source, kind);
  }

  /** The error for something wrong in a section, `at` bytes into it. */
  error(name: string, message: string, at = 0): IndexFormatError {
    const { offset } = this.#section(name);
    return new IndexFormatError(`${this.source.label}: byte ${offset + at} (${name}): ${message}`);
  }

  /** Bytes of a section. */
  lengthOf(name: string): number {
    return this.#section(name).lengthBytes;
  }

  /** Where a section begins in the file. */
  offsetOf(name: string): number {
    return this.#section(name).offset;
  }

  /** Bytes of a section by position, bounds checked, checksum not. */
  slice(name: string, at: number, length: number): Uint8Array {
    const section = this.#section(name);
    if (!(at >= 0 && length >= 0 && at + length <= section.lengthBytes))
      throw this.error(name, `expected ${length} bytes at ${at}, the section has ${section.lengthBytes}`);
    return readBytes(this.source, section.offset + at, length);
  }

  /** A whole section, checksum checked. For directories, not for what grows with the collection's text. */
  whole(name: string): Uint8Array {
    const { lengthBytes, crc } = this.#section(name);
    const bytes = this.slice(name, 0, lengthBytes);
    if (crc32(bytes) !== crc) throw this.#damaged(name);
    return bytes;
  }

  /** A section of 32-bit integers, by position. */
  u32s(name: string, first: number, count: number): Uint32Array {
    return asU32s(this.slice(name, 4 * first, 4 * count));
  }

  /** A section piece by piece, each a multiple of `unitBytes`. */
  *pieces(name: string, unitBytes = 1): Generator<Uint8Array> {
    const length = this.lengthOf(name);
    const step = Math.max(1, Math.floor(PIECE_BYTES / unitBytes)) * unitBytes;
    for (let at = 0; at < length; at += step) yield this.slice(name, at, Math.min(step, length - at));
  }

  /** Reads every section and checks its checksum. */
  verify(): void {
    for (const { name, crc } of this.#sections.values()) {
      let found = 0;
      for (const piece of this.pieces(name)) found = updateCrc32(found, piece);
      if (found !== crc) throw this.#damaged(name);
    }
  }

  /** Throws unless a section has exactly this many bytes. */
  requireLength(name: string, expected: number): void {
    const length = this.lengthOf(name);
    if (length !== expected) throw this.error(name, `expected ${expected} bytes, the section has ${length}`);
  }

  #damaged(name: string): IndexFormatError {
    return this.error(name, 'the checksum does not fit: the file is damaged');
  }

  #section(name: string): Section {
    const section = this.#sections.get(name);
    if (section) return section;
    throw new IndexFormatError(`${this.source.label}: the section ${JSON.stringify(name)} is missing`);
  }
}

function checkHeader(source: ByteSource, kind: FileKind): void {
  const input = new ByteReader(readBytes(source, 0, HEADER_BYTES), source.label);
  if (!isMagic(input.bytes(4), kind)) throw input.error(`not a ${kind.name}: it begins with "${kind.magic}"`, 0);
  const version = input.u8();
  if (version !== kind.version) throw input.error(`expected version ${kind.version}, got ${version}`, 4);
  if (input.bytes(3).some((byte) => byte !== 0)) throw input.error('expected three zero bytes', 5);
}

function readFooter(source: ByteSource, kind: FileKind): Map<string, Section> {
  const end = source.sizeBytes - TRAILER_BYTES;
  const trailer = new ByteReader(readBytes(source, end, TRAILER_BYTES), `${source.label}: the last bytes`);
  const lengthBytes = trailer.u32();
  const crc = trailer.u32();
  if (!isMagic(trailer.bytes(4), kind)) throw trailer.error(`expected "${kind.magic}" at the end: the file is cut off`);
  if (lengthBytes > end - HEADER_BYTES) throw trailer.error(`a footer of ${lengthBytes} bytes does not fit`, 0);
  const footer = readBytes(source, end - lengthBytes, lengthBytes);
  if (crc32(footer) !== crc) throw trailer.error('the checksum of the footer does not fit: the file is damaged', 4);
  return readSections(new ByteReader(footer, `${source.label}: footer`), end - lengthBytes);
}

/** @param end where the sections end, which their lengths must add up to */
function readSections(input: ByteReader, end: number): Map<string, Section> {
  const sections = new Map<string, Section>();
  const count = input.u32();
  if (count > input.left / MIN_ENTRY_BYTES) throw input.error(`${count} sections do not fit`, 0);
  let offset = HEADER_BYTES;
  for (let i = 0; i < count; i++) {
    const name = input.string();
    const low = input.u32();
    const high = input.u32();
    if (high > MAX_HIGH) throw input.error(`the length of ${JSON.stringify(name)} is out of range`);
    const lengthBytes = high * 2 ** 32 + low;
    if (sections.has(name)) throw input.error(`the section ${JSON.stringify(name)} occurs twice`);
    sections.set(name, { name, offset, lengthBytes, crc: input.u32() });
    offset += lengthBytes;
  }
  if (input.left > 0 || offset !== end) throw input.error(`the sections end at byte ${offset}, expected ${end}`);
  return sections;
}

/** A plain Uint8Array also of a Node Buffer, whose `slice` would not copy. */
function readBytes(source: ByteSource, offset: number, length: number): Uint8Array {
  const bytes = source.read(offset, length);
  if (bytes.constructor === Uint8Array) return bytes; // a second view would take longer than the read
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

function magicBytes({ magic }: FileKind): number[] {
  return Array.from(magic, (letter) => letter.charCodeAt(0));
}

function isMagic(bytes: Uint8Array, kind: FileKind): boolean {
  return magicBytes(kind).every((byte, i) => bytes[i] === byte);
}

/** The bytes of numbers, not copied; all platforms of JavaScript are little-endian. */
export function bytesOf(numbers: Uint32Array | Float32Array | Float64Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

/** The 32-bit integer that begins at a position. For one or two of them: views and copies of so few cost more. */
export function u32At(bytes: Uint8Array, at: number): number {
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}

/** A copy of bytes at any position, as 32-bit integers. */
export function asU32s(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(new Uint8Array(bytes).buffer);
}

/** A copy of bytes at any position, as 64-bit floats. */
export function asF64s(bytes: Uint8Array): Float64Array {
  return new Float64Array(new Uint8Array(bytes).buffer);
}
