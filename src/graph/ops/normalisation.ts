/** Layer normalisation and softmax, over the last dimension, with their gradients. */
import type { GraphBuilder } from '../builder.ts';
import type { Dim, Value } from '../value.ts';
import { multiply, subtract } from './arithmetic.ts';
import { sum, sumTo } from './broadcasting.ts';
import type { Rule, Rules } from './rule.ts';
import { once } from './rule.ts';

/** (x − mean)/√(variance + ε)·γ + β over the last dimension. */
export function layerNorm(
  g: GraphBuilder,
  x: Value,
  { gamma, beta, epsilon }: { gamma: Value; beta: Value; epsilon: number },
): Value {
  return g.node('LayerNormalization', [x, gamma, beta], x, { attributes: { axis: -1, epsilon: { float: epsilon } } });
}

/** softmax over the last dimension. */
export function softmax(g: GraphBuilder, x: Value): Value {
  return g.node('Softmax', [x], x, { attributes: { axis: -1 } });
}

/**
 * With x̂ = (x − mean)·s, s = 1/√(variance + ε), h = dy·γ, and ⟨·⟩ the mean over the last dimension:
 *
 *     dx = s·(h − ⟨h⟩ − x̂·⟨h·x̂⟩)        dγ = Σ dy·x̂        dβ = Σ dy
 *
 * Ba et al., https://arxiv.org/abs/1607.06450. Mean and s are asked of the forward node: it has computed them.
 */
const layerNormRule: Rule = ({ g, inputs: [x, gamma, beta], output, dy }) => {
  const [mean, s] = g.furtherOutputs(output, [keptLast(x), keptLast(x)]);
  const normalised = once(() => multiply(g, subtract(g, x, mean), s)); // x̂
  const dx = () => {
    const h = multiply(g, dy, gamma);
    const along = multiply(g, normalised(), meanOfLast(g, multiply(g, h, normalised()))); // x̂·⟨h·x̂⟩
    return multiply(g, s, subtract(g, subtract(g, h, meanOfLast(g, h)), along));
  };
  return [
    dx,
    () => sumTo(g, multiply(g, dy, normalised()), { x: gamma, partner: x.shape }),
    () => sumTo(g, dy, { x: beta, partner: x.shape }),
  ];
};

/** dx = y·(dy − Σ y·dy) */
const softmaxRule: Rule = ({ g, output: y, dy }) => [
  () => {
    const along = sum(g, multiply(g, y, dy), { axes: [y.shape.length - 1], keep: true });
    return multiply(g, y, subtract(g, dy, along));
  },
];

function meanOfLast(g: GraphBuilder, x: Value): Value {
  return g.node('ReduceMean', [x, g.ints(-1)], keptLast(x), { attributes: { keepdims: 1 } });
}

/** The type of a value with its last dimension reduced to 1. */
function keptLast({ dtype, shape }: Value): { dtype: Value['dtype']; shape: Dim[] } {
  return { dtype, shape: [...shape.slice(0, -1), 1] };
}

/** Gradients of what is above. */
export const NORMALISATION_RULES: Rules = { LayerNormalization: layerNormRule, Softmax: softmaxRule };
