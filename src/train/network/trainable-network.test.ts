/** What holds the network together beside PyTorch's figures (trainer.golden.test.ts): pieces, seeds, kernels, frozen layers. */
import { cpSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NETWORKS as GOLDEN, golden, goldenNetwork } from '../../../test/golden/training/fixtures.ts';
import { relativeError } from '../../../test/lib/central-differences.ts';
import { ConfigError, Random, silentLogger } from '../../core/index.ts';
import type { Matrix } from '../../losses/index.ts';
import { matrix } from '../../losses/index.ts';
import { Checkpoint, TIED, TOPIC } from '../../model/index.ts';
import { NeuralEncoder } from '../../model/neural-encoder.ts';
import { topicHeadTensors } from '../../model/topic-head.ts';
import { writeWeights } from '../../model/write-weights.ts';
import { optimise } from '../optimiser.ts';
import type { NetworkOptions } from './trainable-encoder.ts';
import type { ForwardPass } from './trainable-network.ts';
import { TrainableNetwork } from './trainable-network.ts';

/** Those that PyTorch has trained, too, and one with a topic head, which is made here. */
const NETWORKS = [...GOLDEN, 'topic'] as const;
type NetworkName = (typeof NETWORKS)[number];

const MAX_LENGTH = 12;
const random = new Random(5);
/** 16 documents of 9 … 12 tokens. */
const documents = Array.from({ length: 16 }, (_, i) =>
  Int32Array.from([2, ...Array.from({ length: 7 + (i % 4) }, () => 5 + random.below(59)), 3]),
);

let folder: string;
const checkpoints = new Map<NetworkName, Checkpoint>();
const networks: TrainableNetwork[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-frozen-'));
  for (const name of GOLDEN) checkpoints.set(name, await Checkpoint.open(goldenNetwork(name)));
  // Terms that are always there, never, and just above their thresholds, where slopes are steep.
  const thresholds = {
    bias: (j: number) => [10, -10, -0.5][j % 3],
    ownBias: (j: number) => [0, -10, -0.7, -0.3][j % 4],
  };
  checkpoints.set('topic', await Checkpoint.open(await withTopicHead(join(folder, 'topic'), thresholds)));
});
afterAll(async () => {
  for (const network of networks) await network.close();
  for (const checkpoint of checkpoints.values()) await checkpoint.close();
  rmSync(folder, { recursive: true });
});

type Thresholds = Readonly<Record<'bias' | 'ownBias', (term: number) => number>>;

/** A golden encoder with a head of made-up numbers. */
async function withTopicHead(made: string, { bias, ownBias }: Thresholds): Promise<string> {
  const source = goldenNetwork('tied');
  cpSync(source, made, { recursive: true });
  const encoder = await Checkpoint.open(source);
  const { vocabSize, hiddenSize: width } = encoder.config;
  const chance = new Random(4);
  const head = {
    terms: { data: Float32Array.from({ length: vocabSize * width }, () => chance.normal()), width },
    mean: Float32Array.from({ length: width }, () => chance.normal() / 10),
    bias: Float32Array.from({ length: vocabSize }, (_, j) => bias(j)),
    ownBias: Float32Array.from({ length: vocabSize }, (_, j) => ownBias(j)),
  };
  await writeWeights(join(made, 'model.safetensors'), encoder, { added: topicHeadTensors(head) });
  await encoder.close();
  return made;
}

async function load(name: NetworkName, options: Partial<NetworkOptions> = {}): Promise<TrainableNetwork> {
  const checkpoint = checkpoints.get(name);
  if (!checkpoint) throw new Error(`${name} is not open`);
  return await loadFrom(checkpoint, options);
}

async function loadFrom(checkpoint: Checkpoint, options: Partial<NetworkOptions> = {}): Promise<TrainableNetwork> {
  const network = await TrainableNetwork.create(checkpoint, {
    idf: { values: Float32Array.from(golden.idf), isLearned: false },
    mode: 'recompute',
    frozenLayers: 0,
    freezeEmbeddings: false,
    maxCacheBytes: 1e7,
    dropout: 0,
    device: 'cpu',
    threads: 1,
    microBatchTokens: 16 * MAX_LENGTH,
    maxDocuments: 16,
    maxLength: MAX_LENGTH,
    ...options,
  });
  networks.push(network);
  return network;
}

/** Some ∂L/∂z of active terms. */
function slopes(z: Matrix): Matrix {
  const chance = new Random(9);
  const dZ = matrix(z.rows, z.cols);
  z.data.forEach((value, i) => {
    const slope = chance.uniform();
    if (value > 0) dZ.data[i] = slope;
  });
  return dZ;
}

