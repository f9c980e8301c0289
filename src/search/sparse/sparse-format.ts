/** Learned sparse vectors as a kind of segment. */
import type { ByteSource, SegmentFormat } from '../types.ts';
import { collectCodes, writeSparseSegment } from './build.ts';
import { decodeCodes, encodeCodes, type SparseCodes } from './codes.ts';
import { readDirectory, rowAt } from './directory.ts';
import { mergeSparseSegments } from './merge.ts';
import type { TermRow } from './segment-layout.ts';
import { verifySparseSegment } from './verify.ts';

/** Bytes that a document takes beside its terms. */
const DOCUMENT_BYTES = 16;
/** Four bytes of term and one of code. */
const POSTING_BYTES = 5;

/** How vectors become segments. */
export const sparseFormat: SegmentFormat<SparseCodes> = {
  kind: 'sparse',
  sizeOf: ({ terms }) => DOCUMENT_BYTES + POSTING_BYTES * terms.length,
  encodePayload: encodeCodes,
  decodePayload: (bytes) => decodeCodes(bytes),
  write: (payloads, sink) => writeSparseSegment(collectCodes(payloads), sink),
  merge: mergeSparseSegments,
  frequencies: (source) => rowsOf(source, ({ term, df }) => [term, df]),
  listSizes: (source) => rowsOf(source, ({ term, bytes }) => [term, bytes]),
  verify: verifySparseSegment,
};

/** What the directory says of each term. */
function* rowsOf<T>(source: ByteSource, pick: (row: TermRow) => T): Generator<T> {
  const directory = readDirectory(source);
  for (let i = 0; i < directory.numTerms; i++) yield pick(rowAt(directory, i));
}
