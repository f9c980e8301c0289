/** The same values in another shape or order, joined, or measured, with their gradients. */
import type { GraphBuilder } from '../builder.ts';
import type { Dim, Value } from '../value.ts';
import type { Rule, Rules } from './rule.ts';
import { GradientError } from './rule.ts';

/** The same values in another shape; `target` is an int64 list, `shape` what is known of it. */
export function reshape(g: GraphBuilder, x: Value, { target, shape }: { target: Value; shape: readonly Dim[] }): Value {
  return g.node('Reshape', [x, target], { dtype: x.dtype, shape });
}

/** Dimensions in another order. */
export function transpose(g: GraphBuilder, x: Value, order: readonly number[]): Value {
  const shape = order.map((axis) => x.shape[axis]);
  return g.node('Transpose', [x], { dtype: x.dtype, shape }, { attributes: { perm: order } });
}

/** Adds dimensions of size 1 so that they stand at `axes` of the result. */
export function unsqueeze(g: GraphBuilder, x: Value, axes: readonly number[]): Value {
  const shape = [...x.shape];
  for (const axis of [...axes].sort((a, b) => a - b)) shape.splice(axis, 0, 1);
  return g.node('Unsqueeze', [x, g.ints(...axes)], { dtype: x.dtype, shape });
}

/** Values joined along the first dimension. */
export function concat(g: GraphBuilder, xs: readonly Value[], size: Dim): Value {
  const shape = [size, ...xs[0].shape.slice(1)];
  return g.node('Concat', xs, { dtype: xs[0].dtype, shape }, { attributes: { axis: 0 } });
}

/** The dimensions of x as an int64 list, from axis `start` up to `end`. */
export function shapeOf(g: GraphBuilder, x: Value, { start, end }: { start: number; end: number }): Value {
  return g.node('Shape', [x], { dtype: 'int64', shape: [end - start] }, { attributes: { start, end } });
}

const reshapeRule: Rule = ({ g, inputs: [x], dy }) => [
  () => reshape(g, dy, { target: sizesOf(g, x), shape: x.shape }),
  undefined,
];

/** The whole shape of x as an int64 list: a constant where at most one dimension is unknown. */
function sizesOf(g: GraphBuilder, x: Value): Value {
  const numNamed = x.shape.filter((dim) => typeof dim === 'string').length;
  if (numNamed > 1) return shapeOf(g, x, { start: 0, end: x.shape.length });
  return g.ints(...x.shape.map((dim) => (typeof dim === 'string' ? -1 : dim)));
}

const transposeRule: Rule = ({ g, node, inputs: [x], dy }) => {
  const order = node.attributes.perm;
  if (!Array.isArray(order)) throw new GradientError('no gradient of Transpose without an order of dimensions');
  return [
    () =>
      transpose(
        g,
        dy,
        x.shape.map((_, axis) => order.indexOf(axis)),
      ),
  ];
};

/** Each part gets its rows of dy. */
const concatRule: Rule = ({ g, node, inputs, dy }) => {
  if (node.attributes.axis !== 0) throw new GradientError('no gradient of Concat but along the first dimension');
  const size = (x: Value) => shapeOf(g, x, { start: 0, end: 1 });
  return inputs.map((x, i) => () => {
    const start = inputs
      .slice(0, i)
      .map(size)
      .reduce((a, b) => g.node('Add', [a, b], a), g.ints(0));
    const end = g.node('Add', [start, size(x)], start);
    return g.node('Slice', [dy, start, end, g.ints(0)], x);
  });
};

/** Gradients of what is above. */
export const SHAPE_RULES: Rules = {
  Reshape: reshapeRule,
  Transpose: transposeRule,
  Concat: concatRule,
  Unsqueeze: ({ g, inputs: [x, axes], dy }) => [() => g.node('Squeeze', [dy, axes], x), undefined],
};
