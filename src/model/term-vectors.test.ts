/** Term vectors against exact solutions that can be written down. */
import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { Random, type SparseVector } from '../core/index.ts';
import { fitTermVectors, moveTermVectors } from './term-vectors.ts';

const bag = (terms: readonly number[]): SparseVector => ({
  terms: Uint32Array.from(terms),
  weights: new Float32Array(terms.length).fill(1),
});

const normals = (random: Random, size: number): Float32Array =>
  Float32Array.from({ length: size }, () => random.normal());

const [numTerms, width] = [40, 6];

/** Queries whose vectors are sums of hidden term vectors. */
function problem(numQueries: number) {
  const random = new Random(3);
  const hidden = normals(random, numTerms * width);
  const queries = Array.from({ length: numQueries }, () =>
    bag([...new Set(Array.from({ length: 3 }, () => random.below(numTerms - 1)))].sort((a, b) => a - b)),
  );
  const data = new Float32Array(numQueries * width);
  queries.forEach(({ terms }, q) => {
    for (const j of terms) for (let k = 0; k < width; k++) data[q * width + k] += hidden[j * width + k];
  });
  return { queries, vectors: { data, width }, ofTerms: { data: normals(random, numTerms * width), width } };
}

/** cos of what the sums of terms and the vectors say, centred, over all queries. */
function agreement(c: Float32Array, { queries, vectors }: ReturnType<typeof problem>): number {
  const sums = new Float32Array(vectors.data.length);
  queries.forEach(({ terms }, q) => {
    for (const j of terms)
      for (let k = 0; k < width; k++) sums[q * width + k] += c[j * width + k] / Math.sqrt(terms.length);
  });
  let [xy, xx, yy] = [0, 0, 0];
  for (let k = 0; k < width; k++) {
    const unit = queries.map((_, q) => vectors.data[q * width + k] / Math.hypot(...row(vectors.data, q)));
    const mean = unit.reduce((a, b) => a + b, 0) / unit.length;
    unit.forEach((y, q) => {
      xy += sums[q * width + k] * (y - mean);
      xx += sums[q * width + k] ** 2;
      yy += (y - mean) ** 2;
    });
  }
  return xy / Math.sqrt(xx * yy);
}

const row = (data: Float32Array, q: number): Float32Array => data.subarray(q * width, (q + 1) * width);

describe('vectors of terms', () => {
  it('add up to what was said of queries, far better than what is said of the terms alone', () => {
    const given = problem(2_000);
    const fitted = agreement(fitTermVectors({ ...given, penalty: 1 }).data, given);
    const alone = agreement(fitTermVectors({ ...given, penalty: 1e9 }).data, given);
    expect(fitted).toBeGreaterThan(0.9); // not 1: lengths were taken from the vectors
    expect(Math.abs(alone)).toBeLessThan(0.3);
  });

  it('are the mean of what was said, halfway from their start, for a term alone in as many queries as the penalty says', () => {
    // Term 0 alone in 4 queries; term 1 in as many of opposite vectors, so that nothing is lost by centring.
    const queries = Array.from({ length: 8 }, (_, q) => bag([q < 4 ? 0 : 1]));
    const data = Float32Array.from({ length: 16 }, (_, i) => (i % 2 === 0 ? (i < 8 ? 1 : -1) : 0));
    const ofTerms = { data: Float32Array.of(0, 1, 0, -1), width: 2 };
    const { data: c } = fitTermVectors({ queries, vectors: { data, width: 2 }, ofTerms, penalty: 4 });
    // C⁰ is at right angles to the queries, so its best length is 0, and c is half of ±(1, 0).
    for (const [i, value] of [0.5, 0, -0.5, 0].entries()) expect(c[i]).toBeCloseTo(value, 5);
  });

  it('stay where they began for terms that no query has', () => {
    const given = problem(500);
    const { data: c } = fitTermVectors({ ...given, penalty: 1 });
    const { data: start } = fitTermVectors({ ...given, penalty: 1e12 });
    const last = numTerms - 1; // no query has it
    for (let k = 0; k < width; k++) expect(c[last * width + k]).toBeCloseTo(start[last * width + k], 6);
  });

  it('tell how far they are, less after each pass', () => {
    const seen: number[] = [];
    fitTermVectors({ ...problem(500), penalty: 1, onPass: (_, left) => seen.push(left) });
    expect(seen.length).toBeGreaterThan(2);
    expect(seen[seen.length - 1]).toBeLessThan(0.01);
  });
});

describe('vectors of terms that are moved', () => {
  it('are halfway from where they were for a query of one term at ρ = 1, neither centred nor of another length', () => {
    const given = {
      queries: [bag([1])],
      targets: { data: Float32Array.of(4, -2), width: 2 },
      start: { data: Float32Array.of(9, 9, 2, 2), width: 2 },
    };
    const { data: c } = moveTermVectors({ ...given, penalty: 1 });
    for (const [i, value] of [9, 9, 3, 0].entries()) expect(c[i]).toBeCloseTo(value, 5);
    expect([...given.start.data]).toEqual([9, 9, 2, 2]); // what is given stays
  });

  it('share a query of two terms: (XᵀX + ρI)·(C − C⁰) = Xᵀ(ỹ − X·C⁰), by hand', () => {
    // x = (1, 1)/√2, C⁰ = 0: the sum of both moves to ỹ/(1 + ρ), so each has √2/2 of it.
    const { data: c } = moveTermVectors({
      queries: [bag([0, 1])],
      targets: { data: Float32Array.of(3), width: 1 },
      start: { data: Float32Array.of(0, 0), width: 1 },
      penalty: 2,
    });
    for (const value of c) expect(value).toBeCloseTo(Math.SQRT1_2, 5);
  });

  test.prop([fc.integer({ min: 0, max: 2 ** 31 }), fc.integer({ min: 1, max: 60 })], { numRuns: 20 })(
    'stay where they were within 1e-6 at ρ = 10⁹, and to the bit at any ρ for terms of no query',
    (seed, numQueries) => {
      const random = new Random(seed);
      const queries = Array.from({ length: numQueries }, () => bag([random.below(numTerms - 1)]));
      const targets = { data: normals(random, numQueries * width), width };
      const start = { data: normals(random, numTerms * width), width };
      const stiff = moveTermVectors({ queries, targets, start, penalty: 1e9 });
      stiff.data.forEach((value, i) => {
        expect(Math.abs(value - start.data[i])).toBeLessThan(1e-6);
      });
      const moved = moveTermVectors({ queries, targets, start, penalty: 0.1 });
      expect(row(moved.data, numTerms - 1)).toEqual(row(start.data, numTerms - 1));
    },
  );
});
