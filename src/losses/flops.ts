/** The FLOPS regulariser, by position or over all documents, with or without the ℓ0 mask. */
import { l0Mask } from './l0-mask.ts';
import type { BatchShape, Matrix } from './matrix.ts';
import { checkBatch, matrix, rowOf } from './matrix.ts';

/** Which documents are averaged with each other, by the names that configs use. */
export const FLOPS_GROUPINGS = ['by-position', 'none'] as const;

/** Which documents are averaged with each other. */
export type FlopsGrouping = (typeof FLOPS_GROUPINGS)[number];

/** Which FLOPS. */
export type FlopsOptions = {
  /** by-position: only documents at the same place of their query's list; none: all. */
  readonly grouping?: FlopsGrouping;
  /** t of the ℓ0 mask; null for no mask. */
  readonly threshold?: number | null;
  /** c, [V]: a factor of each term's mean, inside the square; 1 unless given. No gradient goes through it. */
  readonly termFactors?: Float64Array | undefined;
  /**
   * n, [V]: where w has a sample of the terms, how many each of them stands for. The sum over terms becomes Σ_j n_j·(…)², whose
   * expectation over samples is the sum over all, and the mask counts with n.
   */
  readonly standsFor?: Float32Array | undefined;
};

/** A regulariser's value and its gradient by the weights. */
export type Regularisation = { readonly loss: number; readonly dW: Matrix };

/**
 * FLOPS regulariser: a smooth count of the multiply-adds that one query costs.
 *
 *     ℓ = Σ_g Σ_j (c_j·ā_gj)²          ā_gj = (1/Q) Σ_n M_ng·|w_ngj|
 *
 * c = 1 but in DF-FLOPS (df-flops.ts). M = 1 without a threshold, else the ℓ0 mask. The mean divides by all Q documents,
 * the masked ones included.
 *
 * Paria et al., ICLR 2020, https://arxiv.org/abs/2004.05665, has the idea; Shen et al., SIGIR 2025,
 * https://doi.org/10.1145/3726302.3730192, the formula: Equation 3 and, with the mask, Equation 4. Its w/IDF is our w,
 * since IDF multiplies the query only. It averages over all documents of the batch: `grouping: 'none'`, which is G = 1.
 * Its code never averages documents of one query with each other, as here by default, and its λ only mean something with
 * that (`flops_value` in zhichao-aws/opensearch-sparse-model-tuning-sample, 0374dcaf). `FLOPS` of naver/splade (141a8c08)
 * and `FlopsLoss` of sentence-transformers 6.2 do not group; the latter has no |·|, since its w comes out of a ReLU.
 *
 * @param w term weights, [B, V], B = Q·G
 */
export function flops(
  w: Matrix,
  shape: BatchShape,
  { grouping = 'by-position', threshold = null, termFactors, standsFor }: FlopsOptions = {},
): Regularisation {
  checkBatch(w, shape);
  const G = grouping === 'by-position' ? shape.docsPerQuery : 1;
  const M = threshold === null ? new Uint8Array(w.rows).fill(1) : l0Mask(w, threshold, standsFor); // M, [B]
  const a = meanWeights(w, M, G); //      ā, [G, V]
  const c = factors(termFactors, standsFor);
  scale(a, c); //                         c·ā, [G, V]
  const loss = sumOfSquares(a); //        ℓ
  scale(a, c); //                         c²·ā, [G, V]
  const dW = slopes(w, M, { a, G }); //   ∂ℓ/∂w_ngj = (2/Q)·M_ng·c_j²·ā_gj·sign(w_ngj), [B, V]
  return { loss, dW };
}

/** ā_gj = (1/Q) Σ_n M_ng·|w_ngj|, [G, V]. */
function meanWeights(w: Matrix, M: Uint8Array, G: number): Float64Array {
  const a = new Float64Array(G * w.cols); // ā, [G, V]
  for (let i = 0; i < w.rows; i++) {
    if (M[i] === 0) continue;
    const weights = rowOf(w, i); //                                        w_ng, [V]
    const sums = a.subarray((i % G) * w.cols, ((i % G) + 1) * w.cols); // Q·ā_g, [V]
    for (let j = 0; j < weights.length; j++) sums[j] += Math.abs(weights[j]);
  }
  const Q = w.rows / G;
  for (let k = 0; k < a.length; k++) a[k] /= Q;
  return a;
}

/** c·√n: what stands for n terms counts n times in a sum of squares. */
function factors(c: Float64Array | undefined, n: Float32Array | undefined): Float64Array | undefined {
  return n === undefined ? c : Float64Array.from(n, (count, j) => (c?.[j] ?? 1) * Math.sqrt(count));
}

/** x_gj := c_j·x_gj. */
function scale(x: Float64Array, c: Float64Array | undefined): void {
  if (c !== undefined) for (let k = 0; k < x.length; k++) x[k] *= c[k % c.length];
}

/** ∂ℓ/∂w. Where w is 0 it is 0, as PyTorch's of |·|; any other number would be lost in the activation. */
function slopes(w: Matrix, M: Uint8Array, { a, G }: { a: Float64Array; G: number }): Matrix {
  const dW = matrix(w.rows, w.cols); // ∂ℓ/∂w, [B, V]
  const factor = (2 * G) / w.rows; //   2/Q
  for (let i = 0; i < w.rows; i++) {
    if (M[i] === 0) continue;
    const weights = rowOf(w, i); //                                         w_ng, [V]
    const means = a.subarray((i % G) * w.cols, ((i % G) + 1) * w.cols); // ā_g, [V]
    const gradients = rowOf(dW, i); //                                      ∂ℓ/∂w_ng, [V]
    for (let j = 0; j < weights.length; j++)
      if (weights[j] !== 0) gradients[j] = factor * means[j] * Math.sign(weights[j]);
  }
  return dW;
}

function sumOfSquares(x: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < x.length; k++) sum += x[k] * x[k];
  return sum;
}
