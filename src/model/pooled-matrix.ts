/**
 * The matrix of a pooled head, from an encoder that was trained to tell by the mean of its states what texts are about. Each
 * term by itself is a text, too, and has such a mean: what a document's mean is like, it is about.
 *
 *     d_j = mean state of the text "[CLS] term j [SEP]", at length 1
 *     A   = argmin Σ_j ‖Aᵀ·Ẽ_j − d̃_j‖² + ρ·‖A‖²          d̃ centred; (ẼᵀẼ + ρI)·A = Ẽᵀd̃
 *     (A·h̄)·E_j ≈ h̄·d_j, but for what all terms of a document share
 *
 * Ẽ is E without the direction of its mean, in which all embeddings are alike: with it, A·h̄ would lift all terms of some
 * documents at once.
 *
 * Ridge regression: Hoerl, Kennard, Technometrics 1970, https://doi.org/10.1080/00401706.1970.10488634. Solved exactly, by
 * Cholesky's factors. Knows nothing of networks.
 */
import { assert } from '../core/index.ts';

/** ρ, as a share of the mean of ẼᵀẼ's diagonal. ẼᵀẼ has no inverse, since Ẽ has one direction less; more was not tried. */
const PENALTY = 1e-3;

/** Rows of numbers, one behind the other. */
export type Rows = { readonly data: Float32Array; readonly width: number };

/** A, [H, H], of terms' embeddings E and means d, beside each other. */
export function fitPooledMatrix(embeddings: Rows, means: Rows): Float32Array {
  assert(embeddings.data.length / embeddings.width === means.data.length / means.width, 'a mean for each embedding');
  const x = withoutMeanDirection(embeddings);
  const y = centredRows(unitRows(means));
  const square = crossProducts(x, x); //  ẼᵀẼ, [H, H]
  const right = crossProducts(x, y); //   Ẽᵀd̃, [H, H]
  const n = x.width;
  let trace = 0;
  for (let i = 0; i < n; i++) trace += square[i * n + i];
  for (let i = 0; i < n; i++) square[i * n + i] += (PENALTY * trace) / n;
  return Float32Array.from(solved(square, right, n));
}

/** Vectors of one length, one at least, one behind the other. */
export function rowsOf(vectors: readonly Float32Array[]): Rows {
  const width = vectors[0].length;
  const data = new Float32Array(vectors.length * width);
  for (const [i, vector] of vectors.entries()) data.set(vector, i * width);
  return { data, width };
}

/** Some rows, in the order asked for. */
export function chosenRows({ data, width }: Rows, chosen: readonly number[]): Rows {
  const rows = new Float32Array(chosen.length * width);
  chosen.forEach((row, i) => {
    rows.set(data.subarray(row * width, (row + 1) * width), i * width);
  });
  return { data: rows, width };
}

/** Rows at length 1; those of zeros stay. */
export function unitRows({ data, width }: Rows): Rows {
  const unit = data.slice();
  for (let begin = 0; begin < unit.length; begin += width) {
    const row = unit.subarray(begin, begin + width);
    const norm = Math.sqrt(row.reduce((sum, v) => sum + v * v, 0));
    if (norm > 0) for (let k = 0; k < width; k++) row[k] /= norm;
  }
  return { data: unit, width };
}

/** Rows without their mean. */
export function centredRows(rows: Rows): Rows {
  const mean = meanRow(rows);
  return { ...rows, data: rows.data.map((v, i) => v - mean[i % rows.width]) };
}

/** Rows without their part along their mean. */
function withoutMeanDirection(rows: Rows): Rows {
  const { width } = rows;
  const mean = meanRow(rows);
  const square = mean.reduce((sum, v) => sum + v * v, 0);
  const data = rows.data.slice();
  for (let begin = 0; square > 0 && begin < data.length; begin += width) {
    const row = data.subarray(begin, begin + width);
    const share = row.reduce((sum, v, k) => sum + v * mean[k], 0) / square;
    for (let k = 0; k < width; k++) row[k] -= share * mean[k];
  }
  return { data, width };
}

/** The mean of rows. */
export function meanRow({ data, width }: Rows): Float64Array {
  const mean = new Float64Array(width);
  const numRows = data.length / width;
  for (let i = 0; i < data.length; i++) mean[i % width] += data[i] / numRows;
  return mean;
}

/** XᵀY, [width of X, width of Y] */
function crossProducts(x: Rows, y: Rows): Float64Array {
  const products = new Float64Array(x.width * y.width);
  const numRows = x.data.length / x.width;
  for (let row = 0; row < numRows; row++) {
    const own = y.data.subarray(row * y.width, (row + 1) * y.width);
    for (let i = 0; i < x.width; i++) {
      const factor = x.data[row * x.width + i];
      const at = i * y.width;
      for (let j = 0; j < own.length; j++) products[at + j] += factor * own[j];
    }
  }
  return products;
}

/** X of S·X = R for a symmetric positive definite S, [n, n]; R is [n, n]. */
function solved(s: Float64Array, r: Float64Array, n: number): Float64Array {
  const l = choleskyFactor(s, n);
  const x = r.slice();
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) subtractRow(x, n, { from: i, row: k, factor: l[i * n + k] }); // L·y = r
    divideRow(x, n, { row: i, by: l[i * n + i] });
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) subtractRow(x, n, { from: i, row: k, factor: l[k * n + i] }); // Lᵀ·x = y
    divideRow(x, n, { row: i, by: l[i * n + i] });
  }
  return x;
}

/** L of S = L·Lᵀ, lower triangle. */
function choleskyFactor(s: Float64Array, n: number): Float64Array {
  const l = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) {
      let sum = s[i * n + j];
      for (let k = 0; k < j; k++) sum -= l[i * n + k] * l[j * n + k];
      assert(i !== j || sum > 0, 'the products of embeddings have no Cholesky factor');
      l[i * n + j] = i === j ? Math.sqrt(sum) : sum / l[j * n + j];
    }
  return l;
}

function subtractRow(
  x: Float64Array,
  n: number,
  { from, row, factor }: { readonly from: number; readonly row: number; readonly factor: number },
): void {
  for (let j = 0; j < n; j++) x[from * n + j] -= factor * x[row * n + j];
}

function divideRow(x: Float64Array, n: number, { row, by }: { readonly row: number; readonly by: number }): void {
  for (let j = 0; j < n; j++) x[row * n + j] /= by;
}
