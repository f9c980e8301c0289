/** A tiny BERT with its MLM transform: our gradients of every parameter are PyTorch's (scripts/golden-gradients.py). */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Tensor, Value } from '../src/graph/index.ts';
import { backward, DirectSession, GraphBuilder, savedValues, subgraph, toOnnx } from '../src/graph/index.ts';
import { bertEncoder, Checkpoint, decoderInput, floatProducts, WORD_EMBEDDINGS } from '../src/model/index.ts';
import { goldenEncoder as golden, relativeDifference } from './golden/graph/fixtures.ts';
import { floats, floatsOf, goldenFolder } from './golden/model/fixtures.ts';

const checkpoint = await Checkpoint.open(goldenFolder('untied'));
const { config } = checkpoint;
const dims = [golden.ids.length, golden.ids[0].length];

/** The encoder with parameters as inputs, differentiated for all of them; the word embeddings by their rows. */
function build() {
  const g = new GraphBuilder('training');
  const inputs = new Map<string, Value>();
  const parameters = (name: string) => {
    const value = inputs.get(name) ?? g.input(name, 'float32', checkpoint.entry(name).shape);
    inputs.set(name, value);
    return value;
  };
  const rows: Value[] = [];
  const { dense, words } = floatProducts(g, parameters);
  const products = {
    dense,
    words: (ids: Value) => {
      rows.push(words(ids));
      return rows[rows.length - 1];
    },
  };
  const ids = g.input('ids', 'int32', ['B', 'T']);
  const mask = g.input('mask', 'float32', ['B', 'T']);
  const encoder = bertEncoder(g, config, parameters, { ids, mask, products });
  const u = decoderInput(g, encoder, { config, head: 'mlm', parameters, products });
  const numForward = g.nodes.length;
  const trained = [...inputs].filter(([name]) => name !== WORD_EMBEDDINGS);
  const seeds = new Map([[u, g.input('du', 'float32', ['N', config.hiddenSize])]]);
  const gradients = backward(g, seeds, [...trained.map(([, value]) => value), ...rows]);
  const outputs = [...trained, [WORD_EMBEDDINGS, rows[0]] as const].map(([name, value]) => [
    `d ${name}`,
    gradients.get(value) ?? value,
  ]);
  return { g, u, numForward, outputs: Object.fromEntries(outputs) };
}

const trained = build();
const feeds: Record<string, Tensor> = {};

beforeAll(async () => {
  for (const { name } of trained.g.inputs)
    if (name.includes('.')) {
      const { shape } = checkpoint.entry(name);
      feeds[name] = { dtype: 'float32', dims: shape, data: await checkpoint.read(name) };
    }
  feeds.ids = { dtype: 'int32', dims, data: Int32Array.from(golden.ids.flat()) };
  feeds.mask = floats(
    dims,
    golden.lengths.flatMap((length) => golden.ids[0].map((_, i) => (i < length ? 1 : 0))),
  );
  feeds.du = { ...golden.du, dims: [dims[0] * dims[1], config.hiddenSize] };
});

async function run(graph: GraphBuilder, given: Readonly<Record<string, Tensor>>, threads: number) {
  const session = await DirectSession.create(toOnnx(graph), { threads });
  const results = await session.run(Object.fromEntries(graph.inputs.map(({ name }) => [name, given[name]])));
  await session.close();
  return results;
}

/** The rows' gradients, added to a table by index. */
function scattered(rows: Tensor): Tensor {
  const table = new Float32Array(config.vocabSize * config.hiddenSize);
  floatsOf(rows).forEach((value, i) => {
    const row = golden.ids.flat()[Math.floor(i / config.hiddenSize)];
    table[row * config.hiddenSize + (i % config.hiddenSize)] += value;
  });
  return { dtype: 'float32', dims: [config.vocabSize, config.hiddenSize], data: table };
}

describe.each([1, 2])('a padded batch through two layers of 16, %i threads', (threads) => {
  it('the forward pass gives u of transformers, and each gradient is PyTorch’s, max|Δ|/max|ref| ≤ 1e-5', async () => {
    const { g, u, outputs } = trained;
    const results = await run(subgraph(g, { name: 'step', outputs: { u, ...outputs } }), feeds, threads);
    expect(relativeDifference({ ...results.u, dims: golden.u.dims }, golden.u)).toBeLessThan(1e-5);
    const names = Object.keys(golden.gradients);
    expect(names.map((name) => `d ${name}`).sort()).toEqual(Object.keys(outputs).sort());
    for (const name of names) {
      const ours = results[`d ${name}`];
      const gradient = name === WORD_EMBEDDINGS ? scattered(ours) : ours;
      const difference = relativeDifference(gradient, golden.gradients[name], golden.gradients[scaleOf(name)]);
      expect(difference, name).toBeLessThan(1e-5);
    }
  });

  it('activations saved instead of computed again give the same gradients within 5e-6', async () => {
    const { g, u, numForward, outputs } = trained;
    const saved = savedValues(g, { outputs: Object.values(outputs), numForward });
    const kept = Object.fromEntries(saved.map((value) => [value.name, value]));
    const first = await run(subgraph(g, { name: 'forward', outputs: { u, ...kept } }), feeds, threads);
    const second = subgraph(g, { name: 'backward', outputs, given: saved });
    expect(g.nodes.slice(0, numForward).filter((node) => second.nodes.includes(node))).toEqual([]);
    const together = await run(subgraph(g, { name: 'step', outputs }), feeds, threads);
    const apart = await run(second, { ...feeds, ...first }, threads);
    for (const [name, gradient] of Object.entries(together))
      expect(relativeDifference(apart[name], gradient, golden.gradients[scaleOf(name.slice(2))]), name).toBeLessThan(
        5e-6,
      );
  });
});

/** Softmax forgets what is added to all keys alike, so the true gradient of their bias is 0: rounding, of queries' size. */
function scaleOf(name: string): string {
  return name.replace('key.bias', 'query.bias');
}

it('writes standard operators only', () => {
  expect(new Set(trained.g.nodes.map(({ domain }) => domain))).toEqual(new Set(['']));
});
