/**
 * The write-ahead log, byte by byte: what was added and deleted since the last commit. Reading finds the end of what a
 * killed writer left. Knows nothing of how the log is written to disk.
 *
 *     header   u32 magic "LZLG" · u32 version 1 · u32 number of the log · u32 CRC of these
 *     record   u32 marker "LZLR" · u32 length · u32 CRC of what follows · u64 durable · u8 type · length bytes
 *
 * `durable` is how many bytes of the log were known to be on disk when the record was written. Bytes that are wrong
 * below the `durable` of any later record had been acknowledged: that is damage. Behind the last record nothing tells what
 * had been acknowledged. A killed writer leaves the beginning of what it wrote: a torn end, which is cut. Anything else is
 * doubtful: it may be what a power cut has left of a record that was never acknowledged, or damage to one that was.
 */
import { ByteReader, ByteWriter, crc32, IndexFormatError } from '../core/index.ts';
import type { ByteSource } from '../search/index.ts';

const MAGIC = 0x474c5a4c; // "LZLG"
const VERSION = 1;
const MARKER = 0x524c5a4c; // "LZLR"
const MARKER_BYTES = Buffer.from('LZLR');
const HEADER_BEGIN = Buffer.from('LZLG');

/** Bytes of the header. */
export const LOG_HEADER_BYTES = 16;
/** Bytes of a record before its body: marker, length, CRC, durable, type. */
const FRAME_BYTES = 21;
/** Where the part of a frame begins that its checksum covers. */
const CHECKED_FROM = 12;
/** Bytes looked through at once for a record behind wrong bytes. */
const SCAN_BYTES = 2 ** 20;

/** What a record says happened. */
export const LOG_TYPES = { add: 1, delete: 2, batch: 3 } as const;
/** A kind of record. */
export type LogType = keyof typeof LOG_TYPES;

/** A record that was read. */
export type LogRecord = { readonly type: LogType; readonly body: Uint8Array; readonly at: number };

/** The header of log `number`. */
export function encodeLogHeader(number: number): Uint8Array {
  const writer = new ByteWriter();
  for (const value of [MAGIC, VERSION, number]) writer.u32(value);
  writer.u32(crc32(writer.finish()));
  return writer.finish();
}

/** A record. @param durable bytes of the log that are known to be on disk */
export function encodeLogRecord(type: LogType, body: Uint8Array, durable: number): Uint8Array {
  const checked = new ByteWriter();
  checked.u32(durable >>> 0);
  checked.u32(Math.floor(durable / 2 ** 32));
  checked.u8(LOG_TYPES[type]);
  checked.bytes(body);
  const writer = new ByteWriter();
  for (const value of [MARKER, body.length, crc32(checked.finish())]) writer.u32(value);
  writer.bytes(checked.finish());
  return writer.finish();
}

/** Where the records of a log end. */
export type LogEnd = {
  readonly end: number;
  /** What is strange about the bytes that follow; undefined where there are none, or those that a killed writer leaves. */
  readonly doubt: string | undefined;
};

/** A frame as it stands in the log. */
type Frame = LogRecord & { readonly durable: number; readonly end: number };

/** Takes the records of a log, in order, and tells where they end. Damage before the end is an IndexFormatError. */
export function readLog(source: ByteSource, number: number, take: (record: LogRecord) => void): LogEnd {
  let at = readHeader(source, number) ? LOG_HEADER_BYTES : 0;
  if (at > 0) {
    for (let frame = readFrame(source, at); frame; frame = readFrame(source, at)) {
      take(frame);
      at = frame.end;
    }
  }
  if (at < source.sizeBytes) refuseDamage(source, at);
  return { end: at, doubt: isTorn(source, at) ? undefined : doubtAt(source, at) };
}

/** Whether what follows the last record, if anything, is the beginning of another, or of the header. */
function isTorn(source: ByteSource, at: number): boolean {
  const left = source.sizeBytes - at;
  const begin = at === 0 ? HEADER_BEGIN : MARKER_BYTES;
  const length = Math.min(left, begin.length);
  if (!begin.subarray(0, length).equals(source.read(at, length))) return false;
  if (at === 0) return left < LOG_HEADER_BYTES;
  return left < FRAME_BYTES || at + FRAME_BYTES + lengthAt(source, at) > source.sizeBytes;
}

function lengthAt(source: ByteSource, at: number): number {
  return new ByteReader(source.read(at + MARKER_BYTES.length, 4), source.label).u32();
}

function doubtAt({ label, sizeBytes }: ByteSource, at: number): string {
  return `${label}: byte ${at}: ${sizeBytes - at} bytes that are no record, and not what a killed writer leaves`;
}

/** Whether the log begins as it should; a header of another log or version is an error, a torn one is not. */
function readHeader(source: ByteSource, number: number): boolean {
  if (source.sizeBytes < LOG_HEADER_BYTES) return false;
  const bytes = source.read(0, LOG_HEADER_BYTES);
  const reader = new ByteReader(bytes, source.label);
  const [magic, version, found, crc] = [reader.u32(), reader.u32(), reader.u32(), reader.u32()];
  if (crc !== crc32(bytes.subarray(0, CHECKED_FROM)) || magic !== MAGIC) return false;
  if (version !== VERSION) throw reader.error(`expected a log of version ${VERSION}, got ${version}`, 4);
  if (found !== number) throw reader.error(`expected log number ${number}, got ${found}`, 8);
  return true;
}

/** The whole and sound record at `at`, if there is one. */
function readFrame(source: ByteSource, at: number): Frame | undefined {
  if (at + FRAME_BYTES > source.sizeBytes) return undefined;
  const head = new ByteReader(source.read(at, FRAME_BYTES), source.label);
  const [marker, length, crc] = [head.u32(), head.u32(), head.u32()];
  const end = at + FRAME_BYTES + length;
  if (marker !== MARKER || end > source.sizeBytes) return undefined;
  const durable = head.u32() + head.u32() * 2 ** 32;
  const type = typeOf(head.u8());
  const checked = source.read(at + CHECKED_FROM, FRAME_BYTES - CHECKED_FROM + length);
  if (type === undefined || crc32(checked) !== crc) return undefined;
  return { type, body: checked.subarray(FRAME_BYTES - CHECKED_FROM), at, durable, end };
}

/** The kind of record that a byte stands for. */
export function typeOf(value: number): LogType | undefined {
  if (value === LOG_TYPES.add) return 'add';
  if (value === LOG_TYPES.delete) return 'delete';
  return value === LOG_TYPES.batch ? 'batch' : undefined;
}

/** Looks behind wrong bytes at `bad` for a record written when they were known to be on disk. */
function refuseDamage(source: ByteSource, bad: number): void {
  for (const at of markersAfter(source, bad)) {
    const frame = readFrame(source, at);
    if (frame && frame.durable > bad)
      throw new IndexFormatError(`${source.label}: byte ${bad}: damaged; a whole record follows at byte ${at}`, {
        hint: 'what was added or deleted since the last commit cannot be trusted: delete the log to go on without it',
      });
  }
}

/** Positions after `start` at which a record may begin. */
function* markersAfter(source: ByteSource, start: number): Generator<number> {
  const overlap = MARKER_BYTES.length - 1; // a marker may lie across two pieces
  for (let from = start + 1; from + overlap < source.sizeBytes; from += SCAN_BYTES) {
    const bytes = source.read(from, Math.min(SCAN_BYTES + overlap, source.sizeBytes - from));
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = piece.indexOf(MARKER_BYTES); at >= 0; at = piece.indexOf(MARKER_BYTES, at + 1)) yield from + at;
  }
}
