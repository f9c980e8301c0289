/**
 * Which segments and which bitmaps of deleted documents lie in linear memory, and who still needs them. Commits come and
 * go, and other threads may go on searching an old one: a part is freed when its last user has released it.
 */
import type { LinearMemory } from '../../kernels/index.ts';
import { countBits } from '../documents/bitmap.ts';
import type { Bitmap, SearchSegment } from '../types.ts';
import { type PlacedSegment, placeSegment } from './placed-segment.ts';
import type { RecordCache } from './record-cache.ts';
import { bitmapBytes, type ViewedSegment } from './segment-view.ts';

/** Segments in memory. */
export class SegmentMemory {
  readonly #memory: LinearMemory;
  readonly #cache: RecordCache | undefined;
  readonly #shared: boolean;
  readonly #placed = new Map<string, { readonly segment: PlacedSegment; users: number }>();
  /** Users of each bitmap, by address. */
  readonly #bitmaps = new Map<number, number>();

  /** `cache`: for lean mode, where it keeps the rare terms; `shared`: other threads read the directories. */
  constructor(
    memory: LinearMemory,
    { cache, shared }: { readonly cache: RecordCache | undefined; readonly shared: boolean },
  ) {
    this.#memory = memory;
    this.#cache = cache;
    this.#shared = shared;
  }

  /** Bytes of the directories, which lie outside the linear memory. */
  get directoryBytes(): number {
    let bytes = 0;
    for (const { segment } of this.#placed.values()) bytes += segment.directory.rows.byteLength;
    return bytes;
  }

  /** Places the segments that are not there yet, and is a user of all. If one fails, everything is as before. */
  view(segments: readonly SearchSegment[]): ViewedSegment[] {
    const viewed: ViewedSegment[] = [];
    try {
      let docBase = 0;
      for (const segment of segments) {
        viewed.push(this.#viewSegment(segment, docBase));
        docBase += segment.numDocs;
      }
    } catch (error) {
      this.release(viewed);
      for (const { segment, users } of this.#placed.values()) if (users === 0) this.#remove(segment);
      throw error;
    }
    return viewed;
  }

  /** One more user of these. */
  acquire(segments: readonly ViewedSegment[]): void {
    for (const { placed, deleted } of segments) {
      const entry = this.#placed.get(placed.key);
      if (entry) entry.users++;
      if (deleted !== 0) this.#bitmaps.set(deleted, (this.#bitmaps.get(deleted) ?? 0) + 1);
    }
  }

  /** One user less; what nobody uses is freed. */
  release(segments: readonly ViewedSegment[]): void {
    for (const { placed, deleted } of segments) {
      const entry = this.#placed.get(placed.key);
      if (entry && --entry.users === 0) this.#remove(placed);
      if (deleted !== 0) this.#releaseBitmap(deleted);
    }
  }

  #viewSegment(segment: SearchSegment, docBase: number): ViewedSegment {
    const known = this.#placed.get(segment.key)?.segment;
    const placed = known ?? placeSegment(segment, this.#memory, { cache: this.#cache, shared: this.#shared });
    if (!known) this.#placed.set(segment.key, { segment: placed, users: 0 });
    const numDeleted = segment.deleted ? countBits(segment.deleted) : 0;
    const deleted = segment.deleted && numDeleted > 0 ? this.#placeBitmap(segment.deleted, placed) : 0;
    const viewed = { placed, docBase, deleted, numDeleted };
    this.acquire([viewed]);
    return viewed;
  }

  #placeBitmap(bitmap: Bitmap, placed: PlacedSegment): number {
    const address = this.#memory.allocate(bitmapBytes(placed.directory));
    writeBitmap(this.#memory, address, bitmap, placed);
    return address;
  }

  #releaseBitmap(address: number): void {
    const users = (this.#bitmaps.get(address) ?? 0) - 1;
    if (users > 0) {
      this.#bitmaps.set(address, users);
      return;
    }
    this.#bitmaps.delete(address);
    this.#memory.release(address);
  }

  #remove({ key, address }: PlacedSegment): void {
    this.#cache?.forget(key);
    this.#memory.release(address);
    this.#placed.delete(key);
  }
}

/** A bitmap with zeros up to whole windows, as kernels read it. */
export function writeBitmap(memory: LinearMemory, address: number, bitmap: Bitmap, { directory }: PlacedSegment): void {
  const { u8 } = memory.views;
  const bytes = Math.ceil(directory.numDocs / 8);
  u8.set(bitmap.subarray(0, bytes), address);
  u8.fill(0, address + bytes, address + bitmapBytes(directory));
}
