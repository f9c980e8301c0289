/** Which metrics of a run have a chart, in which order and under which name. */
import { short } from './format.ts';
import type { Run } from './run.ts';

/** A chart over steps. */
export type MetricChart = {
  /** Name in metrics.jsonl. */
  readonly name: string;
  readonly title: string;
  readonly format: (value: number) => string;
  /** Changes by rule, so there is nothing to smooth. */
  readonly isSchedule?: boolean;
};

const percent = (share: number): string => (Number.isFinite(share) ? `${Number((100 * share).toPrecision(3))} %` : '–');

/** What has a place of its own; whatever else a line has is a loss by its name, and comes after the first two. */
const KNOWN: Readonly<Record<string, Omit<MetricChart, 'name'>>> = {
  loss: { title: 'loss', format: short },
  rank: { title: 'rank: sum of ranking losses', format: short },
  flops: { title: 'flops, before λ', format: short },
  'df-flops': { title: 'df-flops, before λ', format: short },
  l1: { title: 'l1, before λ', format: short },
  lambda: { title: 'λ', format: short, isSchedule: true },
  learningRate: { title: 'learning rate', format: short, isSchedule: true },
  docLen: { title: 'Doc_Len: terms a document', format: short },
  maskedShare: { title: 'masked share', format: percent },
  emptyShare: { title: 'documents without terms', format: percent },
  gradientNorm: { title: 'gradient norm', format: short },
  docsPerSecond: { title: 'documents a second', format: short },
};
const NOT_SHOWN = new Set(['step', 'tokensPerSecond']);
const FIRST = ['loss', 'rank'];

/** The charts of some runs. */
export function chartsOf(runs: readonly Run[]): MetricChart[] {
  const names = new Set(runs.flatMap(({ rows }) => rows.names).filter((name) => !NOT_SHOWN.has(name)));
  const terms = [...names].filter((name) => !(name in KNOWN));
  const known = Object.keys(KNOWN).filter((name) => names.has(name));
  const first = FIRST.filter((name) => names.has(name) && (name !== 'rank' || terms.length !== 1)); // the same as its only term
  const others = known.filter((name) => !FIRST.includes(name));
  return [...first, ...terms, ...others].map((name) => ({ name, ...(KNOWN[name] ?? { title: name, format: short }) }));
}