/** Gradients of all that is trained, by name. */
function gradientsOf({ parameters }: TrainableNetwork): Map<string, Float32Array> {
  return new Map(Array.from(parameters.all).flatMap(({ name, gradients: g }) => (g ? [[name, g.slice()]] : [])));
}

async function gradientsIn(network: TrainableNetwork, seed = 1): Promise<Map<string, Float32Array>> {
  const pass = await network.forward(documents, seed);
  await network.backward(pass, slopes(pass.z));
  return gradientsOf(network);
}

/** Weights after three steps, and the last logits: every bit that training makes. */
async function bitsAfterSteps(network: TrainableNetwork, seed = 1): Promise<Map<string, Float32Array>> {
  const settings = { learningRate: 1e-2, weightDecay: 0.01 };
  const groups = { encoder: settings, head: settings, idf: settings };
  let pass: ForwardPass | undefined;
  for (let step = 0; step < 3; step++) {
    pass = await network.forward(documents, seed + step);
    await network.backward(pass, slopes(pass.z));
    const adam = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, clip: 1, step };
    optimise(network.kernel, network.parameters, { groups, ...adam });
  }
  const weights = Array.from(network.parameters.all, (p): [string, Float32Array] => [p.name, p.weights.slice()]);
  return new Map([...weights, ['z', pass?.z.data.slice() ?? new Float32Array()]]);
}

/** Key biases have gradients of 0 but for rounding. */
const KEY_BIAS = /\.key\.bias$/;

/** Within 1e-6 as a whole, ‖x − y‖/‖y‖, and within 3e-6 each: those of query and key nearly cancel in sums. */
function expectClose(actual: ReadonlyMap<string, Float32Array>, expected: ReadonlyMap<string, Float32Array>): void {
  const numbers = (gradients: ReadonlyMap<string, Float32Array>) =>
    Array.from(actual.keys()).flatMap((name) => Array.from(gradients.get(name) ?? []));
  const [x, y] = [numbers(actual), numbers(expected)];
  expect(Math.hypot(...x.map((value, i) => value - y[i])) / Math.hypot(...y)).toBeLessThan(1e-6);
  for (const [name, values] of actual) {
    if (KEY_BIAS.test(name)) continue;
    expect(relativeError(values, expected.get(name) ?? []), name).toBeLessThan(3e-6);
  }
}

describe.each(NETWORKS)('gradients of the %s network', (name) => {
  it('are the same within 1e-6 in pieces of 2, 4 and 16 documents, recomputed or saved', async () => {
    const whole = await gradientsIn(await load(name));
    for (const numDocs of [2, 4, 16])
      for (const mode of ['recompute', 'save'] as const) {
        const network = await load(name, { mode, microBatchTokens: numDocs * MAX_LENGTH });
        expectClose(await gradientsIn(network), whole);
      }
  });

  it('do not depend on what the network saw before', async () => {
    const network = await load(name, { microBatchTokens: 4 * MAX_LENGTH });
    const first = await gradientsIn(network);
    await network.backward(await network.forward(documents.slice(3, 5), 2), matrix(2, golden.idf.length));
    expect(await gradientsIn(network)).toEqual(first);
  });

  it('with dropout: moving the weights along them changes Σ g·z by ‖∂‖² within 1 %, recomputed or saved', async () => {
    for (const mode of ['recompute', 'save'] as const) {
      const network = await load(name, { mode, dropout: 0.2, microBatchTokens: 4 * MAX_LENGTH });
      const pass = await network.forward(documents, 7);
      const dZ = slopes(pass.z);
      await network.backward(pass, dZ);
      const gradients = gradientsOf(network);
      const norm2 = Array.from(gradients.values()).reduce((sum, g) => sum + g.reduce((s, x) => s + x * x, 0), 0);
      const h = 2e-4 / Math.sqrt(norm2); // few terms of a topic head cross a bend in between
      const moved = async (step: number): Promise<number> => {
        for (const [key, g] of gradients)
          network.kernel.addScaled(network.parameters.get(key).weights, inMemory(network, key, g), step);
        const { z } = await network.forward(documents, 7);
        return z.data.reduce((sum, value, i) => sum + (dZ.data[i] === 0 ? 0 : value * dZ.data[i]), 0);
      };
      const above = await moved(h);
      const below = await moved(-2 * h);
      expect((above - below) / (2 * h) / norm2).toBeCloseTo(1, 2);
    }
  });
});

