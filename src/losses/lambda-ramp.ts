/** How the weight of a regulariser grows with the steps. */

/** Shapes of the growth, by the names that configs use. */
export const RAMP_SHAPES = ['quadratic', 'linear', 'none'] as const;

/** How λ grows. */
export type LambdaRamp = {
  /** λ_d, where the growth ends */
  readonly lambda: number;
  /** T_λ, optimiser steps until then; without steps, λ is whole from the start */
  readonly ramp: number;
  readonly shape: (typeof RAMP_SHAPES)[number];
};

/**
 * The weight λ of a regulariser at a step.
 *
 *     quadratic  λ(s) = λ_d·((s + 1)/T_λ)²          s < T_λ, then λ_d
 *     linear     λ(s) = λ_d·(s + 1)/T_λ             s < T_λ, then λ_d
 *     none       λ(s) = λ_d
 *
 * The quadratic ramp is that of SPLADE (Formal et al., SIGIR 2021, https://arxiv.org/abs/2107.05720), after Paria et al.,
 * ICLR 2020. Same values as `RegWeightScheduler` of naver/splade (141a8c08), and as `get_lambda` of
 * zhichao-aws/opensearch-sparse-model-tuning-sample (0374dcaf) without its delay. Without a ramp the regulariser outweighs
 * a ranking loss that has learnt nothing yet: every weight goes to 0, and with it every gradient.
 *
 * @param step s, optimiser steps done, from 0
 */
export function lambdaAt(step: number, { lambda, ramp, shape }: LambdaRamp): number {
  if (step >= ramp) return lambda;
  const share = (step + 1) / ramp; // (s + 1)/T_λ
  switch (shape) {
    case 'quadratic':
      return lambda * share * share;
    case 'linear':
      return lambda * share;
    case 'none':
      return lambda;
    default:
      return shape satisfies never;
  }
}
