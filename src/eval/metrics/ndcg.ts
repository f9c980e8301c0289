/** Normalised discounted cumulative gain. */
import type { JudgedRanking } from '../judged-ranking.ts';

/**
 * NDCG@k: gains count less the further down they come, relative to the best possible ranking.
 *
 *     NDCG@k = DCG@k(ranking) / DCG@k(ideal)          DCG@k = Σ_{i=1}^{k} gain_i / log₂(i + 1)
 *
 * The gain is the relevance itself (linear), 0 where it is negative or unknown; the ideal ranks all judged documents.
 * 0 for a query without relevant documents.
 *
 * Järvelin and Kekäläinen, ACM TOIS 20(4), 2002; as trec_eval 9.0.8 `ndcg_cut` (m_ndcg_cut.c) and, with k = ∞, `ndcg`.
 * Their first discount is log_b(max(i, b)), others' gain 2^rel − 1: neither is used here.
 */
export function ndcg({ relevance, ideal }: JudgedRanking, k: number): number {
  const best = dcg(ideal, k);
  return best === 0 ? 0 : dcg(relevance, k) / best;
}

function dcg(gains: readonly number[], k: number): number {
  let sum = 0;
  const depth = Math.min(k, gains.length);
  for (let i = 0; i < depth; i++) if (gains[i] > 0) sum += gains[i] / Math.log2(i + 2); // rank i + 1
  return sum;
}
