/**
 * Matrix products and their gradients. The transposes that gradients need are nodes of their own here: the engine fuses
 * each into the product that reads it.
 */
import { ShapeError } from '../../core/index.ts';
import type { GraphBuilder } from '../builder.ts';
import type { Dim, Value } from '../value.ts';
import { broadcast, describe, sumTo } from './broadcasting.ts';
import type { Rule, Rules } from './rule.ts';
import { GradientError } from './rule.ts';
import { transpose } from './shapes.ts';

/** y = x·Wᵀ + b, with W as checkpoints store it: [out, in]. x is [N, in]. */
export function linear(g: GraphBuilder, x: Value, { weight, bias }: { weight: Value; bias?: Value }): Value {
  checkEqual('linear', [x, x.shape[1]], [weight, weight.shape[1]]);
  if (bias) broadcast([weight.shape[0]], bias.shape, `bias of linear, W ${describe(weight)} and b ${describe(bias)}`);
  const inputs = bias ? [x, weight, bias] : [x, weight];
  return g.node(
    'Gemm',
    inputs,
    { dtype: 'float32', shape: [x.shape[0], weight.shape[0]] },
    { attributes: { transB: 1 } },
  );
}

/**
 *     dx = dy·W        dW = dyᵀ·x        db = Σ_n dy_n
 */
const linearRule: Rule = ({ g, node, inputs: [x, weight, bias], output, dy }) => {
  if (JSON.stringify(node.attributes) !== '{"transB":1}')
    throw new GradientError(`no gradient of Gemm with ${JSON.stringify(node.attributes)}: only x·Wᵀ + b has one`);
  return [
    () => g.node('Gemm', [dy, weight], x), //                                   [N, in]
    () => g.node('Gemm', [dy, x], weight, { attributes: { transA: 1 } }), //    [out, in]
    bias && (() => sumTo(g, dy, { x: bias, partner: output.shape })), //        [out]
  ];
};

/** x·y over the last two dimensions, [..., n, k]·[..., k, m]; the leading ones broadcast. */
export function matMul(g: GraphBuilder, x: Value, y: Value): Value {
  if (x.shape.length < 2 || y.shape.length < 2)
    throw new ShapeError(`matMul of ${describe(x)} and ${describe(y)}: both need two dimensions or more`);
  const [n, k] = x.shape.slice(-2);
  const [sameK, m] = y.shape.slice(-2);
  checkEqual('matMul', [x, k], [y, sameK]);
  const leading = broadcast(x.shape.slice(0, -2), y.shape.slice(0, -2), `matMul of ${describe(x)} and ${describe(y)}`);
  return g.node('MatMul', [x, y], { dtype: x.dtype, shape: [...leading, n, m] });
}

/**
 * For z = x·y, matrix by matrix; where one matrix met many, summed over those that it met.
 *
 *     dx = dz·yᵀ        dy = xᵀ·dz
 */
const matMulRule: Rule = ({ g, inputs: [x, y], dy: dz }) => [
  () => sumTo(g, matMul(g, dz, transposed(g, y)), { x, partner: beside(x, y) }), // [..., n, k]
  () => sumTo(g, matMul(g, transposed(g, x), dz), { x: y, partner: beside(y, x) }), // [..., k, m]
];

/** The leading dimensions that a value met, and its own matrix. */
function beside(value: Value, met: Value): Dim[] {
  return [...met.shape.slice(0, -2), ...value.shape.slice(-2)];
}

/** The last two dimensions exchanged. */
function transposed(g: GraphBuilder, x: Value): Value {
  const rank = x.shape.length;
  const order = x.shape.map((_, i) => (i < rank - 2 ? i : 2 * rank - 3 - i));
  return transpose(g, x, order);
}

/** Fails where two dimensions that a product runs over are known and differ. */
function checkEqual(what: string, [x, inX]: readonly [Value, Dim], [y, inY]: readonly [Value, Dim]): void {
  if (typeof inX === 'number' && typeof inY === 'number' && inX !== inY)
    throw new ShapeError(`${what} of ${describe(x)} and ${describe(y)}: inner dimensions ${inX} and ${inY} differ`);
}

/** Gradients of what is above. */
export const PRODUCT_RULES: Rules = { Gemm: linearRule, MatMul: matMulRule };
