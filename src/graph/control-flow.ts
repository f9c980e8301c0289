/**
 * Graphs inside graphs: a loop over the first dimension, and a choice. Inner graphs may use outer values by name. A node
 * with inner graphs does not list the outer values that they use among its inputs, so automatic differentiation cannot
 * see what it depends on and stops at it: what is to be differentiated is built without them.
 */
import { ShapeError } from '../core/index.ts';
import { GraphBuilder } from './builder.ts';
import type { Value } from './value.ts';

/** Applies `body` to each row of the inputs (their first dimension) and stacks what it gives. */
export function forEachRow(
  g: GraphBuilder,
  inputs: readonly Value[],
  body: (inner: GraphBuilder, rows: readonly Value[]) => readonly Value[],
): Value[] {
  const inner = new GraphBuilder('row', g);
  const rows = inputs.map(({ dtype, shape }) => inner.input('row', dtype, shape.slice(1)));
  const results = body(inner, rows).map((value) => inner.output('result', value));
  const types = results.map(({ dtype, shape }) => ({ dtype, shape: [inputs[0].shape[0], ...shape] }));
  const attributes = { num_scan_inputs: inputs.length, body: { graph: inner } };
  return g.nodeWithOutputs('Scan', inputs, types, { attributes });
}

/** Computes one of two branches, by a bool scalar. Both give values of the same types and shapes. */
export function choose(
  g: GraphBuilder,
  condition: Value,
  branches: {
    readonly whenTrue: (inner: GraphBuilder) => readonly Value[];
    readonly whenFalse: (inner: GraphBuilder) => readonly Value[];
  },
): Value[] {
  const [thenGraph, elseGraph] = [branches.whenTrue, branches.whenFalse].map((build) => {
    const inner = new GraphBuilder('branch', g);
    for (const value of build(inner)) inner.output('result', value);
    return inner;
  });
  const described = [thenGraph, elseGraph].map((graph) =>
    graph.outputs.map(({ dtype, shape }) => `${dtype}[${shape}]`).join(),
  );
  if (described[0] !== described[1]) throw new ShapeError(`branches give ${described[0]} and ${described[1]}`);
  const attributes = { then_branch: { graph: thenGraph }, else_branch: { graph: elseGraph } };
  return g.nodeWithOutputs('If', [condition], thenGraph.outputs, { attributes });
}
