/**
 * Where the records of a cache lie, by their keys: a hash table in typed arrays, so that a million records take some
 * fifty megabytes and no work of the garbage collector. Keys are hashes already; nothing is ever removed.
 */

/** 128 bits. */
export type RecordKey = Uint32Array;

const KEY_WORDS = 4;
const FIRST_SLOTS = 1024;
/** Share of slots in use above which the table doubles. */
const MAX_LOAD = 0.75;

/** Positions by key, 24 bytes a slot. */
export class RecordIndex {
  #keys = new Uint32Array(FIRST_SLOTS * KEY_WORDS);
  /** 0 for an empty slot: no record begins there, the header of the file does. */
  #positions = new Float64Array(FIRST_SLOTS);
  #size = 0;

  /** Number of keys. */
  get size(): number {
    return this.#size;
  }

  /** The position of a key, or undefined. */
  get(key: RecordKey): number | undefined {
    const position = this.#positions[this.#slotOf(key)];
    return position === 0 ? undefined : position;
  }

  /** Remembers a position, in place of an older one of the same key. */
  set(key: RecordKey, position: number): void {
    if (this.#size >= MAX_LOAD * this.#positions.length) this.#grow();
    this.#put(key, position);
  }

  #put(key: RecordKey, position: number): void {
    const slot = this.#slotOf(key);
    if (this.#positions[slot] === 0) this.#size++;
    this.#keys.set(key, slot * KEY_WORDS);
    this.#positions[slot] = position;
  }

  /** The slot that has the key, or the empty one where it belongs. */
  #slotOf(key: RecordKey): number {
    const last = this.#positions.length - 1;
    let slot = key[0] & last;
    while (this.#positions[slot] !== 0 && !this.#isAt(slot, key)) slot = (slot + 1) & last;
    return slot;
  }

  #isAt(slot: number, key: RecordKey): boolean {
    for (let i = 0; i < KEY_WORDS; i++) if (this.#keys[slot * KEY_WORDS + i] !== key[i]) return false;
    return true;
  }

  #grow(): void {
    const [keys, positions] = [this.#keys, this.#positions];
    this.#keys = new Uint32Array(2 * keys.length);
    this.#positions = new Float64Array(2 * positions.length);
    this.#size = 0;
    positions.forEach((position, slot) => {
      if (position !== 0) this.#put(keys.subarray(slot * KEY_WORDS, (slot + 1) * KEY_WORDS), position);
    });
  }
}
