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

/**
 * Both in operators that opset 19 has, in the very steps that ONNX Runtime knows again and runs as one. Without a gradient: for
 * files that leave the house.
 */
export function spelledGelu(g: GraphBuilder, x: Value, kind: 'erf' | 'tanh'): Value {
  const part =
    kind === 'erf' ? elementwise(g, 'Erf', [elementwise(g, 'Div', [x, g.scalar(Math.SQRT2)])]) : tanhPart(g, x);
  return multiply(g, multiply(g, x, add(g, part, g.scalar(1))), g.scalar(0.5));
}

function tanhPart(g: GraphBuilder, x: Value): Value {
  const cube = multiply(g, multiply(g, x, x), x);
  const sum = add(g, x, multiply(g, cube, g.scalar(0.044715)));
  return elementwise(g, 'Tanh', [multiply(g, sum, g.scalar(Math.sqrt(2 / Math.PI)))]);
}

/** dx = dy where y > 0, else 0; at 0 itself 0, as in PyTorch. */
const reluRule: Rule = ({ g, output, dy }) => [
  () => elementwise(g, 'Where', [elementwise(g, 'Greater', [output, g.scalar(0)], 'bool'), dy, g.scalar(0)], 'float32'),
];

const geluRule: Rule = ({ g, node, inputs: [x], dy }) => [
  () => (node.attributes.approximate === 'tanh' ? multiply(g, dy, slopeByTanh(g, x)) : alongGelu(g, x, dy)),
];

/**
 * dy by the derivative of x·Φ(x), Φ and φ those of the normal distribution, with v = x/√2:
 *
 *     dx = dy·(Φ(x) + x·φ(x)) = dy·½·(1 + erf(v) + exp(c − v²)·v)        c = ln(2/√π)
 *
 * The factor of the exponential is in its argument: each pass over such large values costs a hundredth of a training step.
 */
function alongGelu(g: GraphBuilder, x: Value, dy: Value): Value {
  const v = multiply(g, x, g.scalar(Math.SQRT1_2));
  const exponent = subtract(g, g.scalar(Math.log(2 / Math.sqrt(Math.PI))), multiply(g, v, v)); // c − v²
  const density = multiply(g, elementwise(g, 'Exp', [exponent]), v); //                           2·x·φ(x)
  const slope = add(g, add(g, elementwise(g, 'Erf', [v]), density), g.scalar(1)); //              2·(Φ + x·φ)
  return multiply(g, multiply(g, slope, dy), g.scalar(0.5));
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
