/** Files that are asked for a few bytes here and there, read through the pages that were read last. */
import type { ByteSource } from '../search/index.ts';

/** Larger pages waste memory on scattered reads, smaller ones time. */
const PAGE_BYTES = 16 * 1024;
/** Pages of a source are numbered below this: files up to 2 TiB, and 2²⁶ sources before the keys are no longer exact. */
const MAX_SOURCE_PAGES = 2 ** 27;
/** Tables of ids of all segments together, of one reader or one writer: a few million short ids. */
const ID_CACHE_BYTES = 64 * 2 ** 20;

/** What goes at once when the limit is reached. The oldest are found by sorting all, so it is not done page by page. */
const DROPPED_SHARE = 1 / 4;

type CachedPage = { readonly bytes: Uint8Array; lastUse: number };

/** Pages of any number of sources, in memory up to one limit; those that were used last stay. */
export class PageCache {
  readonly #maxPages: number;
  /** By source and page number. */
  readonly #pages = new Map<number, CachedPage>();
  #numSources = 0;
  #numUses = 0;

  /** One for all segments of a reader or a writer: memory stays the same however many there are. */
  static forIds(): PageCache {
    return new PageCache(ID_CACHE_BYTES);
  }

  constructor(maxBytes: number) {
    this.#maxPages = Math.max(1, Math.floor(maxBytes / PAGE_BYTES));
  }

  /** Bytes held in memory. */
  get memoryBytes(): number {
    return this.#pages.size * PAGE_BYTES;
  }

  /** A number for a new source. Its pages are never dropped on purpose: when nobody asks for them they grow old. */
  takeSource(): number {
    return this.#numSources++;
  }

  /** A page of a source, where it is in memory. A search asks for thousands: a use is a number, not a new place. */
  get(source: number, number: number): Uint8Array | undefined {
    const page = this.#pages.get(keyOf(source, number));
    if (!page) return undefined;
    page.lastUse = this.#numUses++;
    return page.bytes;
  }

  /** Keeps a page of a source, and gives it back. */
  keep(source: number, number: number, bytes: Uint8Array): Uint8Array {
    if (this.#pages.size >= this.#maxPages) this.#dropOldest();
    this.#pages.set(keyOf(source, number), { bytes, lastUse: this.#numUses++ });
    return bytes;
  }

  #dropOldest(): void {
    const oldest = [...this.#pages].sort(([, a], [, b]) => a.lastUse - b.lastUse);
    for (const [key] of oldest.slice(0, Math.ceil(oldest.length * DROPPED_SHARE))) this.#pages.delete(key);
  }
}

function keyOf(source: number, number: number): number {
  return source * MAX_SOURCE_PAGES + number;
}

/** Reads through a cache of pages. Reads of more than a page go past it. */
export class CachedSource implements ByteSource {
  readonly label: string;
  readonly sizeBytes: number;
  readonly #source: ByteSource;
  readonly #cache: PageCache;
  readonly #number: number;

  constructor(source: ByteSource, cache: PageCache) {
    this.label = source.label;
    this.sizeBytes = source.sizeBytes;
    this.#source = source;
    this.#cache = cache;
    this.#number = cache.takeSource();
  }

  read(offset: number, length: number): Uint8Array {
    const first = Math.floor(offset / PAGE_BYTES);
    const start = offset - first * PAGE_BYTES;
    const isInside = offset >= 0 && length > 0 && offset + length <= this.sizeBytes;
    if (!isInside || start + length > 2 * PAGE_BYTES) return this.#source.read(offset, length);
    if (start + length <= PAGE_BYTES) return this.#page(first).subarray(start, start + length);
    const bytes = new Uint8Array(length);
    bytes.set(this.#page(first).subarray(start));
    bytes.set(this.#page(first + 1).subarray(0, start + length - PAGE_BYTES), PAGE_BYTES - start);
    return bytes;
  }

  #page(number: number): Uint8Array {
    const known = this.#cache.get(this.#number, number);
    if (known) return known;
    const at = number * PAGE_BYTES;
    const bytes = this.#source.read(at, Math.min(PAGE_BYTES, this.sizeBytes - at));
    return this.#cache.keep(this.#number, number, bytes);
  }
}
