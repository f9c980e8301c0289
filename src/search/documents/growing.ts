/** Lists of numbers that grow, in typed arrays: what a writer keeps of millions of documents. */

type Numbers = Uint8Array | Uint32Array | Float64Array;

/** Grows by doubling. */
class Growing<Kind extends Numbers> {
  #numbers: Kind;
  #length = 0;
  readonly #make: (length: number) => Kind;

  constructor(make: (length: number) => Kind) {
    this.#make = make;
    this.#numbers = make(64);
  }

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#numbers.length) this.#numbers = this.#resized(2 * this.#length);
    this.#numbers[this.#length++] = value;
  }

  /** A copy of what is there. */
  finish(): Kind {
    return this.#resized(this.#length);
  }

  #resized(length: number): Kind {
    const resized = this.#make(length);
    resized.set(this.#numbers.subarray(0, Math.min(length, this.#length)));
    return resized;
  }
}

/** A growing list of bytes, of 32-bit integers, or of 64-bit floats. */
export type { Growing };

/** An empty list of bytes. */
export function growingBytes(): Growing<Uint8Array> {
  return new Growing((length): Uint8Array => new Uint8Array(length));
}

/** An empty list of 32-bit integers. */
export function growingU32s(): Growing<Uint32Array> {
  return new Growing((length): Uint32Array => new Uint32Array(length));
}

/** An empty list of 64-bit floats. */
export function growingF64s(): Growing<Float64Array> {
  return new Growing((length): Float64Array => new Float64Array(length));
}
