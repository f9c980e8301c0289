/**
 * Seeded randomness: the only source of chance in the library, so that a seed gives the same numbers everywhere.
 *
 * xoshiro128** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 2021,
 * https://arxiv.org/abs/1805.01407), state filled by splitmix32 from one 32-bit seed.
 */
import { assert } from './errors.ts';

/** A stream of random numbers that its seed determines. */
export class Random {
  readonly #state: Uint32Array;

  /** @param seed any integer; its low 32 bits count. */
  constructor(seed: number) {
    let x = seed >>> 0;
    this.#state = Uint32Array.from({ length: 4 }, () => {
      x = (x + 0x9e3779b9) >>> 0;
      let z = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
      z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
      return (z ^ (z >>> 15)) >>> 0;
    });
  }

  /** A 32-bit unsigned integer. */
  uint32(): number {
    const s = this.#state;
    const scrambled = Math.imul(rotateLeft(Math.imul(s[1], 5), 7), 9) >>> 0;
    const t = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotateLeft(s[3], 11);
    return scrambled;
  }

  /** A number in [0, 1) with 53 random bits. */
  uniform(): number {
    return ((this.uint32() >>> 5) * 0x4000000 + (this.uint32() >>> 6)) / 0x20000000000000;
  }

  /** An integer in [0, n), without bias; 1 ≤ n ≤ 2³². */
  below(n: number): number {
    assert(Number.isInteger(n) && n >= 1 && n <= 2 ** 32, `below(${n}): expected an integer from 1 to 2³²`);
    const limit = 2 ** 32 - (2 ** 32 % n);
    for (;;) {
      const x = this.uint32();
      if (x < limit) return x % n;
    }
  }

  /** A number from the standard normal distribution (Box and Muller). */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    return radius * Math.cos(2 * Math.PI * this.uniform());
  }

  /** Shuffles in place (Fisher and Yates) and returns the same array. */
  shuffle<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [items[i], items[j]] = [items[j], items[i]];
    }
    return items;
  }
}

function rotateLeft(x: number, by: number): number {
  return ((x << by) | (x >>> (32 - by))) >>> 0;
}

/** A seed of its own for each number; whoever needs several series takes one seed derived from another. */
export function derivedSeed(seed: number, number: number): number {
  return new Random(seed ^ Math.imul(number + 1, 0x9e3779b9)).uint32();
}
