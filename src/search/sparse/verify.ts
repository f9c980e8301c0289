/**
 * Reads a whole segment and believes nothing: every checksum, every posting, and (by encoding each list again and
 * comparing bytes) every maximum, start, rank and padding byte.
 */
import { IndexFormatError } from '../../core/index.ts';
import type { ByteSource, SegmentSummary } from '../types.ts';
import { rowAt } from './directory.ts';
import { type EncodedRecord, RecordEncoder } from './record.ts';
import { HEADER_BYTES, type TermRow } from './segment-layout.ts';
import { SegmentReader } from './segment-reader.ts';

/** Checks everything; an IndexFormatError at the first fault. */
export function verifySparseSegment(source: ByteSource): SegmentSummary {
  const reader = new SegmentReader(source);
  const { directory } = reader;
  const encoder = new RecordEncoder(directory);
  const rows = Array.from({ length: directory.numTerms }, (_, i) => rowAt(directory, i));
  checkCover(rows, directory.recordsEnd, source.label);
  for (const row of rows) {
    const bytes = reader.record(row);
    const problem = differenceOf(row, bytes, encoder.encode(reader.postings(row, bytes)));
    if (problem) throw reader.fault(row, problem);
  }
  return { numDocs: directory.numDocs, numPostings: directory.numPostings };
}

/** Records lie one behind the other, from the header to the directory. */
function checkCover(rows: readonly TermRow[], recordsEnd: number, label: string): void {
  let end = HEADER_BYTES;
  for (const { term, offset, bytes } of [...rows].sort((a, b) => a.offset - b.offset)) {
    if (offset !== end)
      throw new IndexFormatError(`${label}: the record of term ${term} begins at byte ${offset}, expected ${end}`);
    end += bytes;
  }
  if (end !== recordsEnd) throw new IndexFormatError(`${label}: records end at byte ${end}, expected ${recordsEnd}`);
}

function differenceOf(row: TermRow, bytes: Uint8Array, expected: EncodedRecord): string | undefined {
  const at = bytes.findIndex((byte, i) => byte !== expected.bytes[i]);
  if (bytes.length !== expected.bytes.length) return `${bytes.length} bytes, expected ${expected.bytes.length}`;
  if (at >= 0) return `byte ${at} is ${bytes[at]}, expected ${expected.bytes[at]}`;
  if (row.max !== expected.max) return `largest code ${row.max}, expected ${expected.max}`;
  const wrong = row.kth.findIndex((code, i) => code !== expected.kth[i]);
  return wrong < 0
    ? undefined
    : `stored code ${row.kth[wrong]} for rank ${10 ** (wrong + 1)}, expected ${expected.kth[wrong]}`;
}
