/**
 * Budgets: what a model may cost at most, and how far one is from it. As people write them,
 *
 *     flops<=2     docLen<=200     bytesPerQuery<=60KB     indexSize<=50MB     bytesPerDoc<=600
 *
 * several with commas or "and". Knows nothing of how costs are measured.
 */
import { nearest, UsageError } from '../core/index.ts';

/** Costs that can be limited, by the names of measured values. */
export const BUDGET_MEASURES = ['flops', 'docLen', 'bytesPerQuery', 'indexSize', 'bytesPerDoc'] as const;
/** A cost that can be limited. */
export type BudgetMeasure = (typeof BUDGET_MEASURES)[number];

/** What a model costs. */
export type MeasuredCosts = Readonly<Record<BudgetMeasure, number>>;

/** A limit of one cost. */
export type Budget = {
  readonly measure: BudgetMeasure;
  /** The most that it may be; in bytes where it is a size. */
  readonly limit: number;
  /** As it was written, without spaces. */
  readonly text: string;
};

const SIZES: readonly BudgetMeasure[] = ['bytesPerQuery', 'indexSize', 'bytesPerDoc'];

/** Whether a cost is counted in bytes. */
export function isSize(measure: BudgetMeasure): boolean {
  return SIZES.includes(measure);
}

/** Bytes of a unit, by its letters in lower case; KB is 10³, KiB is 2¹⁰. */
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
};

const HINT = `such as "flops<=2", "docLen<=200", "bytesPerQuery<=60KB", "indexSize<=50MB", "bytesPerDoc<=600"`;

/** Reads budgets; a cost that is limited twice is refused. */
export function parseBudgets(texts: string | readonly string[]): Budget[] {
  const budgets = [texts]
    .flat()
    .flatMap((text) => text.split(/,|\band\b/))
    .map(parseBudget);
  if (budgets.length === 0) throw new UsageError('a budget names no limit', { hint: HINT });
  const measures = budgets.map(({ measure }) => measure);
  const twice = measures.find((measure, i) => measures.indexOf(measure) !== i);
  if (twice !== undefined) throw new UsageError(`the budget limits ${twice} twice`);
  return budgets;
}

function parseBudget(text: string): Budget {
  const written = text.replaceAll(/\s+/g, '');
  const fail = (problem: string) => new UsageError(`budget "${text.trim()}": ${problem}`, { hint: HINT });
  const [, name, number, unit] = /^(\w+)(?:<=|≤)(\d+(?:\.\d+)?(?:e[+-]?\d+)?)([a-z]*)$/i.exec(written) ?? [];
  if (name === undefined) throw fail('expected a cost, <=, and a number');
  const measure = BUDGET_MEASURES.find((known) => known.toLowerCase() === name.toLowerCase());
  if (measure === undefined) throw fail(unknownCost(name));
  const factor = Object.hasOwn(UNITS, unit.toLowerCase()) ? UNITS[unit.toLowerCase()] : undefined;
  if (factor === undefined) throw fail(`unknown unit ${unit}: expected KB, MB, GB, KiB, MiB or GiB`);
  if (unit !== '' && !isSize(measure)) throw fail(`${measure} is a number without a unit`);
  const limit = Number(number) * factor;
  if (!(limit > 0)) throw fail('expected a limit above 0');
  return { measure, limit, text: `${measure}<=${number}${unit}` };
}

function unknownCost(name: string): string {
  const meant = nearest(name, BUDGET_MEASURES);
  return `unknown cost ${name}; ${meant === undefined ? `known: ${BUDGET_MEASURES.join(', ')}` : `did you mean ${meant}?`}`;
}

/**
 * How far costs are from a budget: the largest share by which one exceeds its limit, 0 where all are kept.
 *
 *     miss = max_b max(0, cost_b / limit_b − 1)
 */
export function missOf(costs: MeasuredCosts, budgets: readonly Budget[]): number {
  return Math.max(0, ...budgets.map(({ measure, limit }) => costs[measure] / limit - 1));
}
