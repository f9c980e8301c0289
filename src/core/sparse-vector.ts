/**
 * Sparse vectors over the vocabulary: what documents and queries become. Term ids ascend and weights are positive and
 * finite; who builds one by hand goes through `sparseVector`, which checks. Knows nothing of tokens or models.
 */
import { ShapeError } from './errors.ts';

/** Terms with a positive weight, by ascending term id. */
export type SparseVector = {
  /** Term ids, strictly ascending. */
  readonly terms: Uint32Array;
  /** Weights, one per term, positive and finite. */
  readonly weights: Float32Array;
};

/** Checks and builds a sparse vector from parallel lists in any order. */
export function sparseVector(terms: ArrayLike<number>, weights: ArrayLike<number>): SparseVector {
  if (terms.length !== weights.length)
    throw new ShapeError(
      `a sparse vector needs one weight per term, got ${terms.length} terms and ${weights.length} weights`,
    );
  const order = Array.from(terms, (_, i) => i).sort((a, b) => (terms[a] ?? 0) - (terms[b] ?? 0));
  const vector = { terms: new Uint32Array(order.length), weights: new Float32Array(order.length) };
  order.forEach((from, to) => {
    const term = terms[from] ?? Number.NaN;
    const weight = Math.fround(weights[from] ?? Number.NaN);
    if (!Number.isInteger(term) || term < 0 || term > 0xffffffff)
      throw new ShapeError(`term id ${term} is not an unsigned 32-bit integer`);
    if (!(weight > 0 && weight < Number.POSITIVE_INFINITY))
      throw new ShapeError(`term ${term} has weight ${weight}; weights are positive and finite`);
    if (to > 0 && vector.terms[to - 1] === term) throw new ShapeError(`term ${term} occurs twice`);
    vector.terms[to] = term;
    vector.weights[to] = weight;
  });
  return vector;
}

/** score(q,d) = Σ_j q[j]·d[j], summed in f64 by ascending term id. */
export function dot(q: SparseVector, d: SparseVector): number {
  let score = 0;
  for (let i = 0, j = 0; i < q.terms.length && j < d.terms.length; ) {
    if (q.terms[i] === d.terms[j]) score += q.weights[i++] * d.weights[j++];
    else if (q.terms[i] < d.terms[j]) i++;
    else j++;
  }
  return score;
}

/** v + w. */
export function sumOf(v: SparseVector, w: SparseVector): SparseVector {
  const weights = new Map(Array.from(v.terms, (term, i) => [term, v.weights[i]]));
  w.terms.forEach((term, i) => {
    weights.set(term, (weights.get(term) ?? 0) + w.weights[i]);
  });
  const terms = Uint32Array.from(weights.keys()).sort();
  return { terms, weights: Float32Array.from(terms, (term) => weights.get(term) ?? 0) };
}

/** Positions of a vector's entries by descending weight, ties by ascending term id. */
export function byWeight(vector: SparseVector): number[] {
  const { terms, weights } = vector;
  return Array.from(terms, (_, i) => i).sort((a, b) => weights[b] - weights[a] || a - b);
}
