/** What a query means for one segment, and the block of memory that says so to the kernel. */
import {
  CODES,
  DELETED,
  DENSE,
  DOC_BASE,
  FILTER,
  HEAP,
  HEAP_SIZE,
  K,
  KIND,
  LENGTH,
  type LinearMemory,
  MAXIMA,
  NUM_DENSE,
  NUM_DOCS,
  NUM_RARE,
  RANKS,
  SCRATCH,
  STARTS,
  STREAM,
  TERM_BYTES,
  TERMS,
  THRESHOLD,
  WEIGHT,
  WINDOW_SIZE,
} from '../../kernels/index.ts';
import { MAX_CODE, type QueryWeights } from './codes.ts';
import { findRow } from './directory.ts';
import { recordAddress } from './placed-segment.ts';
import { entryBytes, KTH_RANKS, shapeOf, type TermRow } from './segment-layout.ts';
import type { ViewedSegment, Workspace } from './segment-view.ts';

/** A query term that a segment has. */
export type MatchedTerm = { readonly row: TermRow; readonly weight: number };

/** A query's terms in one segment. */
export type SegmentQuery = {
  readonly segment: ViewedSegment;
  /** The directory's rows, one for each term of the query. */
  readonly rows: readonly (TermRow | undefined)[];
  readonly rare: readonly MatchedTerm[];
  /** By descending weight · largest code. */
  readonly dense: readonly MatchedTerm[];
  /** No document of the segment scores more. */
  readonly bound: number;
};

/** Looks the terms of a query up. */
export function matchTerms(segment: ViewedSegment, { terms, weights }: QueryWeights): SegmentQuery {
  const rows: (TermRow | undefined)[] = [];
  const rare: MatchedTerm[] = [];
  const dense: MatchedTerm[] = [];
  let bound = 0;
  for (let i = 0; i < terms.length; i++) {
    const row = findRow(segment.placed.directory, terms[i]);
    rows.push(row);
    if (!row) continue;
    (row.kind === DENSE ? dense : rare).push({ row, weight: weights[i] });
    bound += weights[i] * row.max;
  }
  dense.sort((a, b) => b.weight * b.row.max - a.weight * a.row.max);
  return { segment, rows, rare, dense, bound };
}

/**
 * For each rank a score that so many documents reach, or 0: a term's code of that rank times its weight. A row keeps the
 * codes of a few ranks, and what segments have adds up: ten of them have ten documents with the least of their ten largest
 * codes. Deleted documents are counted too, so with them this is a guess.
 */
export function scoresAtRanks(
  queries: readonly SegmentQuery[],
  { weights }: QueryWeights,
  ranks: readonly number[],
): number[] {
  const reaching = new Uint32Array(MAX_CODE + 1);
  const scores = ranks.map(() => 0);
  for (let i = 0; i < weights.length; i++) {
    const codeAt = queries.length === 1 ? codesOfRow(queries[0].rows[i]) : codesOfRows(queries, i, reaching);
    for (let j = 0; j < ranks.length; j++) scores[j] = Math.max(scores[j], weights[i] * codeAt(ranks[j]));
  }
  return scores;
}

/** The largest code that so many documents reach, 0 if there is none: of one row it stands there. */
function codesOfRow(row: TermRow | undefined): (rank: number) => number {
  if (!row) return () => 0;
  return (rank) => (rank <= 1 ? row.max : (row.kth[KTH_RANKS.findIndex((kept) => rank <= kept)] ?? 0));
}

/** The same of one term's rows in all segments. `reaching` is memory for the counts. */
function codesOfRows(queries: readonly SegmentQuery[], i: number, reaching: Uint32Array): (rank: number) => number {
  reaching.fill(0);
  for (const { rows } of queries) countReaching(rows[i], reaching);
  return (rank) => codeAtRank(reaching, rank);
}

/** Adds the documents that a row is known to have, each at the highest code that it reaches for certain. */
function countReaching(row: TermRow | undefined, reaching: Uint32Array): void {
  if (!row) return;
  reaching[row.max]++;
  for (let i = 0, counted = 1; i < KTH_RANKS.length; counted = KTH_RANKS[i++])
    reaching[row.kth[i]] += KTH_RANKS[i] - counted;
}

/** The largest code that so many documents reach, 0 if there is none. */
function codeAtRank(reaching: Uint32Array, rank: number): number {
  let code = MAX_CODE;
  for (let sum = reaching[code]; sum < rank && code > 0; sum += reaching[code]) code--;
  return code;
}

/** Writes the request for one segment; the heap stays as it is. `filter` is the address of a bitmap, 0 for none. */
export function writeRequest(
  memory: LinearMemory,
  workspace: Workspace,
  query: SegmentQuery,
  { threshold, filter }: { readonly threshold: number; readonly filter: number },
): void {
  const { segment, rare, dense } = query;
  writeTerms(memory, workspace.terms, query);
  const { u32 } = memory.views;
  const set = (field: number, value: number): void => {
    u32[(workspace.request + field) >>> 2] = value;
  };
  set(NUM_DOCS, segment.placed.directory.numDocs);
  set(WINDOW_SIZE, segment.placed.directory.windowSize);
  set(TERMS, workspace.terms);
  set(NUM_RARE, rare.length);
  set(NUM_DENSE, dense.length);
  set(THRESHOLD, threshold);
  set(DELETED, segment.deleted);
  set(FILTER, filter);
  set(DOC_BASE, segment.docBase);
  set(SCRATCH, workspace.scratch);
}

/** Empties the heap and says how many results are wanted. */
export function clearHeap(memory: LinearMemory, { request, heap }: Workspace, k: number): void {
  const { u32 } = memory.views;
  u32[(request + K) >>> 2] = k;
  u32[(request + HEAP) >>> 2] = heap;
  u32[(request + HEAP_SIZE) >>> 2] = 0;
}

/** How many results were found. */
export function heapSize(memory: LinearMemory, { request }: Workspace): number {
  return memory.views.u32[(request + HEAP_SIZE) >>> 2];
}

/** The score that the next result must reach: 0 until k are found. */
export function heapThreshold(memory: LinearMemory, { request, heap }: Workspace, k: number): number {
  const { u32 } = memory.views;
  return u32[(request + HEAP_SIZE) >>> 2] === k ? u32[heap >>> 2] : 0;
}

function writeTerms(memory: LinearMemory, address: number, { segment, rare, dense }: SegmentQuery): void {
  const terms = [...rare, ...dense];
  const records = terms.map(({ row }) => recordAddress(segment.placed, row)); // may read, and so move the views
  const { u32 } = memory.views;
  terms.forEach(({ row, weight }, i) => {
    const shape = shapeOf(row.kind, row.df, segment.placed.directory);
    const record = records[i];
    const at = (address + i * TERM_BYTES) >>> 2;
    u32[at + KIND / 4] = row.kind;
    u32[at + WEIGHT / 4] = weight;
    u32[at + MAXIMA / 4] = record;
    u32[at + STARTS / 4] = record + shape.starts;
    u32[at + STREAM / 4] = record + shape.stream;
    u32[at + LENGTH / 4] = row.kind === DENSE ? row.df : Math.floor((row.bytes - shape.stream) / entryBytes(row.kind));
    u32[at + RANKS / 4] = record + shape.ranks;
    u32[at + CODES / 4] = record + shape.codes;
  });
}
