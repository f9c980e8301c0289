/** Figures of an index, from its manifest alone. */
import type { IndexKind } from '../search/index.ts';
import type { SegmentPart } from './layout.ts';
import type { Manifest } from './manifest.ts';

/** What an index holds and takes. */
export type StoreStats = {
  readonly kind: IndexKind;
  readonly generation: number;
  /** Documents that are not deleted. */
  readonly numDocs: number;
  /** Deleted documents that the next merge drops. */
  readonly numDeleted: number;
  readonly numSegments: number;
  /** Those of deleted documents included. */
  readonly numPostings: number;
  /** Bytes on disk, by part of the index. */
  readonly sizeBytes: Readonly<Record<SegmentPart | 'tombstones' | 'querySide' | 'total', number>>;
  /** Undefined where there are no postings. */
  readonly bytesPerPosting: number | undefined;
  /** Bytes held in memory for searching. */
  readonly memoryBytes: number;
};

/** Adds up. */
export function statsOf({ kind, generation, segments, querySide }: Manifest, memoryBytes: number): StoreStats {
  const sum = (of: (segment: Manifest['segments'][number]) => number): number =>
    segments.reduce((total, segment) => total + of(segment), 0);
  const numDeleted = sum((segment) => segment.numDeleted);
  const numPostings = sum((segment) => segment.numPostings);
  const parts = {
    postings: sum(({ files }) => files.postings.sizeBytes),
    documents: sum(({ files }) => files.documents.sizeBytes),
    vectors: sum(({ files }) => files.vectors?.sizeBytes ?? 0),
    tombstones: sum(({ tombstones }) => tombstones?.sizeBytes ?? 0),
    querySide: querySide?.sizeBytes ?? 0,
  };
  const total = Object.values(parts).reduce((a, b) => a + b, 0);
  return {
    kind,
    generation,
    numDocs: sum(({ numDocs }) => numDocs) - numDeleted,
    numDeleted,
    numSegments: segments.length,
    numPostings,
    sizeBytes: { ...parts, total },
    bytesPerPosting: numPostings > 0 ? parts.postings / numPostings : undefined,
    memoryBytes,
  };
}
