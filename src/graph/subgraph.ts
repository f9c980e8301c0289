/**
 * Parts of a graph as graphs of their own: the forward pass, the backward pass, with or without what it shares with the
 * forward one. Only what the wanted outputs need is taken. Knows nothing of what the graph computes.
 */
import { assert } from '../core/index.ts';
import { GraphBuilder, innerGraphs, type Node } from './builder.ts';
import type { Value } from './value.ts';

/** Which part. */
export type Part = {
  /** Name of the new graph. */
  readonly name: string;
  /** What runs give back, by name. A value of the graph under its own name costs no copy. */
  readonly outputs: Readonly<Record<string, Value>>;
  /** Values that are fed instead of computed, under their own names. */
  readonly given?: readonly Value[] | undefined;
};

/** The part of g that computes named outputs. Inputs of g that it does not need are not inputs of it. */
export function subgraph(g: GraphBuilder, { name, outputs, given = [] }: Part): GraphBuilder {
  const { nodes, values } = reach(g, Object.values(outputs), { stop: new Set(given), makers: makersOf(g.nodes) });
  const part = new GraphBuilder(name);
  part.adopt({
    inputs: [...g.inputs.filter((value) => !given.includes(value)), ...given].filter((value) => values.has(value)),
    constants: g.constants.filter(({ value }) => values.has(value)),
    nodes: g.nodes.filter((node) => nodes.has(node)),
  });
  for (const [outputName, value] of Object.entries(outputs)) {
    const isMadeHere = part.nodes.some((node) => node.outputs.includes(value));
    if (isMadeHere && value.name === outputName) part.outputs.push(value);
    else part.output(outputName, value);
  }
  return part;
}

/** What of a backward pass is asked. */
export type BackwardPart = {
  /** Gradients that are wanted. */
  readonly outputs: readonly Value[];
  /** How many nodes g had before the backward pass was appended. */
  readonly numForward: number;
  /** Values that the backward pass is fed anyway. */
  readonly given?: readonly Value[] | undefined;
  /** Which forward nodes cost enough to save what they make; all if not given. */
  readonly isCostly?: ((node: Node) => boolean) | undefined;
};

/**
 * Forward values to save for the backward pass instead of computing them again, in the order of computation: what costly
 * nodes have made, as far as it reads that, or something that is made of it. Where it reads only the shape of such a value,
 * that shape is saved, though the node that takes it stands among the backward ones.
 */
export function savedValues(
  g: GraphBuilder,
  { outputs, numForward, given = [], isCostly = () => true }: BackwardPart,
): Value[] {
  const costly = g.nodes.slice(0, numForward).filter(isCostly);
  const worth = new Set(costly.flatMap((node) => node.outputs));
  const takesShape = ({ op, inputs }: Node) => op === 'Shape' && inputs.some((x) => x !== undefined && worth.has(x));
  const shapes = g.nodes.slice(numForward).filter(takesShape);
  for (const shape of shapes) worth.add(shape.outputs[0]);
  const { values } = reach(g, outputs, { stop: new Set([...worth, ...given]), makers: makersOf(g.nodes) });
  const made = g.nodes.flatMap((node) => node.outputs);
  return made.filter((value) => worth.has(value) && values.has(value) && !given.includes(value));
}

/** Nodes by what they make. */
type Makers = ReadonlyMap<Value, Node>;

function makersOf(nodes: readonly Node[]): Makers {
  return new Map(nodes.flatMap((node) => node.outputs.map((value) => [value, node] as const)));
}

/** The nodes and values that some values depend on, back to those where the walk stops. */
function reach(
  g: GraphBuilder,
  from: readonly Value[],
  { stop, makers }: { stop: ReadonlySet<Value>; makers: Makers },
): { nodes: Set<Node>; values: Set<Value> } {
  const nodes = new Set<Node>();
  const values = new Set<Value>();
  const sources = new Set([...g.inputs, ...g.constants.map(({ value }) => value)]);
  const open = [...from];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (values.has(value)) continue;
    values.add(value);
    if (stop.has(value) || sources.has(value)) continue;
    const node = makers.get(value);
    assert(node !== undefined, `${value.name} is not a value of the graph ${g.name}`);
    nodes.add(node);
    open.push(...valuesRead(node));
  }
  return { nodes, values };
}

/**
 * What a node reads: its inputs, and the outer values that graphs inside it use by name.
 * @internal
 */
export function valuesRead(node: Node): Value[] {
  const own = node.inputs.filter((value) => value !== undefined);
  return [...own, ...innerGraphs(node).flatMap(capturedBy)];
}

/** Values from outside that an inner graph uses. */
function capturedBy(graph: GraphBuilder): Value[] {
  const made = graph.nodes.flatMap(({ outputs }) => outputs);
  const own = new Set([...graph.inputs, ...graph.constants.map(({ value }) => value), ...made]);
  return graph.nodes.flatMap(valuesRead).filter((value) => !own.has(value));
}
