import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { IndexFormatError, InputError, sparseVector } from '../../core/index.ts';
import { decodeCodes, encodeCodes, quantiseQuery, quantiseVector } from './codes.ts';

describe('codes of a document', () => {
  it('are weights over scale, rounded half to even, from 1 to 255', () => {
    const weights = [0.01, 0.4, 2.5, 3.5, 254.5, 255.4, 256, 1e9];
    const { codes, numClamped } = quantiseVector(
      sparseVector(
        weights.map((_, i) => i),
        weights,
      ),
      1,
    );
    expect([...codes.codes]).toEqual([1, 1, 2, 4, 254, 255, 255, 255]);
    expect(numClamped).toBe(2);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('refuse a scale of %d', (scale) => {
    expect(() => quantiseVector(sparseVector([1], [1]), scale)).toThrow(InputError);
  });
});

const weight = fc.float({ min: Math.fround(1e-30), max: Math.fround(1e30), noNaN: true });

describe('weights of a query', () => {
  it('reach from 1 to 65,535 in proportion', () => {
    const { weights, unit } = quantiseQuery(sparseVector([1, 2, 3], [8, 4, 1e-9]));
    expect([...weights]).toEqual([65_535, 32_768, 1]); // 32,767.5 goes to the even neighbour
    expect(65_535 * unit).toBeCloseTo(8, 12);
  });

  test.prop([fc.array(weight, { maxLength: 600 })])('never let a score reach 2³¹', (weights) => {
    const terms = weights.map((_, i) => i);
    const query = quantiseQuery(sparseVector(terms, weights));
    expect(query.weights.reduce((sum, w) => sum + w * 255, 0)).toBeLessThan(2 ** 31);
    expect(query.weights.every((w) => w >= 1 && w <= 65_535)).toBe(true);
  });

  it('share the room when there are many: 1,000 equal ones stay below 2³¹ together', () => {
    const terms = Array.from({ length: 1000 }, (_, i) => i);
    const query = quantiseQuery(
      sparseVector(
        terms,
        terms.map(() => 5),
      ),
    );
    expect(query.weights[0]).toBeGreaterThan(8000);
    expect(query.weights[0] * 255 * 1000).toBeLessThan(2 ** 31);
  });
});

describe('a document in the log', () => {
  const document = fc
    .uniqueArray(fc.nat({ max: 2 ** 24 - 1 }), { maxLength: 50 })
    .map((terms) => Uint32Array.from(terms).sort())
    .chain((terms) =>
      fc
        .uint8Array({ min: 1, minLength: terms.length, maxLength: terms.length })
        .map((codes) => ({ terms, codes: Uint8Array.from(codes) })),
    );

  test.prop([document])('comes back as it was', (codes) => {
    expect(decodeCodes(encodeCodes(codes))).toEqual(codes);
  });

  test.prop([fc.uint8Array({ maxLength: 40 })])('is read or refused, whatever the bytes', (bytes) => {
    try {
      const { terms, codes } = decodeCodes(bytes);
      expect(terms).toHaveLength(codes.length);
      expect(terms.every((term, i) => i === 0 || term > terms[i - 1])).toBe(true);
      expect(codes.includes(0)).toBe(false);
    } catch (error) {
      expect(error).toBeInstanceOf(IndexFormatError);
    }
  });
});
