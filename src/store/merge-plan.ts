/**
 * Which segments to merge. Only neighbours are joined, in their order: document numbers keep their order, and so do ties.
 * Knows nothing of files.
 *
 * Segments fall into tiers by size, each FANOUT times the one below. A run of neighbours of at most some tier is merged
 * once FANOUT of them are of that tier: a byte is then copied about once a tier. Merging whenever the run has FANOUT
 * segments of any size copies a third more.
 */
import { MAX_SEGMENT_DOCS } from '../search/index.ts';

/** What the plan needs to know of a segment. */
export type SegmentSize = {
  readonly numDocs: number;
  readonly numDeleted: number;
  /** Bytes of the postings. */
  readonly sizeBytes: number;
};

/** Neighbours to be merged: segments `from` to `to - 1`. */
export type MergeRange = { readonly from: number; readonly to: number };

/** Segments of a tier that become one of the next. */
const FANOUT = 6;
/** Runs that are longer are merged whatever their sizes: large segments shrink by deletes, and come to stand anywhere. */
const MAX_RUN = 4 * FANOUT;
/** Segments up to this size are all of the lowest tier. */
const LOWEST_TIER_BYTES = 256 * 1024;
/** A segment with a larger share of deleted documents is written anew. */
const MAX_DELETED_SHARE = 0.35;
/** Postings of a merged segment: larger ones neither fit one WebAssembly memory comfortably nor merge in good time. */
export const MAX_SEGMENT_BYTES = 2 ** 30;

/** Bytes that are left of a segment once its deleted documents are dropped, about. */
function liveBytes({ numDocs, numDeleted, sizeBytes }: SegmentSize): number {
  return numDocs === 0 ? 0 : (sizeBytes * (numDocs - numDeleted)) / numDocs;
}

function tierOf(segment: SegmentSize): number {
  const ratio = liveBytes(segment) / LOWEST_TIER_BYTES;
  return ratio <= 1 ? 0 : 1 + Math.floor(Math.log(ratio) / Math.log(FANOUT));
}

/** The next merge that is worth its while after a commit, if there is one. */
export function planTieredMerge(
  segments: readonly SegmentSize[],
  maxBytes: number = MAX_SEGMENT_BYTES,
): MergeRange | undefined {
  const stale = segments.findIndex(({ numDocs, numDeleted }) => numDeleted > MAX_DELETED_SHARE * numDocs);
  if (stale >= 0) return { from: stale, to: stale + 1 };
  const tiers = segments.map(tierOf);
  for (let tier = 0; tier <= Math.max(...tiers); tier++) {
    const runs = splitRuns(segments, { maxBytes, belongs: (i) => tiers[i] <= tier });
    const found = runs.find(({ from, to }) => isWorthMerging(tiers.slice(from, to), tier));
    if (found) return found;
  }
  return undefined;
}

function isWorthMerging(tiers: readonly number[], tier: number): boolean {
  return tiers.filter((other) => other === tier).length >= FANOUT || tiers.length >= MAX_RUN;
}

/** All merges that leave as few segments as the limit allows, and no deleted document. */
export function planFullMerge(
  segments: readonly SegmentSize[],
  maxBytes: number = MAX_SEGMENT_BYTES,
): readonly MergeRange[] {
  const runs = splitRuns(segments, { maxBytes, belongs: () => true });
  return runs.filter(({ from, to }) => to - from > 1 || segments[from].numDeleted > 0);
}

/** Neighbours that belong, from the left, in runs as long as the limit allows. */
function splitRuns(
  segments: readonly SegmentSize[],
  { maxBytes, belongs }: { maxBytes: number; belongs: (i: number) => boolean },
): MergeRange[] {
  const runs: MergeRange[] = [];
  for (let from = 0; from < segments.length; ) {
    let to = from;
    for (let bytes = 0, docs = 0; to < segments.length && belongs(to); to++) {
      bytes += liveBytes(segments[to]);
      docs += segments[to].numDocs - segments[to].numDeleted;
      if ((bytes > maxBytes || docs > MAX_SEGMENT_DOCS) && to > from) break;
    }
    if (to > from) runs.push({ from, to });
    from = Math.max(to, from + 1);
  }
  return runs;
}
