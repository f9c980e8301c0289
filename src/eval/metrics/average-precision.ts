/** Average precision; its mean over queries is MAP. */
import type { JudgedRanking } from '../judged-ranking.ts';

/**
 * AP@k: precision at the rank of each relevant document found, averaged over all relevant ones.
 *
 *     AP@k = 1/R Σ_{i ≤ k, i relevant} P@i          R relevant documents in all, also where R > k
 *
 * 0 for a query without relevant documents. As trec_eval 9.0.8 `map_cut` (m_map_cut.c) and, with k = ∞, `map`.
 */
export function averagePrecision({ relevance, level, numRelevant }: JudgedRanking, k: number): number {
  let numFound = 0;
  let sum = 0;
  const depth = Math.min(k, relevance.length);
  for (let i = 0; i < depth; i++) if (relevance[i] >= level) sum += ++numFound / (i + 1);
  return numRelevant === 0 ? 0 : sum / numRelevant;
}
