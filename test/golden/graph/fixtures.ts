/** What the tests of gradients share: PyTorch's numbers (scripts/golden-gradients.py), and a short way to our own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import {
  backward,
  type Dim,
  DirectSession,
  GraphBuilder,
  subgraph,
  type Tensor,
  toOnnx,
  type Value,
} from '../../../src/graph/index.ts';
import { floats, floatsOf } from '../model/fixtures.ts';

const HERE = import.meta.dirname;

const numbers = z
  .object({ dims: z.array(z.number()), values: z.array(z.number()) })
  .transform(({ dims, values }) => floats(dims, values));

const packed = z.object({ dims: z.array(z.number()), float32: z.string() }).transform(({ dims, float32 }): Tensor => {
  const bytes = Uint8Array.from(Buffer.from(float32, 'base64'));
  return { dtype: 'float32', dims, data: new Float32Array(bytes.buffer) };
});

function read(name: string): unknown {
  return JSON.parse(readFileSync(join(HERE, name), 'utf8'));
}

/** For each operator: inputs, output, seed, and the gradients of the inputs. */
export const goldenOperators = z
  .object({
    cases: z.array(
      z.object({
        name: z.string(),
        inputs: z.record(z.string(), numbers),
        y: numbers,
        dy: numbers,
        gradients: z.record(z.string(), numbers),
      }),
    ),
  })
  .parse(read('operators.json')).cases;

/** A padded batch through the golden model `untied`, and the gradients of its parameters. */
export const goldenEncoder = z
  .object({
    ids: z.array(z.array(z.number())),
    lengths: z.array(z.number()),
    u: packed,
    du: packed,
    gradients: z.record(z.string(), packed),
  })
  .parse(read('encoder.json'));

/** Runs a graph once on this thread. */
export async function runOnce(
  g: GraphBuilder,
  feeds: Readonly<Record<string, Tensor>>,
): Promise<Record<string, Tensor>> {
  const session = await DirectSession.create(toOnnx(g), { threads: 1 });
  try {
    return await session.run(Object.fromEntries(g.inputs.map(({ name }) => [name, feeds[name]])));
  } finally {
    await session.close();
  }
}

/** What a graph of one output is differentiated at. */
export type Point = {
  readonly inputs: Readonly<Record<string, Tensor>>;
  readonly dy: Tensor;
  /** Inputs whose gradients are wanted; all if not given. */
  readonly wrt?: readonly string[];
  /** What the graph knows of the size of a dimension: the size itself, if not given. */
  readonly nameOf?: (input: string, axis: number, size: number) => Dim;
};

/** The output of a graph, and the gradients of Σ dy·y. */
export async function differentiate(
  { inputs, dy, wrt = Object.keys(inputs), nameOf = (_, __, size) => size }: Point,
  build: (g: GraphBuilder, inputs: Readonly<Record<string, Value>>) => Value,
): Promise<{ y: Tensor; gradients: Record<string, Tensor> }> {
  const g = new GraphBuilder('test');
  const declare = (name: string, { dtype, dims }: Tensor) =>
    g.input(
      name,
      dtype,
      dims.map((size, axis) => nameOf(name, axis, size)),
    );
  const values = Object.fromEntries(Object.entries(inputs).map(([name, tensor]) => [name, declare(name, tensor)]));
  const y = build(g, values);
  const seed = g.input('dy', 'float32', y.shape);
  const found = backward(
    g,
    new Map([[y, seed]]),
    wrt.map((name) => values[name]),
  );
  const outputs = Object.fromEntries([...found].map(([value, gradient]) => [`d_${value.name}`, gradient]));
  const results = await runOnce(subgraph(g, { name: 'test', outputs: { result: y, ...outputs } }), { ...inputs, dy });
  return { y: results.result, gradients: Object.fromEntries(wrt.map((name) => [name, results[`d_${name}`]])) };
}

/** max|a − b| / max|scale| */
export function relativeDifference(a: Tensor, b: Tensor, scale = b): number {
  const [x, y] = [floatsOf(a), floatsOf(b)];
  if (a.dims.join() !== b.dims.join()) throw new Error(`shapes [${a.dims}] and [${b.dims}] differ`);
  const largest = floatsOf(scale).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return x.reduce((most, value, i) => Math.max(most, Math.abs(value - y[i])), 0) / (largest || 1);
}
