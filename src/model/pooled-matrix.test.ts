import { describe, expect, it } from 'vitest';
import { Random } from '../core/index.ts';
import { fitPooledMatrix, type Rows } from './pooled-matrix.ts';

const rowOf = ({ data, width }: Rows, i: number): Float32Array => data.subarray(i * width, (i + 1) * width);
const dot = (x: Float32Array, y: Float32Array): number => x.reduce((sum, v, i) => sum + v * y[i], 0);

function randomRows(seed: number, numRows: number, { width, offset }: { width: number; offset: number }): Rows {
  const random = new Random(seed);
  return { data: Float32Array.from({ length: numRows * width }, () => random.uniform() - 0.5 + offset), width };
}

describe('the matrix of a pooled head', () => {
  it('is I·2/2.002 where terms lie on both axes and mean what they are', () => {
    // ẼᵀẼ = Ẽᵀd̃ = 2·I, and ρ = 0.001·2
    const cross = { data: Float32Array.of(1, 0, -1, 0, 0, 1, 0, -1), width: 2 };
    const [a, b, c, d] = fitPooledMatrix(cross, cross);
    expect([a, d]).toEqual([Math.fround(2 / 2.002), Math.fround(2 / 2.002)]);
    expect([b, c]).toEqual([0, 0]);
  });

  it('turns a quarter where means do: A·h̄ points to the terms whose means h̄ is like', () => {
    const terms = { data: Float32Array.of(1, 0, -1, 0, 0, 1, 0, -1), width: 2 };
    const means = { data: Float32Array.of(0, 3, 0, -3, -3, 0, 3, 0), width: 2 }; // of any length: they count at length 1
    const matrix = { data: fitPooledMatrix(terms, means), width: 2 };
    for (let term = 0; term < 4; term++) {
      const mean = rowOf(means, term);
      const about = Float32Array.of(dot(rowOf(matrix, 0), mean), dot(rowOf(matrix, 1), mean));
      const logits = [0, 1, 2, 3].map((j) => dot(about, rowOf(terms, j)));
      expect(logits.indexOf(Math.max(...logits))).toBe(term);
    }
  });

  it('lifts no document as a whole: nothing of A·h̄ lies along the mean of the embeddings, within 1e-3', () => {
    const [numTerms, width] = [400, 6];
    const embeddings = randomRows(1, numTerms, { width, offset: 0.4 }); // alike in one direction, as those of BERT are
    const means = randomRows(2, numTerms, { width, offset: 0.1 });
    const matrix = { data: fitPooledMatrix(embeddings, means), width };
    const centre = new Float32Array(width);
    for (let i = 0; i < embeddings.data.length; i++) centre[i % width] += embeddings.data[i] / numTerms;
    for (let d = 0; d < 20; d++) {
      const about = Float32Array.from({ length: width }, (_, i) => dot(rowOf(matrix, i), rowOf(means, d)));
      expect(Math.abs(dot(about, centre)) / (Math.hypot(...about) * Math.hypot(...centre))).toBeLessThan(1e-3);
    }
  });
});
