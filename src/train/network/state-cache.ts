/**
 * Hidden states of documents on disk, so that frozen layers run once for each document. A file that only grows:
 *
 *     header    64 bytes   "lzero states 1\n" and a zero (16) | identity (32) | hidden size H (4) | zeros (12)
 *     record    32 bytes   key (16) | tokens T (4) | CRC-32 of the states (4) | CRC-32 of the 24 bytes before (4) | zeros (4)
 *               4·T·H      states, float32 [T, H]
 *     record    …
 *
 * Numbers are little-endian. The key is the first half of sha256 over the token ids; of two records with one key the later
 * one counts. The identity says what made the states; those of another network are refused.
 *
 * States are kept as the engine gave them, so a run that reads them has the bits of one that computes them. (On another
 * kind of processor the engine may sum in another order: take the cache along with a run, or leave it, not half of it.)
 *
 * A crash may leave a record torn at the end: opening cuts it off. Records are not synced one by one; one whose checksum
 * is wrong counts as missing, is computed again and appended. Knows nothing of networks.
 */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, readvSync, writeSync } from 'node:fs';
import { crc32, errorCode, OutputError, ResumeError } from '../../core/index.ts';
import type { Lock } from '../../files/index.ts';
import { acquireLock } from '../../files/index.ts';
import type { TokenIds } from './micro-batches.ts';
import type { StateKey } from './state-index.ts';
import { StateIndex } from './state-index.ts';

const MAGIC = Buffer.from('lzero states 1\n\0', 'latin1');
const HEADER_BYTES = 64;
const IDENTITY_BYTES = 32;
const KEY_BYTES = 16;
const RECORD_HEADER_BYTES = 32;
/** Bytes of a record's header that its own checksum covers. */
const CHECKED_BYTES = 24;

/** What a cache belongs to, and how large it may become. */
export type StateCacheOptions = {
  /** sha256 of all that decides the states of given token ids, in hexadecimal. */
  readonly identity: string;
  /** H */
  readonly hiddenSize: number;
  /** Of the file; documents beyond are not kept. */
  readonly maxBytes: number;
};

/** An open cache; one process at a time. Close it when done. */
export class StateCache {
  readonly path: string;
  readonly #options: StateCacheOptions;
  readonly #lock: Lock;
  readonly #file: number;
  readonly #index = new StateIndex();
  #end = HEADER_BYTES;
  #isFull = false;
  #isClosed = false;

  /** Opens or makes a cache. `ResumeError` where the file is of another network or no cache at all. */
  static open(path: string, options: StateCacheOptions): StateCache {
    const lock = acquireLock(`${path}.lock`);
    try {
      return new StateCache(path, options, lock);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  private constructor(path: string, options: StateCacheOptions, lock: Lock) {
    this.path = path;
    this.#options = options;
    this.#lock = lock;
    this.#file = openForUpdate(path);
    try {
      this.#readAll();
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
  }

  /** Documents in it. */
  get numDocs(): number {
    return this.#index.size;
  }

  /** Length of the file. */
  get sizeBytes(): number {
    return this.#end;
  }

  /** Whether a document has been turned away because of `maxBytes`. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Writes the states of a document, [T, H], into `states`. False where they are not here; `states` is spoilt then. */
  read(ids: TokenIds, states: Float32Array): boolean {
    const key = keyOf(ids);
    const position = this.#index.get(key);
    if (position === undefined) return false;
    const header = Buffer.alloc(RECORD_HEADER_BYTES);
    const body = bytesOf(states);
    const numRead = readvSync(this.#file, [header, body], position);
    const isWhole = numRead === header.length + body.length && isIntact(header);
    return isWhole && header.readUInt32LE(KEY_BYTES) === ids.length && header.readUInt32LE(20) === crc32(body);
  }

  /** Keeps the states of a document, [T, H]. False where there is no room for them. */
  append(ids: TokenIds, states: Float32Array): boolean {
    const key = keyOf(ids);
    const body = bytesOf(states);
    const position = this.#end;
    const end = position + RECORD_HEADER_BYTES + body.length;
    if (end > this.#options.maxBytes) {
      this.#isFull = true;
      return false;
    }
    try {
      this.#write(Buffer.concat([recordHeader(key, ids.length, crc32(body)), body]), position);
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
      fsyncSync(this.#file);
    } finally {
      closeSync(this.#file);
      this.#lock.release();
    }
  }

  /** Checks the header, finds the records, and cuts off what a crash has left behind them. */
  #readAll(): void {
    const { size } = fstatSync(this.#file);
    const expected = fileHeader(this.#options);
    const found = Buffer.alloc(Math.min(size, HEADER_BYTES));
    readSync(this.#file, found, { position: 0 });
    if (!found.equals(expected.subarray(0, found.length))) {
      const isCache = found.subarray(0, MAGIC.length).equals(MAGIC);
      throw new ResumeError(`${this.path} ${isCache ? 'holds states of another network' : 'is no cache of states'}`, {
        hint: 'move or delete it: the cache is made anew',
      });
    }
    if (found.length < HEADER_BYTES) this.#write(expected, 0);
    while (this.#readRecord(size)) {}
    if (this.#end < size) ftruncateSync(this.#file, this.#end);
  }

  /** Takes in the record at the end of what is known. False where there is none. */
  #readRecord(fileBytes: number): boolean {
    const header = Buffer.alloc(RECORD_HEADER_BYTES);
    const position = this.#end;
    if (readSync(this.#file, header, { position }) < header.length || !isIntact(header)) return false;
    const numTokens = header.readUInt32LE(KEY_BYTES);
    const end = position + RECORD_HEADER_BYTES + 4 * numTokens * this.#options.hiddenSize;
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

function fileHeader({ identity, hiddenSize }: StateCacheOptions): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.write(identity, MAGIC.length, IDENTITY_BYTES, 'hex');
  header.writeUInt32LE(hiddenSize, MAGIC.length + IDENTITY_BYTES);
  return header;
}

function recordHeader(key: StateKey, numTokens: number, statesCrc: number): Buffer {
  const header = Buffer.alloc(RECORD_HEADER_BYTES);
  key.forEach((word, i) => {
    header.writeUInt32LE(word, 4 * i);
  });
  header.writeUInt32LE(numTokens, KEY_BYTES);
  header.writeUInt32LE(statesCrc, 20);
  header.writeUInt32LE(crc32(header.subarray(0, CHECKED_BYTES)), CHECKED_BYTES);
  return header;
}

/** Zeros are no record: their checksum is another number. */
function isIntact(header: Buffer): boolean {
  return header.readUInt32LE(CHECKED_BYTES) === crc32(header.subarray(0, CHECKED_BYTES));
}

function keyOf(ids: TokenIds): StateKey {
  return keyFrom(createHash('sha256').update(bytesOf(ids)).digest());
}

function keyFrom(bytes: Buffer): StateKey {
  return Uint32Array.from({ length: KEY_BYTES / 4 }, (_, i) => bytes.readUInt32LE(4 * i));
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array | Int32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
