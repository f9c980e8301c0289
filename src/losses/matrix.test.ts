import { describe, expect, it } from 'vitest';
import { ShapeError } from '../core/index.ts';
import { checkBatch, checkNotEmpty, matrix, matrixFromRows, rowOf } from './matrix.ts';

describe('a matrix', () => {
  it('keeps rows one after the other, and a row is a view', () => {
    const m = matrixFromRows([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    expect(m).toEqual({ rows: 2, cols: 3, data: Float32Array.of(1, 2, 3, 4, 5, 6) });
    rowOf(m, 1)[0] = 9;
    expect(m.data[3]).toBe(9);
  });

  it('is made of zeros unless told', () => {
    expect(matrix(2, 2).data).toEqual(new Float32Array(4));
  });

  it('refuses elements that do not fill it, and rows of different length', () => {
    expect(() => matrix(2, 3, new Float32Array(5))).toThrow(ShapeError);
    expect(() => matrixFromRows([[1, 2], [3]])).toThrow('row 1 has 1 elements, row 0 has 2');
  });

  it('refuses a batch whose rows are not Q·G, or that has none', () => {
    expect(() => checkBatch(matrix(4, 3), { numQueries: 2, docsPerQuery: 2 })).not.toThrow();
    expect(() => checkBatch(matrix(4, 3), { numQueries: 3, docsPerQuery: 2 })).toThrow(
      '3 queries × 2 documents make 6 rows, got [4, 3]',
    );
    expect(() => checkBatch(matrix(0, 3), { numQueries: 0, docsPerQuery: 2 })).toThrow(ShapeError);
    expect(() => checkNotEmpty(matrix(2, 0), 'it')).toThrow('it has no elements: [2, 0]');
  });
});
