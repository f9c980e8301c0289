/** Distillation of dense vectors: a text's vector shall point where another encoder's points. */
import { ShapeError } from '../core/index.ts';
import type { Matrix } from './matrix.ts';
import { checkNotEmpty, formatShape, matrix, rowOf } from './matrix.ts';

/** ε of PyTorch's `normalize`: what a length is at least. */
const SMALLEST_NORM = 1e-12;

/** The value and its gradient. */
export type CosineDistance = {
  /** ℓ, 1 less the mean cosine. */
  readonly loss: number;
  /** ∂ℓ/∂h, [B, H] */
  readonly dH: Matrix;
};

/**
 * Mean cosine distance.
 *
 *     ℓ = (1/B) Σ_i (1 − c_i)          c_i = ĥ_i·t̂_i,   x̂ = x/‖x‖
 *
 *     ∂ℓ/∂h_i = −(1/B)·(t̂_i − c_i·ĥ_i)/‖h_i‖
 *
 * Only directions are compared: lengths of neither side matter.
 *
 * @param h vectors, [B, H]
 * @param teacher t, those to come near to, [B, H]
 */
export function cosineDistance(h: Matrix, teacher: Matrix): CosineDistance {
  checkNotEmpty(h, 'the batch');
  const B = h.rows;
  if (teacher.rows !== B || teacher.cols !== h.cols)
    throw new ShapeError(`vectors are ${formatShape(h)}, those of the teacher ${formatShape(teacher)}`);
  const dH = matrix(B, h.cols); // [B, H]
  let sum = 0;
  for (let i = 0; i < B; i++) {
    const [x, t, dX] = [rowOf(h, i), rowOf(teacher, i), rowOf(dH, i)];
    const [xNorm, tNorm] = [normOf(x), normOf(t)];
    const c = dot(x, t) / (xNorm * tNorm); // c_i
    sum += 1 - c;
    for (let k = 0; k < x.length; k++) dX[k] = -(t[k] / tNorm - (c * x[k]) / xNorm) / (B * xNorm);
  }
  return { loss: sum / B, dH };
}

function normOf(x: Float32Array): number {
  return Math.max(Math.sqrt(dot(x, x)), SMALLEST_NORM);
}

function dot(x: Float32Array, y: Float32Array): number {
  let sum = 0;
  for (let k = 0; k < x.length; k++) sum += x[k] * y[k];
  return sum;
}
