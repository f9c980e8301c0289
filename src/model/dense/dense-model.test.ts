/** Dense encoders give the vectors of sentence-transformers (scripts/golden-dense.py), by weights and by ONNX files. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { silentLogger } from '../../core/index.ts';
import { cast, concat, GraphBuilder, reshape, toOnnx } from '../../graph/index.ts';
import { bertEncoder } from '../bert-graph.ts';
import { Checkpoint } from '../checkpoint.ts';
import { writeSafetensors } from '../tensors/safetensors-writer.ts';
import { DenseModel, denseProduct } from './dense-model.ts';
import type { Role } from './dense-settings.ts';
import { looksDense } from './looks-dense.ts';

const GOLDEN = join(import.meta.dirname, '../../../test/golden');
const DENSE = join(GOLDEN, 'dense');

const vectors = z.array(z.array(z.number()));
const golden = z
  .object({
    texts: z.array(z.string()),
    models: z.array(z.object({ name: z.string(), queries: vectors, documents: vectors })),
  })
  .parse(JSON.parse(readFileSync(join(DENSE, 'expected.json'), 'utf8')));

async function encode(model: DenseModel, role: Role, logger = silentLogger): Promise<Float32Array[]> {
  const texts = golden.texts.map((text, i) => ({ id: String(i), text }));
  const found: Float32Array[] = [];
  for await (const { vector } of model.encode(texts, { role, logger })) found.push(vector);
  return found;
}

/** What a model warns of while it encodes both sides. */
async function warningsOf(model: DenseModel): Promise<string[]> {
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (message: string) => warnings.push(message) };
  await withModel(model, async () => {
    await encode(model, 'query', logger);
    await encode(model, 'document', logger);
  });
  return warnings;
}

