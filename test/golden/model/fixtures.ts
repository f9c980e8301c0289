/** What the tests of src/model and src/graph share: the tiny golden models, short ways to run graphs, real weights. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { SparseVector } from '../../../src/core/index.ts';
import { GraphBuilder, type Session, type Tensor, toOnnx, type Value } from '../../../src/graph/index.ts';
import type { EncodedDocument, Model } from '../../../src/model/index.ts';
import { sharedData } from '../text/fixtures.ts';

const HERE = import.meta.dirname;

const vector = z.object({
  numTokens: z.number(),
  truncated: z.boolean(),
  terms: z.array(z.number()),
  /** For k = 0…3. */
  weights: z.array(z.array(z.number())).length(4),
});

/** What transformers makes of the golden texts (scripts/golden-model.py). */
export const golden = z
  .object({
    texts: z.array(z.string()),
    models: z.array(z.object({ name: z.string(), encodeLength: z.number(), vectors: z.array(vector) })),
  })
  .parse(JSON.parse(readFileSync(join(HERE, 'vectors.json'), 'utf8')));

/** What transformers makes of bert-base-uncased. */
export const goldenReal = z
  .object({
    masked: z.object({ text: z.string(), predictions: z.array(z.tuple([z.string(), z.number()])) }),
    pooled: z.array(
      z.object({
        text: z.string(),
        numActive: z.number(),
        numUndecided: z.number(),
        sum: z.number(),
        top: z.array(z.tuple([z.string(), z.number()])),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync(join(HERE, 'real.json'), 'utf8')));

/** Folder of a golden model: `tied` (float32), `half` (float16, ε 1e-5), `untied` (decoder of its own, 48 positions). */
export function goldenFolder(name: string): string {
  return join(HERE, name);
}

/** A copy of a golden model in a temporary folder, to be damaged by a test. Remove it when done. */
export function copyOfGolden(name: string): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'lzero-model-'));
  cpSync(goldenFolder(name), folder, { recursive: true });
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}

/** Changes config.json in a copy. */
export function changeConfig(folder: string, changes: Readonly<Record<string, unknown>>): void {
  const path = join(folder, 'config.json');
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...changes }));
}

/** Texts with their places as ids. */
export function asDocuments(texts: readonly string[]): { id: string; text: string }[] {
  return texts.map((text, i) => ({ id: String(i), text }));
}

/** Everything a stream gives. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Encodes texts as one stream. */
export function encodeAll(model: Model, texts: readonly string[]): Promise<EncodedDocument[]> {
  return collect(model.encode(asDocuments(texts)));
}

/** Largest difference between the weights of two vectors of the same terms. */
export function largestDifference(a: SparseVector, weights: ArrayLike<number>): number {
  return a.weights.reduce((most, w, i) => Math.max(most, Math.abs(w - weights[i])), 0);
}

/** A tensor of 32-bit floats. */
export function floats(dims: readonly number[], values: ArrayLike<number>): Tensor {
  return { dtype: 'float32', dims, data: Float32Array.from(values) };
}

/** The 32-bit floats of a tensor. */
export function floatsOf({ data }: Tensor): Float32Array {
  if (data instanceof Float32Array) return data;
  throw new Error('the tensor is not of 32-bit floats');
}

/** Builds a graph, loads it and runs it once; outputs are named in the order of what `build` returns: y0, y1, … */
export async function compute(
  session: Session,
  feeds: Readonly<Record<string, Tensor>>,
  build: (g: GraphBuilder, inputs: Readonly<Record<string, Value>>) => readonly Value[],
): Promise<Tensor[]> {
  const g = new GraphBuilder('test');
  const inputs = Object.entries(feeds).map(([name, { dtype, dims }]) => [name, g.input(name, dtype, dims)]);
  build(g, Object.fromEntries(inputs)).forEach((value, i) => {
    g.output(`y${i}`, value);
  });
  await session.load({ bytes: toOnnx(g) }, { threads: 1 });
  const outputs = await session.run(feeds);
  return g.outputs.map(({ name }) => outputs[name]);
}

/** Folder of Hugging Face checkpoints, if this machine has one. */
const weights = process.env.LZERO_WEIGHTS;

/** A checkpoint among the real weights, or undefined where it is missing. */
export function realWeights(name: string): string | undefined {
  const folder = weights ? resolve(weights, name) : undefined;
  return folder && existsSync(join(folder, 'model.safetensors')) ? folder : undefined;
}

/** For names of tests on real weights: says why they are skipped. */
export function needs(name: string, { data = false }: { data?: boolean } = {}): string {
  const missing = [
    ...(realWeights(name) ? [] : [weights ? `LZERO_WEIGHTS has no ${name}` : 'LZERO_WEIGHTS is not set']),
    ...(data && !sharedData ? ['LZERO_SHARED_DATA is not set'] : []),
  ];
  return missing.length === 0 ? name : `${name} (skipped: ${missing.join(', ')})`;
}
