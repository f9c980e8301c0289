import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../core/index.ts';
import { activeTerms, l0Mask } from './l0-mask.ts';
import { matrix, matrixFromRows, rowOf } from './matrix.ts';

/** Documents with published values: 3, 4, 1 and 4 active terms. */
const D = matrixFromRows([
  [0.9, 0, 0.3, 0, 0.1],
  [0, 0.5, 0.2, 0.7, 0.4],
  [0.6, 0, 0, 0, 0],
  [0.2, 0.1, 0.8, 0, 0.3],
]);

describe('the ℓ0 mask', () => {
  it('counts active terms', () => {
    expect(activeTerms(D)).toEqual(Uint32Array.of(3, 4, 1, 4));
  });

  it('leaves documents of exactly t terms alone', () => {
    expect(l0Mask(D, 0)).toEqual(Uint8Array.of(1, 1, 1, 1));
    expect(l0Mask(D, 3)).toEqual(Uint8Array.of(0, 1, 0, 1));
    expect(l0Mask(D, 4)).toEqual(Uint8Array.of(0, 0, 0, 0));
  });

  it('leaves empty documents alone even at t = 0', () => {
    expect(l0Mask(matrix(2, 3), 0)).toEqual(Uint8Array.of(0, 0));
  });

  it('counts the smallest weight there is', () => {
    expect(activeTerms(matrixFromRows([[2 ** -149, 0]]))).toEqual(Uint32Array.of(1));
  });

  it('refuses thresholds below 0, and NaN, which would mask everything', () => {
    for (const threshold of [-1, Number.NaN]) expect(() => l0Mask(D, threshold)).toThrow(ConfigError);
  });

  const weight = fc.oneof(fc.constant(0), fc.float({ min: 0, max: 5, noNaN: true }));
  test.prop([fc.array(fc.array(weight, { minLength: 6, maxLength: 6 }), { minLength: 1 }), fc.nat(7)])(
    'agrees with filtering each row',
    (rows, t) => {
      const w = matrixFromRows(rows);
      const lengths = rows.map((_, i) => Array.from(rowOf(w, i)).filter((x) => x > 0).length);
      expect(Array.from(activeTerms(w))).toEqual(lengths);
      expect(Array.from(l0Mask(w, t))).toEqual(lengths.map((length) => Number(length > t)));
    },
  );
});
