/**
 * The table of contents of a zip archive (PKWARE APPNOTE 6.3.10, zip64 included). Every number in it is checked before
 * it is used: archives come from elsewhere. Unpacking is unzip.ts.
 *
 *     local header, bytes │ local header, bytes │ … │ central directory │ [zip64 end, locator] │ end record, comment
 */
import type { FileHandle } from 'node:fs/promises';
import { DownloadError } from '../core/index.ts';

/** A file in an archive. */
export type ZipEntry = {
  /** As stored, with forward slashes. A folder ends in one. */
  readonly name: string;
  readonly method: 'stored' | 'deflated';
  readonly crc32: number;
  readonly packedBytes: number;
  readonly sizeBytes: number;
  /** Where its local header begins. */
  readonly offset: number;
};

const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;
const LOCATOR_SIGNATURE = 0x07064b50;
const LOCATOR_BYTES = 20;
const END64_SIGNATURE = 0x06064b50;
const END64_BYTES = 56;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;
const ZIP64_EXTRA = 0x0001;
/** In place of a number that is in the zip64 field. */
const IN_ZIP64 = 0xffffffff;
const IS_ENCRYPTED = 1;
const UNIX_LINK = 0xa000;
/** Largest central directory that is read; one of 100,000 entries has about 10 MB. */
const MAX_DIRECTORY_BYTES = 64 * 1024 * 1024;

/** Reads the entries of an archive. `name` is for messages. */
export async function readZipDirectory(file: FileHandle, name: string): Promise<ZipEntry[]> {
  const { size } = await file.stat();
  const { offset, sizeBytes, numEntries } = await findDirectory(file, size, name);
  if (offset + sizeBytes > size || sizeBytes > MAX_DIRECTORY_BYTES)
    throw damaged(name, `a directory of ${sizeBytes} bytes at ${offset}, the file has ${size}`);
  const directory = await readAt(file, offset, sizeBytes);
  const entries: ZipEntry[] = [];
  for (let at = 0; entries.length < numEntries; ) {
    const { entry, nextAt } = parseEntry(directory, at, name);
    if (entry.offset + entry.packedBytes > size) throw damaged(name, `${entry.name} reaches beyond the end`);
    entries.push(entry);
    at = nextAt;
  }
  return entries;
}

/** An archive that cannot be trusted. */
export function damaged(name: string, what: string): DownloadError {
  return new DownloadError(`${name} is not a sound zip archive: ${what}`, { hint: 'delete it and fetch it again' });
}

/** Bytes at a place, all of them or an error. */
export async function readAt(file: FileHandle, offset: number, sizeBytes: number): Promise<Buffer> {
  const bytes = Buffer.alloc(sizeBytes);
  for (let done = 0; done < sizeBytes; ) {
    const { bytesRead } = await file.read(bytes, done, sizeBytes - done, offset + done);
    if (bytesRead === 0) throw new DownloadError(`expected ${sizeBytes} bytes at ${offset}, the file ends before`);
    done += bytesRead;
  }
  return bytes;
}

type DirectoryPlace = { readonly offset: number; readonly sizeBytes: number; readonly numEntries: number };

async function findDirectory(file: FileHandle, size: number, name: string): Promise<DirectoryPlace> {
  const tailBytes = Math.min(size, END_BYTES + MAX_COMMENT_BYTES);
  const tail = await readAt(file, size - tailBytes, tailBytes);
  const at = findEnd(tail);
  if (at < 0) throw damaged(name, 'it has no end record; was it cut short?');
  const place = {
    numEntries: tail.readUInt16LE(at + 10),
    sizeBytes: tail.readUInt32LE(at + 12),
    offset: tail.readUInt32LE(at + 16),
  };
  const needs64 = place.numEntries === 0xffff || place.sizeBytes === IN_ZIP64 || place.offset === IN_ZIP64;
  return needs64 ? await findDirectory64(file, size - tailBytes + at, name) : place;
}

/** The end record is the last whose comment reaches exactly to the end of the file. */
function findEnd(tail: Buffer): number {
  for (let at = tail.length - END_BYTES; at >= 0; at--)
    if (tail.readUInt32LE(at) === END_SIGNATURE && at + END_BYTES + tail.readUInt16LE(at + 20) === tail.length)
      return at;
  return -1;
}

