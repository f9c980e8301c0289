/**
 * Successive halving: many candidates in few steps, the best of them in more, the best of those in all. Only counts and
 * settings; who trains is elsewhere.
 *
 *     rung 1    n candidates        T/9 steps
 *     rung 2    ⌈n/3⌉ + 1           T/3 steps
 *     rung 3    ⌈n/9⌉ + 1           T steps
 *
 * Each rung costs about as many steps as the others. The one more is for comparison: whoever is best without a budget goes
 * along, so that what the budget costs is told at the same number of steps.
 *
 * The idea is that of Jamieson and Talwalkar, AISTATS 2016, https://arxiv.org/abs/1502.07943, with a third in place of a half
 * and one setting of lengths. Theirs goes on with the trainings of the rung before; ours begin anew, since a run is of one
 * length (see `inSteps`).
 */
import type { TrainConfig } from '../train/index.ts';

/** η: of so many candidates one goes on. */
const KEPT_OF = 3;
const MAX_RUNGS = 3;

/** A round of trainings of the same length. */
export type Rung = {
  readonly steps: number;
  /** How many come into it by their ranks; all of them into the first. */
  readonly numKept: number;
  /** The most that it can have, with the one for comparison. */
  readonly numCandidates: number;
};

/** The rungs for so many candidates. Few candidates need few: three are told apart in two, one in one. */
export function rungsOf(numCandidates: number, steps: number): Rung[] {
  const numRungs = Math.min(MAX_RUNGS, 1 + Math.ceil(Math.log(numCandidates) / Math.log(KEPT_OF) - 1e-9));
  const lengths = Array.from({ length: numRungs }, (_, i) => steps / KEPT_OF ** (numRungs - 1 - i));
  const distinct = new Set(lengths.map((length) => Math.max(1, Math.round(length)))); // of very few steps, some are one
  return Array.from(distinct, (own, i) => ({ steps: own, numKept: Math.ceil(numCandidates / KEPT_OF ** i) })).map(
    (rung, i) => ({ ...rung, numCandidates: Math.min(numCandidates, rung.numKept + (i > 0 ? 1 : 0)) }),
  );
}

/**
 * The same training in other steps: a small whole run, not the beginning of a long one. Warm-up and ramp keep their shares of
 * the steps, and the learning rate falls to its end. Cut off at a ninth, a run would have a high rate and a λ that has hardly
 * begun: its documents would be several times as long as they will be, and candidates would be told apart by the wrong thing.
 */
export function inSteps(config: TrainConfig, steps: number): TrainConfig {
  const { optim, sparsity } = config;
  const share = steps / optim.steps;
  const warmup = Math.min(steps - 1, Math.round(optim.warmup * share));
  const ramp = sparsity.rampShape === 'none' ? sparsity.ramp : Math.round(sparsity.ramp * share);
  return { ...config, optim: { ...optim, steps, warmup }, sparsity: { ...sparsity, ramp } };
}

/**
 * A candidate as it is trained: nothing pruned, so that every rule can be tried on its vectors, and no evaluation on the way,
 * since its last model is measured anyway. Neither changes a step.
 */
export function asCandidate(config: TrainConfig): TrainConfig {
  const { evaluate: _, ...rest } = config;
  return { ...rest, model: { ...config.model, prune: 'none' }, output: { ...config.output, pinned: null } };
}

/**
 * The configuration that gives a candidate's model with a prune rule. It evaluates as the base does, but keeps the last model:
 * the best one by NDCG alone would be chosen without regard to any budget.
 */
export function frozen(config: TrainConfig, prune: string): TrainConfig {
  const { evaluate } = config;
  return {
    ...config,
    model: { ...config.model, prune },
    ...(evaluate && { evaluate: { ...evaluate, keep: 'last', patience: null } }),
  };
}
