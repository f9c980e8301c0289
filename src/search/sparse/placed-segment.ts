/** A segment in linear memory: all of its records (resident), or the dense ones, and the rare ones when asked (lean). */
import { IndexFormatError } from '../../core/index.ts';
import { DENSE, type LinearMemory } from '../../kernels/index.ts';
import type { ByteSource, SearchSegment } from '../types.ts';
import { readDirectory, type SegmentDirectory } from './directory.ts';
import type { RecordCache } from './record-cache.ts';
import { HEADER_BYTES, type TermRow } from './segment-layout.ts';

/** Where a source hands out copies, they are small: they stay in the processor's cache until they are copied again. */
const PIECE_BYTES = 1 << 20;

/** A segment that can be searched. */
export type PlacedSegment = {
  readonly key: string;
  readonly directory: SegmentDirectory;
  /** Where byte 0 of the file would lie. */
  readonly base: number;
  /** Where the part of memory begins that holds the records. */
  readonly address: number;
  /** Where rare records come from in lean mode; undefined: they are in memory. */
  readonly rareRecords: { readonly cache: RecordCache; readonly source: ByteSource } | undefined;
};

/** Places a segment; an IndexFormatError where its directory is not whole. */
export function placeSegment(
  { key, source, numDocs }: SearchSegment,
  memory: LinearMemory,
  { cache, shared }: { readonly cache: RecordCache | undefined; readonly shared: boolean },
): PlacedSegment {
  const directory = readDirectory(source);
  if (directory.numDocs !== numDocs)
    throw new IndexFormatError(`${source.label}: expected ${numDocs} documents, got ${directory.numDocs}`);
  const end = cache ? directory.denseEnd : directory.recordsEnd;
  const address = loadRange(source, memory, end);
  return {
    key,
    directory: shared ? { ...directory, rows: sharedCopy(directory.rows) } : directory,
    base: address - HEADER_BYTES,
    address,
    rareRecords: cache ? { cache, source } : undefined,
  };
}

/** The records up to byte `end`. */
function loadRange(source: ByteSource, memory: LinearMemory, end: number): number {
  const address = memory.allocate(end - HEADER_BYTES);
  try {
    copyInto(source, HEADER_BYTES, memory.views.u8.subarray(address, address + end - HEADER_BYTES));
  } catch (error) {
    memory.release(address);
    throw error;
  }
  return address;
}

function copyInto(source: ByteSource, offset: number, target: Uint8Array): void {
  if (source.readInto) source.readInto(offset, target);
  else
    for (let at = 0; at < target.length; at += PIECE_BYTES)
      target.set(source.read(offset + at, Math.min(PIECE_BYTES, target.length - at)), at);
}

/** The same words where other threads see them too. */
function sharedCopy(words: Uint32Array): Uint32Array {
  const copy = new Uint32Array(new SharedArrayBuffer(words.byteLength));
  copy.set(words);
  return copy;
}

/** Address of a term's record. */
export function recordAddress({ key, base, rareRecords }: PlacedSegment, row: TermRow): number {
  if (!rareRecords || row.kind === DENSE) return base + row.offset;
  return rareRecords.cache.address(key, rareRecords.source, row);
}
