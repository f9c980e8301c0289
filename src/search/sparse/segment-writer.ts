/**
 * Writes a sparse segment front to back: header, records as they come, directory, footer. Who calls it decides the
 * postings; it keeps one record and the directory in memory, whatever the size of the segment.
 */
import { assert, crc32, InputError, updateCrc32 } from '../../core/index.ts';
import { DENSE } from '../../kernels/index.ts';
import type { ByteSink, SegmentSummary } from '../types.ts';
import { writeRow } from './directory.ts';
import { type Postings, RecordEncoder } from './record.ts';
import {
  FOOTER_BYTES,
  FOOTER_MAGIC,
  HEADER_MAGIC,
  isWindowSize,
  MAX_SEGMENT_DOCS,
  ROW_WORDS,
  type SegmentShape,
  type TermRow,
  VERSION,
} from './segment-layout.ts';

/** Most records are small: they go to the sink in pieces of this size. */
const PIECE_BYTES = 1 << 20;
/** The directory has 32-bit offsets. */
const MAX_SEGMENT_BYTES = 2 ** 32 - 1;

/** A segment that is being written. Dense terms first, then rare ones. */
export class SegmentWriter {
  readonly #segment: SegmentShape;
  readonly #sink: ByteSink;
  readonly #encoder: RecordEncoder;
  readonly #header: Uint8Array;
  readonly #rows: TermRow[] = [];
  readonly #piece = new Uint8Array(PIECE_BYTES);
  #pieceSize = 0;
  #size = 0;
  #denseEnd: number;
  #numPostings = 0;

  constructor(segment: SegmentShape, sink: ByteSink) {
    const { numDocs, windowSize } = segment;
    if (numDocs > MAX_SEGMENT_DOCS)
      throw new InputError(`a segment holds at most ${MAX_SEGMENT_DOCS} documents, got ${numDocs}`);
    if (!isWindowSize(windowSize))
      throw new InputError(`a window size is a power of two from 64 to 65,536, got ${windowSize}`);
    this.#segment = segment;
    this.#sink = sink;
    this.#encoder = new RecordEncoder(segment);
    this.#header = bytesOf([HEADER_MAGIC, VERSION, numDocs, windowSize]);
    this.#write(this.#header);
    this.#denseEnd = this.#size;
  }

  /** Writes the record of a term; terms without postings have none. */
  add(term: number, postings: Postings): void {
    if (postings.length === 0) return;
    const { bytes, kind, max, kth } = this.#encoder.encode(postings);
    if (this.#size + bytes.length > MAX_SEGMENT_BYTES) throw new InputError('a segment holds at most 4 GiB');
    this.#rows.push({
      term,
      df: postings.length,
      offset: this.#size,
      bytes: bytes.length,
      crc: crc32(bytes),
      kind,
      max,
      kth,
    });
    assert(kind !== DENSE || this.#denseEnd === this.#size, 'dense terms are written before rare ones');
    this.#write(bytes);
    if (kind === DENSE) this.#denseEnd = this.#size;
    this.#numPostings += postings.length;
  }

  /** Writes directory and footer. */
  finish(): SegmentSummary {
    const recordsEnd = this.#size;
    const directory = this.#directory();
    this.#write(directory);
    this.#write(this.#footer(recordsEnd, crc32(directory)));
    this.#flush();
    return { numDocs: this.#segment.numDocs, numPostings: this.#numPostings };
  }

  #directory(): Uint8Array {
    const words = new Uint32Array(this.#rows.length * ROW_WORDS);
    this.#rows.sort((a, b) => a.term - b.term);
    this.#rows.forEach((row, i) => {
      writeRow(words, i, row);
    });
    return new Uint8Array(words.buffer);
  }

  #footer(recordsEnd: number, directoryCrc: number): Uint8Array {
    const [low, high] = [this.#numPostings % 2 ** 32, Math.floor(this.#numPostings / 2 ** 32)];
    const fields = [this.#denseEnd, recordsEnd, this.#rows.length, low, high, directoryCrc];
    const crc = updateCrc32(crc32(this.#header), bytesOf(fields));
    const footer = bytesOf([...fields, crc, FOOTER_MAGIC]);
    assert(footer.length === FOOTER_BYTES, 'the footer has its size');
    return footer;
  }

  #write(bytes: Uint8Array): void {
    this.#size += bytes.length;
    if (this.#pieceSize + bytes.length > PIECE_BYTES) this.#flush();
    if (bytes.length > PIECE_BYTES) {
      this.#sink.write(bytes);
      return;
    }
    this.#piece.set(bytes, this.#pieceSize);
    this.#pieceSize += bytes.length;
  }

  #flush(): void {
    if (this.#pieceSize > 0) this.#sink.write(this.#piece.subarray(0, this.#pieceSize));
    this.#pieceSize = 0;
  }
}

function bytesOf(words: readonly number[]): Uint8Array {
  return new Uint8Array(Uint32Array.from(words).buffer);
}
