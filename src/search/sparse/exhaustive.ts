/**
 * Exact search without any cleverness: score every document, sort. The reference that every faster way is held against,
 * and the right way where there are few documents.
 */
import type { IntegerTopK, QueryWeights, SparseCodes } from './codes.ts';

/** How to search: results wanted, and which documents may be results. */
export type ExhaustiveOptions = {
  readonly k: number;
  /** Which documents may be results; all where not given. */
  readonly isPermitted?: ((docId: number) => boolean) | undefined;
};

/** The k best of these documents: by descending score, equal scores by ascending number; documents without a match never. */
export function exhaustiveTopK(
  documents: readonly SparseCodes[],
  query: QueryWeights,
  { k, isPermitted = () => true }: ExhaustiveOptions,
): IntegerTopK {
  const results = documents
    .map((document, docId) => ({ docId, score: integerScore(query, document) }))
    .filter(({ docId, score }) => score > 0 && isPermitted(docId))
    .sort((a, b) => b.score - a.score || a.docId - b.docId)
    .slice(0, k);
  return {
    docIds: Uint32Array.from(results, ({ docId }) => docId),
    scores: Uint32Array.from(results, ({ score }) => score),
  };
}

/** Σ w_t · c_t over the terms that both have. */
export function integerScore({ terms, weights }: QueryWeights, document: SparseCodes): number {
  let score = 0;
  terms.forEach((term, i) => {
    const at = document.terms.indexOf(term);
    if (at >= 0) score += weights[i] * document.codes[at];
  });
  return score;
}
