import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { centralDifferences, relativeError } from '../../test/lib/central-differences.ts';
import { ConfigError, ShapeError } from '../core/index.ts';
import { dfFlops, dfWeights } from './df-flops.ts';
import { FLOPS_GROUPINGS, flops } from './flops.ts';
import { matrixFromRows } from './matrix.ts';

describe('weights of terms by document frequency', () => {
  it('by hand: 0 where no document has a term, one half at α, 1 where all have it', () => {
    for (const alpha of [0.01, 0.1, 0.5])
      for (const beta of [0.5, 3, 10]) {
        const [none, half, all] = dfWeights(Float32Array.of(0, alpha, 1), { alpha, beta });
        expect([none, all]).toEqual([0, 1]);
        expect(half).toBeCloseTo(0.5, 5); // α as a 32-bit float
      }
  });

  it('by hand: α = ½, β = 2 is 1/(1 + (1/x − 1)²): 0.1 at ¼, 0.9 at ¾', () => {
    const [quarter, threeQuarters] = dfWeights(Float32Array.of(0.25, 0.75), { alpha: 0.5, beta: 2 });
    expect(quarter).toBeCloseTo(0.1, 12);
    expect(threeQuarters).toBeCloseTo(0.9, 12);
  });

  it('with the paper’s α and β: below 1e-3 at 2 % of the documents, above 0.99 at 20 %', () => {
    const [rare, frequent] = dfWeights(Float32Array.of(0.02, 0.2));
    expect(rare).toBeLessThan(1e-3);
    expect(frequent).toBeGreaterThan(0.99);
  });

  it('never fall where the share grows', () => {
    const weights = dfWeights(Float32Array.from({ length: 101 }, (_, i) => i / 100));
    for (let i = 1; i < weights.length; i++) expect(weights[i]).toBeGreaterThanOrEqual(weights[i - 1]);
  });

  it.each([
    [{ alpha: 0 }, 'α'],
    [{ alpha: 1 }, 'α'],
    [{ alpha: Number.NaN }, 'α'],
    [{ beta: 0 }, 'β'],
  ])('refuse %o', (options, name) => {
    expect(() => dfWeights(Float32Array.of(0.1), options)).toThrow(ConfigError);
    expect(() => dfWeights(Float32Array.of(0.1), options)).toThrow(name);
  });

  it.each([-0.1, 1.1, Number.NaN])('refuse the share %d', (share) => {
    expect(() => dfWeights(Float32Array.of(share))).toThrow(ShapeError);
  });
});

describe('DF-FLOPS', () => {
  const shape = { numQueries: 2, docsPerQuery: 1 };

  it('by hand: ā = [2, 1], c = [0.9, 0.1]: 3.24 + 0.01, and slopes (2/Q)·c²·ā', () => {
    const w = matrixFromRows([
      [1, 0],
      [3, 2],
    ]);
    const documentShares = Float32Array.of(0.75, 0.25);
    const { loss, dW } = dfFlops(w, shape, { documentShares, alpha: 0.5, beta: 2 });
    expect(loss).toBeCloseTo(3.25, 12);
    expect(relativeError(dW.data, [1.62, 0, 1.62, 0.01])).toBeLessThan(1e-7);
  });

  it('masks by all terms of a document, those that weigh nothing as well', () => {
    const w = matrixFromRows([
      [1, 1],
      [3, 0],
    ]);
    const { loss } = dfFlops(w, shape, { documentShares: Float32Array.of(1, 0), threshold: 1 });
    expect(loss).toBeCloseTo(0.25, 12); // the first document alone: ā = [½, ½], c = [1, 0]
  });

  it('refuses shares of another vocabulary', () => {
    const w = matrixFromRows([[1, 2]]);
    const one = { numQueries: 1, docsPerQuery: 1 };
    expect(() => dfFlops(w, one, { documentShares: new Float32Array(3) })).toThrow(ShapeError);
  });

  const [Q, G, V] = [3, 2, 4];
  const weight = fc.oneof(
    fc.constant(0),
    fc.integer({ min: 1, max: 4096 }).map((x) => x / 1024),
  );
  const rows = fc.array(fc.array(weight, { minLength: V, maxLength: V }), { minLength: Q * G, maxLength: Q * G });
  const options = fc.record({
    grouping: fc.constantFrom(...FLOPS_GROUPINGS),
    threshold: fc.option(fc.nat(V)),
    documentShares: fc.float32Array({ minLength: V, maxLength: V, min: 0, max: 1, noNaN: true }),
    alpha: fc.constantFrom(0.1, 0.3),
    beta: fc.constantFrom(2, 10),
  });
  const batch = { numQueries: Q, docsPerQuery: G };

  test.prop([rows, options])('is FLOPS where all documents have all terms, to the bit', (list, choice) => {
    const w = matrixFromRows(list);
    const { grouping, threshold } = choice;
    const documentShares = new Float32Array(V).fill(1);
    expect(dfFlops(w, batch, { ...choice, documentShares })).toEqual(flops(w, batch, { grouping, threshold }));
  });

  test.prop([rows, options])('is FLOPS of weights that are multiplied by c, within 1e-6', (list, choice) => {
    const c = dfWeights(choice.documentShares, choice);
    const scaled = matrixFromRows(list.map((row) => row.map((x, j) => x * c[j])));
    const { loss } = dfFlops(matrixFromRows(list), batch, { ...choice, threshold: null });
    const second = flops(scaled, batch, { grouping: choice.grouping }).loss;
    expect(Math.abs(loss - second)).toBeLessThanOrEqual(1e-6 * second + 1e-30);
  });

  test.prop([rows, options])('has the gradient of central differences within 1e-6', (list, choice) => {
    const w = matrixFromRows(list);
    const numeric = centralDifferences(() => dfFlops(w, batch, choice).loss, w.data, 2 ** -12);
    const active = numeric.map((slope, i) => (w.data[i] === 0 ? 0 : slope)); // at 0 there is a kink: flops.test.ts
    const ours = dfFlops(w, batch, choice).dW.data;
    const largest = Math.max(...active.map(Math.abs));
    for (let i = 0; i < ours.length; i++)
      expect(Math.abs(ours[i] - active[i])).toBeLessThanOrEqual(1e-6 * largest + 1e-12);
  });
});
