/** Recall. */
import { countRelevant, type JudgedRanking } from '../judged-ranking.ts';

/**
 * Recall@k: the share of the relevant documents that are among the first k.
 *
 *     Recall@k = relevant in the first k / relevant in all
 *
 * 0 for a query without relevant documents. As trec_eval 9.0.8 `recall` (m_recall.c).
 */
export function recall(ranking: JudgedRanking, k: number): number {
  return ranking.numRelevant === 0 ? 0 : countRelevant(ranking, k) / ranking.numRelevant;
}
