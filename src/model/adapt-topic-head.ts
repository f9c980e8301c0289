/**
 * A topic head that learns from clicks. What was opened for a query says what the query is about, in the words of the encoder
 * that has read it, so nothing is trained and no teacher asked.
 *
 *     min_C Σ_q ‖Σ_j x_qj·c_j − ỹ_q‖² + ρ·‖C − C⁰‖²          ỹ_q = mean of (t_d − t̄) over the documents d that q led to
 *
 * C⁰ are the vectors that the head has (term-vectors.ts). Only the terms of the queries take part: the vectors of others stay to the
 * bit, and so do t̄ and all thresholds: setting them anew, by the documents to be searched, gained nothing and made longer vectors (docs/EXPERIMENTS.md).
 * Knows nothing of networks.
 */
import { assert, type SparseVector } from '../core/index.ts';
import type { Rows } from './pooled-matrix.ts';
import { moveTermVectors } from './term-vectors.ts';
import { type TopicHead, withTerms } from './topic-head.ts';

/** A query, and what was opened for it. */
export type ClickedQuery = {
  /** Weights of its terms: x_q before it is brought to length 1. */
  readonly vector: SparseVector;
  /** Rows of the documents, one at least. */
  readonly documents: readonly number[];
};

/** What a head learns from. */
export type Clicks = {
  readonly queries: readonly ClickedQuery[];
  /** t of the documents, [D, H] */
  readonly states: Rows;
  /** ρ, in queries: a term alone in that many is halfway between what it was and what they say. */
  readonly penalty: number;
};

/** The head with the vectors of the queries' terms moved. */
export function adaptTopicHead(head: TopicHead, { queries, states, penalty }: Clicks): TopicHead {
  const targets = { data: new Float32Array(queries.length * states.width), width: states.width };
  queries.forEach(({ documents }, q) => {
    targets.data.set(centredMean(documents, states, head.mean), q * states.width);
  });
  const asked = [...new Set(queries.flatMap(({ vector }) => [...vector.terms]))];
  const rowOf = new Map(asked.map((term, row) => [term, row]));
  const ofRows = queries.map(({ vector: { terms, weights } }) => ({
    terms: terms.map((term) => rowOf.get(term) ?? 0),
    weights,
  }));
  return withTerms(head, asked, (start) => moveTermVectors({ queries: ofRows, targets, start, penalty }));
}

/** Mean of (t_d − t̄), [H] */
function centredMean(documents: readonly number[], { data, width }: Rows, mean: Float32Array): Float64Array {
  assert(documents.length > 0, 'a query has led to a document');
  const target = Float64Array.from(mean, (value) => -value);
  for (const d of documents) for (let k = 0; k < width; k++) target[k] += data[d * width + k] / documents.length;
  return target;
}
