/**
 * A topic head that learns from clicks. What was opened for a query says what the query is about, in the words of the encoder
 * that has read it, so nothing is trained and no teacher asked.
 *
 *     min_C Σ_q ‖Σ_j x_qj·c_j − ỹ_q‖² + ρ·‖C − C⁰‖²          ỹ_q = mean of t_d over the documents d that q led to − t̄_S
 *
 * C⁰ are the vectors that the head has (term-vectors.ts), t̄_S the mean of a sample of what is searched, not the head's own t̄:
 * what all documents here have in common tells none of them apart, and a word that learned it would stand in most of them.
 * Only the terms of the queries take part. The vectors of others stay to the bit, and so do t̄ and all thresholds: setting them
 * anew, by the documents to be searched, gained nothing and made longer vectors (docs/EXPERIMENTS.md has both). Knows nothing
 * of networks.
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
  /** Rows of documents that stand for all that are searched, one at least: S */
  readonly sample: readonly number[];
  /** t of the documents, [D, H] */
  readonly states: Rows;
  /** ρ, in queries: a term alone in that many is halfway between what it was and what they say. */
  readonly penalty: number;
};

/** The head with the vectors of the queries' terms moved. */
export function adaptTopicHead(head: TopicHead, { queries, sample, states, penalty }: Clicks): TopicHead {
  const targets = { data: new Float32Array(queries.length * states.width), width: states.width };
  const common = meanOf(sample, states); // t̄_S, [H]
  queries.forEach(({ documents }, q) => {
    const target = meanOf(documents, states).map((value, k) => value - common[k]); // ỹ_q, [H]
    targets.data.set(target, q * states.width);
  });
  const asked = [...termsOf(queries)];
  const rowOf = new Map(asked.map((term, row) => [term, row]));
  const ofRows = queries.map(({ vector: { terms, weights } }) => ({
    terms: terms.map((term) => rowOf.get(term) ?? 0),
    weights,
  }));
  return withTerms(head, asked, (start) => moveTermVectors({ queries: ofRows, targets, start, penalty }));
}

/** All terms of some queries, each once. */
export function termsOf(queries: readonly ClickedQuery[]): ReadonlySet<number> {
  return new Set(queries.flatMap(({ vector }) => [...vector.terms]));
}

/** Mean of some rows, [H] */
function meanOf(documents: readonly number[], { data, width }: Rows): Float64Array {
  assert(documents.length > 0, 'a query has led to a document, and a sample has one');
  const mean = new Float64Array(width);
  for (const d of documents) for (let k = 0; k < width; k++) mean[k] += data[d * width + k] / documents.length;
  return mean;
}
