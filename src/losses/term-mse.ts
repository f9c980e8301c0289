/** Distillation of term weights: a document's vector shall be that of another sparse model. */
import type { SparseVector } from '../core/index.ts';
import { InputError, ShapeError } from '../core/index.ts';
import type { Regularisation } from './flops.ts';
import type { Matrix } from './matrix.ts';
import { checkNotEmpty, matrix } from './matrix.ts';

/**
 * Mean squared error of term weights.
 *
 *     ℓ = (1/B) Σ_i Σ_j (w_ij − v_ij)²          v: the teacher's weights
 *
 * Le Hai et al., CoSPLADE, ECIR 2023, https://arxiv.org/abs/2301.04413, bring the vectors of SPLADE queries to those of
 * better queries so; here it is documents, and the sum over terms is not divided by V, so that the loss does not depend
 * on how many terms nobody uses. A term that the student does not have at all gets no gradient: the activation's slope
 * is 0 there.
 *
 * @param w term weights, [B, V]
 * @param teacher v, one vector a document
 */
export function termMse(w: Matrix, teacher: readonly SparseVector[] | undefined): Regularisation {
  checkNotEmpty(w, 'the batch');
  const B = w.rows;
  if (teacher === undefined)
    throw new InputError('term-mse learns from the vectors of a sparse teacher, and this batch has none', {
      hint: 'name a sparse model under teachers',
    });
  if (teacher.length !== B) throw new ShapeError(`${B} documents, but ${teacher.length} vectors of the teacher`);
  const difference = matrix(B, w.cols, w.data.slice()); // w − v, [B, V]
  teacher.forEach(({ terms, weights }, i) => {
    terms.forEach((j, k) => {
      difference.data[i * w.cols + j] -= weights[k];
    });
  });
  const loss = difference.data.reduce((sum, d) => sum + d * d, 0) / B;
  return {
    loss,
    dW: matrix(
      B,
      w.cols,
      difference.data.map((d) => (2 / B) * d),
    ),
  }; // ∂ℓ/∂w_ij = (2/B)·(w_ij − v_ij)
}
