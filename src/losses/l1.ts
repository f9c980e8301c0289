/** The L1 regulariser: the older, blunter way to sparse documents. */
import type { Regularisation } from './flops.ts';
import type { Matrix } from './matrix.ts';
import { checkNotEmpty, matrix } from './matrix.ts';

/**
 * L1 regulariser: the mean length of a document, measured in weights.
 *
 *     ℓ = (1/B) Σ_i Σ_j |w_ij|
 *
 * Formal et al., SPLADE, SIGIR 2021, https://arxiv.org/abs/2107.05720, compares it with FLOPS. Same value as `L1` of
 * naver/splade (141a8c08). Unlike FLOPS it punishes a frequent term no more than a rare one.
 *
 * @param w term weights, [B, V]
 */
export function l1(w: Matrix): Regularisation {
  checkNotEmpty(w, 'the batch');
  const B = w.rows;
  const dW = matrix(B, w.cols); // ∂ℓ/∂w_ij = (1/B)·sign(w_ij), 0 at 0, [B, V]
  let sum = 0; //                  B·ℓ
  for (let k = 0; k < w.data.length; k++) {
    sum += Math.abs(w.data[k]);
    if (w.data[k] !== 0) dW.data[k] = Math.sign(w.data[k]) / B;
  }
  return { loss: sum / B, dW };
}
