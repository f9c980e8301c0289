/**
 * What the numbers say of a claim:
 *
 *     holds          the 95 % interval of the difference lies on the claim's side of 0
 *     contradicted   it lies on the other side
 *     not resolved   it has 0 in it, a seed by itself says the opposite, or there is nothing to compare
 */
import type { Interval } from '../eval/index.ts';

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

/** A claim with several parts: all must hold; one that is contradicted contradicts it. */
export function allOf(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes('contradicted')) return 'contradicted';
  return verdicts.length > 0 && verdicts.every((verdict) => verdict === 'holds') ? 'holds' : 'not resolved';
}
