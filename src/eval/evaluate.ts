/**
 * A run against judgements: the value of every metric for every query, and their means. Ranks as trec_eval does, from
 * scores and ids. Knows nothing of files or systems.
 */
import { InputError, UsageError } from '../core/index.ts';
import { type Hit, type Qrels, type Run, rankHits } from '../data/index.ts';
import { judgeRanking } from './judged-ranking.ts';
import { type Metric, parseMetric } from './metrics/metric.ts';

/** How to evaluate. */
export type EvaluateOptions = {
  /** Names of metrics, as `parseMetric` takes them. */
  readonly metrics: readonly string[];
  /**
   * Which queries the means are over. `retrieved`: judged queries that are in the run, as trec_eval does. `judged`: all
   * judged queries, one that is not in the run scores 0 (trec_eval -c).
   */
  readonly averageOver?: 'judged' | 'retrieved' | undefined;
  /** Drop hits whose id is the query's own before ranks are counted, as BEIR does: ArguAna's queries are documents. */
  readonly dropIdenticalIds?: boolean | undefined;
  /** A document counts as relevant from this judgement on (trec_eval -l). NDCG takes every positive one as a gain. */
  readonly relevanceLevel?: number | undefined;
};

/** Values of metrics by their names. */
export type MetricValues = Readonly<Record<string, number>>;

/** What a run is worth. */
export type Evaluation = {
  /** Metrics in the order asked for, by the names that reports use. */
  readonly metrics: readonly string[];
  /** Values by query id, in the order of the judgements. */
  readonly perQuery: ReadonlyMap<string, MetricValues>;
  /** Means over `perQuery`. */
  readonly mean: MetricValues;
};

/** Evaluates a run. No query in common with the judgements is an InputError, and so is a document found twice. */
export function evaluateRun(run: Run, qrels: Qrels, options: EvaluateOptions): Evaluation {
  checkLevel(options.relevanceLevel);
  const metrics = [...new Map(options.metrics.map(parseMetric).map((metric) => [metric.name, metric])).values()];
  const perQuery = new Map<string, MetricValues>();
  for (const [queryId, judgements] of qrels) {
    const hits = run.get(queryId);
    if (hits === undefined && options.averageOver !== 'judged') continue;
    const ranking = judgeRanking(ranked(queryId, hits ?? [], options), judgements, { level: options.relevanceLevel });
    perQuery.set(
      queryId,
      valuesOf(metrics, (metric) => metric.measure(ranking)),
    );
  }
  if (perQuery.size === 0)
    throw new InputError('no query is both in the run and in the judgements', {
      hint: 'check that both belong to the same collection and split',
    });
  const means = valuesOf(metrics, ({ name }) => mean([...perQuery.values()].map((values) => values[name])));
  return { metrics: metrics.map(({ name }) => name), perQuery, mean: means };
}

function checkLevel(level = 1): void {
  if (Number.isInteger(level) && level >= 1) return;
  throw new UsageError(`the relevance level is ${level}, expected a whole number from 1`);
}

/** One query's hits as they count: in order, without its own id where that is wanted. */
function ranked(queryId: string, hits: readonly Hit[], { dropIdenticalIds = false }: EvaluateOptions): Hit[] {
  const ids = new Set(hits.map(({ id }) => id));
  if (ids.size < hits.length) throw new InputError(`query ${queryId} of the run has the same document twice`);
  return rankHits(dropIdenticalIds ? hits.filter(({ id }) => id !== queryId) : hits);
}

function valuesOf(metrics: readonly Metric[], value: (metric: Metric) => number): MetricValues {
  return Object.fromEntries(metrics.map((metric) => [metric.name, value(metric)]));
}

/** Arithmetic mean; NaN of nothing. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
