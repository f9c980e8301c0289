/**
 * Bytes by key in a file that only grows: what is dear to compute and may be computed again.
 *
 *     header    64 bytes   "lzero KIND 1\n" and zeros (16) | identity (32) | zeros (16)
 *     record    32 bytes   key (16) | bytes n (4) | CRC-32 of the body (4) | CRC-32 of the 24 bytes before (4) | zeros (4)
 *               n          body
 *     record    …
 *
 * Numbers are little-endian. The key is the first half of a sha256; of two records with one key the later one counts. The
 * identity says what made the bodies; those of another maker are refused.
 *
 * A crash may leave a record torn at the end: opening cuts it off. Records are not synced one by one; one whose checksum
 * is wrong counts as missing, is computed again and appended. What is read only needs no lock, since a file only grows: what
 * somebody appends meanwhile is not seen. Knows nothing of what the bodies are.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  readvSync,
  writeSync,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { assert, crc32, errorCode, InputError, messageOf, OutputError, ResumeError } from '../core/index.ts';
import { freeBytes } from './files.ts';
import type { Lock } from './lock.ts';
import { acquireLock } from './lock.ts';
import type { RecordKey } from './record-index.ts';
import { RecordIndex } from './record-index.ts';

const NAME_BYTES = 16;
const HEADER_BYTES = 64;
const IDENTITY_BYTES = 32;
const KEY_BYTES = 16;
const RECORD_HEADER_BYTES = 32;
/** Bytes of a record's header that its own checksum covers. */
const CHECKED_BYTES = 24;

/** Of the free disk a cache may take so much: what cannot be computed again needs room, too. */
const SHARE_OF_DISK = 0.5;

/** Bytes that the file of a cache may have in all. */
export async function roomForCache(path: string): Promise<number> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  return size + SHARE_OF_DISK * (await freeBytes(dirname(path)));
}

/** What a cache belongs to, and how large it may become. */
export type RecordCacheOptions = {
  /** What the records are, in at most seven letters; also for messages. */
  readonly kind: string;
  /** sha256 of all that decides the body of a given key, in hexadecimal. */
  readonly identity: string;
  /** Of the file; records beyond are not kept. */
  readonly maxBytes: number;
};

/** An open cache; one process at a time, and any number that only read. Close it when done. */
export class RecordCache {
  readonly path: string;
  readonly #options: RecordCacheOptions;
  /** Undefined where it is only read. */
  readonly #lock: Lock | undefined;
  readonly #file: number;
  readonly #index = new RecordIndex();
  #end = HEADER_BYTES;
  #isFull = false;
  #isClosed = false;

