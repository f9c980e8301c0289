/**
 * A ranking seen through its judgements: all that a metric needs to know of one query. The rules are those of trec_eval
 * 9.0.8 (form_res_rels.c). Knows no metric.
 *
 *     hits in order, and judgements        d3 d1 d9 d2   {d1: 2, d2: −1, d3: 0, d4: 1}
 *     relevance by rank                     0  2  −1 −1   d9 is not judged, d2 is judged below 0: the same
 *     ideal                                 2  1          all positive judgements, found or not, best first
 */
import type { Hit } from '../data/index.ts';

/** One query's ranking and judgements. */
export type JudgedRanking = {
  /** Relevance of the hit at each rank, from rank 1; −1 where it is not judged. */
  readonly relevance: readonly number[];
  /** Positive judgements of the query, best first. */
  readonly ideal: readonly number[];
  /** Judgements of the query at or above `level`. */
  readonly numRelevant: number;
  /** A document counts as relevant from here on (trec_eval -l). Gains of NDCG do not depend on it. */
  readonly level: number;
};

const UNJUDGED = -1;

/**
 * Looks up the judgements of a ranking.
 *
 * @param hits in order of rank
 * @param judgements relevance by document id
 */
export function judgeRanking(
  hits: readonly Hit[],
  judgements: ReadonlyMap<string, number>,
  { level = 1 }: { readonly level?: number | undefined } = {},
): JudgedRanking {
  const positive = [...judgements.values()].filter((relevance) => relevance > 0);
  return {
    relevance: hits.map(({ id }) => Math.max(UNJUDGED, judgements.get(id) ?? UNJUDGED)),
    ideal: positive.sort((a, b) => b - a),
    numRelevant: positive.filter((relevance) => relevance >= level).length,
    level,
  };
}

/** How many of the first k are relevant. */
export function countRelevant({ relevance, level }: JudgedRanking, k: number): number {
  return relevance.slice(0, k).filter((value) => value >= level).length;
}
