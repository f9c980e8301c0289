/**
 * What the numbers say of a claim:
 *
 *     holds          the 95 % interval of the difference lies on the claim's side of 0
 *     contradicted   it lies on the other side
 *     not resolved   it has 0 in it, a seed by itself says the opposite, or there is nothing to compare
 *
 * A claim with k parts holds where each part does. One part contradicts it, and k of them have k chances to do so by accident, so
 * for this a part's interval is that of 1 − 0.05/k (Bonferroni). Where nothing is different, a verdict comes out in 5 of 100 cases
 * at most, whatever k.
 */
import type { Interval } from '../eval/index.ts';
import type { IntervalAt } from './resampling.ts';

/** What became of a claim. */
export type Verdict = 'holds' | 'contradicted' | 'not resolved';

/** On which side of 0 a claim expects a difference. */
export type Side = 'above' | 'below';

/**
 * The verdict of one difference.
 *
 * @param bySeed the same difference for each seed by itself, where there are several
 */
export function judge(interval: Interval | undefined, side: Side, bySeed: readonly number[] = []): Verdict {
  if (!interval) return 'not resolved';
  const found: Side | undefined = interval.low > 0 ? 'above' : interval.high < 0 ? 'below' : undefined;
  if (found === undefined) return 'not resolved';
  if (bySeed.some((difference) => (found === 'above' ? difference < 0 : difference > 0))) return 'not resolved';
  return found === side ? 'holds' : 'contradicted';
}

/**
 * The verdict of a claim that two things are as good as equal: the interval lies inside ± bound, or outside of it as a whole.
 */
export function judgeEqual(interval: Interval | undefined, bound: number): Verdict {
  if (!interval) return 'not resolved';
  if (interval.low > -bound && interval.high < bound) return 'holds';
  return interval.low > bound || interval.high < -bound ? 'contradicted' : 'not resolved';
}

/** How sure a verdict is. */
export const CONFIDENCE = 0.95;

/** A part of a claim: a difference, and the same for each seed by itself. */
export type Part = { readonly intervalAt: IntervalAt; readonly bySeed: readonly number[] };

/** The verdict of a claim with several parts that are all expected on the same side. */
export function judgeAll(parts: readonly Part[], side: Side): Verdict {
  const surer = 1 - (1 - CONFIDENCE) / parts.length; // 1 − 0.05/k
  const verdictsAt = (confidence: number): Verdict[] =>
    parts.map(({ intervalAt, bySeed }) => judge(intervalAt(confidence), side, bySeed));
  if (verdictsAt(surer).includes('contradicted')) return 'contradicted';
  return parts.length > 0 && verdictsAt(CONFIDENCE).every((verdict) => verdict === 'holds') ? 'holds' : 'not resolved';
}
