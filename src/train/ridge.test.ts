import { describe, expect, it } from 'vitest';
import { Random, ShapeError } from '../core/index.ts';
import { matrix, matrixFromRows } from '../losses/index.ts';
import { ridge } from './ridge.ts';

const ONES = Float64Array.of(1, 1, 1);
const allOf = (n: number): Uint32Array => Uint32Array.from({ length: n }, (_, i) => i);

/** Σ d·(wᵀx + b − y)² + ρ‖w‖², with ρ from the mean square of a centred column. */
function cost(
  x: number[][],
  y: ArrayLike<number>,
  { w, b, d, penalty }: { w: ArrayLike<number>; b: number; d: Float64Array; penalty: number },
): number {
  const H = x[0].length;
  const means = x[0].map(
    (_, h) => x.reduce((sum, row, j) => sum + d[j] * row[h], 0) / d.reduce((sum, own) => sum + own, 0),
  );
  const squares = x
    .flatMap((row, j) => row.map((value, h) => d[j] * (value - means[h]) ** 2))
    .reduce((a, c) => a + c, 0);
  const errors = x.map((row, j) => row.reduce((sum, value, h) => sum + value * w[h], b - y[j]));
  const norm = Array.from(w).reduce((sum, value) => sum + value ** 2, 0);
  return errors.reduce((sum, e, j) => sum + d[j] * e ** 2, 0) + ((penalty * squares) / H) * norm;
}

describe('ridge regression', () => {
  it('by hand: y = 2x + 1 at −1, 0, 1; a penalty as large as the mean square halves the slope, not the intercept', () => {
    const problem = { x: matrixFromRows([[-1], [0], [1]]), rows: allOf(3), y: Float64Array.of(-1, 1, 3), d: ONES };
    const plain = ridge({ ...problem, penalty: 0 });
    expect([plain.w[0], plain.b]).toEqual([expect.closeTo(2, 9), expect.closeTo(1, 9)]);
    const half = ridge({ ...problem, penalty: 1 });
    expect([half.w[0], half.b]).toEqual([expect.closeTo(1, 9), expect.closeTo(1, 9)]);
  });

  it('reads only the rows that count', () => {
    const x = matrixFromRows([[9], [-1], [0], [1]]);
    const { w, b } = ridge({ x, rows: Uint32Array.of(1, 2, 3), y: Float64Array.of(-1, 1, 3), d: ONES, penalty: 0 });
    expect([w[0], b]).toEqual([expect.closeTo(2, 9), expect.closeTo(1, 9)]);
  });

  it('has the least cost: each coordinate moved by 0.001 either way costs more', () => {
    const random = new Random(5);
    const rows = Array.from({ length: 40 }, () =>
      Array.from({ length: 6 }, () => Math.fround(random.uniform() * 3 + 1)),
    );
    const y = Float64Array.from(rows, (row) => 3 * row[0] - row[4] + random.uniform());
    const d = Float64Array.from(rows, () => 0.2 + random.uniform());
    const penalty = 0.1;
    const { w, b } = ridge({ x: matrixFromRows(rows), rows: allOf(40), y, d, penalty });
    const least = cost(rows, y, { w, b, d, penalty });
    for (const delta of [-0.001, 0.001]) {
      expect(cost(rows, y, { w, b: b + delta, d, penalty })).toBeGreaterThan(least);
      for (let h = 0; h < 6; h++)
        expect(cost(rows, y, { w: w.with(h, w[h] + delta), b, d, penalty })).toBeGreaterThan(least);
    }
  });

  it('takes values that are all the same, and refuses none', () => {
    const fit = ridge({
      x: matrixFromRows([[1], [2]]),
      rows: allOf(2),
      y: Float64Array.of(4, 4),
      d: Float64Array.of(1, 3),
      penalty: 0.1,
    });
    expect([fit.w[0], fit.b]).toEqual([expect.closeTo(0, 12), expect.closeTo(4, 12)]);
    expect(() =>
      ridge({ x: matrix(2, 1), rows: allOf(0), y: new Float64Array(0), d: new Float64Array(0), penalty: 0 }),
    ).toThrow(ShapeError);
  });
});
