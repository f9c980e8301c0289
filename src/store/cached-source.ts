/** A source that keeps the pages it read last, for files that are asked for a few bytes here and there. */
import type { ByteSource } from '../search/index.ts';

/** Larger pages waste memory on scattered reads, smaller ones time. */
const PAGE_BYTES = 16 * 1024;

/** Reads through a cache of pages. Reads of more than a page go past it. */
export class CachedSource implements ByteSource {
  readonly label: string;
  readonly sizeBytes: number;
  readonly #source: ByteSource;
  readonly #maxPages: number;
  /** By page number; the order of the map is that of the last use. */
  readonly #pages = new Map<number, Uint8Array>();

  constructor(source: ByteSource, maxBytes: number) {
    this.label = source.label;
    this.sizeBytes = source.sizeBytes;
    this.#source = source;
    this.#maxPages = Math.max(1, Math.floor(maxBytes / PAGE_BYTES));
  }

  /** Bytes held in memory. */
  get memoryBytes(): number {
    return this.#pages.size * PAGE_BYTES;
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
    const known = this.#pages.get(number);
    if (known) {
      this.#pages.delete(number);
      this.#pages.set(number, known);
      return known;
    }
    const at = number * PAGE_BYTES;
    const page = this.#source.read(at, Math.min(PAGE_BYTES, this.sizeBytes - at));
    if (this.#pages.size >= this.#maxPages) this.#dropOldest();
    this.#pages.set(number, page);
    return page;
  }

  #dropOldest(): void {
    const { value: oldest } = this.#pages.keys().next();
    if (oldest !== undefined) this.#pages.delete(oldest);
  }
}
