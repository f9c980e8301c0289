/** The directory of a sparse segment: read from its file, checked before anything of it is believed. */
import { crc32, IndexFormatError, updateCrc32 } from '../../core/index.ts';
import { DENSE, LONG_GAPS, SHORT_GAPS } from '../../kernels/index.ts';
import type { ByteSource } from '../types.ts';
import {
  FOOTER_BYTES,
  FOOTER_MAGIC,
  HEADER_BYTES,
  HEADER_MAGIC,
  isWindowSize,
  kindOf,
  MAX_SEGMENT_DOCS,
  type RecordKind,
  ROW_BYTES,
  ROW_WORDS,
  type SegmentShape,
  shapeOf,
  type TermRow,
  VERSION,
} from './segment-layout.ts';

/** What header, footer and directory say. */
export type SegmentDirectory = SegmentShape & {
  readonly numTerms: number;
  readonly numPostings: number;
  /** Where the dense records end and the rare ones begin. */
  readonly denseEnd: number;
  /** Where the records end. */
  readonly recordsEnd: number;
  /** The rows as they stand in the file, `ROW_WORDS` words each. */
  readonly rows: Uint32Array;
};

type Fault = (message: string) => IndexFormatError;

/** Reads and checks the directory; an IndexFormatError for anything that is not whole and in bounds. */
export function readDirectory(source: ByteSource): SegmentDirectory {
  const fault: Fault = (message) => new IndexFormatError(`${source.label}: ${message}`);
  if (source.sizeBytes < HEADER_BYTES + FOOTER_BYTES)
    throw fault(`expected a sparse segment of at least ${HEADER_BYTES + FOOTER_BYTES} bytes, got ${source.sizeBytes}`);
  const head = readFrame(source, fault);
  const bytes = source.read(head.recordsEnd, head.numTerms * ROW_BYTES);
  if (crc32(bytes) !== head.directoryCrc) throw fault('the directory does not have its checksum');
  const directory = { ...head, rows: wordsOf(bytes) };
  checkRows(directory, fault);
  return directory;
}

type Frame = Omit<SegmentDirectory, 'rows'> & { readonly directoryCrc: number };

/** Header and footer. */
function readFrame(source: ByteSource, fault: Fault): Frame {
  const headerBytes = source.read(0, HEADER_BYTES);
  const footerBytes = source.read(source.sizeBytes - FOOTER_BYTES, FOOTER_BYTES);
  const [magic, version, numDocs, windowSize] = wordsOf(headerBytes);
  const [denseEnd, recordsEnd, numTerms, low, high, directoryCrc, crc, endMagic] = wordsOf(footerBytes);
  if (magic !== HEADER_MAGIC) throw fault('this is not a sparse segment: its first bytes are not "LZSP"');
  if (version !== VERSION) throw fault(`expected a sparse segment of version ${VERSION}, got version ${version}`);
  if (endMagic !== FOOTER_MAGIC) throw fault('the end of the sparse segment is missing');
  if (updateCrc32(crc32(headerBytes), footerBytes.subarray(0, FOOTER_BYTES - 8)) !== crc)
    throw fault('header and footer do not have their checksum');
  if (numDocs > MAX_SEGMENT_DOCS) throw fault(`expected at most ${MAX_SEGMENT_DOCS} documents, got ${numDocs}`);
  if (!isWindowSize(windowSize)) throw fault(`expected a power of two as window size, got ${windowSize}`);
  if (denseEnd < HEADER_BYTES || denseEnd > recordsEnd || denseEnd % 4 || recordsEnd % 4)
    throw fault(`the records end at byte ${recordsEnd}, the dense ones at byte ${denseEnd}`);
  if (recordsEnd + numTerms * ROW_BYTES + FOOTER_BYTES !== source.sizeBytes)
    throw fault(`a directory of ${numTerms} terms from byte ${recordsEnd} does not end where the footer begins`);
  return { numDocs, windowSize, numTerms, numPostings: low + high * 2 ** 32, denseEnd, recordsEnd, directoryCrc };
}

/** A copy as words: what was read may begin anywhere in its buffer. */
function wordsOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(new Uint8Array(bytes).buffer);
}

