/**
 * Texts by id, held outside of the JavaScript heap: the 8.8 million passages of MS MARCO are 3 GB of text, which the heap
 * of a default Node does not take. The heap keeps the ids, about 100 bytes each. Knows nothing of where texts come from.
 */
import { assert } from '../../core/index.ts';

const SLAB_BYTES = 16 * 1024 * 1024;

/** Where a text lies. */
type Place = { readonly slab: number; readonly start: number; readonly end: number };

/** Texts by id. They can be added, not changed. */
export class TextStore {
  readonly #slabs: Buffer[] = [];
  #usedBytes = 0; // of the last slab
  readonly #numbers = new Map<string, number>();
  /** Slab, start and end of text i at 3i. */
  #places = new Uint32Array(3 * 1024);

  /** How many texts there are. */
  get size(): number {
    return this.#numbers.size;
  }

  /** Adds a text under an id that is new. */
  add(id: string, text: string): void {
    const i = this.#numbers.size;
    assert(!this.#numbers.has(id), `text ${id} is there already`);
    if (3 * i === this.#places.length) this.#grow();
    const { slab, start, end } = this.#write(Buffer.from(text));
    this.#places.set([slab, start, end], 3 * i);
    this.#numbers.set(id, i);
  }

  /** The text of an id; undefined if there is none. */
  get(id: string): string | undefined {
    const i = this.#numbers.get(id);
    if (i === undefined) return undefined;
    const [slab, start, end] = this.#places.subarray(3 * i, 3 * i + 3);
    return this.#slabs[slab].toString('utf8', start, end);
  }

  #write(bytes: Buffer): Place {
    const last = this.#slabs.at(-1);
    if (last === undefined || this.#usedBytes + bytes.length > last.length) {
      this.#slabs.push(Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, bytes.length)));
      this.#usedBytes = 0;
    }
    const slab = this.#slabs.length - 1;
    const start = this.#usedBytes;
    bytes.copy(this.#slabs[slab], start);
    this.#usedBytes += bytes.length;
    return { slab, start, end: this.#usedBytes };
  }

  #grow(): void {
    const grown = new Uint32Array(2 * this.#places.length);
    grown.set(this.#places);
    this.#places = grown;
  }
}
