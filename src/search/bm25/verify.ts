/** Reads all of a segment and holds every part of it against the others. */
import { IndexFormatError } from '../../core/index.ts';
import type { ByteSource, SegmentSummary } from '../types.ts';
import type { TermEntry } from './dictionary.ts';
import { lengthToByte } from './length-byte.ts';
import { bestPairs, corner, PostingsCursor, type PostingsHead } from './postings.ts';
import { Bm25Segment } from './segment.ts';

/** Checks every checksum, every bound, and that lengths, counts and maxima are those of the postings. */
export function verifySegment(source: ByteSource): SegmentSummary {
  const segment = new Bm25Segment(source, { resident: false });
  segment.checkPostings();
  const lengths = new Float64Array(segment.numDocs);
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const fail = (what: string): never => {
    throw new IndexFormatError(`${source.label}: ${what}`);
  };
  let numPostings = 0;
  for (const { bytes, entry } of segment.dictionary.entries()) {
    checkTerm(segment, entry, { lengths, fail });
    numPostings += entry.df;
    try {
      decoder.decode(bytes);
    } catch {
      fail('a term is not UTF-8');
    }
  }
  if (numPostings !== segment.numPostings) fail(`${numPostings} postings, the footer says ${segment.numPostings}`);
  if (lengths.reduce((sum, length) => sum + length, 0) !== segment.sumLengths) fail('lengths do not add up');
  lengths.forEach((length, doc) => {
    if (lengthToByte(length) !== segment.lengths[doc])
      fail(`document ${doc} has ${length} words, not what its byte says`);
  });
  return { numDocs: segment.numDocs, numPostings };
}

type Check = { readonly lengths: Float64Array; readonly fail: (what: string) => never };

function checkTerm(segment: Bm25Segment, entry: TermEntry, { lengths, fail }: Check): void {
  const head = segment.head(entry);
  const all = { docs: new Uint32Array(entry.df), tfs: new Uint32Array(entry.df), count: 0 };
  const cursor = new PostingsCursor(head, segment.place);
  for (let block = 0; cursor.count > 0; block++, cursor.nextBlock()) {
    all.docs.set(cursor.docs.subarray(0, cursor.count), all.count);
    all.tfs.set(cursor.tfs.subarray(0, cursor.count), all.count);
    if (head.numBlocks > 1) {
      const { maxTf, minLength } = corner(all, segment.lengths, all.count, all.count + cursor.count);
      if (maxTf !== head.maxTfs[block] || minLength !== head.minLengths[block]) fail(`wrong maxima of block ${block}`);
    }
    all.count += cursor.count;
  }
  if (head.ends[head.numBlocks - 1] !== head.blocks.length) fail('bytes behind the last block');
  all.docs.forEach((doc, i) => {
    lengths[doc] += all.tfs[i];
  });
  if (head.pairs && !samePairs(head, bestPairs(all, segment.lengths))) fail('wrong bounds of a term');
}

function samePairs({ pairs }: PostingsHead, expected: readonly (readonly [number, number])[]): boolean {
  return pairs?.length === 2 * expected.length && expected.flat().every((value, i) => value === pairs[i]);
}