/** Largest difference of any two numbers. */
function distance(found: readonly Float32Array[], expected: readonly (readonly number[])[]): number {
  expect(found.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
  return Math.max(...found.map((vector, i) => Math.max(...vector.map((x, j) => Math.abs(x - expected[i][j])))));
}

async function withModel<T>(model: DenseModel, work: (model: DenseModel) => Promise<T>): Promise<T> {
  try {
    return await work(model);
  } finally {
    await model.close();
  }
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-dense-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.each(golden.models)('the folder $name of sentence-transformers', ({ name, queries, documents }) => {
  it('gives its vectors to 1e-5, with its pooling, lengths and prompts', async () => {
    await withModel(await DenseModel.load(join(DENSE, name)), async (model) => {
      expect(distance(await encode(model, 'query'), queries)).toBeLessThan(1e-5);
      expect(distance(await encode(model, 'document'), documents)).toBeLessThan(1e-5);
    });
  });

  it('in int8 has a cosine of at least 0.98 with them', async () => {
    await withModel(await DenseModel.load(join(DENSE, name), { precision: 'int8', normalise: true }), async (model) => {
      const found = await encode(model, 'document');
      for (const [i, vector] of found.entries()) {
        const expected = Float32Array.from(documents[i]);
        const cosine = denseProduct(vector, expected) / Math.sqrt(denseProduct(expected, expected));
        expect(cosine, golden.texts[i]).toBeGreaterThan(0.98);
      }
    });
  });
});

/**
 * The encoder of the golden folder `name` as others export it, by input_ids and attention_mask: hidden states, or the
 * first of them as the vector of the text.
 */
async function exportGraph(name: string, output: 'last_hidden_state' | 'sentence_embedding'): Promise<void> {
  const checkpoint = await Checkpoint.open(join(DENSE, name));
  const weights = new Map<string, Float32Array>();
  for (const tensor of checkpoint.usedNames) weights.set(tensor, await checkpoint.read(tensor));
  const g = new GraphBuilder('states');
  const ids = g.input('input_ids', 'int64', ['B', 'T']);
  const mask = cast(g, g.input('attention_mask', 'int64', ['B', 'T']), 'float32');
  const parameters = (tensor: string) =>
    g.constant(
      tensor,
      { dtype: 'float32', shape: checkpoint.entry(tensor).shape },
      weights.get(tensor) ?? new Float32Array(0),
    );
  const { hidden, batchShape } = bertEncoder(g, checkpoint.config, parameters, { ids, mask });
  const size = checkpoint.config.hiddenSize;
  const target = concat(g, [batchShape, g.ints(size)], 3);
  const states = reshape(g, hidden, { target, shape: ['B', 'T', size] });
  const first = g.constant('first', { dtype: 'int64', shape: [] }, BigInt64Array.of(0n));
  const type = { dtype: 'float32', shape: ['B', size] } as const;
  const cls = g.node('Gather', [states, first], type, { attributes: { axis: 1 } });
  g.output(output, output === 'last_hidden_state' ? states : cls);
  cpSync(join(DENSE, name), folder, { recursive: true });
  rmSync(join(folder, 'model.safetensors'));
  mkdirSync(join(folder, 'onnx'));
  writeFileSync(join(folder, 'onnx', 'model.onnx'), toOnnx(g));
  await checkpoint.close();
}

describe('an ONNX file with hidden states', () => {
  it.each(golden.models)('$name is pooled to the same vectors', async ({ name, documents }) => {
    await exportGraph(name, 'last_hidden_state');
    expect(await looksDense(folder)).toBe(true);
    await withModel(await DenseModel.load(folder), async (model) => {
      expect(distance(await encode(model, 'document'), documents)).toBeLessThan(1e-5);
    });
  });
});

describe('an ONNX file with pooled vectors', () => {
  it('gives them as they are, and pooling is refused, which would have no effect', async () => {
    await exportGraph('cls', 'sentence_embedding');
    const expected = golden.models.find(({ name }) => name === 'cls')?.documents ?? [];
    await withModel(await DenseModel.load(folder), async (model) => {
      expect(distance(await encode(model, 'document'), expected)).toBeLessThan(1e-5);
    });
    rmSync(join(folder, 'modules.json'));
    expect(await warningsOf(await DenseModel.load(folder))).toEqual([]);
    await expect(DenseModel.load(folder, { pooling: 'mean' })).rejects.toThrow(
      'model.onnx gives pooled vectors (sentence_embedding): pooling mean has no effect',
    );
  });
});

/** A copy of the golden folder `mean` with one of its files changed. */
function changed(file: string, content: unknown): void {
  cpSync(join(DENSE, 'mean'), folder, { recursive: true });
  writeFileSync(join(folder, file), JSON.stringify(content));
}

describe('a Dense behind the pooling', () => {
  const [inputs, outputs] = [32, 3];
  const weight = Float32Array.from({ length: outputs * inputs }, (_, i) => Math.sin(i));
  const bias = Float32Array.of(0.1, -0.2, 0.3);
  const layer = { in_features: inputs, out_features: outputs, bias: true };
  const golds = golden.models.find(({ name }) => name === 'mean')?.documents ?? [];
  /** W·v + b of the golden vectors, which have length 1. */
  const sums = golds.map((v) =>
    Array.from(bias, (b, i) => v.reduce((sum, x, k) => sum + weight[i * inputs + k] * x, b)),
  );
  const unit = (v: readonly number[]): number[] => v.map((x) => x / Math.hypot(...v));

  /** The golden folder `mean` with other modules behind its pooling. */
  async function withModules(kinds: readonly string[], config: object): Promise<void> {
    const modules = ['Transformer', 'Pooling', ...kinds].map((kind, i) => ({
      path: i === 0 ? '' : kind === 'Dense' ? '9_Dense' : `${i}_${kind}`,
      type: `sentence_transformers.models.${kind}`,
    }));
    changed('modules.json', modules);
    mkdirSync(join(folder, '9_Dense'));
    writeFileSync(join(folder, '9_Dense/config.json'), JSON.stringify(config));
    await writeSafetensors(join(folder, '9_Dense/model.safetensors'), [
      { name: 'linear.weight', dtype: 'F32', shape: [outputs, inputs], values: weight },
      { name: 'linear.bias', dtype: 'F32', shape: [outputs], values: bias },
    ]);
  }

  it.each([
    ['Identity', ['Normalize', 'Dense'], sums],
    ['Identity', ['Normalize', 'Dense', 'Normalize'], sums.map(unit)],
    ['Tanh', ['Normalize', 'Dense'], sums.map((v) => v.map(Math.tanh))],
  ])('gives %s(W·v + b), to 1e-5: %s', async (activation, kinds, expected) => {
    await withModules(kinds, { ...layer, activation_function: `torch.nn.modules.${activation}` });
    await withModel(await DenseModel.load(folder), async (model) => {
      expect(distance(await encode(model, 'document'), expected)).toBeLessThan(1e-5);
      expect(await model.identity()).not.toBe(await (await DenseModel.load(join(DENSE, 'mean'))).identity());
    });
  });

  it('reads vectors as they are pooled where no Normalize stands before it', async () => {
    await withModules(['Dense', 'Normalize'], { ...layer, activation_function: 'Identity' });
    await withModel(await DenseModel.load(folder), async (model) => {
      const found = await encode(model, 'document');
      expect(distance(found, sums.map(unit))).toBeGreaterThan(1e-3);
      for (const v of found) expect(denseProduct(v, v)).toBeCloseTo(1, 5);
    });
  });

  it('that lzero cannot follow is refused: another activation, other shapes, another order', async () => {
    await withModules(['Dense'], { ...layer, activation_function: 'torch.nn.modules.activation.GELU' });
    await expect(DenseModel.load(folder)).rejects.toThrow(/activation_function: expected Identity or Tanh, got .*GELU/);
    rmSync(folder, { recursive: true });
    await withModules(['Dense'], { ...layer, out_features: 4, activation_function: 'Identity' });
    const model = await DenseModel.load(folder);
    await expect(encode(model, 'query')).rejects.toThrow('expected linear.weight of [4,32], found [3,32]');
    rmSync(folder, { recursive: true });
    await withModules(['Dense', 'Dense'], { ...layer, activation_function: 'Identity' });
    await expect(DenseModel.load(folder)).rejects.toThrow('got "Transformer, Pooling, Dense, Dense"');
  });
});

describe('settings of a dense encoder', () => {
  it('come from the folder, and options count before them', async () => {
    const said = await DenseModel.load(join(DENSE, 'mean'));
    const prefixes = { query: 'the river: ', document: 'old city ' };
    expect(said.settings).toEqual({ pooling: 'mean', normalise: true, maxLength: 16, prefixes });
    const options = { pooling: 'cls', normalise: false, maxLength: 8, queryPrefix: '', documentPrefix: 'x ' } as const;
    const asked = await DenseModel.load(join(DENSE, 'mean'), options);
    expect(asked.settings).toEqual({
      pooling: 'cls',
      normalise: false,
      maxLength: 8,
      prefixes: { query: '', document: 'x ' },
    });
    expect(await said.identity()).not.toBe(await asked.identity());
    expect(await said.identity()).toBe(await (await DenseModel.load(join(DENSE, 'mean'))).identity());
  });

  it('of a bare checkpoint are mean pooling, length 1 and all its positions', async () => {
    const { settings } = await DenseModel.load(join(GOLDEN, 'models/bert'));
    expect(settings).toMatchObject({ pooling: 'mean', normalise: true, prefixes: { query: '', document: '' } });
  });

  it('that nobody has said are warned of once: how a bare checkpoint is pooled', async () => {
    const bare = join(GOLDEN, 'models/bert');
    expect(await warningsOf(await DenseModel.load(bare))).toEqual([
      `${bare} does not say how it pools: the mean is taken; say pooling=mean or pooling=cls`,
    ]);
    expect(await warningsOf(await DenseModel.load(bare, { pooling: 'mean' }))).toEqual([]);
    expect(await warningsOf(await DenseModel.load(join(DENSE, 'cls')))).toEqual([]);
  });

  it.each([
    ['pooling_mode_cls_token', 'cls'],
    ['pooling_mode_mean_tokens', 'mean'],
  ])('are read in the words of older versions: %s', async (key, pooling) => {
    changed('1_Pooling/config.json', { word_embedding_dimension: 32, [key]: true, pooling_mode_max_tokens: false });
    expect((await DenseModel.load(folder)).settings.pooling).toBe(pooling);
  });

  it.each([
    ['1_Pooling/config.json', { pooling_mode: 'lasttoken' }, /pooling_mode: expected mean or cls, got "lasttoken"/],
    ['1_Pooling/config.json', { pooling_mode: ['mean', 'cls'] }, /got "mean, cls"/],
    ['1_Pooling/config.json', { pooling_mode: 'mean', include_prompt: false }, /include_prompt: expected true/],
    ['modules.json', [{ path: '', type: 'x.Transformer' }], /without a Pooling/],
    [
      'modules.json',
      [{ path: '', type: 'x.WordEmbeddings' }],
      /expected Transformer, Pooling, .* got "WordEmbeddings"/,
    ],
    ['sentence_bert_config.json', { max_seq_length: 100_000 }, /expected a whole number/],
  ])('that lzero cannot follow are refused: %s %j', async (file, content, message) => {
    changed(file, content);
    await expect(DenseModel.load(folder)).rejects.toThrow(message);
  });

  it('beyond the network are refused', async () => {
    await expect(DenseModel.load(join(DENSE, 'mean'), { maxLength: 1000 })).rejects.toThrow('maxLength 1000');
  });
});

describe('a folder that nobody called dense or sparse', () => {
  it('is dense where it pools to one vector, or has no head for terms', async () => {
    for (const name of ['mean', 'cls']) expect(await looksDense(join(DENSE, name))).toBe(true);
    for (const name of ['models/bert', 'models/st-router', 'models/opensearch', 'model/tied'])
      expect(await looksDense(join(GOLDEN, name)), name).toBe(false);
    cpSync(join(DENSE, 'mean'), folder, { recursive: true });
    rmSync(join(folder, 'modules.json'));
    expect(await looksDense(folder)).toBe(true);
    await expect(looksDense(join(folder, 'nowhere'))).rejects.toThrow('nowhere');
  });
});

it('a closed encoder encodes no more', async () => {
  const model = await DenseModel.load(join(DENSE, 'mean'));
  await model.close();
  await expect(encode(model, 'query')).rejects.toThrow('the model was closed');
});
