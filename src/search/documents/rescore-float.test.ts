import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { dot, Random, type SparseVector, sparseVector } from '../../core/index.ts';
import type { TopK } from '../types.ts';
import { type RescoredTopK, rescoreFloat } from './rescore-float.ts';

/** A collection with the codes that an index would have of it. */
type World = {
  readonly documents: readonly SparseVector[];
  readonly query: SparseVector;
  readonly scale: number;
  readonly unit: number;
};

const codeOf = (weight: number, scale: number): number => Math.min(255, Math.max(1, Math.round(weight / scale)));

function queryCodesOf({ query, unit }: World): Uint32Array {
  return Uint32Array.from(query.weights, (weight) => Math.max(1, Math.round(weight / unit)));
}

/** Σ_t a_t·b_t over terms of both, with b given beside its terms. */
function scoreOf(query: SparseVector, values: ArrayLike<number>, document: ReadonlyMap<number, number>): number {
  return query.terms.reduce((sum, term, i) => sum + values[i] * (document.get(term) ?? 0), 0);
}

function ranked(scores: readonly number[], k: number): TopK {
  const order = scores.map((_, docId) => docId).filter((docId) => scores[docId] > 0);
  order.sort((a, b) => scores[b] - scores[a] || a - b);
  const docIds = Uint32Array.from(order.slice(0, k));
  return { docIds, scores: Float64Array.from(docIds, (docId) => scores[docId]) };
}

function codeScores(world: World): number[] {
  const { documents, query, scale, unit } = world;
  const queryCodes = queryCodesOf(world);
  return documents.map(({ terms, weights }) => {
    const codes = new Map(Array.from(terms, (term, i) => [term, codeOf(weights[i], scale)]));
    return scoreOf(query, queryCodes, codes) * unit * scale;
  });
}

function rescored(world: World, k: number, maxCandidates = 10_000): Promise<RescoredTopK> {
  const { documents, query, scale, unit } = world;
  const scores = codeScores(world);
  return rescoreFloat({
    k,
    query,
    queryCodes: queryCodesOf(world),
    unit,
    scale,
    maxWeight: Math.max(0, ...documents.flatMap(({ weights }) => [...weights])),
    candidates: (wanted) => ranked(scores, wanted),
    vectorOf: (docId) => documents[docId],
    documents: () => documents.keys(),
    maxCandidates,
  });
}

function exhaustive({ documents, query }: World, k: number): TopK {
  return ranked(
    documents.map((document) => dot(query, document)),
    k,
  );
}

const weight = fc.oneof(
  fc.float({ min: Math.fround(1e-6), max: 3, noNaN: true }),
  fc.constantFrom(0.5, 1, 1.5, 2), //                   ties
  fc.float({ min: Math.fround(1e-6), max: Math.fround(0.02), noNaN: true }), // below half a scale: the floor of 1
  fc.float({ min: 5, max: 100, noNaN: true }), //       clamped
);
const vector = fc
  .uniqueArray(fc.tuple(fc.nat(8), weight), { selector: ([term]) => term, maxLength: 6 })
  .map((entries) =>
    sparseVector(
      entries.map(([term]) => term),
      entries.map(([, value]) => value),
    ),
  );
const world = fc.record({
  documents: fc.array(vector, { maxLength: 60 }),
  query: vector,
  scale: fc.constantFrom(0.01, 3 / 255, 0.3, 1 / 64),
  unit: fc.constantFrom(1 / 64, 1 / 1000, 0.7),
});

describe('rescoreFloat', () => {
  test.prop([world, fc.integer({ min: 1, max: 12 }), fc.constantFrom(12, 24, 10_000)], { numRuns: 500 })(
    'gives exactly the exhaustive float ranking, ties by document number',
    async (collection, k, maxCandidates) => {
      const { docIds, scores } = await rescored(collection, k, maxCandidates);
      expect({ docIds, scores }).toEqual(exhaustive(collection, k));
    },
  );

  it('reads few floats where weights are spread: 2k to 4k of 5,000 for k = 20', async () => {
    const random = new Random(7);
    const drawn = (size: number): SparseVector => {
      const terms = random.shuffle(Array.from({ length: 50 }, (_, i) => i)).slice(0, size);
      return sparseVector(
        terms,
        terms.map(() => 0.05 + 2.9 * random.uniform() ** 3),
      );
    };
    const documents = Array.from({ length: 5000 }, () => drawn(12));
    const collection = { documents, query: drawn(5), scale: 3 / 255, unit: 1 / 4096 };
    const found = await rescored(collection, 20);
    expect([...found.docIds]).toEqual([...exhaustive(collection, 20).docIds]);
    expect(found.numRescored).toBeLessThanOrEqual(80);
  });

  it('puts right what the codes put wrong: 1.004 before 0.996, both code 100', async () => {
    const documents = [sparseVector([1], [0.996]), sparseVector([1], [1.004])];
    const { docIds } = await rescored({ documents, query: sparseVector([1], [1]), scale: 0.01, unit: 1 }, 1);
    expect([...docIds]).toEqual([1]);
  });

  it('finds a clamped weight beyond 2k others of the same code', async () => {
    // Codes are 255 everywhere, so the candidates are the first by number; the best float is the last document.
    const documents = Array.from({ length: 50 }, (_, i) => sparseVector([1], [i === 49 ? 9 : 2.55]));
    const found = await rescored({ documents, query: sparseVector([1], [1]), scale: 0.01, unit: 1 }, 1);
    expect([...found.docIds]).toEqual([49]);
  });

  it('reads all documents where the most candidates do not settle it', async () => {
    const documents = Array.from({ length: 50 }, (_, i) => sparseVector([1], [1 + i * 1e-6]));
    const found = await rescored({ documents, query: sparseVector([1], [1]), scale: 0.01, unit: 1 }, 2, 8);
    expect([...found.docIds]).toEqual([49, 48]);
    expect(found.numRescored).toBe(50);
  });

  it('counts the rounding of the query: a term rounded down from 1.4 to 1 hides nothing', async () => {
    // u8 is 3.3, 2.6 and 1·2.5, so the first two are the candidates; float is 3.3, 2.6 and 1.4·2.5 = 3.5.
    const documents = [sparseVector([1], [1.1]), sparseVector([3], [1.3]), sparseVector([2], [2.5])];
    const query = sparseVector([1, 2, 3], [3, 1.4, 2]);
    const { docIds } = await rescored({ documents, query, scale: 0.01, unit: 1 }, 1);
    expect([...docIds]).toEqual([2]);
  });
});
