/** Where one document stands for a query: what each term gives it, and how many documents stand before it. */
import { IndexFormatError } from '../../core/index.ts';
import type { LinearMemory } from '../../kernels/index.ts';
import type { QueryWeights } from './codes.ts';
import { findRow } from './directory.ts';
import { recordAddress } from './placed-segment.ts';
import { codeOf, decodeRecord, type StoredRecord } from './record.ts';
import type { TermRow } from './segment-layout.ts';
import { isDeleted, type ViewedSegment } from './segment-view.ts';

/** A query term that a document has. */
export type MatchedCode = { readonly term: number; readonly weight: number; readonly code: number };

/** The terms of a query that document `doc` of a segment has, with their integers. */
export function matchedCodes(
  memory: LinearMemory,
  segment: ViewedSegment,
  { terms, weights }: QueryWeights,
  doc: number,
): MatchedCode[] {
  const { directory } = segment.placed;
  const matched: MatchedCode[] = [];
  for (let i = 0; i < terms.length; i++) {
    const row = findRow(directory, terms[i]);
    const code = row ? codeOf(readRecord(memory, segment, row), directory, doc) : 0;
    if (code > 0) matched.push({ term: terms[i], weight: weights[i], code });
  }
  return matched;
}

/** How many documents of a segment stand before (score, docId): those that score more, or the same with a lower number. */
export function countBetter(
  memory: LinearMemory,
  segment: ViewedSegment,
  weights: QueryWeights,
  { score, docId }: { readonly score: number; readonly docId: number },
): number {
  const scores = allScores(memory, segment, weights);
  let count = 0;
  for (let doc = 0; doc < scores.length; doc++) {
    const isBetter = scores[doc] > score || (scores[doc] === score && segment.docBase + doc < docId);
    if (isBetter && !isDeleted(memory, segment, doc)) count++;
  }
  return count;
}

/** The scores of all documents of a segment, term by term. */
function allScores(memory: LinearMemory, segment: ViewedSegment, { terms, weights }: QueryWeights): Uint32Array {
  const { directory, key } = segment.placed;
  const scores = new Uint32Array(directory.numDocs);
  for (let i = 0; i < terms.length; i++) {
    const row = findRow(directory, terms[i]);
    if (!row) continue;
    const postings = new Uint32Array(row.df);
    const problem = decodeRecord(readRecord(memory, segment, row), directory, postings);
    if (problem !== undefined) throw new IndexFormatError(`segment ${key}: term ${row.term}: ${problem}`);
    for (const posting of postings) scores[posting >>> 8] += weights[i] * (posting & 255);
  }
  return scores;
}

function readRecord(memory: LinearMemory, { placed }: ViewedSegment, row: TermRow): StoredRecord {
  const address = recordAddress(placed, row); // may read, and so move the views
  return { bytes: memory.views.u8.subarray(address, address + row.bytes), kind: row.kind, df: row.df };
}
