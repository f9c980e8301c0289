/** The softmax that ranking losses share, without overflow. */
import { ConfigError } from '../core/index.ts';

/**
 * Logarithm of a softmax.
 *
 *     out_c = x_c/τ − log Σ_k exp(x_k/τ)
 *
 * The largest score is taken off before anything is added: no score is too large, and large ones do not swallow the sum.
 *
 * @param x scores, [C]
 * @param temperature τ
 * @returns [C]
 */
export function logSoftmax(x: ArrayLike<number>, temperature: number): Float64Array {
  if (!(temperature > 0)) throw new ConfigError(`a temperature is above 0, got ${temperature}`);
  const out = Float64Array.from(x, (score) => score / temperature); // x/τ, [C]
  const max = out.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const logSum = Math.log(out.reduce((sum, y) => sum + Math.exp(y - max), 0)); // log Σ_k exp(x_k/τ − max)
  return out.map((y) => y - max - logSum);
}
