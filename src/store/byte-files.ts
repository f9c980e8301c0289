/**
 * Files as the index sees them: bytes that can be read anywhere, and bytes written once, in order, with a running
 * checksum. Every other file of this folder reads and writes through here. Knows nothing of what the bytes mean.
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { errorCode, IndexFormatError, messageOf, OutputError } from '../core/index.ts';
import type { ByteSink, ByteSource } from '../search/index.ts';

/** Bytes that one system call reads at most: Node refuses 2 GiB. */
const READ_PIECE_BYTES = 2 ** 30;
/** Bytes that collect before they are written. */
const SINK_BUFFER_BYTES = 2 ** 20;

/** A file descriptor that another thread of this process may read from too. */
export type OpenFile = { readonly fd: number; readonly sizeBytes: number; readonly label: string };

/** A file that is open for positional reads. A writer may delete it meanwhile: its bytes stay until it is closed. */
export class FileSource implements ByteSource {
  readonly label: string;
  readonly sizeBytes: number;
  readonly #fd: number;
  #isOpen = true;

  /** Opens a file. Failures are thrown as they come: the caller knows what a missing file means. */
  static open(path: string): FileSource {
    const fd = openSync(path, 'r');
    try {
      return new FileSource({ fd, sizeBytes: fstatSync(fd).size, label: path });
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /** Reads through a descriptor that is open already. */
  constructor({ fd, sizeBytes, label }: OpenFile) {
    this.#fd = fd;
    this.sizeBytes = sizeBytes;
    this.label = label;
  }

  /** What a second thread needs to read the same file. It must not close it. */
  get openFile(): OpenFile {
    return { fd: this.#fd, sizeBytes: this.sizeBytes, label: this.label };
  }

  read(offset: number, length: number): Uint8Array<ArrayBuffer> {
    // Not pooled, and a plain Uint8Array: a Buffer's slice() would be a view where callers expect a copy.
    const bytes = new Uint8Array(Buffer.allocUnsafeSlow(this.#check(offset, length)).buffer, 0, length);
    this.readInto(offset, bytes);
    return bytes;
  }

  readInto(offset: number, target: Uint8Array): void {
    const length = this.#check(offset, target.length);
    for (let at = 0; at < length; ) {
      const numRead = this.#readPiece(target, at, offset + at);
      if (numRead === 0) throw this.#failure(offset + at, 'the file has become shorter');
      at += numRead;
    }
  }

  /** The length, if all of it is there. */
  #check(offset: number, length: number): number {
    if (offset < 0 || length < 0 || offset + length > this.sizeBytes)
      throw new IndexFormatError(
        `${this.label}: byte ${offset}: expected ${length} more bytes, the file has ${this.sizeBytes}`,
      );
    if (!this.#isOpen) throw this.#failure(offset, 'it is closed'); // its descriptor may be another file's by now
    return length;
  }

  #readPiece(bytes: Uint8Array, at: number, position: number): number {
    try {
      return readSync(this.#fd, bytes, at, Math.min(bytes.length - at, READ_PIECE_BYTES), position);
    } catch (cause) {
      throw this.#failure(position, messageOf(cause), cause);
    }
  }

  #failure(position: number, problem: string, cause?: unknown): IndexFormatError {
    return new IndexFormatError(`${this.label}: byte ${position}: cannot be read: ${problem}`, { cause });
  }

  /** Does nothing the second time. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#fd);
  }
}

/** Opens a file; undefined where there is none, an IndexFormatError where it cannot be opened. */
export function openIfThere(path: string): FileSource | undefined {
  try {
    return FileSource.open(path);
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw new IndexFormatError(`${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/** Size and checksum of a finished file. */
export type FileSummary = { readonly sizeBytes: number; readonly crc32: number };

/** Writes a new file. Failures are OutputError; `finish` makes it durable, `discard` removes it. */
export class FileSink implements ByteSink {
  readonly #path: string;
  readonly #buffer = new Uint8Array(SINK_BUFFER_BYTES);
  readonly #onProgress: ((sizeBytes: number) => void) | undefined;
  #fd: number | undefined;
  #buffered = 0;
  #sizeBytes = 0;
  #crc = 0;

  /** @param onProgress told the size so far, about once a mebibyte */
  constructor(path: string, onProgress?: (sizeBytes: number) => void) {
    this.#path = path;
    this.#onProgress = onProgress;
    this.#fd = attempt(path, () => openSync(path, 'w'));
  }

  write(bytes: Uint8Array): void {
    if (this.#buffered + bytes.length > this.#buffer.length) this.#flush();
    if (bytes.length > this.#buffer.length) {
      this.#append(bytes);
      return;
    }
    this.#buffer.set(bytes, this.#buffered);
    this.#buffered += bytes.length;
  }

  /** Forces all bytes to disk and closes the file. Its name is durable once its folder is synced. */
  finish(): FileSummary {
    this.#flush();
    const fd = this.#open();
    attempt(this.#path, () => fsyncSync(fd));
    this.#close();
    return { sizeBytes: this.#sizeBytes, crc32: this.#crc };
  }

  /** Closes and removes a file that is not wanted; a finished one is kept. */
  discard(): void {
    if (this.#fd === undefined) return;
    this.#close();
    removeQuietly(this.#path);
  }

  #flush(): void {
    this.#append(this.#buffer.subarray(0, this.#buffered));
    this.#buffered = 0;
  }

  #append(bytes: Uint8Array): void {
    const fd = this.#open();
    attempt(this.#path, () => writeAll(fd, bytes));
    this.#crc = crc32(bytes, this.#crc);
    this.#sizeBytes += bytes.length;
    this.#onProgress?.(this.#sizeBytes);
  }

  #open(): number {
    if (this.#fd === undefined) throw new OutputError(`cannot write ${this.#path}: it is closed`);
    return this.#fd;
  }

  #close(): void {
    const fd = this.#open();
    this.#fd = undefined;
    closeSync(fd);
  }
}

/** Writes a whole file through a sink; one that fails leaves nothing. */
export function writeThroughSink<T>(
  path: string,
  write: (sink: ByteSink) => T,
  onProgress?: (sizeBytes: number) => void,
): { readonly file: FileSummary; readonly result: T } {
  const sink = new FileSink(path, onProgress);
  try {
    const result = write(sink);
    return { file: sink.finish(), result };
  } finally {
    sink.discard();
  }
}

/** Writes all bytes at the file's position, or at `position`. */
export function writeAll(fd: number, bytes: Uint8Array, position?: number): void {
  for (let at = 0; at < bytes.length; ) {
    const place = position === undefined ? null : position + at;
    at += writeSync(fd, bytes, at, Math.min(bytes.length - at, READ_PIECE_BYTES), place);
  }
}

function attempt<T>(path: string, call: () => T): T {
  try {
    return call();
  } catch (cause) {
    throw OutputError.writing(path, cause);
  }
}

/** Removes a file that nobody needs. One that stays, or is gone already, is no failure: the next writer looks again. */
export function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Windows keeps files that a reader has open.
  }
}

/** Whether a failure says that a file is not there, its folder perhaps being none. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(errorCode(error));
}

/** Bytes read at once where a file is only summed up. */
const CHECK_PIECE_BYTES = 16 * 2 ** 20;

/** Checksum of everything in a source, with a pause after each piece for whoever else waits. */
export async function checksumOf(source: ByteSource, pause: () => Promise<void>): Promise<number> {
  let crc = 0;
  for (let at = 0; at < source.sizeBytes; at += CHECK_PIECE_BYTES) {
    crc = crc32(source.read(at, Math.min(CHECK_PIECE_BYTES, source.sizeBytes - at)), crc);
    await pause();
  }
  return crc;
}
