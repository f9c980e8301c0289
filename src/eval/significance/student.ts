/** Student intervals: how far a mean of few independent values could be off, where a bootstrap of them would be too narrow. */
import { ShapeError } from '../../core/index.ts';
import type { Interval } from './bootstrap.ts';

/**
 * Interval of a mean of n ≥ 2 values that come from one normal distribution.
 *
 *     x̄ ± t · s/√n          s² = Σ (x_i − x̄)²/(n − 1)          P(|T_{n−1}| ≤ t) = c = 0.95
 *
 * Student, Biometrika 1908. Exact for any n: two values have t = 12.7, where percentiles of a bootstrap would lie between them.
 */
export function studentInterval(
  values: readonly number[],
  { confidence = 0.95 }: { readonly confidence?: number } = {},
): Interval {
  const n = values.length;
  if (n < 2) throw new ShapeError(`an interval of a mean needs two values or more, and got ${n}`);
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1); // s²
  const margin = studentQuantile(confidence, n - 1) * Math.sqrt(variance / n);
  return { mean, low: mean - margin, high: mean + margin };
}

/** t with P(|T| ≤ t) = c for ν degrees of freedom, by bisection. */
export function studentQuantile(confidence: number, degrees: number): number {
  let [low, high] = [0, Math.PI / 2];
  for (let i = 0; i < 100; i++) {
    const theta = (low + high) / 2;
    if (shareWithin(theta, degrees) < confidence) low = theta;
    else high = theta;
  }
  return Math.sqrt(degrees) * Math.tan((low + high) / 2);
}

/**
 * P(|T| ≤ t) for whole degrees of freedom ν, with θ = arctan(t/√ν):
 *
 *     ν odd     2/π · (θ + sin θ · (cos θ + 2/3 cos³ θ + … + (2·4···(ν−3))/(3·5···(ν−2)) cos^{ν−2} θ))
 *     ν even    sin θ · (1 + 1/2 cos² θ + … + (1·3···(ν−3))/(2·4···(ν−2)) cos^{ν−2} θ)
 *
 * Abramowitz and Stegun, 26.7.3 and 26.7.4.
 */
function shareWithin(theta: number, degrees: number): number {
  const isOdd = degrees % 2 === 1;
  const cos = Math.cos(theta);
  let term = isOdd ? cos : 1;
  let series = 0;
  for (let power = isOdd ? 1 : 0; power <= degrees - 2; power += 2) {
    series += term;
    term *= ((power + 1) / (power + 2)) * cos * cos;
  }
  const inner = Math.sin(theta) * series;
  return isOdd ? (2 / Math.PI) * (theta + inner) : inner;
}
