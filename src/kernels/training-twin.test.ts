import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { Desk, golden, NAMES, zeros } from '../../test/golden/kernels/fixtures.ts';
import { termBounds } from '../model/term-bounds.ts';
import type { TrainingKernel } from './training-kernel.ts';

const { abs } = Math;

/** The bits of all arrays; of a NaN, only that it is one. */
function bits(...arrays: readonly (Float32Array | Uint8Array)[]): number[] {
  return arrays.flatMap((array) => {
    const numbers = Float32Array.from(array, (x) => (Number.isNaN(x) ? Number.NaN : x));
    return [...new Uint32Array(numbers.buffer)];
  });
}

/** Ordinary numbers, and all that is not: NaN, infinities, zeros of both signs, denormals. */
const number = fc.oneof(
  { weight: 4, arbitrary: fc.float({ min: -8, max: 8, noNaN: true }) },
  { weight: 1, arbitrary: fc.float() },
  { weight: 1, arbitrary: fc.constantFrom(0, -0, 2 ** -149, -(2 ** -130), Number.NaN, Number.POSITIVE_INFINITY) },
);
const numbers = (length: number) => fc.array(number, { minLength: length, maxLength: length });
const settings = fc.record({
  learningRate: fc.constantFrom(0, 1e-5, 0.1),
  weightDecay: fc.constantFrom(0, 0.01, 0.5),
  beta1: fc.constantFrom(0, 0.5, 0.9),
  beta2: fc.constantFrom(0, 0.98, 0.999),
  epsilon: fc.constantFrom(0, 1e-8, 1e-3),
  step: fc.integer({ min: 1, max: 100_000 }),
});
const length = fc.integer({ min: 0, max: 41 });

const desks = NAMES.map((name) => new Desk(name));

/** Runs the same on both kernels, and expects the same bits. */
function expectTwins(run: (kernel: TrainingKernel, desk: Desk) => number[]): void {
  const [wasm, typescript] = desks.map((desk) => run(desk.kernel, desk.clear()));
  expect(wasm).toEqual(typescript);
}

describe('both kernels give the same bits, for lengths 0 … 41, NaN, infinities and denormals', () => {
  test.prop([length.chain((n) => fc.tuple(...Array.from({ length: 4 }, () => numbers(n)))), settings])(
    'adamW',
    (arrays, options) => {
      expectTwins((kernel, desk) => {
        const [weights, gradients, moments, variances] = arrays.map((x) => desk.floats(x));
        kernel.adamW({ weights, gradients, moments, variances }, options);
        return bits(weights, gradients, moments, variances);
      });
    },
  );

  test.prop([length.chain((n) => fc.tuple(numbers(n), numbers(n))), number])(
    'sumOfSquares, scale, addScaled',
    ([a, b], factor) => {
      expectTwins((kernel, desk) => {
        const [x, y] = [a, b].map((values) => desk.floats(values));
        const before = kernel.sumOfSquares(x);
        kernel.addScaled(y, x, factor);
        kernel.scale(x, factor);
        return [before, kernel.sumOfSquares(y), ...bits(x, y)];
      });
    },
  );

  const pairs = fc.array(fc.tuple(fc.nat(2), fc.nat(3), number), { maxLength: 12 });
  const tables = fc
    .integer({ min: 1, max: 19 })
    .chain((size) => fc.tuple(fc.constant(size), numbers(3 * size), numbers(4 * size)));
  test.prop([pairs, tables, fc.boolean()])('headBackward and addRows', (list, [size, e, u], isFrozen) => {
    expectTwins((kernel, desk) => {
      const [terms, rows, order] = [0, 1, 1].map((k) => desk.ints(list.map((pair) => pair[k]))); // biome-ignore format: short
      const gradients = desk.floats(list.map((pair) => pair[2])); // biome-ignore format: short
      const [decoder, dDecoder, inputs, dInputs] = [e, e, u, u].map((values) => desk.floats(values));
      const given = { decoder, dDecoder: isFrozen ? undefined : dDecoder, inputs, dInputs, size };
      kernel.headBackward({ count: list.length, terms, rows, gradients, ...given });
      const added = desk.floats(list.flatMap((pair) => u.slice(pair[1] * size, (pair[1] + 1) * size))); // biome-ignore format: short
      kernel.addRows({ indices: order, rows: added, table: dInputs, size });
      return bits(dDecoder, dInputs);
    });
  });

  const seeds = fc.oneof(fc.nat(100), fc.maxSafeNat());
  test.prop([fc.integer({ min: 0, max: 200 }), seeds, fc.constantFrom(0, 1e-9, 0.1, 0.5, 1 - 2 ** -40)])(
    'dropoutMask',
    (n, seed, rate) => {
      expectTwins((kernel, desk) => {
        const out = desk.bytes(n);
        kernel.dropoutMask(out, { seed, rate });
        return [...out];
      });
    },
  );

  /** Codes of a row with NaN are the number's low bits, which only agree where the number is below 2⁵¹. */
  const row = fc.oneof(number, fc.constantFrom(1e-31, -1e-30, 5e-30, 1e8)).map((x) => (abs(x) < 1e15 ? x : 1e38));
  const rows = fc
    .tuple(fc.integer({ min: 1, max: 21 }), fc.nat(5))
    .chain(([size, n]) => fc.tuple(fc.constant(size), fc.array(row, { minLength: n * size, maxLength: n * size })));
  test.prop([rows], { numRuns: 300 })('quantiseRows, and so does termBounds', ([size, values]) => {
    expectTwins((kernel, desk) => {
      const p = desk.rowsToQuantise(values, size);
      kernel.quantiseRows(p);
      const made = bits(p.codes, p.scales, p.norms, p.errors);
      const { codes, scales, norms, errors } = termBounds(p.rows, size);
      expect(made).toEqual(bits(codes, scales, norms, errors));
      return made;
    });
  });
});

