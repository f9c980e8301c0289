/** Rows of a table, by index or from the start, and the places of true entries, with their gradients. */
import type { GraphBuilder } from '../builder.ts';
import type { Dim, Value } from '../value.ts';
import { describe } from './broadcasting.ts';
import type { Rule, Rules } from './rule.ts';
import { GradientError } from './rule.ts';
import { concat, shapeOf } from './shapes.ts';

/** Rows of a table, by index. */
export function gather(g: GraphBuilder, table: Value, indices: Value): Value {
  return g.node('Gather', [table, indices], { dtype: table.dtype, shape: [...indices.shape, ...table.shape.slice(1)] });
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

/**
 * The gradient of a gathered table is a sum of rows by index, ScatterND with add, which ONNX Runtime computes on two
 * threads at once and loses sums where an index comes twice. So it is not made here: whoever wants it asks for the
 * gradient of the rows, and adds them to the table outside.
 */
const gatherRule: Rule = ({ inputs: [table], output }) => [
  () => {
    throw new GradientError(
      `the gradient of the gathered table ${describe(table)} is not computed in a graph`,
      `ask for that of its rows, ${describe(output)}, and add them to the table by index`,
    );
  },
  undefined,
];

/** dy for the rows that were read, 0 for the others: the gradient has the shape of the table. */
const firstRowsRule: Rule = ({ g, node, inputs: [table, start, , axes], dy }) => {
  if (!isZero(g, start) || !isZero(g, axes) || node.inputs.length !== 4)
    throw new GradientError('no gradient of Slice but of the first rows of a table');
  return [() => padRows(g, dy, table), undefined, undefined, undefined];
};

function isZero(g: GraphBuilder, list: Value): boolean {
  return g.intsOf(list).join() === '0';
}

/** Rows of 0 below x, as many as the table has more. */
function padRows(g: GraphBuilder, x: Value, table: Value): Value {
  const numRows = (value: Value) => shapeOf(g, value, { start: 0, end: 1 });
  const missing = g.node('Sub', [numRows(table), numRows(x)], { dtype: 'int64', shape: [1] });
  const rank = table.shape.length;
  const nothing = (length: number) => g.ints(...new Array<number>(length).fill(0));
  const pads = concat(g, [nothing(rank), missing, nothing(rank - 1)], 2 * rank);
  return g.node('Pad', [x, pads], table);
}

/** Gradients of what is above. */
export const ROW_RULES: Rules = { Gather: gatherRule, Slice: firstRowsRule };
