/**
 * The table of contents of a zip archive (PKWARE APPNOTE 6.3.10, zip64 included). Every number in it is checked before
 * it is used: archives come from elsewhere. Unpacking is unzip.ts.
 *
 *     local header, bytes │ local header, bytes │ … │ central directory │ [zip64 end, locator] │ end record, comment
 */
import { type ErrorMaker, type LzeroError, quoted } from '../core/index.ts';

/** An archive, as far as its table of contents is concerned. */
export type ZipSource = {
  /** For messages. */
  readonly name: string;
  readonly sizeBytes: number;
  /** Bytes at a place, all of them or an error. */
  readonly read: (offset: number, sizeBytes: number) => Promise<Uint8Array>;
  /** Makes the errors about it. */
  readonly makeError: ErrorMaker;
};

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
const LOCAL_SIGNATURE = 0x04034b50;
const LOCAL_BYTES = 30;
const ZIP64_EXTRA = 0x0001;
/** In place of a number that is in the zip64 field. */
const IN_ZIP64 = 0xffffffff;
const IS_ENCRYPTED = 1;
const UNIX_LINK = 0xa000;
/** Largest central directory that is read; one of 100,000 entries has about 10 MB. */
const MAX_DIRECTORY_BYTES = 64 * 1024 * 1024;

/** Reads the entries of an archive. */
export async function readZipDirectory(source: ZipSource): Promise<ZipEntry[]> {
  const { sizeBytes: archiveBytes } = source;
  const { offset, sizeBytes, numEntries } = await findDirectory(source);
  if (offset + sizeBytes > archiveBytes || sizeBytes > MAX_DIRECTORY_BYTES)
    throw damaged(source, `a directory of ${sizeBytes} bytes at ${offset}, the file has ${archiveBytes}`);
  const directory = await readBytes(source, offset, sizeBytes);
  const entries: ZipEntry[] = [];
  for (let at = 0; entries.length < numEntries; ) {
    const { entry, nextAt } = parseEntry(directory, at, source);
    if (entry.offset + entry.packedBytes > archiveBytes)
      throw damaged(source, `${quoted(entry.name)} reaches beyond the end`);
    entries.push(entry);
    at = nextAt;
  }
  return entries;
}

/** Where the bytes of an entry begin: after its local header, whose name and extra field have lengths of their own. */
export async function findZipContent(source: ZipSource, entry: ZipEntry): Promise<number> {
  if (entry.offset + LOCAL_BYTES > source.sizeBytes) throw damaged(source, `no header of ${quoted(entry.name)}`);
  const header = await readBytes(source, entry.offset, LOCAL_BYTES);
  if (header.readUInt32LE(0) !== LOCAL_SIGNATURE) throw damaged(source, `no header of ${quoted(entry.name)}`);
  const start = entry.offset + LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (start + entry.packedBytes > source.sizeBytes)
    throw damaged(source, `${quoted(entry.name)} reaches beyond the end`);
  return start;
}

/** An archive that cannot be trusted. */
export function damaged({ name, makeError }: Pick<ZipSource, 'name' | 'makeError'>, what: string): LzeroError {
  return makeError(`${name} is not a sound zip archive: ${what}`, { hint: 'delete it and fetch it again' });
}

type DirectoryPlace = { readonly offset: number; readonly sizeBytes: number; readonly numEntries: number };

async function findDirectory(source: ZipSource): Promise<DirectoryPlace> {
  const tailBytes = Math.min(source.sizeBytes, END_BYTES + MAX_COMMENT_BYTES);
  const tailAt = source.sizeBytes - tailBytes;
  const tail = await readBytes(source, tailAt, tailBytes);
  const at = findEnd(tail);
  if (at < 0) throw damaged(source, 'it has no end record; was it cut short?');
  const place = {
    numEntries: tail.readUInt16LE(at + 10),
    sizeBytes: tail.readUInt32LE(at + 12),
    offset: tail.readUInt32LE(at + 16),
  };
  const needs64 = place.numEntries === 0xffff || place.sizeBytes === IN_ZIP64 || place.offset === IN_ZIP64;
  return needs64 ? await findDirectory64(source, tailAt + at) : place;
}

