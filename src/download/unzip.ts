/**
 * Unpacks a zip archive into a folder, as a stream, and trusts nothing in it: no file leaves the folder, sizes and
 * checksums must hold, and what comes out is limited. The table of contents is zip-directory.ts.
 */
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import {
  DownloadError,
  type ErrorMaker,
  errorCode,
  InterruptedError,
  LzeroError,
  messageOf,
  OutputError,
  type Progress,
  quoted,
  silentProgress,
} from '../core/index.ts';
import { damaged, findZipContent, readZipDirectory, type ZipEntry, type ZipSource } from './zip-directory.ts';

/** How to unpack. */
export type UnzipOptions = {
  /** Where a file of the archive goes, relative to the folder; undefined leaves it out. By default where it is. */
  readonly place?: ((name: string) => string | undefined) | undefined;
  /** Bytes that may come out in all. */
  readonly maxBytes?: number | undefined;
  /** Stops with an InterruptedError; what was unpacked stays. */
  readonly signal?: AbortSignal | undefined;
  readonly progress?: Progress | undefined;
};

/** BEIR's largest set unpacks to 3 GB. */
const DEFAULT_MAX_BYTES = 64 * 1024 ** 3;
const CHUNK_BYTES = 256 * 1024;

/** A file of the archive and where it goes. */
type Target = { readonly entry: ZipEntry; readonly path: string };

/**
 * Unpacks `archive` into `folder`, which is made if need be, and gives the names of the files there. Files are forced
 * to disk. On a failure part of them may be there: unpack into a folder of its own and rename it.
 */
export async function unzip(archive: string, folder: string, options: UnzipOptions = {}): Promise<string[]> {
  const { progress = silentProgress } = options;
  const file = await openArchive(archive);
  try {
    const source = await zipSource(file, archive);
    const targets = chooseTargets(await readZipDirectory(source), source, options);
    const total = targets.reduce((sum, { entry }) => sum + entry.sizeBytes, 0);
    progress.start({ label: 'unpacking', unit: 'bytes', total });
    let done = 0;
    const onBytes = (numBytes: number): void => {
      done += numBytes;
      progress.update(done);
    };
    for (const target of targets) await extract(target, { source, folder, signal: options.signal, onBytes });
    return targets.map(({ path }) => path);
  } finally {
    progress.stop();
    await file.close();
  }
}

async function openArchive(archive: string): Promise<FileHandle> {
  try {
    return await open(archive, 'r');
  } catch (cause) {
    throw new DownloadError(`cannot open ${archive}: ${messageOf(cause)}`, { cause });
  }
}

async function zipSource(file: FileHandle, archive: string): Promise<ZipSource> {
  const { size } = await file.stat();
  const makeError: ErrorMaker = (message, details) => new DownloadError(message, details);
  return {
    name: archive,
    sizeBytes: size,
    read: (offset, sizeBytes) => readAt(file, offset, sizeBytes),
    makeError,
  };
}

async function readAt(file: FileHandle, offset: number, sizeBytes: number): Promise<Buffer> {
  const bytes = Buffer.alloc(sizeBytes);
  for (let done = 0; done < sizeBytes; ) {
    const { bytesRead } = await file.read(bytes, done, sizeBytes - done, offset + done);
    if (bytesRead === 0) throw new DownloadError(`expected ${sizeBytes} bytes at ${offset}, the file ends before`);
    done += bytesRead;
  }
  return bytes;
}