  /** Opens or makes a cache. `ResumeError` where the file is of another maker or no cache at all. */
  static open(path: string, options: RecordCacheOptions): RecordCache {
    const lock = acquireLock(`${path}.lock`);
    try {
      return new RecordCache(path, options, lock);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Opens a cache as it is now, to read from, whoever writes to it; undefined where there is none. `ResumeError` as above. */
  static openToRead(path: string, options: Omit<RecordCacheOptions, 'maxBytes'>): RecordCache | undefined {
    return existsSync(path) ? new RecordCache(path, { ...options, maxBytes: 0 }, undefined) : undefined;
  }

  private constructor(path: string, options: RecordCacheOptions, lock: Lock | undefined) {
    this.path = path;
    this.#options = options;
    this.#lock = lock;
    this.#file = lock ? openForUpdate(path) : openForReading(path);
    try {
      this.#readAll();
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
  }

  /** Records in it. */
  get size(): number {
    return this.#index.size;
  }

  /** Length of the file. */
  get sizeBytes(): number {
    return this.#end;
  }

  /** Whether a record has been turned away because of `maxBytes`, or because the disk is full. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Whether there is a record of this key. It may still turn out to be damaged. */
  has(key: RecordKey): boolean {
    return this.#index.get(key) !== undefined;
  }

  /** The body of a key; undefined where it is not here. */
  read(key: RecordKey): Uint8Array<ArrayBuffer> | undefined {
    const position = this.#index.get(key);
    if (position === undefined) return undefined;
    const header = Buffer.alloc(RECORD_HEADER_BYTES);
    if (readSync(this.#file, header, { position }) < header.length || !isIntact(header)) return undefined;
    const body = new Uint8Array(header.readUInt32LE(KEY_BYTES));
    return this.readInto(key, body) ? body : undefined;
  }

  /** Writes the body of a key into `body`. False where none of this size is here; `body` is spoilt then. */
  readInto(key: RecordKey, body: Uint8Array): boolean {
    const position = this.#index.get(key);
    if (position === undefined) return false;
    const header = Buffer.alloc(RECORD_HEADER_BYTES);
    const numRead = readvSync(this.#file, [header, body], position);
    const isWhole = numRead === header.length + body.length && isIntact(header);
    return isWhole && header.readUInt32LE(KEY_BYTES) === body.length && header.readUInt32LE(20) === crc32(body);
  }

  /** Keeps a body. False where there is no room for it. */
  append(key: RecordKey, body: Uint8Array): boolean {
    assert(this.#lock !== undefined, `${this.path} is only read`);
    const position = this.#end;
    const end = position + RECORD_HEADER_BYTES + body.length;
    if (end > this.#options.maxBytes) {
      this.#isFull = true;
      return false;
    }
    try {
      this.#write(Buffer.concat([recordHeader(key, body), body]), position);
    } catch (error) {
      if (!(error instanceof OutputError) || !isOutOfSpace(error.cause)) throw error;
      this.#isFull = true; // what is torn is written over, or cut off when the file is opened again
      return false;
    }
    this.#index.set(key, position);
    this.#end = end;
    return true;
  }

  /** Closes the file and lets others open it. Does nothing the second time. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      if (this.#lock) fsyncSync(this.#file);
    } finally {
      closeSync(this.#file);
      this.#lock?.release();
    }
  }

  /** Checks the header, finds the records, and cuts off what a crash has left behind them. */
  #readAll(): void {
    const { size } = fstatSync(this.#file);
    const expected = fileHeader(this.#options);
    const found = Buffer.alloc(Math.min(size, HEADER_BYTES));
    readSync(this.#file, found, { position: 0 });
    if (!found.equals(expected.subarray(0, found.length))) {
      const { kind } = this.#options;
      const isCache = found.subarray(0, NAME_BYTES).equals(expected.subarray(0, NAME_BYTES));
      throw new ResumeError(`${this.path} ${isCache ? `holds ${kind} of another network` : `is no cache of ${kind}`}`, {
        hint: 'move or delete it: the cache is made anew',
      });
    }
    if (this.#lock && found.length < HEADER_BYTES) this.#write(expected, 0);
    while (this.#readRecord(size)) {}
    if (this.#lock && this.#end < size) ftruncateSync(this.#file, this.#end);
  }

  /** Takes in the record at the end of what is known. False where there is none. */
  #readRecord(fileBytes: number): boolean {
    const header = Buffer.alloc(RECORD_HEADER_BYTES);
    const position = this.#end;
    if (readSync(this.#file, header, { position }) < header.length || !isIntact(header)) return false;
    const end = position + RECORD_HEADER_BYTES + header.readUInt32LE(KEY_BYTES);
    if (end > fileBytes) return false;
    this.#index.set(keyFrom(header), position);
    this.#end = end;
    return true;
  }

  #write(bytes: Uint8Array, position: number): void {
    try {
      for (let done = 0; done < bytes.length; )
        done += writeSync(this.#file, bytes, done, bytes.length - done, position + done);
    } catch (cause) {
      throw OutputError.writing(this.path, cause);
    }
  }
}

function isOutOfSpace(cause: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(errorCode(cause));
}

/** For reading and writing at any place; made where it is not there. */
function openForUpdate(path: string): number {
  try {
    closeSync(openSync(path, 'a'));
    return openSync(path, 'r+');
  } catch (cause) {
    throw OutputError.writing(path, cause);
  }
}

function openForReading(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (cause) {
    throw new InputError(`cannot read ${path}: ${messageOf(cause)}`, {
      hint: 'give yourself the right to read it, or move it: the cache is made anew',
      cause,
    });
  }
}

function fileHeader({ kind, identity }: RecordCacheOptions): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(`lzero ${kind} 1\n`, 0, NAME_BYTES, 'latin1');
  header.write(identity, NAME_BYTES, IDENTITY_BYTES, 'hex');
  return header;
}

function recordHeader(key: RecordKey, body: Uint8Array): Buffer {
  const header = Buffer.alloc(RECORD_HEADER_BYTES);
  key.forEach((word, i) => {
    header.writeUInt32LE(word, 4 * i);
  });
  header.writeUInt32LE(body.length, KEY_BYTES);
  header.writeUInt32LE(crc32(body), 20);
  header.writeUInt32LE(crc32(header.subarray(0, CHECKED_BYTES)), CHECKED_BYTES);
  return header;
}

/** Zeros are no record: their checksum is another number. */
function isIntact(header: Buffer): boolean {
  return header.readUInt32LE(CHECKED_BYTES) === crc32(header.subarray(0, CHECKED_BYTES));
}

/** The key of something: by sha256 over its bytes. */
export function recordKey(content: Uint8Array | string): RecordKey {
  return keyFrom(createHash('sha256').update(content).digest());
}

function keyFrom(bytes: Buffer): RecordKey {
  return Uint32Array.from({ length: KEY_BYTES / 4 }, (_, i) => bytes.readUInt32LE(4 * i));
}
