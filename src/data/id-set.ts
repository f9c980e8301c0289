/**
 * The set of ids seen so far, to find duplicates among many millions without keeping the ids. It keeps 64 bits of hash
 * for each, in one typed array with open addressing: 11 to 21 bytes an id, against about 100 in a Set of strings.
 *
 * The price: two different ids with the same 64 bits are taken for duplicates, with probability about n²/2⁶⁵ over the
 * whole input (2·10⁻⁶ for the 8.8 M passages of MS MARCO).
 *
 * Memory is bounded: 2²⁶ slots, 512 MiB, hold 50 million ids. Later ones are compared with those, but not with each other, so
 * beyond them whoever stores documents decides which of two equal ids counts: the later, in every index that we have.
 */

/** Share of slots in use before the table doubles. */
const MAX_LOAD = 0.75;

/** Ids that are compared with each other, at most. */
export const MAX_COMPARED_IDS = 2 ** 26 * MAX_LOAD;

/** Ids seen so far. */
export class IdSet {
  readonly #capacity: number;
  /** Slot i is the pair (2i, 2i+1); a pair of zeros is free. */
  #slots = new Uint32Array(2 * 1024);
  #size = 0;
  /** The hash of the id at hand: a field, so that an id costs no allocation. */
  readonly #hash = new Uint32Array(2);

  /** @param capacity ids that are kept, at most */
  constructor({ capacity = MAX_COMPARED_IDS }: { readonly capacity?: number } = {}) {
    this.#capacity = capacity;
  }

  /** How many ids are kept. */
  get size(): number {
    return this.#size;
  }

  /** Adds an id, where there is room. False if it was there already. */
  add(id: string): boolean {
    hashId(id, this.#hash);
    const at = findSlot(this.#slots, this.#hash[0], this.#hash[1]);
    if (this.#slots[at] !== 0 || this.#slots[at + 1] !== 0) return false;
    if (this.#size === this.#capacity) return true;
    this.#slots[at] = this.#hash[0];
    this.#slots[at + 1] = this.#hash[1];
    this.#size++;
    if (this.#size > (this.#slots.length / 2) * MAX_LOAD && this.#size < this.#capacity)
      this.#slots = grown(this.#slots);
    return true;
  }
}

/** First word of the slot that holds this hash, or of the free slot where it belongs (linear probing). */
function findSlot(slots: Uint32Array, low: number, high: number): number {
  const mask = slots.length - 2;
  let at = (low << 1) & mask;
  while ((slots[at] !== low || slots[at + 1] !== high) && (slots[at] !== 0 || slots[at + 1] !== 0))
    at = (at + 2) & mask;
  return at;
}

function grown(slots: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * slots.length);
  for (let i = 0; i < slots.length; i += 2) {
    if (slots[i] === 0 && slots[i + 1] === 0) continue;
    const at = findSlot(larger, slots[i], slots[i + 1]);
    larger[at] = slots[i];
    larger[at + 1] = slots[i + 1];
  }
  return larger;
}

/**
 * Two 32-bit hashes of the UTF-16 units of an id, never both 0. Each unit goes in as in MurmurHash3_x86_32 (Appleby,
 * public domain), under different constants and rotations; the finaliser is Murmur's, over both halves crossed.
 */
function hashId(id: string, out: Uint32Array): void {
  let a = 0x9e3779b9 ^ id.length;
  let b = 0x7f4a7c15 ^ id.length;
  for (let i = 0; i < id.length; i++) {
    const unit = id.charCodeAt(i);
    a = Math.imul(rotateLeft(a ^ Math.imul(unit, 0xcc9e2d51), 13), 5) + 0xe6546b64;
    b = Math.imul(rotateLeft(b ^ Math.imul(unit, 0x1b873593), 19), 9) + 0x561ccd1b;
  }
  a = finalMix(a + Math.imul(b, 0x85ebca6b));
  b = finalMix(b ^ rotateLeft(a, 17));
  out[0] = a;
  out[1] = a === 0 && b === 0 ? 1 : b;
}

function rotateLeft(x: number, by: number): number {
  return (x << by) | (x >>> (32 - by));
}

function finalMix(x: number): number {
  let z = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
  return z ^ (z >>> 16);
}
