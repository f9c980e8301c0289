/** Metrics to trec_eval's last digit, costs, averages, tests of significance, stored runs and reports. */
export { averageRanks, macroAverages } from './averages.ts';
export { bytesPerQuery } from './bytes-per-query.ts';
export type { CompareOptions, Comparison } from './compare.ts';
export { compareWithBaseline } from './compare.ts';
export type { Costs } from './costs.ts';
export { costsOf, TermCounter } from './costs.ts';
export type { EngineSystemOptions } from './engine-system.ts';
export { engineQueryOf, engineSystem, indexSystem } from './engine-system.ts';
export type { EvaluateOptions, Evaluation, MetricValues } from './evaluate.ts';
export { evaluateRun, mean } from './evaluate.ts';
export { fusedSystem } from './fused-system.ts';
export type { JudgedRanking } from './judged-ranking.ts';
export { judgeRanking } from './judged-ranking.ts';
export { averagePrecision } from './metrics/average-precision.ts';
export type { Metric } from './metrics/metric.ts';
export { parseMetric, RUN_METRICS, TABLE_METRICS } from './metrics/metric.ts';
export { ndcg } from './metrics/ndcg.ts';
export { precision } from './metrics/precision.ts';
export { recall } from './metrics/recall.ts';
export { reciprocalRank } from './metrics/reciprocal-rank.ts';
export { success } from './metrics/success.ts';
export type { QueryEncoder } from './query-encoder.ts';
export { rememberQueries } from './query-encoder.ts';
export { renderCsv, renderPerQueryCsv } from './report/csv.ts';
export { renderHtml } from './report/html.ts';
export { reportJson } from './report/json.ts';
export { renderMarkdown } from './report/markdown.ts';
export type { DetailDocument, DetailHit, DetailLimits, DetailSources, QueryDetail } from './report/query-detail.ts';
export { queryDetails } from './report/query-detail.ts';
export type {
  AverageRow,
  CollectionReport,
  EvalReport,
  MeasuredCollection,
  Provenance,
  ReportParts,
  SystemRow,
} from './report/report.ts';
export { buildReport } from './report/report.ts';
export { renderText } from './report/text.ts';
export { openRunFile } from './run-file-system.ts';
export type { RunKey, RunWriter, StoredRun } from './run-store.ts';
export { RunStore } from './run-store.ts';
export type { RunSystemOptions, SystemRun } from './run-system.ts';
export { depthOf, runSystem } from './run-system.ts';
export type { BootstrapOptions, Interval } from './significance/bootstrap.ts';
export { bootstrapInterval, quantile } from './significance/bootstrap.ts';
export { holm } from './significance/holm.ts';
export type { RandomisationOptions, RandomisationResult } from './significance/randomisation.ts';
export { randomisationTest } from './significance/randomisation.ts';
export { studentInterval } from './significance/student.ts';
export type { Answer, Explanation, System, SystemSearchOptions } from './system.ts';
