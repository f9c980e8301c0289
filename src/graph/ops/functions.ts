/** Elementwise functions of one argument, with their gradients. */
import type { GraphBuilder } from '../builder.ts';
import type { Value } from '../value.ts';
import { add, multiply, subtract } from './arithmetic.ts';
import { elementwise } from './broadcasting.ts';
import type { Rule, Rules } from './rule.ts';

/** Elementwise functions of one argument. */
export function unary(g: GraphBuilder, op: 'Relu' | 'Log' | 'Gelu', x: Value): Value {
  return g.node(op, [x], x);
}

/** x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))), the approximation of gelu that some checkpoints were trained with. */
export function geluByTanh(g: GraphBuilder, x: Value): Value {
  return g.node('Gelu', [x], x, { attributes: { approximate: 'tanh' } });
}

/** dx = dy where y > 0, else 0; at 0 itself 0, as in PyTorch. */
const reluRule: Rule = ({ g, output, dy }) => [
  () => elementwise(g, 'Where', [elementwise(g, 'Greater', [output, g.scalar(0)], 'bool'), dy, g.scalar(0)], 'float32'),
];

const geluRule: Rule = ({ g, node, inputs: [x], dy }) => [
  () => multiply(g, dy, node.attributes.approximate === 'tanh' ? slopeByTanh(g, x) : slopeOfGelu(g, x)),
];

/**
 * The derivative of x·Φ(x), Φ and φ those of the normal distribution:
 *
 *     Φ(x) + x·φ(x)        Φ(x) = (1 + erf(x/√2))/2        φ(x) = exp(−x²/2)/√(2π)
 */
function slopeOfGelu(g: GraphBuilder, x: Value): Value {
  const times = (v: Value, factor: number) => multiply(g, v, g.scalar(factor));
  const erf = elementwise(g, 'Erf', [times(x, Math.SQRT1_2)]);
  const cdf = times(add(g, erf, g.scalar(1)), 0.5); //                       Φ
  const exp = elementwise(g, 'Exp', [multiply(g, times(x, -0.5), x)]);
  return add(g, cdf, multiply(g, times(x, 1 / Math.sqrt(2 * Math.PI)), exp)); // Φ + x·φ
}

/**
 * The derivative of x/2·(1 + t) with t = tanh(c·(x + a·x³)), c = √(2/π), a = 0.044715:
 *
 *     (1 + t)/2 + x/2·(1 − t²)·c·(1 + 3a·x²)
 */
function slopeByTanh(g: GraphBuilder, x: Value): Value {
  const [a, c] = [0.044715, Math.sqrt(2 / Math.PI)];
  const [one, half] = [g.scalar(1), g.scalar(0.5)];
  const x2 = multiply(g, x, x);
  const polynomial = (factor: number) => add(g, multiply(g, x2, g.scalar(factor * c)), g.scalar(c)); // c·(1 + factor·x²)
  const t = elementwise(g, 'Tanh', [multiply(g, x, polynomial(a))]);
  const inner = multiply(g, subtract(g, one, multiply(g, t, t)), polynomial(3 * a));
  return multiply(g, half, add(g, add(g, one, t), multiply(g, x, inner)));
}

/** Gradients of what is above. */
export const FUNCTION_RULES: Rules = {
  Relu: reluRule,
  Gelu: geluRule,
  Log: ({ g, inputs: [x], dy }) => [() => elementwise(g, 'Div', [dy, x])],
};