/** Gradients that the next forward pass leaves alone, where the kernel can read them. */
function inMemory({ parameters }: TrainableNetwork, name: string, values: Float32Array): Float32Array {
  const { gradients } = parameters.get(name);
  if (!gradients) throw new Error(`${name} is not trained`);
  gradients.set(values);
  return gradients;
}

describe('the same bits', () => {
  it.each([1, 2])('come of the same seed, with dropout and %i threads; other seeds drop others', async (threads) => {
    const options = { dropout: 0.1, threads, microBatchTokens: 5 * MAX_LENGTH };
    const [first, second, other] = [await load('mlm', options), await load('mlm', options), await load('mlm', options)];
    const expected = await bitsAfterSteps(first, 1);
    expect(await bitsAfterSteps(second, 1)).toEqual(expected);
    expect((await bitsAfterSteps(other, 4)).get('z')).not.toEqual(expected.get('z'));
  });

  it('come of the kernels in WebAssembly and in TypeScript', async () => {
    const options = { dropout: 0.1, microBatchTokens: 5 * MAX_LENGTH };
    const [wasm, typescript] = [await load('tied', options), await load('tied', { ...options, kernel: 'typescript' })];
    expect([wasm.kernel.name, typescript.kernel.name]).toEqual(['wasm', 'typescript']);
    expect(await bitsAfterSteps(typescript)).toEqual(await bitsAfterSteps(wasm));
  });
});

const SOME_LAYERS = [
  { frozenLayers: 0, freezeEmbeddings: true },
  { frozenLayers: 0, freezeEmbeddings: true, freezeFeedForward: true },
  { frozenLayers: 1, freezeEmbeddings: false },
];

describe.each(NETWORKS)('frozen parts of the %s network', (name) => {
  const FREEZINGS = name === 'topic' ? SOME_LAYERS : [...SOME_LAYERS, { frozenLayers: 2, freezeEmbeddings: true }];

  it.each(FREEZINGS)('leave the gradients of the others as they are within 1e-6: %o', async (freezing) => {
    const expected = await gradientsIn(await load(name));
    for (const mode of ['recompute', 'save'] as const) {
      const gradients = await gradientsIn(await load(name, { ...freezing, mode, microBatchTokens: 4 * MAX_LENGTH }));
      expectClose(gradients, expected);
      expect(gradients.size).toBeLessThan(expected.size);
    }
  });

  it.each(FREEZINGS)('do not move; the head does: %o', async (freezing) => {
    const network = await load(name, freezing);
    const before = new Map(Array.from(network.parameters.all, (p) => [p.name, p.weights.slice()]));
    await bitsAfterSteps(network);
    const moved = Array.from(network.parameters.all)
      .filter((p) => relativeError(p.weights, before.get(p.name) ?? []) > 0)
      .map((p) => p.name);
    const bias = checkpoints.get(name)?.decoderBiasName ?? '';
    const ofHead = {
      mlm: [bias],
      tied: [bias, TIED.scale, TIED.inputShare],
      pooled: Object.values(TIED),
      topic: freezing.freezeEmbeddings ? [] : [TOPIC.terms], // thresholds never do
    };
    expect(moved).toEqual(expect.arrayContaining(ofHead[name]));
    const neverMove = [TOPIC.mean, TOPIC.bias, TOPIC.ownBias, ...(freezing.freezeEmbeddings ? [TOPIC.terms] : [])];
    expect(moved.filter((parameter) => neverMove.some((other) => other === parameter))).toEqual([]);
    expect(moved.filter((parameter) => parameter.startsWith('bert.embeddings.'))).toEqual([]);
    const layers = moved.map((parameter) => Number(/layer\.(\d+)/.exec(parameter)?.[1] ?? 2));
    expect(Math.min(...layers)).toBe(freezing.frozenLayers);
  });
});

