/**
 * The activation that turns a pooled logit into a term weight.
 *
 *     w = log(1 + act_k(z))          act_0 = relu,  act_k = log(1 + act_{k−1})
 *
 * k = 0 is SPLADE's (Formal et al., SIGIR 2021, https://arxiv.org/abs/2107.05720); k = 1 the l0 activation of Shen et
 * al., SIGIR 2025, https://doi.org/10.1145/3726302.3730192, § 4.2; k = 2 and 3 the "2-" and "3-l0" rows of its Table 3.
 * All are monotone, so pooling comes first and only active terms are activated. Training needs the slopes too, and whole
 * batches at once: of the many logits of a batch most are ≤ 0, which costs a comparison.
 */
import { ShapeError } from '../core/index.ts';

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

/**
 * Slope dw/dz of one logit z, by the chain of logarithms that `activate` takes.
 *
 *     dw/dz = Π_{i=0..k} 1/(1 + act_i(z))          z > 0, else 0
 *
 * 0 at z = 0 itself, as PyTorch's ReLU.
 */
export function activationSlope(z: number, activation: Activation): number {
  if (z <= 0) return 0;
  let slope = 1;
  let act = z; // act_i(z)
  for (let k = activationCount(activation); k >= 0; k--) {
    slope /= 1 + act;
    act = Math.log1p(act);
  }
  return slope;
}

/**
 * w of many logits.
 *
 * @param z pooled logits, any shape
 * @returns w, the same shape
 */
export function activateAll(z: Float32Array, activation: Activation): Float32Array {
  const w = new Float32Array(z.length); // w, as z
  // NaN is not > 0, but must not look like an inactive term.
  for (let i = 0; i < z.length; i++) if (!(z[i] <= 0)) w[i] = activate(z[i], activation);
  return w;
}

/**
 * Adds the gradient by the logits that a gradient by the weights means. Adds, because ranking and regulariser may look
 * at different activations of the same logits.
 *
 *     ∂ℓ/∂z += ∂ℓ/∂w · dw/dz
 *
 * @param gradients dZ is changed
 */
export function addActivationGradient(
  z: Float32Array,
  activation: Activation,
  { dW, dZ }: { readonly dW: Float32Array; readonly dZ: Float32Array },
): void {
  if (dW.length !== z.length || dZ.length !== z.length)
    throw new ShapeError(
      `${z.length} logits have as many gradients, got ${dW.length} by weights, ${dZ.length} by logits`,
    );
  for (let i = 0; i < z.length; i++)
    if (dW[i] !== 0 && !(z[i] <= 0)) dZ[i] += dW[i] * activationSlope(z[i], activation);
}
