/** What verdicts rest on, in words: differences in points, ratios in per cent, and how sure they are. */
import type { Interval } from '../eval/index.ts';
import type { Comparison, CostComparison } from './compare.ts';
import { CONFIDENCE, judgeAll, type Side, type Verdict } from './verdict.ts';

/** What stands where there is no figure. */
export const NO_POINTS = 'nothing to compare';

/** A difference of NDCG@10 in points, 100 times as large. */
export function points({ intervalAt, bySeed }: Comparison): string {
  const interval = intervalAt(CONFIDENCE);
  if (!interval) return NO_POINTS;
  const seeds = bySeed.length === 0 ? '' : `; by seed ${bySeed.map((value) => signed(100 * value)).join(', ')}`;
  return `${signed(100 * interval.mean)} points (95 % ${rangeOf(interval, (value) => 100 * value)}${seeds})`;
}

/** A mean of logarithms of ratios as a change in per cent. */
export function percent(comparison: Comparison | CostComparison): string {
  const interval = comparison.intervalAt(CONFIDENCE);
  if (!interval) return NO_POINTS;
  const change = (value: number): number => 100 * (Math.exp(value) - 1);
  const pairs = 'numRunPairs' in comparison ? `, ${comparison.numRunPairs} pairs of runs` : '';
  return `${signed(change(interval.mean))} % (95 % ${rangeOf(interval, change)}${pairs})`;
}

function rangeOf({ low, high }: Interval, shown: (value: number) => number): string {
  return `${signed(shown(low))} … ${signed(shown(high))}`;
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
}

/** A part of a claim with its name. */
export type NamedPart<T extends Comparison = Comparison> = T & { readonly name: string };

/** A line for each part, with what it would say by itself. */
export function partLines<T extends Comparison>(
  parts: readonly NamedPart<T>[],
  side: Side,
  shown: (part: T) => string,
): string[] {
  return parts.map((part) => `${part.name}: ${shown(part)} (${judgeAll([part], side)})`);
}

/** The warning that belongs to a verdict from settings that were trained once. Nothing to warn of where nothing was found. */
export function oneSeedLines(verdict: Verdict, parts: readonly Pick<Comparison, 'numSeeds'>[]): string[] {
  return verdict !== 'not resolved' && parts.some(({ numSeeds }) => numSeeds === 1)
    ? ['**rests on one seed**: how far another training with the same settings would come out otherwise is not known']
    : [];
}
