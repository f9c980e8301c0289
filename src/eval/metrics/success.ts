/** Success. */
import { countRelevant, type JudgedRanking } from '../judged-ranking.ts';

/**
 * Success@k: whether any of the first k is relevant.
 *
 *     Success@k = 1 if relevant in the first k > 0, else 0
 *
 * As trec_eval 9.0.8 `success` (m_success.c).
 */
export function success(ranking: JudgedRanking, k: number): number {
  return countRelevant(ranking, k) > 0 ? 1 : 0;
}
