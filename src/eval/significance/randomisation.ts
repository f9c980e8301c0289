/** Paired randomisation test: could two systems differ this much by chance? */
import { Random, ShapeError } from '../../core/index.ts';

/** How to test. */
export type RandomisationOptions = {
  /** Random sign flips; where all of them are no more than this, all are taken instead and the test is exact. */
  readonly numPermutations?: number | undefined;
  readonly seed?: number | undefined;
};

/** What came out. */
export type RandomisationResult = {
  /** Two-sided. */
  readonly p: number;
  /** Mean of a − b. */
  readonly meanDifference: number;
  /** Whether all sign flips were tried. */
  readonly exact: boolean;
};

/** Differences of sums below this share of Σ|d| are rounding. */
const RELATIVE_ROUNDING = 1e-12;

/**
 * Two-sided paired randomisation test on the difference of means. If the systems were equal, each query's difference
 * could as well have had the other sign:
 *
 *     d_i = a_i − b_i          T(s) = |Σ_i s_i·d_i|          s_i = ±1
 *     exact    p = #{s : T(s) ≥ T(1)} / 2ⁿ                    over all s
 *     sampled  p = (1 + #{s : T(s) ≥ T(1)}) / (1 + B)         over B random s; the observed one counts, so p > 0
 *
 * Fisher 1935; recommended for retrieval by Smucker, Allan and Carterette, CIKM 2007,
 * https://doi.org/10.1145/1321440.1321528. Queries with d_i = 0 change no T and are left out. As
 * scipy.stats.permutation_test(permutation_type='samples', alternative='two-sided').
 *
 * @param a values of one system by query
 * @param b values of the other, in the same order
 */
export function randomisationTest(
  a: readonly number[],
  b: readonly number[],
  { numPermutations = 100_000, seed = 42 }: RandomisationOptions = {},
): RandomisationResult {
  if (a.length !== b.length || a.length === 0)
    throw new ShapeError(`a paired test needs pairs, got ${a.length} and ${b.length} values`);
  const all = Float64Array.from(a, (value, i) => value - b[i]); // d, [n]
  const total = all.reduce((sum, x) => sum + x, 0);
  const d = all.filter((x) => x !== 0);
  const bound = Math.abs(total) - RELATIVE_ROUNDING * d.reduce((sum, x) => sum + Math.abs(x), 0);
  const exact = d.length < 31 && 2 ** d.length <= numPermutations;
  const p = exact
    ? countExact(d, bound) / 2 ** d.length
    : (1 + countSampled(d, bound, { numPermutations, random: new Random(seed) })) / (1 + numPermutations);
  return { p, meanDifference: total / a.length, exact };
}

/** How many of all sign flips reach the bound, in the order of the Gray code: one sign changes at a time. */
function countExact(d: Float64Array, bound: number): number {
  const signed = Float64Array.from(d);
  let sum = d.reduce((s, x) => s + x, 0);
  let count = 0;
  for (let step = 1; ; step++) {
    if (Math.abs(sum) >= bound) count++;
    if (step === 2 ** d.length) return count;
    const flipped = Math.log2(step & -step); // the lowest bit that is set
    sum -= 2 * signed[flipped];
    signed[flipped] = -signed[flipped];
  }
}

type Sampling = { readonly numPermutations: number; readonly random: Random };

/**
 * How many random sign flips reach the bound. Signs come in bytes: the sums of eight differences under all 256 signs are
 * worked out before, so that a trial is n/8 look-ups, not n additions with a branch that nobody can predict.
 */
function countSampled(d: Float64Array, bound: number, { numPermutations, random }: Sampling): number {
  const sums = signedSums(d);
  let count = 0;
  for (let trial = 0; trial < numPermutations; trial++) {
    let sum = 0;
    for (let at = 0, bits = 0; at < sums.length; at += 256) {
      bits = at % 1024 === 0 ? random.uint32() : bits >>> 8;
      sum += sums[at + (bits & 255)];
    }
    if (Math.abs(sum) >= bound) count++;
  }
  return count;
}

/** Entry 256·i + byte: the sum of d[8i] … d[8i + 7], each with the sign of its bit; [⌈n/8⌉, 256]. */
function signedSums(d: Float64Array): Float64Array {
  const sums = new Float64Array(256 * Math.ceil(d.length / 8));
  return sums.map((_, at) => {
    let sum = 0;
    for (let bit = 0; bit < 8; bit++) {
      const x = d[8 * Math.floor(at / 256) + bit] ?? 0;
      sum += at & (1 << bit) ? x : -x;
    }
    return sum;
  });
}
