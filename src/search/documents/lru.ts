/** The values used last, a few of them. */

/** Forgets the value whose last use is longest ago. */
export class Lru<Key, Value> {
  readonly #capacity: number;
  /** A Map keeps the order of insertion: the first is the oldest. */
  readonly #values = new Map<Key, Value>();

  /** @param capacity how many values are kept, at least 1 */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The value of a key, made by `make` where it is not there. */
  get(key: Key, make: () => Value): Value {
    const known = this.#values.get(key);
    const value = known ?? make();
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size > this.#capacity) this.#dropOldest();
    return value;
  }

  /** All values, the oldest first. */
  values(): Iterable<Value> {
    return this.#values.values();
  }

  #dropOldest(): void {
    const [oldest] = this.#values.keys();
    this.#values.delete(oldest);
  }
}
