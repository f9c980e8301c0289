/** How the learning rate goes over the steps of a run. */

/** Shapes of the fall after the warm-up, by the names that configs use. */
export const DECAYS = ['linear', 'cosine', 'none'] as const;

/** A learning rate over a run. */
export type Schedule = {
  /** γ, the highest rate */
  readonly learningRate: number;
  /** T_w, steps of growth */
  readonly warmup: number;
  /** T, steps of the run */
  readonly steps: number;
  readonly decay: (typeof DECAYS)[number];
};

/**
 * The learning rate of a step.
 *
 *     s < T_w     γ(s) = γ·s/T_w
 *     linear      γ(s) = γ·(T − s)/(T − T_w)
 *     cosine      γ(s) = γ·(1 + cos(π·(s − T_w)/(T − T_w)))/2
 *     none        γ(s) = γ
 *
 * As `get_linear_schedule_with_warmup` and its siblings in transformers: the first step of a warm-up has rate 0.
 *
 * @param step s, optimiser steps done, from 0
 */
export function learningRateAt(step: number, { learningRate, warmup, steps, decay }: Schedule): number {
  if (step < warmup) return (learningRate * step) / warmup;
  const share = Math.min(1, (step - warmup) / Math.max(1, steps - warmup)); // (s − T_w)/(T − T_w)
  switch (decay) {
    case 'linear':
      return learningRate * (1 - share);
    case 'cosine':
      return (learningRate * (1 + Math.cos(Math.PI * share))) / 2;
    case 'none':
      return learningRate;
    default:
      return decay satisfies never;
  }
}