/** Largest |a − b|, in units of 2⁻²⁴ of the largest number that stood in that place over the steps. */
function largestDifference(a: Float32Array, b: readonly number[], steps: readonly (readonly number[])[]): number {
  const most = (i: number) => steps.reduce((largest, values) => Math.max(largest, abs(values[i])), 2 ** -120);
  return b.reduce((largest, x, i) => Math.max(largest, abs(a[i] - x) / (most(i) * 2 ** -24)), 0);
}

describe('adamW against PyTorch', () => {
  it.each(golden.cases)(
    '20 steps at γ = $learningRate, λ = $weightDecay agree within four roundings of float32',
    (c) => {
      const desk = new Desk('wasm');
      const { kernel } = desk;
      const weights = desk.floats(c.start);
      const [gradients, moments, variances] = Array.from({ length: 3 }, () => desk.floats(zeros(c.start.length)));
      c.gradients.forEach((values, i) => {
        gradients.set(values);
        const learningRate = c.learningRate * Math.min(1, (i + 1) / c.warmUp);
        kernel.adamW({ weights, gradients, moments, variances }, { ...c, learningRate, step: i + 1 });
        expect(largestDifference(weights, c.weights[i], c.weights)).toBeLessThanOrEqual(4);
      });
      const squares = c.gradients.map((values) => values.map((g) => g * g));
      expect(largestDifference(moments, c.moments, c.gradients)).toBeLessThanOrEqual(4);
      expect(largestDifference(variances, c.variances, squares)).toBeLessThanOrEqual(4);
    },
  );
});

describe('masks of dropout are as good as chance: every count within 4.5 standard deviations', () => {
  const N = 2 ** 18;
  const desk = new Desk('wasm');

  function mask(seed: number, rate: number): Uint8Array {
    const out = desk.clear().bytes(N);
    desk.kernel.dropoutMask(out, { seed, rate });
    return out.slice();
  }

  /** Standard deviations between how many of n happened and how many should at probability p. */
  function deviation(happened: number, n: number, p: number): number {
    return abs(happened - n * p) / Math.sqrt(n * p * (1 - p));
  }

  /** How often both masks drop, the second seen from `lag` elements on. */
  function bothDropped(a: Uint8Array, b: Uint8Array, lag = 0): number {
    let count = 0;
    for (let i = lag; i < N; i++) count += (1 - a[i - lag]) * (1 - b[i]);
    return count;
  }

  it.each([0.01, 0.1, 0.5, 0.9])('the share dropped is %d, for 20 seeds that follow each other', (rate) => {
    for (let seed = 0; seed < 20; seed++) {
      const numDropped = mask(seed, rate).reduce((sum, keep) => sum + 1 - keep, 0);
      expect(deviation(numDropped, N, rate)).toBeLessThan(4.5);
    }
  });

  it('neighbours, and elements a row or a head apart, are dropped independently', () => {
    const values = mask(7, 0.1);
    for (const lag of [1, 2, 3, 4, 12, 16, 64, 128, 384, 768, 4096, 65_536])
      expect(deviation(bothDropped(values, values, lag), N - lag, 0.01), `lag ${lag}`).toBeLessThan(4.5);
  });

  it('masks of two seeds are independent: neighbours, one bit apart, low and high bits', () => {
    const values = mask(1000, 0.1);
    for (const seed of [0, 999, 1001, 1002, 1000 + 2 ** 16, 1000 + 2 ** 31, 1000 + 2 ** 32, 1000 + 2 ** 52])
      for (const lag of [0, 1, 384])
        expect(deviation(bothDropped(values, mask(seed, 0.1), lag), N - lag, 0.01), `${seed}`).toBeLessThan(4.5);
  });

  it('each of the 256 patterns of 8 neighbours comes as often as it should (χ² of 255 degrees below 370)', () => {
    const values = mask(3, 0.5);
    const counts = new Float64Array(256);
    for (let i = 0; i < N; i += 8) counts[values.subarray(i, i + 8).reduce((code, keep) => 2 * code + keep, 0)]++;
    const expected = N / 8 / 256;
    expect(counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)).toBeLessThan(370);
  });
});
