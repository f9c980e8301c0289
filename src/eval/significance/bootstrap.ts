/** Bootstrap intervals: how far a mean could be off because these queries were drawn and not others. */
import { Random, ShapeError } from '../../core/index.ts';

/** How to draw. */
export type BootstrapOptions = {
  readonly numSamples?: number | undefined;
  /** Share of the samples' means inside the interval. */
  readonly confidence?: number | undefined;
  readonly seed?: number | undefined;
};

/** A mean and where it could have been. */
export type Interval = { readonly mean: number; readonly low: number; readonly high: number };

/**
 * Percentile interval of a mean: n queries are drawn from the n with replacement, B times.
 *
 *     [ quantile of the B means at (1 − c)/2,  quantile at (1 + c)/2 ]          c = 0.95
 *
 * Efron 1979; for retrieval Sakai, SIGIR 2006. Quantiles between two means are interpolated (type 7 of Hyndman and Fan).
 * As scipy.stats.bootstrap(method='percentile'), which draws otherwise. For the interval of a difference, pass
 * differences.
 */
export function bootstrapInterval(
  values: readonly number[],
  { numSamples = 10_000, confidence = 0.95, seed = 42 }: BootstrapOptions = {},
): Interval {
  const n = values.length;
  if (n === 0) throw new ShapeError('an interval needs at least one value');
  const random = new Random(seed);
  const means = Float64Array.from({ length: numSamples }, () => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += values[random.below(n)];
    return sum / n;
  }).sort();
  return {
    mean: values.reduce((sum, value) => sum + value, 0) / n,
    low: quantile(means, (1 - confidence) / 2),
    high: quantile(means, (1 + confidence) / 2),
  };
}

/** The value below which a share of sorted values lies, interpolated. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const position = share * (sorted.length - 1);
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}
