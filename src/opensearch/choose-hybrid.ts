/**
 * Which share and normalisation a hybrid with BM25 should have, by judged queries. Told honestly: the best of many candidates
 * looks better on the queries it was chosen by than it is, so the choice is also made on each half of the queries and measured
 * on the other.
 */
import { UsageError } from '../core/index.ts';

/** A way to join the scores of learned terms and words. */
export type HybridCandidate = {
  readonly technique: 'min_max' | 'l2';
  /** Of the learned terms. */
  readonly share: number;
};

/** What a candidate is worth: the metric of each judged query. */
export type HybridTrial = HybridCandidate & { readonly perQuery: ReadonlyMap<string, number> };

/** What to use, and what to expect of it. */
export type HybridChoice = {
  /** The best over all queries. */
  readonly best: HybridCandidate;
  /** Its mean over the queries it was chosen by: too good. */
  readonly mean: number;
  /** Mean over all queries, each measured with what the other half of them would choose. */
  readonly heldOut: number;
};

/** Chooses. Equal candidates: the first. Queries are halved by turns, in their order. */
export function chooseHybrid(trials: readonly HybridTrial[]): HybridChoice {
  const ids = [...(trials[0]?.perQuery.keys() ?? [])];
  if (ids.length < 2) throw new UsageError(`a choice needs at least two judged queries, got ${ids.length}`);
  const halves = [0, 1].map((half) => ids.filter((_, i) => i % 2 === half));
  const { perQuery, technique, share } = bestOf(trials, ids);
  const sums = halves.map((half, i) => sumOver(bestOf(trials, halves[1 - i]), half));
  return {
    best: { technique, share },
    mean: sumOver({ perQuery }, ids) / ids.length,
    heldOut: (sums[0] + sums[1]) / ids.length,
  };
}

function bestOf(trials: readonly HybridTrial[], ids: readonly string[]): HybridTrial {
  return trials.reduce((best, trial) => (sumOver(trial, ids) > sumOver(best, ids) ? trial : best));
}

function sumOver({ perQuery }: Pick<HybridTrial, 'perQuery'>, ids: readonly string[]): number {
  return ids.reduce((sum, id) => sum + (perQuery.get(id) ?? 0), 0);
}
