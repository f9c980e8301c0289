/** The ℓ0 mask: which documents are still too long, and so have to answer to a regulariser. */
import { ConfigError } from '../core/index.ts';
import type { Matrix } from './matrix.ts';
import { rowOf } from './matrix.ts';

/**
 * Active terms of each document.
 *
 *     ‖w_i‖₀ = #{j : w_ij ≠ 0}
 *
 * The same for every activation, since all are 0 at the same logits: a mask made from the weights that are ranked holds
 * for the weights that are regularised. The mean over documents is Doc_Len.
 *
 * @param w term weights, [B, V]
 * @param standsFor n, [V]: where w has a sample of the terms, how many each of them stands for; then the count is Σ_{w_ij ≠ 0} n_j,
 *   rounded
 * @returns [B]
 */
export function activeTerms(w: Matrix, standsFor?: Float32Array): Uint32Array {
  const counts = new Uint32Array(w.rows); // ‖w‖₀, [B]
  for (let i = 0; i < w.rows; i++) {
    const weights = rowOf(w, i); // w_i, [V]
    let count = 0;
    for (let j = 0; j < weights.length; j++) if (weights[j] !== 0) count += standsFor?.[j] ?? 1;
    counts[i] = Math.round(count);
  }
  return counts;
}

/**
 * ℓ0 mask: documents that are already sparse are left alone.
 *
 *     M_i = 1[‖w_i‖₀ > t]          no gradient goes through M
 *
 * Shen et al., SIGIR 2025, https://doi.org/10.1145/3726302.3730192, § 4.1, Equation 5. Strict: a document of exactly t
 * terms is free. As `flops_value` in zhichao-aws/opensearch-sparse-model-tuning-sample (0374dcaf) and `FlopsLoss` in
 * sentence-transformers 6.2, which count special tokens too; here the caller has set those to 0.
 *
 * @param w term weights, [B, V]
 * @param threshold t
 * @param standsFor as for `activeTerms`
 * @returns [B]
 */
export function l0Mask(w: Matrix, threshold: number, standsFor?: Float32Array): Uint8Array {
  if (!(threshold >= 0)) throw new ConfigError(`the threshold of the ℓ0 mask is 0 or more, got ${threshold}`);
  return Uint8Array.from(activeTerms(w, standsFor), (length) => (length > threshold ? 1 : 0)); // M, [B]
}