async function findDirectory64(file: FileHandle, endOffset: number, name: string): Promise<DirectoryPlace> {
  if (endOffset < LOCATOR_BYTES) throw damaged(name, 'no zip64 locator');
  const locator = await readAt(file, endOffset - LOCATOR_BYTES, LOCATOR_BYTES);
  if (locator.readUInt32LE(0) !== LOCATOR_SIGNATURE) throw damaged(name, 'no zip64 locator');
  const at = toNumber(locator.readBigUInt64LE(8), name);
  if (at + END64_BYTES > endOffset) throw damaged(name, 'the zip64 record reaches beyond its place');
  const record = await readAt(file, at, END64_BYTES);
  if (record.readUInt32LE(0) !== END64_SIGNATURE) throw damaged(name, 'no zip64 record');
  return {
    numEntries: toNumber(record.readBigUInt64LE(32), name),
    sizeBytes: toNumber(record.readBigUInt64LE(40), name),
    offset: toNumber(record.readBigUInt64LE(48), name),
  };
}

function toNumber(value: bigint, name: string): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw damaged(name, `the number ${value} is impossible`);
  return Number(value);
}

function parseEntry(bytes: Buffer, at: number, archive: string): { entry: ZipEntry; nextAt: number } {
  if (at + ENTRY_BYTES > bytes.length || bytes.readUInt32LE(at) !== ENTRY_SIGNATURE)
    throw damaged(archive, `no entry at byte ${at} of the directory`);
  const nameAt = at + ENTRY_BYTES;
  const extraAt = nameAt + bytes.readUInt16LE(at + 28);
  const commentAt = extraAt + bytes.readUInt16LE(at + 30);
  const nextAt = commentAt + bytes.readUInt16LE(at + 32);
  if (nextAt > bytes.length) throw damaged(archive, `the entry at byte ${at} of the directory is cut short`);
  const name = bytes.toString('utf8', nameAt, extraAt);
  refuseSpecial(bytes, at, `${archive}: ${name}`);
  const sizes = readSizes(bytes, at, { extra: bytes.subarray(extraAt, commentAt), archive });
  const method = methodOf(bytes.readUInt16LE(at + 10), `${archive}: ${name}`);
  return { entry: { name, method, crc32: bytes.readUInt32LE(at + 16), ...sizes }, nextAt };
}

function refuseSpecial(bytes: Buffer, at: number, name: string): void {
  if (bytes.readUInt16LE(at + 8) & IS_ENCRYPTED) throw new DownloadError(`${name} is encrypted`);
  // The upper half of the external attributes is the Unix mode. A link would let later entries leave the folder.
  if ((bytes.readUInt16LE(at + 40) & 0xf000) === UNIX_LINK) throw new DownloadError(`${name} is a link`);
}

function methodOf(method: number, name: string): ZipEntry['method'] {
  if (method === 0) return 'stored';
  if (method === 8) return 'deflated';
  throw new DownloadError(`${name} is packed by method ${method}, known are 0 (stored) and 8 (deflated)`);
}

/** Sizes and offset, each from the zip64 field where its place in the entry is filled with ones, in this order. */
function readSizes(
  bytes: Buffer,
  at: number,
  { extra, archive }: { readonly extra: Buffer; readonly archive: string },
): Pick<ZipEntry, 'sizeBytes' | 'packedBytes' | 'offset'> {
  const wide = findExtra(extra, ZIP64_EXTRA);
  let wideAt = 0;
  const read = (place: number): number => {
    const value = bytes.readUInt32LE(at + place);
    if (value !== IN_ZIP64) return value;
    if (wideAt + 8 > wide.length) throw damaged(archive, 'a zip64 field is missing');
    wideAt += 8;
    return toNumber(wide.readBigUInt64LE(wideAt - 8), archive);
  };
  const sizeBytes = read(24);
  const packedBytes = read(20);
  return { sizeBytes, packedBytes, offset: read(42) };
}

function findExtra(extra: Buffer, id: number): Buffer {
  for (let at = 0; at + 4 <= extra.length; ) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === id) return extra.subarray(at + 4, end);
    at = end;
  }
  return Buffer.alloc(0);
}
