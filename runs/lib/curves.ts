/** The curves of a training run, read from its metrics.jsonl. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { markdownHead, markdownRow } from './markdown.ts';

type Line = Readonly<Record<string, number>> & { readonly evaluation?: Evaluation };
type Evaluation = Readonly<Record<'ndcg@10' | 'flops' | 'docLen', number>>;

/** What an evaluation found, and the means of the columns over the steps since the one before; NaN where there are none. */
export type CurvePoint = { readonly step: number; readonly evaluation: Evaluation; readonly means: readonly number[] };

/** One point for each evaluation of a run. */
export function curveOf(run: string, columns: readonly string[]): CurvePoint[] {
  const points: CurvePoint[] = [];
  let steps: Line[] = [];
  for (const line of readFileSync(join(run, 'metrics.jsonl'), 'utf8').trimEnd().split('\n')) {
    const { evaluation, ...metrics } = JSON.parse(line) as Line;
    if (!evaluation) {
      steps.push(metrics);
      continue;
    }
    const means = columns.map((column) => steps.reduce((sum, own) => sum + own[column], 0) / steps.length);
    points.push({ step: metrics.step, evaluation, means });
    steps = [];
  }
  return points;
}

/** The same as a table in Markdown. */
export function curveTable(run: string, columns: readonly string[]): string {
  const head = ['step', ...columns, 'NDCG@10', 'FLOPS', 'Doc_Len'];
  const rows = curveOf(run, columns).map(({ step, evaluation, means }) => [
    step,
    ...means.map((mean) => (Number.isNaN(mean) ? '–' : mean.toPrecision(3))),
    evaluation['ndcg@10'].toFixed(4),
    evaluation.flops.toFixed(2),
    evaluation.docLen.toFixed(1),
  ]);
  return [markdownHead(head), ...rows.map(markdownRow)].join('\n');
}
