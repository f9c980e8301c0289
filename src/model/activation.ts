/**
 * The activation that turns a pooled logit into a term weight.
 *
 *     w = log(1 + act_k(z))          act_0 = relu,  act_k = log(1 + act_{k−1})
 *
 * k = 0 is SPLADE's (Formal et al., SIGIR 2021, https://arxiv.org/abs/2107.05720); k = 1 the l0 activation of Shen et
 * al., SIGIR 2025, https://doi.org/10.1145/3726302.3730192, § 4.2; k = 2 and 3 the "2-" and "3-l0" rows of its Table 3.
 * All are monotone, so pooling comes first and only active terms are activated.
 */

/** Activations by the names that models and configs use. */
export const ACTIVATIONS = ['relu', 'l0', 'l0-2', 'l0-3'] as const;

/** Name of an activation; its place in `ACTIVATIONS` is k. */
export type Activation = (typeof ACTIVATIONS)[number];

/** The k of the formula. */
export function activationCount(activation: Activation): number {
  return ACTIVATIONS.indexOf(activation);
}

/** w for one logit z. */
export function activate(z: number, activation: Activation): number {
  let w = Math.max(0, z);
  for (let k = activationCount(activation); k >= 0; k--) w = Math.log1p(w);
  return w;
}
