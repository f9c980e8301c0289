/** Dense matrices of 32-bit floats, row by row, and the checks of their shapes. Knows nothing of losses. */
import { ShapeError } from '../core/index.ts';

/** Element (i,j) is data[i·cols + j]. */
export type Matrix = { readonly rows: number; readonly cols: number; readonly data: Float32Array };

/** How the documents of a batch lie in its rows: document (n,g), g-th of query n, is row n·G + g. */
export type BatchShape = {
  /** Q */
  readonly numQueries: number;
  /** G */
  readonly docsPerQuery: number;
};

/** A matrix over the given elements, or of zeros. */
export function matrix(rows: number, cols: number, data = new Float32Array(rows * cols)): Matrix {
  if (data.length !== rows * cols)
    throw new ShapeError(`a matrix [${rows}, ${cols}] has ${rows * cols} elements, got ${data.length}`);
  return { rows, cols, data };
}

/** A matrix of rows that are written out. */
export function matrixFromRows(rows: readonly ArrayLike<number>[]): Matrix {
  const m = matrix(rows.length, rows[0]?.length ?? 0); // [rows, cols]
  rows.forEach((row, i) => {
    if (row.length !== m.cols) throw new ShapeError(`row ${i} has ${row.length} elements, row 0 has ${m.cols}`);
    m.data.set(row, i * m.cols);
  });
  return m;
}

/** Row i, as a view. */
export function rowOf(m: Matrix, i: number): Float32Array {
  return m.data.subarray(i * m.cols, (i + 1) * m.cols);
}

/** A shape as messages have it. */
export function formatShape({ rows, cols }: Matrix): string {
  return `[${rows}, ${cols}]`;
}

/** Throws unless the matrix has elements: means over nothing are no numbers. */
export function checkNotEmpty(m: Matrix, name: string): void {
  if (m.rows === 0 || m.cols === 0) throw new ShapeError(`${name} has no elements: ${formatShape(m)}`);
}

/** Throws unless the rows of w are Q·G documents. */
export function checkBatch(w: Matrix, { numQueries, docsPerQuery }: BatchShape): void {
  checkNotEmpty(w, 'the batch');
  if (w.rows !== numQueries * docsPerQuery)
    throw new ShapeError(
      `${numQueries} queries × ${docsPerQuery} documents make ${numQueries * docsPerQuery} rows, got ${formatShape(w)}`,
    );
}
