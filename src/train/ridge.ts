/** Ridge regression over many rows, without a matrix of products. Knows nothing of what is fitted. */
import { ShapeError } from '../core/index.ts';
import type { Matrix } from '../losses/index.ts';
import { rowOf } from '../losses/index.ts';

/** What is fitted to what. */
export type RidgeProblem = {
  /** X, [N, H] */
  readonly x: Matrix;
  /** Which rows count, n of them. */
  readonly rows: Uint32Array;
  /** y beside `rows`, [n] */
  readonly y: Float64Array;
  /** d beside `rows`, [n]: how much each counts, above 0 */
  readonly d: Float64Array;
  /** ρ̂: ρ as a share of the mean square Σ_j d_j·x̃_jh² of a column */
  readonly penalty: number;
};

/** The solution. */
export type RidgeFit = { readonly w: Float64Array; readonly b: number };

/** Where iterations stop: at this share of the right side's norm, or after so many of them. */
const TOLERANCE = 1e-4;
const MAX_ITERATIONS = 500;

/**
 * Ridge regression with an intercept, which is not penalised.
 *
 *     min_{w,b} Σ_j d_j·(wᵀx_j + b − y_j)² + ρ·‖w‖²          (X̃ᵀDX̃ + ρI)·w = X̃ᵀDỹ,   b = ȳ − wᵀx̄
 *
 * X̃, ỹ are centred at their means x̄, ȳ by d. Hoerl, Kennard, Technometrics 1970; solved by conjugate gradients (Hestenes, Stiefel 1952), two passes
 * over X an iteration, so that no matrix [H, H] is made.
 */
export function ridge({ x, rows, y, d, penalty }: RidgeProblem): RidgeFit {
  if (rows.length === 0 || rows.length !== y.length || rows.length !== d.length)
    throw new ShapeError(`a fit needs a value and a weight a row, got ${y.length} and ${d.length} of ${rows.length}`);
  const total = sum(d);
  const meanX = rowSum(x, rows, d).map((value) => value / total); //  x̄, [H]
  const meanY = dot(d, y) / total; //                                 ȳ
  const centred = { x, rows, d, meanX };
  const right = transposed(centred, y); //                            X̃ᵀDỹ, [H]
  const rho = (penalty * squares(centred)) / x.cols; //               ρ
  const w = conjugateGradients((p) => {
    const product = transposed(centred, times(centred, p)); //        X̃ᵀDX̃p, [H]
    return product.map((value, h) => value + rho * p[h]);
  }, right);
  return { w, b: meanY - dot(w, meanX) };
}

/** Solves A·w = right for a symmetric positive definite A, from w = 0. */
function conjugateGradients(a: (p: Float64Array) => Float64Array, right: Float64Array): Float64Array {
  const w = new Float64Array(right.length);
  const r = right.slice(); // right − A·w
  const p = right.slice(); // the direction of the next step
  let rr = dot(r, r);
  const enough = rr * TOLERANCE ** 2;
  for (let i = 0; i < MAX_ITERATIONS && rr > enough; i++) {
    const ap = a(p);
    const step = rr / dot(p, ap);
    for (let h = 0; h < w.length; h++) w[h] += step * p[h];
    for (let h = 0; h < r.length; h++) r[h] -= step * ap[h];
    const before = rr;
    rr = dot(r, r);
    for (let h = 0; h < p.length; h++) p[h] = r[h] + (rr / before) * p[h];
  }
  return w;
}

type Centred = Pick<RidgeProblem, 'x' | 'rows' | 'd'> & { readonly meanX: Float64Array };

/** X̃·p, [n]. */
function times({ x, rows, meanX }: Centred, p: Float64Array): Float64Array {
  const products = new Float64Array(rows.length).fill(-dot(p, meanX));
  for (let i = 0; i < rows.length; i++) {
    const begin = rows[i] * x.cols; // of x_j: views of thirty thousand rows would take as long as the sums
    for (let h = 0; h < p.length; h++) products[i] += p[h] * x.data[begin + h];
  }
  return products;
}

/** X̃ᵀD·v, [H]. */
function transposed({ x, rows, d, meanX }: Centred, v: Float64Array): Float64Array {
  const dv = v.map((value, i) => d[i] * value);
  const total = sum(dv);
  return rowSum(x, rows, dv).map((value, h) => value - total * meanX[h]);
}

/** Σ_j v_j·x_j, [H]. */
function rowSum(x: Matrix, rows: Uint32Array, v: Float64Array): Float64Array {
  const sums = new Float64Array(x.cols);
  for (let i = 0; i < rows.length; i++) {
    const begin = rows[i] * x.cols;
    for (let h = 0; h < sums.length; h++) sums[h] += v[i] * x.data[begin + h];
  }
  return sums;
}

/** Σ_j d_j·‖x̃_j‖² */
function squares({ x, rows, d, meanX }: Centred): number {
  let total = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rowOf(x, rows[i]);
    for (let h = 0; h < row.length; h++) total += d[i] * (row[h] - meanX[h]) ** 2;
  }
  return total;
}

function dot(a: Float64Array, b: Float64Array): number {
  let total = 0;
  for (let h = 0; h < a.length; h++) total += a[h] * b[h];
  return total;
}

function sum(values: Float64Array): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}
