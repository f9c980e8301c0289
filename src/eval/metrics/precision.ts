/** Precision. */
import { countRelevant, type JudgedRanking } from '../judged-ranking.ts';

/**
 * P@k: the share of the first k that is relevant; where fewer came back, the rest counts as not relevant.
 *
 *     P@k = relevant in the first k / k
 *
 * As trec_eval 9.0.8 `P` (m_P.c).
 */
export function precision(ranking: JudgedRanking, k: number): number {
  return countRelevant(ranking, k) / k;
}
