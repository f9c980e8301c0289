/**
 * Metrics by name: "ndcg@10", "mrr@10", "map", "recall@100". The formulas are in the files beside this one; a new one
 * is a line in METRICS.
 */
import { UsageError } from '../../core/index.ts';
import type { JudgedRanking } from '../judged-ranking.ts';
import { averagePrecision } from './average-precision.ts';
import { ndcg } from './ndcg.ts';
import { precision } from './precision.ts';
import { recall } from './recall.ts';
import { reciprocalRank } from './reciprocal-rank.ts';
import { success } from './success.ts';

/** A metric with its cut. */
export type Metric = {
  /** As in reports: "ndcg@10", or "map" without a cut. */
  readonly name: string;
  /** Ranks that count; Infinity without a cut. */
  readonly k: number;
  /** The value for one query, from 0 to 1. */
  readonly measure: (ranking: JudgedRanking) => number;
};

/** The metrics of a table of systems, unless told otherwise. */
export const TABLE_METRICS: readonly string[] = ['ndcg@10', 'mrr@10', 'recall@100'];
/** The metrics of a single run, unless told otherwise. */
export const RUN_METRICS: readonly string[] = ['ndcg@10', 'mrr@10', 'map', 'recall@100', 'p@10', 'success@10'];

type Formula = {
  readonly value: (ranking: JudgedRanking, k: number) => number;
  /** Whether the metric means something over the whole ranking. */
  readonly uncut: boolean;
  /** What trec_eval calls it, with and without a cut. */
  readonly trecNames: readonly string[];
};

const METRICS: Readonly<Record<string, Formula>> = {
  ndcg: { value: ndcg, uncut: true, trecNames: ['ndcg_cut', 'ndcg'] },
  mrr: { value: reciprocalRank, uncut: true, trecNames: ['recip_rank'] },
  map: { value: averagePrecision, uncut: true, trecNames: ['map_cut', 'map'] },
  recall: { value: recall, uncut: false, trecNames: ['recall'] },
  p: { value: precision, uncut: false, trecNames: ['p'] },
  success: { value: success, uncut: false, trecNames: ['success'] },
};

/** The metric of a name: ours ("ndcg@10") or trec_eval's ("ndcg_cut_10", "ndcg_cut.10"), in any case. */
export function parseMetric(text: string): Metric {
  const [, base, cut] = text.toLowerCase().match(/^([a-z_]*[a-z])(?:[@._](\d+))?$/) ?? [];
  const name = Object.keys(METRICS).find((key) => key === base || METRICS[key].trecNames.includes(base));
  if (name === undefined)
    throw new UsageError(`there is no metric ${JSON.stringify(text)}`, {
      hint: 'metrics: ndcg@K, mrr@K, map@K, recall@K, p@K, success@K; ndcg, mrr and map also without @K',
    });
  const { value, uncut } = METRICS[name];
  const k = cut === undefined ? Number.POSITIVE_INFINITY : Number(cut);
  if (cut === undefined && !uncut)
    throw new UsageError(`${name} needs a cut`, { hint: `name the number of ranks that count, as in ${name}@10` });
  if (k < 1 || (cut !== undefined && !Number.isSafeInteger(k)))
    throw new UsageError(`${text}: the cut must be a whole number from 1`, { hint: `for example ${name}@10` });
  return { name: cut === undefined ? name : `${name}@${k}`, k, measure: (ranking) => value(ranking, k) };
}
