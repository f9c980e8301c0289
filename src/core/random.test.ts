import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { Random } from './random.ts';

const take = <T>(count: number, next: () => T): T[] => Array.from({ length: count }, next);
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * A second way to compute the stream: the authors' C code in 64-bit integers
 * (https://prng.di.unimi.it/xoshiro128starstar.c), seeded by splitmix32.
 */
function* reference(seed: number): Generator<number> {
  const mask = 0xffffffffn;
  const rotateLeft = (x: bigint, by: bigint): bigint => ((x << by) | (x >> (32n - by))) & mask;
  let x = BigInt(seed >>> 0);
  const s = take(4, () => {
    x = (x + 0x9e3779b9n) & mask;
    let z = ((x ^ (x >> 16n)) * 0x21f0aaadn) & mask;
    z = ((z ^ (z >> 15n)) * 0x735a2d97n) & mask;
    return z ^ (z >> 15n);
  });
  for (;;) {
    yield Number((rotateLeft((s[1] * 5n) & mask, 7n) * 9n) & mask);
    const t = (s[1] << 9n) & mask;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotateLeft(s[3], 11n);
  }
}

describe('random', () => {
  test.prop([fc.integer()])('is xoshiro128** to the bit, for 100 numbers of any seed', (seed) => {
    const random = new Random(seed);
    const expected = reference(seed);
    for (let i = 0; i < 100; i++) expect(random.uint32()).toBe(expected.next().value);
  });

  it('starts this way from seed 42, for ever', () => {
    const random = new Random(42);
    expect(take(3, () => random.uint32())).toEqual([660444221, 3652823732, 77672526]);
  });

  it('uniform lies in [0, 1) with mean 0.5 within 0.01 over 10,000 numbers', () => {
    const random = new Random(1);
    const values = take(10_000, () => random.uniform());
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
    expect(mean(values)).toBeCloseTo(0.5, 2);
  });

  it('normal has mean 0 and variance 1 within 0.05 over 10,000 numbers', () => {
    const random = new Random(2);
    const values = take(10_000, () => random.normal());
    expect(Math.abs(mean(values))).toBeLessThan(0.05);
    expect(Math.abs(mean(values.map((value) => value ** 2)) - 1)).toBeLessThan(0.05);
  });

  it('below(3) gives each value a third of the time within 0.02 over 10,000 numbers', () => {
    const random = new Random(3);
    const values = take(10_000, () => random.below(3));
    for (const value of [0, 1, 2])
      expect(Math.abs(values.filter((other) => other === value).length / 10_000 - 1 / 3)).toBeLessThan(0.02);
  });

  test.prop([fc.integer(), fc.integer({ min: 1, max: 2 ** 32 })])(
    'below(n) lies in [0, n) for n up to 2³²',
    (seed, n) => {
      const value = new Random(seed).below(n);
      expect(Number.isInteger(value) && value >= 0 && value < n).toBe(true);
    },
  );

  it('below(1) is 0 and below(2³²) the next 32 bits', () => {
    expect(new Random(42).below(1)).toBe(0);
    expect(new Random(42).below(2 ** 32)).toBe(660444221);
  });

  it.each([0, -1, 1.5, 2 ** 32 + 1, Number.NaN, Number.POSITIVE_INFINITY])('below(%d) is a bug of the caller', (n) => {
    expect(() => new Random(1).below(n)).toThrow('bug: below(');
  });

  test.prop([fc.integer(), fc.array(fc.integer())])(
    'shuffle keeps the items, and repeats for a seed',
    (seed, items) => {
      const shuffled = new Random(seed).shuffle([...items]);
      expect(shuffled.toSorted()).toEqual(items.toSorted());
      expect(new Random(seed).shuffle([...items])).toEqual(shuffled);
    },
  );
});
