/**
 * One step of the optimiser over all groups of parameters: the gradient is clipped as a whole, then each group takes a step
 * of AdamW with its own rate and decay (Loshchilov and Hutter, ICLR 2019, https://arxiv.org/abs/1711.05101, Algorithm 2).
 *
 *     c = min(1, C/‖g‖)          g over all groups, C the largest norm allowed
 *
 * Knows nothing of the network: gradients are there when it is called.
 */
import type { TrainingKernel } from '../kernels/index.ts';
import type { ParameterGroup, Parameters } from './network/parameters.ts';

/** Settings of a group. */
export type GroupSettings = {
  /** Of this step. */
  readonly learningRate: number;
  readonly weightDecay: number;
};

/** Settings of a step. */
export type OptimiserStep = {
  readonly groups: Readonly<Record<ParameterGroup, GroupSettings>>;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** C; null for no clipping. */
  readonly clip: number | null;
  /** Steps done before this one. */
  readonly step: number;
};

/** Room for the division by a norm that is nearly C, as PyTorch's clip_grad_norm_ has it. */
const NORM_EPSILON = 1e-6;

/** Changes weights and moments by the gradients. Returns ‖g‖ before clipping. */
export function optimise(
  kernel: TrainingKernel,
  parameters: Parameters,
  { groups, clip, step, ...adam }: OptimiserStep,
): number {
  const blocks = [...parameters.groups];
  const norm = Math.sqrt(blocks.reduce((sum, [, { gradients }]) => sum + kernel.sumOfSquares(gradients), 0));
  const factor = clip === null ? 1 : Math.min(1, clip / (norm + NORM_EPSILON));
  for (const [group, block] of blocks) {
    if (factor < 1) kernel.scale(block.gradients, factor);
    kernel.adamW(block, { ...adam, ...groups[group], step: step + 1 });
  }
  return norm;
}
