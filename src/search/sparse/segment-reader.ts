/** Whole lists of a segment, read through a ByteSource, for whoever needs all postings: merging, verifying, counting. */
import { assert, crc32, IndexFormatError } from '../../core/index.ts';
import type { ByteSource } from '../types.ts';
import { readDirectory, type SegmentDirectory } from './directory.ts';
import { decodeRecord, type Postings } from './record.ts';
import type { TermRow } from './segment-layout.ts';

/** Reads the lists of one segment. */
export class SegmentReader {
  readonly source: ByteSource;
  readonly directory: SegmentDirectory;

  constructor(source: ByteSource) {
    this.source = source;
    this.directory = readDirectory(source);
  }

  /** The bytes of a record, as stored and checked against their checksum. */
  record(row: TermRow): Uint8Array {
    const bytes = this.source.read(row.offset, row.bytes);
    if (crc32(bytes) !== row.crc) throw this.fault(row, 'the record does not have its checksum');
    return bytes;
  }

  /** The postings of a term. */
  postings(row: TermRow, bytes = this.record(row)): Postings {
    const out = new Uint32Array(row.df);
    const problem = decodeRecord({ bytes, kind: row.kind, df: row.df }, this.directory, out);
    if (problem !== undefined) throw this.fault(row, problem);
    assert(out.length === row.df, 'a record has df postings');
    return out;
  }

  /** The error for something wrong with a term. */
  fault(row: TermRow, message: string): IndexFormatError {
    return new IndexFormatError(`${this.source.label}: term ${row.term}, record at byte ${row.offset}: ${message}`);
  }
}