describe('the cache of frozen layers', () => {
  const options = { frozenLayers: 1, dropout: 0.1, microBatchTokens: 5 * MAX_LENGTH };

  it('changes no bit: not filled, filled before, full, in pieces of other sizes', async () => {
    const expected = await bitsAfterSteps(await load('mlm', options));
    const cachePath = join(folder, 'bits.cache');
    for (let run = 0; run < 2; run++) {
      const network = await load('mlm', { ...options, cachePath });
      expect(await bitsAfterSteps(network)).toEqual(expected);
      await network.close();
    }
    const small = await load('mlm', { ...options, cachePath: join(folder, 'full.cache'), maxCacheBytes: 4000 });
    expect(await bitsAfterSteps(small)).toEqual(expected);
    const first = await load('mlm', { frozenLayers: 1, microBatchTokens: 1, cachePath });
    const second = await load('mlm', { frozenLayers: 1, microBatchTokens: 1 });
    expect(await bitsAfterSteps(first)).toEqual(await bitsAfterSteps(second));
  });

  it('takes each document once: 64 + 16 · 32 bytes and 4 bytes a state', async () => {
    const cachePath = join(folder, 'size.cache');
    const network = await load('tied', { ...options, cachePath });
    await bitsAfterSteps(network);
    const numTokens = documents.reduce((sum, { length }) => sum + length, 0);
    expect(statSync(cachePath).size).toBe(64 + 16 * 32 + 4 * 16 * numTokens);
  });

  it('says once that it is full', async () => {
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (message: string) => warnings.push(message) };
    const cachePath = join(folder, 'warned.cache');
    await bitsAfterSteps(await load('mlm', { ...options, cachePath, maxCacheBytes: 4000, logger }));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/is full with \d documents in 4000 bytes: .* engine\.frozenCacheBytes/);
  });

  it('is refused by another network', async () => {
    const cachePath = join(folder, 'other.cache');
    await (await load('mlm', { ...options, cachePath })).close();
    await expect(load('tied', { ...options, cachePath })).rejects.toThrow(/holds states of another network/);
    await expect(load('mlm', { ...options, frozenLayers: 2, cachePath })).rejects.toThrow(/of another network/);
  });
});

describe('logits of a topic head', () => {
  it('are those that the finished model gives, terms of the text with their own thresholds, within 1e-5', async () => {
    const made = await withTopicHead(join(folder, 'thresholds'), {
      bias: (j) => -((7 * j) % 10) / 10,
      ownBias: (j) => -((3 * j) % 10) / 5,
    });
    const rules = { activation: undefined, prune: { rule: 'none' }, droppedTerms: new Set<number>() } as const;
    const numTerms = golden.idf.length;
    const encoder = await NeuralEncoder.open(made, { ...rules, numTerms });
    const expected = await encoder.encodeBatch(documents, { on: false });
    await encoder.close();
    const checkpoint = await Checkpoint.open(made);
    const { z } = await (await loadFrom(checkpoint)).forward(documents, 1);
    await checkpoint.close();
    for (const [d, { terms, weights }] of expected.entries()) {
      const row = z.data.subarray(d * numTerms, (d + 1) * numTerms);
      expect(Array.from(row.keys()).filter((j) => row[j] > 0)).toEqual([...terms]);
      terms.forEach((term, i) => {
        expect(Math.abs(row[term] - weights[i])).toBeLessThan(1e-5);
      });
    }
  });

  it('of terms that are not sampled are 0, also where they stand in the text', async () => {
    const network = await load('topic');
    const every = (await network.forward(documents, 1)).z.data.slice();
    const terms = Uint32Array.from({ length: 20 }, (_, i) => 5 + 2 * i);
    const { z } = await network.forward(documents, 1, { terms });
    z.data.forEach((value, i) => {
      if (!terms.includes(i % z.cols)) expect(value).toBe(0);
      else if (Math.max(value, every[i]) > 0) expect(Math.abs(value - every[i])).toBeLessThan(1e-5);
    });
  });
});

describe('logits', () => {
  it('of every term are there when asked for; of active terms they are those of training within 1e-6', async () => {
    const network = await load('tied');
    const every = (await network.forward(documents, 1, { everyLogit: true })).z.data.slice();
    const { z } = await network.forward(documents, 1);
    expect(every.filter((value) => value < 0).length).toBeGreaterThan(z.data.filter((value) => value < 0).length);
    every.forEach((value, i) => {
      if (Math.max(value, z.data[i]) > 1e-6) expect(Math.abs(z.data[i] - value)).toBeLessThan(1e-6);
    });
  });

  it('are no numbers where the network gives none, though bounds and maxima would hide it', async () => {
    const network = await load('mlm');
    const before = await network.forward(documents, 1);
    await network.backward(before, slopes(before.z));
    network.parameters.get('bert.embeddings.LayerNorm.weight').weights[0] = Number.NaN;
    const { z, ...pass } = await network.forward(documents, 1);
    expect(z.data.every(Number.isNaN)).toBe(true);
    await network.backward({ z, ...pass }, z);
    const { gradients } = network.parameters.get('bert.embeddings.LayerNorm.weight');
    expect(gradients?.every(Number.isNaN)).toBe(true);
  });
});

it('more frozen layers than can be are an error that names the setting', async () => {
  await expect(load('mlm', { frozenLayers: 3 })).rejects.toThrow(ConfigError);
  await expect(load('topic', { frozenLayers: 2 })).rejects.toThrow(/engine\.freezeLayers is 2.*one has to learn/);
});
