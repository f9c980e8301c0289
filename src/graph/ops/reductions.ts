/** Reductions over one axis, with their gradients. */
import type { GraphBuilder } from '../builder.ts';
import type { Value } from '../value.ts';
import { cast, multiply } from './arithmetic.ts';
import { elementwise, sum } from './broadcasting.ts';
import type { Application, Rule, Rules } from './rule.ts';
import { GradientError, once } from './rule.ts';
import { shapeOf, unsqueeze } from './shapes.ts';

/** What can be made of the values along an axis. */
export type Reduction = 'ReduceMax' | 'ReduceMin' | 'ReduceL2' | 'ReduceSum' | 'ReduceMean';

/** max, min, Euclidean norm, sum or mean over one axis, counted from 0, which disappears. */
export function reduce(g: GraphBuilder, x: Value, { op, axis }: { op: Reduction; axis: number }): Value {
  const shape = x.shape.toSpliced(axis, 1);
  return g.node(op, [x, g.ints(axis)], { dtype: x.dtype, shape }, { attributes: { keepdims: 0 } });
}

/** What the gradient of a reduction is made of: y and dy with the axis in its place again. */
type Unreduced = { g: GraphBuilder; x: Value; y: () => Value; dy: Value; axis: number };

/** A rule from the formula of dx. */
function reduction(dx: (at: Unreduced) => Value): Rule {
  return (at) => [() => dx(unreduced(at)), undefined];
}

function unreduced({ g, inputs: [x, axes], output, dy }: Application): Unreduced {
  const [axis, ...more] = g.intsOf(axes);
  if (more.length > 0 || output.shape.length !== x.shape.length - 1)
    throw new GradientError('reductions have a gradient over one axis that disappears');
  return { g, x, y: once(() => unsqueeze(g, output, [axis])), dy: unsqueeze(g, dy, [axis]), axis };
}

/** dx = dy/n where x is the largest (or smallest), 0 elsewhere; n is how many share that place, as in PyTorch's amax. */
function atExtreme({ g, x, y, dy, axis }: Unreduced): Value {
  const isExtreme = cast(g, elementwise(g, 'Equal', [x, y()], 'bool'), 'float32');
  const count = sum(g, isExtreme, { axes: [axis], keep: true });
  return multiply(g, isExtreme, elementwise(g, 'Div', [dy, count]));
}

/** dx = dy·x/‖x‖; 0 where the norm is 0, as in PyTorch. */
function alongNorm({ g, x, y, dy }: Unreduced): Value {
  const isZero = elementwise(g, 'Equal', [y(), g.scalar(0)], 'bool');
  const scale = elementwise(g, 'Where', [isZero, g.scalar(0), elementwise(g, 'Div', [dy, y()])], 'float32');
  return multiply(g, x, scale);
}

/** dx = dy for each that was summed. */
function repeated({ g, x, dy }: Unreduced): Value {
  return g.node('Expand', [dy, shapeOf(g, x, { start: 0, end: x.shape.length })], x);
}

/** dx = dy/n for each of n. */
function shared({ g, x, y, dy, axis }: Unreduced): Value {
  const count = cast(g, shapeOf(g, x, { start: axis, end: axis + 1 }), 'float32'); // n, [1]
  return repeated({ g, x, y, dy: elementwise(g, 'Div', [dy, count]), axis });
}

/** Gradients of what is above. */
export const REDUCTION_RULES: Rules = {
  ReduceMax: reduction(atExtreme),
  ReduceMin: reduction(atExtreme),
  ReduceL2: reduction(alongNorm),
  ReduceSum: reduction(repeated),
  ReduceMean: reduction(shared),
};
