/**
 * Firm thresholding: what is well above its threshold stays as it is, what is just above it begins at 0.
 *
 *     f(x) = relu( min( x, κ·(x + b) ) )          threshold −b;  f(x) = x from −b·κ/(κ − 1) on
 *     f′(x) = κ below that, 1 from there on
 *
 * Gao and Bruce, WaveShrink with firm shrinkage, Statistica Sinica 7, 1997. κ = 1 is soft thresholding, which takes −b from every weight; κ = ∞ hard
 * thresholding, where the last digit of x decides over all of a weight, and int8 has other terms than float32 (docs/EXPERIMENTS.md has both).
 */

/** κ: all of a weight from 10/9 of its threshold on. */
export const FIRMNESS = 10;

/** f(x) for x ≥ 0; not above 0 where x is not above the threshold. */
export function firm(x: number, bias: number): number {
  return Math.min(x, FIRMNESS * (x + bias));
}

/** f′ where f has the value y > 0. */
export function firmSlope(y: number, bias: number): number {
  return y < (-bias * FIRMNESS) / (FIRMNESS - 1) ? FIRMNESS : 1;
}
