/**
 * The operators that encoder graphs are made of: one function per operator, output shape included. Each appends standard
 * ONNX nodes to the builder, so that whatever can be computed here can be differentiated on the same tape. Dimensions
 * that are numbers are checked here, when the graph is built; named ones are the engine's to check.
 */
import { ShapeError } from '../core/index.ts';
import type { GraphBuilder } from './builder.ts';
import type { Dim, DType, Value } from './value.ts';
import { ONNX_DTYPE } from './value.ts';

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

/** Fails where two dimensions that a product runs over are known and differ. */
function checkEqual(what: string, [x, inX]: readonly [Value, Dim], [y, inY]: readonly [Value, Dim]): void {
  if (typeof inX === 'number' && typeof inY === 'number' && inX !== inY)
    throw new ShapeError(`${what} of ${describe(x)} and ${describe(y)}: inner dimensions ${inX} and ${inY} differ`);
}

function describe({ name, shape }: Value): string {
  return `${name}[${shape.join(', ')}]`;
}

/** Elementwise x + y, broadcast. */
export function add(g: GraphBuilder, x: Value, y: Value): Value {
  return binary(g, 'Add', [x, y]);
}

/** Elementwise x − y, broadcast. */
export function subtract(g: GraphBuilder, x: Value, y: Value): Value {
  return binary(g, 'Sub', [x, y]);
}

/** Elementwise x·y, broadcast. */
export function multiply(g: GraphBuilder, x: Value, y: Value): Value {
  return binary(g, 'Mul', [x, y]);
}

function binary(g: GraphBuilder, op: 'Add' | 'Sub' | 'Mul', [x, y]: readonly [Value, Value]): Value {
  const shape = broadcast(x.shape, y.shape, `${op} of ${describe(x)} and ${describe(y)}`);
  return g.node(op, [x, y], { dtype: x.dtype, shape });
}

/**
 * The shape of an elementwise result, by numpy's rule: dimensions are equal from the right, or one of them is 1. Unequal
 * ones of which one has a name are the engine's to check.
 */
function broadcast(a: readonly Dim[], b: readonly Dim[], what: string): Dim[] {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, i) => {
    const x = a[a.length - rank + i] ?? 1;
    const y = b[b.length - rank + i] ?? 1;
    if (typeof x === 'number' && typeof y === 'number' && x !== y && x !== 1 && y !== 1)
      throw new ShapeError(`${what}: dimensions ${x} and ${y} differ and neither is 1`);
    // A name beside a number above 1 can only stand for that number, or for 1.
    if (typeof x === 'string' && typeof y === 'number') return y === 1 ? x : y;
    return x === 1 ? y : x;
  });
}

/** Elementwise functions of one argument. */
export function unary(g: GraphBuilder, op: 'Relu' | 'Log' | 'Gelu', x: Value): Value {
  return g.node(op, [x], x);
}

/** x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))), the approximation of gelu that some checkpoints were trained with. */
export function geluByTanh(g: GraphBuilder, x: Value): Value {
  return g.node('Gelu', [x], x, { attributes: { approximate: 'tanh' } });
}

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

/** The same values under another element type. */
export function cast(g: GraphBuilder, x: Value, dtype: DType): Value {
  return g.node('Cast', [x], { dtype, shape: x.shape }, { attributes: { to: ONNX_DTYPE[dtype] } });
}

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

/** Rows of a table, by index. */
export function gather(g: GraphBuilder, table: Value, indices: Value): Value {
  return g.node('Gather', [table, indices], { dtype: table.dtype, shape: [...indices.shape, ...table.shape.slice(1)] });
}

/** max, min or Euclidean norm over one axis, which disappears. */
export function reduce(
  g: GraphBuilder,
  x: Value,
  { op, axis }: { op: 'ReduceMax' | 'ReduceMin' | 'ReduceL2'; axis: number },
): Value {
  const shape = x.shape.toSpliced(axis, 1);
  return g.node(op, [x, g.ints(axis)], { dtype: x.dtype, shape }, { attributes: { keepdims: 0 } });
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

/** The first `count` rows of a table; `count` is an int64 list of one. */
export function firstRows(g: GraphBuilder, table: Value, { count, name }: { count: Value; name: Dim }): Value {
  const shape = [name, ...table.shape.slice(1)];
  return g.node('Slice', [table, g.ints(0), count, g.ints(0)], { dtype: table.dtype, shape });
}

/** Indices of the true entries of a bool vector, int64 [C]. */
export function whereTrue(g: GraphBuilder, x: Value, name: Dim): Value {
  const indices = g.node('NonZero', [x], { dtype: 'int64', shape: [1, name] });
  return g.node('Squeeze', [indices, g.ints(0)], { dtype: 'int64', shape: [name] });
}