function checkRows(directory: SegmentDirectory, fault: Fault): void {
  let numPostings = 0;
  let previous = -1;
  for (let i = 0; i < directory.numTerms; i++) {
    const row = rowAt(directory, i);
    const problem =
      row.term <= previous ? 'terms do not ascend' : (rawProblemOf(directory, i) ?? problemOf(row, directory));
    if (problem) throw fault(`directory row ${i}, term ${row.term}: ${problem}`);
    numPostings += row.df;
    previous = row.term;
  }
  if (numPostings !== directory.numPostings)
    throw fault(`expected ${directory.numPostings} postings, the directory has ${numPostings}`);
}

/** What `rowAt` does not look at. */
function rawProblemOf({ rows }: SegmentDirectory, i: number): string | undefined {
  const kind = rows[i * ROW_WORDS + 5] & 255;
  if (kind !== SHORT_GAPS && kind !== LONG_GAPS && kind !== DENSE) return `unknown record kind ${kind}`;
  return rows[i * ROW_WORDS + 6] > 255 ? 'bytes that must be 0 are not' : undefined;
}

/** What is wrong with a row; undefined where nothing is. After this, every part of the record is inside the file. */
function problemOf(row: TermRow, { numDocs, windowSize, denseEnd, recordsEnd }: SegmentDirectory): string | undefined {
  const { df, offset, bytes, kind } = row;
  if (df < 1 || df > numDocs) return `${df} of ${numDocs} documents`;
  if (kind !== kindOf(df, numDocs)) return `record kind ${kind} for ${df} of ${numDocs} documents`;
  const [from, to] = kind === DENSE ? [HEADER_BYTES, denseEnd] : [denseEnd, recordsEnd];
  if (offset % 4 || offset < from || offset + bytes > to)
    return `a record of ${bytes} bytes at byte ${offset} is not between bytes ${from} and ${to}`;
  const expected = shapeOf(kind, df, { numDocs, windowSize }).bytes;
  if (bytes % 4 || (kind === SHORT_GAPS ? bytes < expected : bytes !== expected))
    return `a record of ${bytes} bytes, expected ${expected}`;
  return row.max === 0 ? 'no code above 0' : undefined;
}

/** Row `i`. */
export function rowAt({ rows }: SegmentDirectory, i: number): TermRow {
  const at = i * ROW_WORDS;
  const tail = rows[at + 5];
  return {
    term: rows[at],
    df: rows[at + 1],
    offset: rows[at + 2],
    bytes: rows[at + 3],
    crc: rows[at + 4],
    kind: recordKind(tail & 255),
    max: (tail >>> 8) & 255,
    kth: [(tail >>> 16) & 255, tail >>> 24, rows[at + 6] & 255],
  };
}

/** The directory was checked for unknown kinds. */
function recordKind(kind: number): RecordKind {
  return kind === DENSE ? DENSE : kind === SHORT_GAPS ? SHORT_GAPS : LONG_GAPS;
}

/** The row of a term; undefined where no document has it. */
export function findRow(directory: SegmentDirectory, term: number): TermRow | undefined {
  const { rows, numTerms } = directory;
  if (numTerms === 0) return undefined;
  // Terms ascend, so with few gaps between them a row cannot be far from where its term would stand without any.
  let low = Math.max(0, numTerms - 1 - (rows[(numTerms - 1) * ROW_WORDS] - term));
  let high = Math.min(numTerms, term - rows[0] + 1);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle * ROW_WORDS] < term) low = middle + 1;
    else high = middle;
  }
  return low < numTerms && rows[low * ROW_WORDS] === term ? rowAt(directory, low) : undefined;
}

/** The bytes of a row. */
export function writeRow(rows: Uint32Array, i: number, row: TermRow): void {
  const [kth10, kth100, kth1000] = row.kth;
  const tail = (row.kind | (row.max << 8) | (kth10 << 16) | (kth100 << 24)) >>> 0;
  rows.set([row.term, row.df, row.offset, row.bytes, row.crc, tail, kth1000], i * ROW_WORDS);
}
