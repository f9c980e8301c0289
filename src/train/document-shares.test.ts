import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { matrix, matrixFromRows } from '../losses/index.ts';
import { DocumentShares } from './document-shares.ts';

const Z = [
  [1, 0, -2],
  [3, 0.5, 0],
];

describe('shares of documents', () => {
  it('by hand: of the first batch its own, then the mean, then 1 − m of the new: m = 0.5', () => {
    const shares = new DocumentShares(3, 0.5);
    shares.add(matrixFromRows(Z), 0);
    expect([...shares.values]).toEqual([1, 0.5, 0]);
    shares.add(matrixFromRows([[0, 1, 1]]), 1);
    expect([...shares.values]).toEqual([0.5, 0.75, 0.5]);
    shares.add(matrixFromRows([[0, 1, 0]]), 2); // gain ½, not ⅓
    expect([...shares.values]).toEqual([0.25, 0.875, 0.25]);
  });

  const rows = fc.array(fc.array(fc.constantFrom(-1, 0, 2), { minLength: 3, maxLength: 3 }), {
    minLength: 2,
    maxLength: 2,
  });
  test.prop([fc.array(rows, { minLength: 1, maxLength: 30 })])(
    'are the mean over all batches where m forgets nothing yet, within 1e-6',
    (batches) => {
      const shares = new DocumentShares(3, 0.99);
      batches.forEach((batch, step) => {
        shares.add(matrixFromRows(batch), step);
      });
      const all = batches.flat();
      for (let j = 0; j < 3; j++)
        expect(shares.values[j]).toBeCloseTo(all.filter((row) => row[j] > 0).length / all.length, 6);
    },
  );

  test.prop([fc.array(fc.boolean(), { minLength: 1, maxLength: 400 }), fc.double({ min: 0, max: 0.999, noNaN: true })])(
    'never leave 0 … 1',
    (steps, momentum) => {
      const shares = new DocumentShares(1, momentum);
      steps.forEach((isActive, step) => {
        shares.add(matrix(1, 1, Float32Array.of(isActive ? 1 : 0)), step);
        expect(shares.values[0]).toBeGreaterThanOrEqual(0);
        expect(shares.values[0]).toBeLessThanOrEqual(1);
      });
    },
  );
});
