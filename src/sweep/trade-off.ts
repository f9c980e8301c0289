/**
 * What a budget costs: which models are best under it, which are best for what they cost, and what each limit takes away.
 * Only numbers; who measured them is elsewhere.
 */
import { assert } from '../core/index.ts';
import type { Evaluation, IndexCosts } from '../train/index.ts';
import { type Budget, type BudgetMeasure, isSize, missOf } from './budget.ts';
import type { Settings } from './config.ts';

/** A candidate with a prune rule. */
export type Variant = {
  /** Name of the candidate. */
  readonly point: string;
  readonly settings: Settings;
  /** As the command line has it. */
  readonly prune: string;
  readonly values: Evaluation & IndexCosts;
};

/** Those that keep the budget by NDCG@10, best first; then the others, by how far they miss it. Equal ones by FLOPS. */
export function ranked(variants: readonly Variant[], budgets: readonly Budget[]): Variant[] {
  return variants
    .map((variant) => ({ variant, miss: missOf(variant.values, budgets) }))
    .sort(
      (a, b) =>
        a.miss - b.miss ||
        b.variant.values['ndcg@10'] - a.variant.values['ndcg@10'] ||
        a.variant.values.flops - b.variant.values.flops,
    )
    .map(({ variant }) => variant);
}

/** The best that keeps the budget, one of the front; undefined where none does. */
export function bestOf(variants: readonly Variant[], budgets: readonly Budget[]): Variant | undefined {
  const [first] = ranked(paretoFront(variants, budgets), budgets);
  return first && missOf(first.values, budgets) === 0 ? first : undefined;
}

/**
 * Names of the candidates that go on: the first so many by their best variants, and whoever is best without a budget.
 */
export function goingOn(variants: readonly Variant[], budgets: readonly Budget[], numKept: number): Set<string> {
  const names = new Set(ranked(variants, budgets).map(({ point }) => point)); // a set keeps the first of each
  const [free] = ranked(variants, []);
  return new Set([...names].slice(0, numKept).concat(free ? [free.point] : []));
}

/**
 * Variants that no other one beats: none has at least their NDCG@10 at no more of any limited cost, and differs in one of these.
 * Of equal ones the first. By falling NDCG@10.
 */
export function paretoFront(variants: readonly Variant[], budgets: readonly Budget[]): Variant[] {
  const measures = budgets.map(({ measure }) => measure);
  const sorted = ranked(variants, []);
  return sorted.filter((variant, i) => {
    const isBeaten = sorted.some((other, j) => {
      const gains = gainsOver(variant, other, measures);
      return gains.every((gain) => gain >= 0) && (j < i || gains.some((gain) => gain > 0));
    });
    return !isBeaten;
  });
}

/** By how much `other` is better than a variant, at NDCG@10 and at each cost. */
function gainsOver(variant: Variant, other: Variant, measures: readonly BudgetMeasure[]): number[] {
  return [
    other.values['ndcg@10'] - variant.values['ndcg@10'],
    ...measures.map((measure) => variant.values[measure] - other.values[measure]),
  ];
}

/** What was given up for a budget, in sentences. Without a model that keeps it, how near one came. */
export function explain(variants: readonly Variant[], budgets: readonly Budget[]): string[] {
  const best = bestOf(variants, budgets);
  const [free] = ranked(variants, []);
  assert(free !== undefined, 'nothing was measured');
  const without = `best without the budget: ${describe(free, budgets)}`;
  if (!best) return [without, nearestMiss(variants, budgets)];
  const costOf = (others: readonly Budget[]): number =>
    (bestOf(variants, others) ?? best).values['ndcg@10'] - best.values['ndcg@10'];
  const whole = costOf([]);
  const single = budgets.map((budget) => ({ budget, cost: costOf(budgets.filter((other) => other !== budget)) }));
  const limits = single.map(({ budget: { text }, cost }) =>
    cost > 0 ? `${text} costs ${cost.toFixed(4)}` : `${text} does not bind`,
  );
  const together = whole > 0 && single.every(({ cost }) => cost === 0);
  return [
    `best within the budget: ${describe(best, budgets)}`,
    without,
    ...(budgets.length > 1 && whole > 0 ? [`the budget costs ${whole.toFixed(4)} of NDCG@10`] : []),
    ...(together ? [`${listOf(budgets)} bind together: to lift one of them alone would gain nothing`] : limits),
  ];
}

/** Who came nearest, where nobody keeps the budget. */
export function nearestMiss(variants: readonly Variant[], budgets: readonly Budget[]): string {
  const [nearest] = ranked(variants, budgets);
  assert(nearest !== undefined, 'nothing was measured');
  const missed = budgets.filter((budget) => missOf(nearest.values, [budget]) > 0);
  const byHow = missed.map((budget) => `${budget.text} by ${percent(missOf(nearest.values, [budget]))}`);
  return `nearest to the budget: ${describe(nearest, budgets)}, which misses ${listOf(byHow)}`;
}

/** A variant in words: what it is, and what it is worth. */
export function describe({ point, prune, values }: Variant, budgets: readonly Budget[]): string {
  const costs = budgets.map(({ measure }) => `${MEASURE_NAMES[measure]} ${formatCost(measure, values[measure])}`);
  return `NDCG@10 ${values['ndcg@10'].toFixed(4)} at ${costs.join(', ')} (${point}, prune ${prune})`;
}

/** Costs as tables call them. */
export const MEASURE_NAMES: Readonly<Record<BudgetMeasure, string>> = {
  flops: 'FLOPS',
  docLen: 'Doc_Len',
  bytesPerQuery: 'bytes a query',
  indexSize: 'index size',
  bytesPerDoc: 'bytes a document',
};

/** A cost as people read it. */
export function formatCost(measure: BudgetMeasure, value: number): string {
  return isSize(measure) ? Math.round(value).toLocaleString('en') : value.toFixed(measure === 'flops' ? 2 : 1);
}

function percent(share: number): string {
  return `${Number((100 * share).toPrecision(2))} %`;
}

function listOf(parts: readonly (string | Budget)[]): string {
  const texts = parts.map((part) => (typeof part === 'string' ? part : part.text));
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`;
}
