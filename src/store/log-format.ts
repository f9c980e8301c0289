/**
 * The write-ahead log, byte by byte: what was added and deleted since the last commit. Reading finds the end of what a
 * killed writer left. Knows nothing of how the log is written to disk.
 *
 *     header   u32 magic "LZLG" · u32 version 1 · u32 number of the log · u32 CRC of these
 *     record   u32 marker "LZLR" · u32 length · u32 CRC of what follows · u64 durable · u8 type · length bytes
 *
 * `durable` is how many bytes of the log were known to be on disk when the record was written. Bytes that are wrong
 * below the `durable` of any later record had been acknowledged: that is damage. Bytes that are wrong above it were never
 * acknowledged: a torn tail, which is cut.
 */
import { ByteReader, ByteWriter, crc32, IndexFormatError } from '../core/index.ts';
import type { ByteSource } from '../search/index.ts';

const MAGIC = 0x474c5a4c; // "LZLG"
const VERSION = 1;
const MARKER = 0x524c5a4c; // "LZLR"
const MARKER_BYTES = Buffer.from('LZLR');

/** Bytes of the header. */
export const LOG_HEADER_BYTES = 16;
/** Bytes of a record before its body: marker, length, CRC, durable, type. */
const FRAME_BYTES = 21;
/** Where the part of a frame begins that its checksum covers. */
const CHECKED_FROM = 12;
/** Bytes looked through at once for a record behind wrong bytes. */
const SCAN_BYTES = 2 ** 20;

/** What a record says happened. */
export const LOG_TYPES = { add: 1, delete: 2 } as const;
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

/** A frame as it stands in the log. */
type Frame = LogRecord & { readonly durable: number; readonly end: number };

/**
 * The records of a log, in order. Returns where they end: what follows is a torn tail. Damage before the tail is an
 * IndexFormatError.
 */
export function* readLog(source: ByteSource, number: number): Generator<LogRecord, number, void> {
  let at = readHeader(source, number) ? LOG_HEADER_BYTES : 0;
  if (at > 0) {
    for (let frame = readFrame(source, at); frame; frame = readFrame(source, at)) {
      yield frame;
      at = frame.end;
    }
  }
  if (at < source.sizeBytes) refuseDamage(source, at);
  return at;
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

function typeOf(value: number): LogType | undefined {
  if (value === LOG_TYPES.add) return 'add';
  return value === LOG_TYPES.delete ? 'delete' : undefined;
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
