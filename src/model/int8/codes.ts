/**
 * Matrices in 8-bit integers: one scale per row, which is an output channel of a layer or the embedding of a term.
 *
 *     w_jk ≈ s_j·c_jk        s_j = max_k |w_jk| / 64        c_jk = round(w_jk / s_j),   |c| ≤ 64
 *
 * Seven bits, not eight. Kernels for processors without VNNI multiply bytes a ∈ 0…255 by codes c with `vpmaddubsw`, which
 * adds two neighbouring products in 16 bits and saturates. With |c| ≤ 64 it cannot: |a₁c₁ + a₂c₂| ≤ 2·255·64 = 32,640 < 2¹⁵.
 * So products are exact, and vectors the same, on every processor.
 *
 * Dividing by 64 = 2⁶ is exact, so s is as well, and the largest code of a row is ±64. Quantising s·c once more hence gives
 * the same s and the same c: a model that is stored in codes and read back in float32 is the same int8 model.
 */
import { ShapeError } from '../../core/index.ts';

/** Largest |c|. */
export const CODE_LIMIT = 64;

/** Rows below this are 0: the scale would have no room for its bits. */
const SMALLEST = 2 ** -120;

/** A matrix in codes. */
export type QuantisedRows = {
  /** c, row by row: [R, n] */
  readonly codes: Int8Array<ArrayBuffer>;
  /** s, [R] */
  readonly scales: Float32Array<ArrayBuffer>;
  /** n */
  readonly rowSize: number;
};

/** Quantises the rows of a matrix of finite values, [R, n]. */
export function quantiseRows(values: Float32Array, rowSize: number): QuantisedRows {
  const numRows = values.length / rowSize;
  if (!Number.isInteger(numRows)) throw new ShapeError(`${values.length} weights are not rows of ${rowSize}`);
  const codes = new Int8Array(values.length);
  const scales = new Float32Array(numRows);
  for (let begin = 0, row = 0; row < numRows; row++, begin += rowSize) {
    const end = begin + rowSize;
    scales[row] = quantiseRow(values.subarray(begin, end), codes.subarray(begin, end));
  }
  return { codes, scales, rowSize };
}

/** Writes the codes of one row and gives its scale. Cutting off the fraction of a positive number rounds fastest. */
function quantiseRow(values: Float32Array, codes: Int8Array): number {
  let largest = 0;
  for (let i = 0; i < values.length; i++) largest = Math.max(largest, Math.abs(values[i]));
  if (largest < SMALLEST) return 0;
  const perStep = CODE_LIMIT / largest;
  for (let i = 0; i < values.length; i++) codes[i] = Math.trunc(values[i] * perStep + (CODE_LIMIT + 0.5)) - CODE_LIMIT;
  return largest / CODE_LIMIT;
}

/** s·c, [R, n]. */
export function dequantiseRows({ codes, scales, rowSize }: QuantisedRows): Float32Array<ArrayBuffer> {
  const values = new Float32Array(codes.length);
  for (let row = 0; row < scales.length; row++) {
    const end = (row + 1) * rowSize;
    for (let i = row * rowSize; i < end; i++) values[i] = scales[row] * codes[i];
  }
  return values;
}

/** Rows transposed at once: as many as keep a strip of the result in the cache. */
const STRIP = 64;

/** The codes as columns, [n, R]: the way the engine multiplies. */
export function codeColumns({ codes, scales, rowSize }: QuantisedRows): Int8Array<ArrayBuffer> {
  const numColumns = scales.length;
  const columns = new Int8Array(codes.length);
  for (let strip = 0; strip < numColumns; strip += STRIP) {
    const stripEnd = Math.min(strip + STRIP, numColumns);
    for (let k = 0; k < rowSize; k++) {
      for (let j = strip; j < stripEnd; j++) columns[k * numColumns + j] = codes[j * rowSize + k];
    }
  }
  return columns;
}
