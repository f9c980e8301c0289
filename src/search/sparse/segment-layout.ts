/**
 * The numbers of a sparse segment file, version 1: header, dense records, rare records, directory, footer. docs/FORMAT.md
 * draws it. Everything is little-endian; the file is written front to back, so what is known last stands in the footer.
 *
 *     header     u32 magic   u32 version   u32 numDocs   u32 windowSize
 *     records    dense ones, then rare ones; each a multiple of 4 bytes
 *     directory  28 bytes per term that occurs, by ascending term
 *     footer     u32 dense end   u32 directory start   u32 terms   u64 postings   u32 CRC-32 of the directory
 *                u32 CRC-32 of header and footer up to here   u32 magic
 */
import { DENSE, LONG_GAPS, SHORT_GAPS } from '../../kernels/index.ts';

/** "LZSP" */
export const HEADER_MAGIC = 0x50535a4c;
/** "LZSE" */
export const FOOTER_MAGIC = 0x45535a4c;
/** Of the format. */
export const VERSION = 1;
/** Size of the header. */
export const HEADER_BYTES = 16;
/** Size of the footer. */
export const FOOTER_BYTES = 32;
/** 32-bit words of a directory row. */
export const ROW_WORDS = 7;
/** Size of a directory row. */
export const ROW_BYTES = 4 * ROW_WORDS;

/** Documents of a window, unless told otherwise. */
export const DEFAULT_WINDOW_SIZE = 8192;
/** Documents of a segment at most: a posting is one u32, document · 256 + code. */
export const MAX_SEGMENT_DOCS = 2 ** 24;

/** How a term's list is stored. */
export type RecordKind = typeof SHORT_GAPS | typeof LONG_GAPS | typeof DENSE;

/** Is a window size one that the kernel can mask with? */
export function isWindowSize(size: number): boolean {
  return size >= 64 && size <= 65_536 && Number.isInteger(Math.log2(size));
}

/** In at least 8 % of the documents: kept as a bitmap, resident in lean mode. */
export function isDense(df: number, numDocs: number): boolean {
  return 25 * df >= 2 * numDocs;
}

/** The kind of record that a term of this document frequency gets. Below 1 in 180, gaps above 255 get too frequent for one byte. */
export function kindOf(df: number, numDocs: number): RecordKind {
  if (isDense(df, numDocs)) return DENSE;
  return 180 * df >= numDocs ? SHORT_GAPS : LONG_GAPS;
}

/** Where the parts of a record stand, in bytes from its start. */
export type RecordShape = {
  readonly numWindows: number;
  readonly starts: number;
  /** Entries of a rare term, bits of a dense one. */
  readonly stream: number;
  readonly ranks: number;
  readonly codes: number;
  /** Size of the record; the least it can be for short gaps, where long gaps take more entries. */
  readonly bytes: number;
};

/** The shape of a record with `df` postings. */
export function shapeOf(kind: RecordKind, df: number, segment: SegmentShape): RecordShape {
  const numWindows = Math.ceil(segment.numDocs / segment.windowSize);
  const words = Math.ceil(segment.numDocs / 64);
  const starts = roundUp4(numWindows);
  const stream = starts + 4 * (numWindows + 1);
  const ranks = stream + 8 * words;
  const codes = ranks + 2 * words;
  const end = kind === DENSE ? codes + df + 1 : stream + entryBytes(kind) * df;
  return { numWindows, starts, stream, ranks, codes, bytes: roundUp4(end) };
}

/** Size of an entry of a rare list. */
export function entryBytes(kind: typeof SHORT_GAPS | typeof LONG_GAPS): number {
  return kind === SHORT_GAPS ? 2 : 3;
}

/** The next multiple of 4. */
export function roundUp4(bytes: number): number {
  return Math.ceil(bytes / 4) * 4;
}

/** What the shape of every record depends on. */
export type SegmentShape = {
  readonly numDocs: number;
  readonly windowSize: number;
};

/** One row of the directory. */
export type TermRow = {
  readonly term: number;
  /** Documents that have the term. */
  readonly df: number;
  /** Where the record begins in the file. */
  readonly offset: number;
  readonly bytes: number;
  readonly crc: number;
  readonly kind: RecordKind;
  /** The largest code. */
  readonly max: number;
  /** The 10th, 100th and 1000th largest code, 0 where there are fewer. */
  readonly kth: readonly [number, number, number];
};

/** The ranks whose codes a row keeps. */
export const KTH_RANKS = [10, 100, 1000] as const;
