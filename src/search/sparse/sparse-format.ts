/** Learned sparse vectors as a kind of segment. */
import type { ByteSource, SegmentFormat } from '../types.ts';
import { collectCodes, writeSparseSegment } from './build.ts';
import { decodeCodes, encodeCodes, type SparseCodes } from './codes.ts';
import { readDirectory, rowAt } from './directory.ts';
import { mergeSparseSegments } from './merge.ts';
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
  frequencies,
  verify: verifySparseSegment,
};

function* frequencies(source: ByteSource): Generator<readonly [term: number, numDocs: number]> {
  const directory = readDirectory(source);
  for (let i = 0; i < directory.numTerms; i++) {
    const { term, df } = rowAt(directory, i);
    yield [term, df];
  }
}
