/**
 * The segments of one commit as a searcher sees them: in order of document number, with their deleted documents, and the
 * working memory that a search in any of them needs.
 */
import { type LinearMemory, REQUEST_BYTES, scratchBytes, TERM_BYTES } from '../../kernels/index.ts';
import { MAX_K } from '../hits.ts';
import type { PlacedSegment } from './placed-segment.ts';

const RESULT_BYTES = 8;
const ALIGNMENT = 16;

/** One segment of a view. */
export type ViewedSegment = {
  readonly placed: PlacedSegment;
  /** Number of its first document over all segments. */
  readonly docBase: number;
  /** Address of the bitmap of deleted documents, 0 for none. */
  readonly deleted: number;
  readonly numDeleted: number;
};

/** Working memory, divided. */
export type Workspace = {
  readonly request: number;
  readonly terms: number;
  readonly heap: number;
  readonly scratch: number;
  readonly filter: number;
};

/** Size of a bitmap that is filled up to whole windows, as kernels read it. */
export function bitmapBytes({ numDocs, windowSize }: { numDocs: number; windowSize: number }): number {
  return (Math.ceil(numDocs / windowSize) * windowSize) / 8;
}

/** Bytes of working memory for a search in these segments, and where its parts begin. */
export function planWorkspace(segments: readonly PlacedSegment[]): {
  readonly bytes: number;
  at(address: number): Workspace;
} {
  const most = (size: (segment: PlacedSegment) => number): number => roundUp(Math.max(0, ...segments.map(size)));
  const terms = roundUp(REQUEST_BYTES);
  const heap = terms + most(({ directory }) => TERM_BYTES * directory.numTerms);
  const scratch = heap + roundUp(RESULT_BYTES * MAX_K);
  const filter = scratch + most(({ directory }) => scratchBytes(directory.numDocs, directory.windowSize));
  return {
    bytes: filter + most(({ directory }) => bitmapBytes(directory)),
    at: (address) => ({
      request: address,
      terms: address + terms,
      heap: address + heap,
      scratch: address + scratch,
      filter: address + filter,
    }),
  };
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

/** Is a document of a segment deleted? */
export function isDeleted(memory: LinearMemory, { deleted }: ViewedSegment, doc: number): boolean {
  return deleted !== 0 && ((memory.views.u8[deleted + (doc >>> 3)] >>> (doc & 7)) & 1) !== 0;
}
