/**
 * Several segments become one, without their deleted documents: term by term, decoded and encoded again, so that the
 * result has the bytes of a segment built at once. In memory are one term's postings, the directories, and four bytes per
 * document of inputs that have deletions.
 */
import { InputError } from '../../core/index.ts';
import { hasBit } from '../documents/bitmap.ts';
import type { Bitmap, ByteSink, MergeInput, SegmentSummary } from '../types.ts';
import { findRow, type SegmentDirectory } from './directory.ts';
import type { Postings } from './record.ts';
import { DEFAULT_WINDOW_SIZE, isDense, ROW_WORDS } from './segment-layout.ts';
import { SegmentReader } from './segment-reader.ts';
import { SegmentWriter } from './segment-writer.ts';

/** A posting's document is deleted. */
const GONE = 0xffffffff;

type Source = {
  readonly reader: SegmentReader;
  /** New number of this segment's first document. */
  readonly firstDoc: number;
  readonly numDeleted: number;
  /** New number of each document, or GONE; undefined where nothing is deleted. */
  readonly newDocs: Uint32Array | undefined;
};

/** Writes one segment of the documents that are left. */
export function mergeSparseSegments(inputs: readonly MergeInput[], sink: ByteSink): SegmentSummary {
  const { sources, numDocs } = openSources(inputs);
  const windowSize = sources[0]?.reader.directory.windowSize ?? DEFAULT_WINDOW_SIZE;
  if (sources.some(({ reader }) => reader.directory.windowSize !== windowSize))
    throw new InputError('segments to be merged have different window sizes');
  const writer = new SegmentWriter({ numDocs, windowSize }, sink);
  const terms = allTerms(sources.map(({ reader }) => reader.directory));
  const dense = terms.filter((term) => isDenseAfter(sources, term, numDocs));
  const denseTerms = new Set(dense);
  for (const term of dense) writer.add(term, mergePostings(sources, term));
  for (const term of terms) if (!denseTerms.has(term)) writer.add(term, mergePostings(sources, term));
  return writer.finish();
}

function openSources(inputs: readonly MergeInput[]): { sources: Source[]; numDocs: number } {
  let numDocs = 0;
  const sources = inputs.map(({ source, deleted }) => {
    const reader = new SegmentReader(source);
    const renumbered = renumber(reader.directory.numDocs, deleted, numDocs);
    const opened = { reader, firstDoc: numDocs, ...renumbered };
    numDocs += reader.directory.numDocs - renumbered.numDeleted;
    return opened;
  });
  return { sources, numDocs };
}

function renumber(
  numDocs: number,
  deleted: Bitmap | undefined,
  firstDoc: number,
): Pick<Source, 'newDocs' | 'numDeleted'> {
  if (!deleted) return { newDocs: undefined, numDeleted: 0 };
  const newDocs = new Uint32Array(numDocs);
  let next = firstDoc;
  for (let doc = 0; doc < numDocs; doc++) newDocs[doc] = hasBit(deleted, doc) ? GONE : next++;
  return { newDocs, numDeleted: firstDoc + numDocs - next };
}

/** The terms of all inputs, ascending. */
function allTerms(directories: readonly SegmentDirectory[]): Uint32Array {
  const terms = new Set<number>();
  for (const { rows, numTerms } of directories) for (let i = 0; i < numTerms; i++) terms.add(rows[i * ROW_WORDS]);
  return Uint32Array.from(terms).sort();
}

/**
 * Will the term be dense? Dense records are written first, so this is asked before anything is decoded; the lists are read
 * only if it depends on which documents were deleted.
 */
function isDenseAfter(sources: readonly Source[], term: number, numDocs: number): boolean {
  let most = 0;
  let least = 0;
  for (const { reader, numDeleted } of sources) {
    const df = findRow(reader.directory, term)?.df ?? 0;
    most += df;
    least += Math.max(0, df - numDeleted);
  }
  if (!isDense(most, numDocs) || most === 0) return false;
  return isDense(least, numDocs) || isDense(mergePostings(sources, term).length, numDocs);
}

function mergePostings(sources: readonly Source[], term: number): Postings {
  const lists = sources.map((source) => remainingPostings(source, term));
  const merged = new Uint32Array(lists.reduce((sum, list) => sum + list.length, 0));
  let at = 0;
  for (const list of lists) {
    merged.set(list, at);
    at += list.length;
  }
  return merged;
}

/** A source's postings of documents that are left, with their new numbers. */
function remainingPostings({ reader, firstDoc, newDocs }: Source, term: number): Postings {
  const row = findRow(reader.directory, term);
  if (!row) return new Uint32Array(0);
  const postings = reader.postings(row);
  let n = 0;
  for (let i = 0; i < postings.length; i++) {
    const doc = postings[i] >>> 8;
    const newDoc = newDocs ? newDocs[doc] : firstDoc + doc;
    if (newDoc !== GONE) postings[n++] = (newDoc << 8) | (postings[i] & 255);
  }
  return postings.subarray(0, n);
}
