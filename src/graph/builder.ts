/**
 * Builds a graph node by node. The list of nodes is a tape in the order of computation, each with its typed inputs and
 * outputs, so that automatic differentiation can walk it backwards and add its own nodes to the same builder.
 * Shapes are kept as far as they are known. Knows nothing of models; `onnx.ts` turns it into bytes.
 */
import { assert, ShapeError } from '../core/index.ts';
import type { Dim, DType, FileSlice, TensorData, Value } from './value.ts';

/** A node attribute. Floats are marked, since 1 and 1.0 are the same number here but not in ONNX. */
export type Attribute =
  | number
  | string
  | readonly number[]
  | { readonly float: number }
  | { readonly graph: GraphBuilder };

/** One operation on the tape. */
export type Node = {
  readonly op: string;
  /** '' for the ONNX standard, 'com.microsoft' for the engine's own. */
  readonly domain: string;
  /** An undefined input is an optional one left out. */
  readonly inputs: readonly (Value | undefined)[];
  readonly outputs: readonly Value[];
  readonly attributes: Readonly<Record<string, Attribute>>;
};

/** A constant of the graph: inline, or in a file that the engine maps by itself. */
export type Constant = {
  readonly value: Value;
  readonly data: TensorData | FileSlice;
};

/** Type and shape of an output to be made. */
export type ValueType = { readonly dtype: DType; readonly shape: readonly Dim[] };

/** How a node is made. */
export type NodeOptions = {
  readonly domain?: string;
  readonly attributes?: Readonly<Record<string, Attribute>>;
};

/** A graph under construction. */
export class GraphBuilder {
  readonly name: string;
  readonly inputs: Value[] = [];
  readonly outputs: Value[] = [];
  readonly nodes: Node[] = [];
  readonly constants: Constant[] = [];
  readonly #names: NameCounter;
  /** Whether callers feed and read this graph by name, so that names must be as they were given. */
  readonly #isOutermost: boolean;

  /** @param parent the graph around a Scan body or If branch; its values may be used inside by name. */
  constructor(name: string, parent?: GraphBuilder) {
    this.name = name;
    this.#names = parent ? parent.#names : new NameCounter();
    this.#isOutermost = parent === undefined;
  }

  /** Declares an input that each run must feed. */
  input(name: string, dtype: DType, shape: readonly Dim[]): Value {
    const value = { name: this.#interfaceName(name), dtype, shape };
    this.inputs.push(value);
    return value;
  }

  /** A constant tensor. The data is not copied and must not change. */
  constant(name: string, type: ValueType, data: TensorData | FileSlice): Value {
    const value = { name: this.#names.unique(name), dtype: type.dtype, shape: type.shape };
    checkConstant(value, data);
    this.constants.push({ value, data });
    return value;
  }

  /** A scalar of type float32. */
  scalar(x: number): Value {
    return this.constant('scalar', { dtype: 'float32', shape: [] }, Float32Array.of(x));
  }

  /** A list of int64, for axes and target shapes. */
  ints(...xs: number[]): Value {
    return this.constant('ints', { dtype: 'int64', shape: [xs.length] }, BigInt64Array.from(xs, BigInt));
  }

  /** Appends a node with one output. */
  node(op: string, inputs: readonly (Value | undefined)[], type: ValueType, options: NodeOptions = {}): Value {
    const [output] = this.nodeWithOutputs(op, inputs, [type], options);
    return output;
  }

  /** Appends a node with several outputs. */
  nodeWithOutputs(
    op: string,
    inputs: readonly (Value | undefined)[],
    types: readonly ValueType[],
    { domain = '', attributes = {} }: NodeOptions = {},
  ): Value[] {
    const outputs = types.map(({ dtype, shape }) => ({ name: this.#names.unique(op), dtype, shape }));
    this.nodes.push({ op, domain, inputs, outputs, attributes });
    return outputs;
  }

  /**
   * Asks the node that made `first` for the outputs after it, which its operator gives to those who want them.
   * Asked again, it gives the same.
   */
  furtherOutputs(first: Value, types: readonly ValueType[]): Value[] {
    const index = this.nodes.findIndex(({ outputs }) => outputs[0] === first);
    assert(index >= 0, `no node of this graph made ${first.name}`);
    const node = this.nodes[index];
    if (node.outputs.length > 1) return node.outputs.slice(1);
    const further = types.map(({ dtype, shape }) => ({ name: this.#names.unique(node.op), dtype, shape }));
    this.nodes[index] = { ...node, outputs: [first, ...further] };
    return further;
  }

  /** The numbers of a constant list that `ints` made. */
  intsOf(value: Value): number[] {
    const data = this.constants.find((constant) => constant.value === value)?.data;
    assert(data instanceof BigInt64Array, `${value.name} is not a constant list of integers`);
    return Array.from(data, Number);
  }

  /** Takes over parts of another graph as they are, under their names. */
  adopt({ inputs, constants, nodes }: Pick<GraphBuilder, 'inputs' | 'constants' | 'nodes'>): void {
    for (const name of namesIn({ inputs, constants, nodes })) this.#interfaceName(name);
    this.inputs.push(...inputs);
    this.constants.push(...constants);
    this.nodes.push(...nodes);
  }

  /** Names a value as a result of the graph; runs give it back under `name`. */
  output(name: string, value: Value): Value {
    const named = { ...value, name: this.#interfaceName(name) };
    this.nodes.push({ op: 'Identity', domain: '', inputs: [value], outputs: [named], attributes: {} });
    this.outputs.push(named);
    return named;
  }

  #interfaceName(name: string): string {
    const unique = this.#names.unique(name);
    assert(!this.#isOutermost || unique === name, `the graph has a value named ${name} already`);
    return unique;
  }
}

/** Every name that a part of a graph gives to a value, those of graphs inside it included. */
function namesIn({ inputs, constants, nodes }: Pick<GraphBuilder, 'inputs' | 'constants' | 'nodes'>): string[] {
  const own = [...inputs, ...constants.map(({ value }) => value), ...nodes.flatMap(({ outputs }) => outputs)];
  return [...own.map(({ name }) => name), ...nodes.flatMap(innerGraphs).flatMap(namesIn)];
}

/**
 * The graphs inside a node: loop bodies and branches.
 * @internal
 */
export function innerGraphs({ attributes }: Node): GraphBuilder[] {
  return Object.values(attributes).flatMap((a) => (typeof a === 'object' && 'graph' in a ? [a.graph] : []));
}

/** Names for values, unique over a graph and all graphs inside it. */
class NameCounter {
  readonly #taken = new Map<string, number>();

  unique(base: string): string {
    const count = this.#taken.get(base) ?? 0;
    this.#taken.set(base, count + 1);
    return count === 0 ? base : `${base}~${count}`;
  }
}

function checkConstant(value: Value, data: TensorData | FileSlice): void {
  const size = value.shape.reduce<number>((product, dim) => {
    assert(typeof dim === 'number', `constant ${value.name} has the named dimension ${dim}`);
    return product * dim;
  }, 1);
  const length = 'location' in data ? data.length / BYTES[value.dtype] : data.length;
  if (length !== size) {
    throw new ShapeError(
      `constant ${value.name} has ${length} values, its shape [${value.shape.join(', ')}] has ${size}`,
    );
  }
}

/** Size of one element. */
const BYTES: Readonly<Record<DType, number>> = { float32: 4, uint8: 1, int8: 1, int32: 4, int64: 8, bool: 1 };
