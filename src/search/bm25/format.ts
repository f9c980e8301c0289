/** BM25 as a kind of segment: what the store knows of it. */
import { ByteReader, ByteWriter } from '../../core/index.ts';
import type { ByteSource, SegmentFormat } from '../types.ts';
import type { TermEntry } from './dictionary.ts';
import { writeSegment } from './invert.ts';
import { mergeSegments } from './merge.ts';
import { Bm25Segment } from './segment.ts';
import { verifySegment } from './verify.ts';

/** Bytes of memory that a word takes besides its letters, about. */
const WORD_BYTES = 8;

/** Segments of words; a payload is the analysed words of one document in order (see `analyse`). */
export const bm25Format: SegmentFormat<readonly string[]> = {
  kind: 'bm25',
  sizeOf: (words) => words.reduce((sum, word) => sum + WORD_BYTES + word.length, WORD_BYTES),
  encodePayload: (words) => {
    const out = new ByteWriter();
    out.strings(words);
    return out.finish();
  },
  decodePayload: (bytes) => {
    const reader = new ByteReader(bytes, 'words of a document');
    const words = reader.strings();
    if (reader.left > 0) throw reader.error(`${reader.left} bytes too many`);
    return words;
  },
  write: writeSegment,
  merge: mergeSegments,
  frequencies: (source) => entriesOf(source, ({ df }) => df),
  listSizes: (source) => entriesOf(source, ({ sizeBytes }) => sizeBytes),
  verify: verifySegment,
};

/** What the dictionary says of each word. */
function* entriesOf(
  source: ByteSource,
  pick: (entry: TermEntry) => number,
): Generator<readonly [word: string, value: number]> {
  const decoder = new TextDecoder();
  const segment = new Bm25Segment(source, { resident: false });
  for (const { bytes, entry } of segment.dictionary.entries()) yield [decoder.decode(bytes), pick(entry)];
}
