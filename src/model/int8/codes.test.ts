import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ShapeError } from '../../core/index.ts';
import { CODE_LIMIT, codeColumns, dequantiseRows, quantiseRows } from './codes.ts';

const ROW = 5;
const value = fc.oneof(
  fc.float({ min: -8, max: 8, noNaN: true }),
  fc.float({ noNaN: true, min: -(2 ** 100), max: 2 ** 100 }),
  fc.constantFrom(0, -0, 1e-40, -1e-38, 2 ** -121, 3.4e38, -3.4e38),
);
const matrix = fc
  .array(fc.array(value, { minLength: ROW, maxLength: ROW }), { minLength: 1, maxLength: 4 })
  .map((rows) => Float32Array.from(rows.flat()));

describe('quantised rows', () => {
  it('are codes of the largest weight / 64: worked by hand', () => {
    const { codes, scales } = quantiseRows(Float32Array.of(1, -2, 0.5, 0, 0, 0), 3);
    expect([...codes]).toEqual([32, -64, 16, 0, 0, 0]);
    expect([...scales]).toEqual([2 / 64, 0]);
  });

  test.prop([matrix], { numRuns: 500 })('have codes of at most 64 and are off by at most half a step', (values) => {
    const rows = quantiseRows(values, ROW);
    const back = dequantiseRows(rows);
    values.forEach((x, i) => {
      expect(Math.abs(rows.codes[i])).toBeLessThanOrEqual(CODE_LIMIT);
      const scale = rows.scales[Math.floor(i / ROW)];
      expect(Math.abs(x - back[i])).toBeLessThanOrEqual(scale * (0.5 + 1e-5) + 2 ** -120);
    });
  });

  test.prop([matrix], { numRuns: 500 })('quantised once more are the same codes and the same scales', (values) => {
    const once = quantiseRows(values, ROW);
    expect(quantiseRows(dequantiseRows(once), ROW)).toEqual(once);
  });

  it('two products with bytes fit into 16 bits: 2·255·64 < 2¹⁵', () => {
    expect(2 * 255 * CODE_LIMIT).toBeLessThan(2 ** 15);
  });

  it('as columns are the transposed codes', () => {
    const rows = quantiseRows(
      Float32Array.from({ length: 130 * 3 }, (_, i) => Math.sin(i)),
      3,
    );
    const columns = codeColumns(rows);
    for (let j = 0; j < 130; j++) for (let k = 0; k < 3; k++) expect(columns[k * 130 + j]).toBe(rows.codes[j * 3 + k]);
  });

  it('of a matrix whose rows are not whole are refused', () => {
    expect(() => quantiseRows(new Float32Array(7), 3)).toThrow(ShapeError);
  });
});
