/** A growing writer and a distrustful reader of little-endian bytes. Every length is checked before it is believed. */
import { type ErrorDetails, IndexFormatError, type LzeroError } from './errors.ts';

/** Collects bytes. */
export class ByteWriter {
  #bytes = new Uint8Array(256);
  #length = 0;

  /** Bytes so far. */
  get length(): number {
    return this.#length;
  }

  /** One byte. */
  u8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** Four bytes. */
  u32(value: number): void {
    this.#reserve(4);
    for (let shift = 0; shift < 32; shift += 8) this.#bytes[this.#length++] = value >>> shift;
  }

  /** A 32-bit float. */
  f32(value: number): void {
    this.bytes(new Uint8Array(Float32Array.of(value).buffer)); // all platforms of JavaScript are little-endian
  }

  /** Seven bits a byte, low ones first, the high bit says that more follow. */
  varint(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) this.u8((rest & 0x7f) | 0x80);
    this.u8(rest);
  }

  /** Bytes as they are. */
  bytes(values: ArrayLike<number>): void {
    this.#reserve(values.length);
    this.#bytes.set(values, this.#length);
    this.#length += values.length;
  }

  /** Length in bytes, then UTF-8. */
  string(text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.varint(bytes.length);
    this.bytes(bytes);
  }

  /** How many, then each. */
  strings(texts: readonly string[]): void {
    this.varint(texts.length);
    for (const text of texts) this.string(text);
  }

  /** A copy of what was written. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + count));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

/** Makes the error for damaged bytes. */
export type ErrorMaker = (message: string, details?: ErrorDetails) => LzeroError;

const indexFormatError: ErrorMaker = (message, details) => new IndexFormatError(message, details);

/** Reads what ByteWriter wrote; anything else is an error that names the byte, an IndexFormatError unless told otherwise. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #label: string;
  readonly #makeError: ErrorMaker;
  #at = 0;

  /** @param label what messages call the bytes, usually a file name */
  constructor(bytes: Uint8Array, label: string, makeError: ErrorMaker = indexFormatError) {
    this.#bytes = bytes;
    this.#label = label;
    this.#makeError = makeError;
  }

  /** Position of the next byte. */
  get position(): number {
    return this.#at;
  }

  /** Bytes that are left. */
  get left(): number {
    return this.#bytes.length - this.#at;
  }

  /** The error for something wrong at byte `at`. */
  error(message: string, at = this.#at, details?: ErrorDetails): LzeroError {
    return this.#makeError(`${this.#label}: byte ${at}: ${message}`, details);
  }

  /** The next `length` bytes, not copied. */
  bytes(length: number): Uint8Array {
    if (length > this.left) throw this.error(`expected ${length} more bytes, ${this.left} are left`);
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  /** One byte. */
  u8(): number {
    return this.bytes(1)[0];
  }

  /** Four bytes. */
  u32(): number {
    const [a, b, c, d] = this.bytes(4);
    return (a | (b << 8) | (c << 16) | (d << 24)) >>> 0;
  }

  /** A 32-bit float. */
  f32(): number {
    const { buffer, byteOffset } = this.bytes(4); // not a copy by slice(), which a Buffer of Node does not make
    return new DataView(buffer, byteOffset, 4).getFloat32(0, true);
  }

  /** An integer of at most `max`; five bytes hold all that occur. */
  varint(max: number): number {
    const start = this.#at;
    let value = 0;
    for (let scale = 1; scale <= 0x80 ** 4; scale *= 0x80) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte & 0x80) continue;
      if (value > max) throw this.error(`expected at most ${max}, got ${value}`, start);
      return value;
    }
    throw this.error('expected a number of at most five bytes', start);
  }

  /** A number of things that take at least one byte each. */
  count(): number {
    return this.varint(this.left);
  }

  /** Length in bytes, then UTF-8. */
  string(): string {
    const start = this.#at;
    const bytes = this.bytes(this.count());
    return this.utf8(bytes, start);
  }

  /** How many, then each. */
  strings(): string[] {
    return Array.from({ length: this.count() }, () => this.string());
  }

  /** Decodes UTF-8 that was read at byte `at`. */
  utf8(bytes: Uint8Array, at: number): string {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (cause) {
      throw this.error('not UTF-8', at, { cause });
    }
  }
}