/** What was read, with Buffer's way to get numbers out of it. */
async function readBytes({ read }: ZipSource, offset: number, sizeBytes: number): Promise<Buffer> {
  const { buffer, byteOffset, byteLength } = await read(offset, sizeBytes);
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** The end record is the last whose comment reaches exactly to the end of the file. */
function findEnd(tail: Buffer): number {
  for (let at = tail.length - END_BYTES; at >= 0; at--)
    if (tail.readUInt32LE(at) === END_SIGNATURE && at + END_BYTES + tail.readUInt16LE(at + 20) === tail.length)
      return at;
  return -1;
}

async function findDirectory64(source: ZipSource, endOffset: number): Promise<DirectoryPlace> {
  if (endOffset < LOCATOR_BYTES) throw damaged(source, 'no zip64 locator');
  const locator = await readBytes(source, endOffset - LOCATOR_BYTES, LOCATOR_BYTES);
  if (locator.readUInt32LE(0) !== LOCATOR_SIGNATURE) throw damaged(source, 'no zip64 locator');
  const at = toNumber(locator.readBigUInt64LE(8), source);
  if (at + END64_BYTES > endOffset) throw damaged(source, 'the zip64 record reaches beyond its place');
  const record = await readBytes(source, at, END64_BYTES);
  if (record.readUInt32LE(0) !== END64_SIGNATURE) throw damaged(source, 'no zip64 record');
  return {
    numEntries: toNumber(record.readBigUInt64LE(32), source),
    sizeBytes: toNumber(record.readBigUInt64LE(40), source),
    offset: toNumber(record.readBigUInt64LE(48), source),
  };
}

function toNumber(value: bigint, source: ZipSource): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw damaged(source, `the number ${value} is impossible`);
  return Number(value);
}

function parseEntry(bytes: Buffer, at: number, source: ZipSource): { entry: ZipEntry; nextAt: number } {
  if (at + ENTRY_BYTES > bytes.length || bytes.readUInt32LE(at) !== ENTRY_SIGNATURE)
    throw damaged(source, `no entry at byte ${at} of the directory`);
  const nameAt = at + ENTRY_BYTES;
  const extraAt = nameAt + bytes.readUInt16LE(at + 28);
  const commentAt = extraAt + bytes.readUInt16LE(at + 30);
  const nextAt = commentAt + bytes.readUInt16LE(at + 32);
  if (nextAt > bytes.length) throw damaged(source, `the entry at byte ${at} of the directory is cut short`);
  const name = bytes.toString('utf8', nameAt, extraAt);
  const hint = 'pack the archive again, with plain files that are stored or deflated';
  const fail: Fail = (problem) => source.makeError(`${source.name}: ${quoted(name)} ${problem}`, { hint });
  refuseSpecial(bytes, at, fail);
  const sizes = readSizes(bytes, at, { extra: bytes.subarray(extraAt, commentAt), source });
  const method = methodOf(bytes.readUInt16LE(at + 10), fail);
  return { entry: { name, method, crc32: bytes.readUInt32LE(at + 16), ...sizes }, nextAt };
}

type Fail = (problem: string) => LzeroError;

function refuseSpecial(bytes: Buffer, at: number, fail: Fail): void {
  if (bytes.readUInt16LE(at + 8) & IS_ENCRYPTED) throw fail('is encrypted');
  // The upper half of the external attributes is the Unix mode. A link would let later entries leave the folder.
  if ((bytes.readUInt16LE(at + 40) & 0xf000) === UNIX_LINK) throw fail('is a link');
}

function methodOf(method: number, fail: Fail): ZipEntry['method'] {
  if (method === 0) return 'stored';
  if (method === 8) return 'deflated';
  throw fail(`is packed by method ${method}, known are 0 (stored) and 8 (deflated)`);
}

/** Sizes and offset, each from the zip64 field where its place in the entry is filled with ones, in this order. */
function readSizes(
  bytes: Buffer,
  at: number,
  { extra, source }: { readonly extra: Buffer; readonly source: ZipSource },
): Pick<ZipEntry, 'sizeBytes' | 'packedBytes' | 'offset'> {
  const wide = findExtra(extra, ZIP64_EXTRA);
  let wideAt = 0;
  const read = (place: number): number => {
    const value = bytes.readUInt32LE(at + place);
    if (value !== IN_ZIP64) return value;
    if (wideAt + 8 > wide.length) throw damaged(source, 'a zip64 field is missing');
    wideAt += 8;
    return toNumber(wide.readBigUInt64LE(wideAt - 8), source);
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
