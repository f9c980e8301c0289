/** Reciprocal rank; its mean over queries is MRR. */
import type { JudgedRanking } from '../judged-ranking.ts';

/**
 * RR@k: how far down the first relevant document is.
 *
 *     RR@k = 1 / rank of the first relevant document, 0 where there is none in the first k
 *
 * As trec_eval 9.0.8 `recip_rank` (m_recip_rank.c), which has no cut; the cut is that of MS MARCO's MRR@10.
 */
export function reciprocalRank({ relevance, level }: JudgedRanking, k: number): number {
  const at = relevance.findIndex((value) => value >= level);
  return at < 0 || at >= k ? 0 : 1 / (at + 1);
}
