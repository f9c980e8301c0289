import { describe, expect, it } from 'vitest';
import { centralDifferences, relativeError } from '../../test/lib/central-differences.ts';
import { ConfigError, Random } from '../core/index.ts';
import { matrix, matrixFromRows } from '../losses/index.ts';
import { fitProjection, projectedTable } from './projected-table.ts';

const parameter = (...values: number[]) => ({
  weights: Float32Array.from(values),
  gradients: new Float32Array(values.length),
});

describe('query weights as a projection', () => {
  it('by hand: c·log(1 + relu(wᵀE + b)); where u is not above 0, weight and slope are 0', () => {
    const weight = parameter(1, 2);
    const bias = parameter(-1);
    const embeddings = matrixFromRows([
      [0, 1],
      [2, 1],
      [1, 0],
      [-1, 0],
    ]); // u = 1, 3, 0, −2
    const table = projectedTable({ weight, bias, embeddings, scale: 2 });
    const all = Uint32Array.of(0, 1, 2, 3);
    expect([...table.weightsOf(all)]).toEqual([2 * Math.LN2, 4 * Math.LN2, 0, 0].map(Math.fround));
    expect([...table.values()]).toEqual([...table.weightsOf(all)]);
    table.addGradients(all, Float32Array.of(1, 6, 100, 100)); // ∂L/∂u = 1·2/2, 6·2/4
    expect([...weight.gradients, ...bias.gradients]).toEqual([6, 4, 4]);
  });

  it('has the slopes of central differences within 1e-3, of a loss that is not linear', () => {
    const random = new Random(3);
    const values = (n: number): number[] => Array.from({ length: n }, () => Math.fround(random.uniform() * 2 - 0.8));
    const [weight, bias] = [parameter(...values(5)), parameter(0.7)];
    const embeddings = matrix(8, 5, Float32Array.from(values(40)));
    const table = projectedTable({ weight, bias, embeddings, scale: 3 });
    const terms = Uint32Array.of(0, 2, 3, 5, 7);
    const loss = (): number => table.weightsOf(terms).reduce((sum, q, k) => sum + (k + 1) * q * q, 0);
    table.addGradients(
      terms,
      table.weightsOf(terms).map((q, k) => 2 * (k + 1) * q),
    );
    expect(table.weightsOf(terms).filter((q) => q > 0).length).toBeGreaterThan(2);
    expect(relativeError(weight.gradients, centralDifferences(loss, weight.weights))).toBeLessThan(1e-3);
    expect(relativeError(bias.gradients, centralDifferences(loss, bias.weights))).toBeLessThan(1e-3);
  });
});

describe('the fit of a projection to a table', () => {
  const random = new Random(8);
  const embeddings = matrix(
    200,
    4,
    Float32Array.from({ length: 800 }, () => random.uniform() - 0.5),
  );
  const terms = Uint32Array.from({ length: 190 }, (_, i) => i + 10);

  it('finds a table that is a projection again: 99.9 % of its variance, the mean weight within 1 %', () => {
    const made = projectedTable({ weight: parameter(0.5, -1, 0.3, 0.2), bias: parameter(1.1), embeddings, scale: 7 });
    const idf = made.values();
    const { w, b, scale, explained, meanError } = fitProjection(idf, embeddings, terms);
    expect(explained).toBeGreaterThan(0.999);
    const again = projectedTable({ weight: parameter(...w), bias: parameter(b), embeddings, scale });
    const mean = (values: Float32Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean(again.weightsOf(terms)) / mean(made.weightsOf(terms))).toBeCloseTo(1, 2);
    expect(meanError).toBeLessThan(0.01 * mean(idf));
  });

  it('of a table that has nothing to do with the embeddings explains next to nothing, and begins with its mean', () => {
    const idf = Float32Array.from({ length: 200 }, () => 4 + random.uniform());
    const { explained, meanError } = fitProjection(idf, embeddings, terms);
    expect(explained).toBeLessThan(0.1);
    expect(meanError).toBeLessThan(0.3); // of a uniform 4 … 5 around 4.5: ¼
  });

  it('takes a table of one value, and refuses one of zeros', () => {
    expect(fitProjection(new Float32Array(200).fill(3), embeddings, terms)).toMatchObject({
      explained: 1,
      meanError: expect.closeTo(0, 5),
    });
    expect(() => fitProjection(new Float32Array(200), embeddings, terms)).toThrow(ConfigError);
  });
});