function chooseTargets(entries: readonly ZipEntry[], source: ZipSource, options: UnzipOptions): Target[] {
  const { place = (name: string) => name, maxBytes = DEFAULT_MAX_BYTES } = options;
  const targets: Target[] = [];
  for (const entry of entries) {
    if (entry.name.endsWith('/')) continue;
    checkPath(entry.name, source);
    const path = place(entry.name);
    if (path !== undefined) targets.push({ entry, path });
  }
  // Entries that share their bytes are how a small archive becomes a huge one.
  const packedBytes = targets.reduce((sum, { entry }) => sum + entry.packedBytes, 0);
  if (packedBytes > source.sizeBytes) throw damaged(source, 'its entries overlap');
  const paths = new Set(targets.map(({ path }) => path));
  if (paths.size < targets.length) throw damaged(source, 'two entries have the same name');
  const total = targets.reduce((sum, { entry }) => sum + entry.sizeBytes, 0);
  if (total > maxBytes) throw new DownloadError(`${source.name} unpacks to ${total} bytes, allowed are ${maxBytes}`);
  return targets;
}

/** The longest name of a file on the usual systems, and room for some folders. */
const MAX_STEP = 255;
const MAX_NAME = 1000;

/** Refuses names that could lead out of the folder, on any system, and those that no file has. */
function checkPath(name: string, source: ZipSource): void {
  const isSafe =
    name.length <= MAX_NAME &&
    !/[\p{Cc}\\]|^\/|^[A-Za-z]:|\ufffd/u.test(name) &&
    name.split('/').every((step) => step !== '' && step !== '.' && step !== '..' && step.length <= MAX_STEP);
  if (!isSafe) throw damaged(source, `the name ${quoted(name)} is not allowed`);
}

/** What all files of an archive have in common. */
type Unpacking = {
  readonly source: ZipSource;
  readonly folder: string;
  readonly signal: AbortSignal | undefined;
  readonly onBytes: (numBytes: number) => void;
};

async function extract({ entry, path }: Target, { source, folder, signal, onBytes }: Unpacking): Promise<void> {
  const target = join(folder, path);
  const output = await createFile(target);
  let sizeBytes = 0;
  let crc = 0;
  try {
    for await (const bytes of entryBytes(source.name, entry, await findZipContent(source, entry))) {
      if (signal?.aborted) throw new InterruptedError();
      sizeBytes += bytes.length;
      if (sizeBytes > entry.sizeBytes) break; // a bomb, or damaged
      crc = crc32(bytes, crc);
      await writeAll(output, bytes, target);
      onBytes(bytes.length);
    }
    if (sizeBytes !== entry.sizeBytes || crc !== entry.crc32)
      throw damaged(source, `size or checksum of ${quoted(entry.name)} is wrong`);
    await output.sync();
  } catch (cause) {
    throw cause instanceof LzeroError ? cause : unpackFailure(source, entry, cause);
  } finally {
    await output.close();
  }
}

function unpackFailure(source: ZipSource, entry: ZipEntry, cause: unknown): LzeroError {
  return errorCode(cause).startsWith('Z_')
    ? damaged(source, `${quoted(entry.name)}: ${messageOf(cause)}`)
    : OutputError.writing(entry.name, cause);
}

async function createFile(path: string): Promise<FileHandle> {
  try {
    await mkdir(dirname(path), { recursive: true });
    return await open(path, 'wx');
  } catch (error) {
    throw OutputError.writing(path, error);
  }
}

async function writeAll(output: FileHandle, bytes: Uint8Array, path: string): Promise<void> {
  try {
    await output.writeFile(bytes); // from where the last one ended
  } catch (error) {
    throw OutputError.writing(path, error);
  }
}

function entryBytes(archive: string, entry: ZipEntry, start: number): AsyncIterable<Buffer> {
  if (entry.packedBytes === 0) return emptyStream();
  const raw = createReadStream(archive, { start, end: start + entry.packedBytes - 1, highWaterMark: CHUNK_BYTES });
  if (entry.method === 'stored') return raw;
  // The callback is needed by pipeline only: a failure also destroys the inflater, which throws it to its reader.
  return pipeline(raw, createInflateRaw({ chunkSize: CHUNK_BYTES }), () => {});
}

async function* emptyStream(): AsyncGenerator<Buffer> {}
