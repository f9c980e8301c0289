/** Sums, differences, products and quotients by elements, broadcast, with their gradients; dropout, which is a product. */
import { assert } from '../../core/index.ts';
import type { GraphBuilder } from '../builder.ts';
import type { DType, Value } from '../value.ts';
import { ONNX_DTYPE } from '../value.ts';
import { elementwise, sumTo } from './broadcasting.ts';
import type { Rule, Rules } from './rule.ts';

/** Elementwise x + y, broadcast. */
export function add(g: GraphBuilder, x: Value, y: Value): Value {
  return elementwise(g, 'Add', [x, y]);
}

/** Elementwise x − y, broadcast. */
export function subtract(g: GraphBuilder, x: Value, y: Value): Value {
  return elementwise(g, 'Sub', [x, y]);
}

/** Elementwise x·y, broadcast. */
export function multiply(g: GraphBuilder, x: Value, y: Value): Value {
  return elementwise(g, 'Mul', [x, y]);
}

/** Elementwise x/y, broadcast. */
export function divide(g: GraphBuilder, x: Value, y: Value): Value {
  return elementwise(g, 'Div', [x, y]);
}

/** The same values under another element type. */
export function cast(g: GraphBuilder, x: Value, dtype: DType): Value {
  return g.node('Cast', [x], { dtype, shape: x.shape }, { attributes: { to: ONNX_DTYPE[dtype] } });
}

/**
 * Dropout: x where it is kept, grown so that its expectation stays; 0 elsewhere.
 *
 *     y = x·keep/(1 − p)
 *
 * Srivastava et al., JMLR 15, 2014, https://jmlr.org/papers/v15/srivastava14a.html, scaled in training as PyTorch does.
 * The mask comes from outside, so that a recomputed forward pass drops the same.
 *
 * @param keep 1 for what stays and 0 for what goes, uint8, of the shape of x
 */
export function dropout(g: GraphBuilder, x: Value, { keep, rate }: { keep: Value /** p */; rate: number }): Value {
  assert(rate >= 0 && rate < 1, `a dropout rate is at least 0 and below 1, not ${rate}`);
  const scale = multiply(g, cast(g, keep, x.dtype), g.scalar(1 / (1 - rate)));
  return multiply(g, x, scale);
}

const addRule: Rule = ({ g, inputs: [x, y], dy: dz }) => [
  () => sumTo(g, dz, { x, partner: y.shape }),
  () => sumTo(g, dz, { x: y, partner: x.shape }),
];

const subtractRule: Rule = ({ g, inputs: [x, y], dy: dz }) => [
  () => sumTo(g, dz, { x, partner: y.shape }),
  () => elementwise(g, 'Neg', [sumTo(g, dz, { x: y, partner: x.shape })]),
];

const multiplyRule: Rule = ({ g, inputs: [x, y], dy: dz }) => [
  () => sumTo(g, multiply(g, dz, y), { x, partner: y.shape }),
  () => sumTo(g, multiply(g, dz, x), { x: y, partner: x.shape }),
];

/** z = x/y: dx = dz/y, dy = −dz·z/y. */
const divideRule: Rule = ({ g, inputs: [x, y], output: z, dy: dz }) => [
  () => sumTo(g, divide(g, dz, y), { x, partner: y.shape }),
  () => elementwise(g, 'Neg', [sumTo(g, divide(g, multiply(g, dz, z), y), { x: y, partner: x.shape })]),
];

/** Gradients of what is above. A cast to an element type that is not a float ends a path, as rounding does. */
export const ARITHMETIC_RULES: Rules = {
  Add: addRule,
  Sub: subtractRule,
  Mul: multiplyRule,
  Div: divideRule,
  Cast: ({ g, inputs: [x], dy }) => [() => cast(g, dy, x.dtype)],
  Identity: ({ dy }) => [() => dy],
};
