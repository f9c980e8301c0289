/** Mean states under training: they are those of the model, and their gradients hold, in pieces and with frozen layers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NetworkName } from '../../../test/golden/training/fixtures.ts';
import { goldenNetwork, NETWORKS } from '../../../test/golden/training/fixtures.ts';
import { relativeError } from '../../../test/lib/central-differences.ts';
import { ConfigError, Random } from '../../core/index.ts';
import { cosineDistance, type Matrix, matrix } from '../../losses/index.ts';
import { Checkpoint } from '../../model/index.ts';
import { StatesNetwork } from './states-network.ts';
import type { NetworkOptions } from './trainable-encoder.ts';

const MAX_LENGTH = 12;
const HIDDEN = 16;
const random = new Random(5);
/** 16 documents of 9 … 12 tokens. */
const documents = Array.from({ length: 16 }, (_, i) =>
  Int32Array.from([2, ...Array.from({ length: 7 + (i % 4) }, () => 5 + random.below(59)), 3]),
);
const teacher = matrix(
  documents.length,
  HIDDEN,
  Float32Array.from({ length: documents.length * HIDDEN }, () => random.uniform() - 0.5),
);

let folder: string;
const checkpoints = new Map<NetworkName, Checkpoint>();
const networks: StatesNetwork[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-states-'));
  for (const name of NETWORKS) checkpoints.set(name, await Checkpoint.open(goldenNetwork(name)));
});
afterAll(async () => {
  for (const network of networks) await network.close();
  for (const checkpoint of checkpoints.values()) await checkpoint.close();
  rmSync(folder, { recursive: true });
});

async function load(options: Partial<NetworkOptions> = {}, name: NetworkName = 'mlm'): Promise<StatesNetwork> {
  const checkpoint = checkpoints.get(name);
  if (!checkpoint) throw new Error(`${name} is not open`);
  const network = await StatesNetwork.create(checkpoint, {
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

function gradientsOf({ parameters }: StatesNetwork): Map<string, Float32Array> {
  return new Map(Array.from(parameters.all).flatMap(({ name, gradients: g }) => (g ? [[name, g.slice()]] : [])));
}

async function gradientsIn(network: StatesNetwork): Promise<Map<string, Float32Array>> {
  const pass = await network.forward(documents, 1);
  await network.backward(pass, cosineDistance(pass.states, teacher).dH);
  return gradientsOf(network);
}

/** Key biases have gradients of 0 but for rounding. */
const KEY_BIAS = /\.key\.bias$/;

function expectClose(actual: ReadonlyMap<string, Float32Array>, expected: ReadonlyMap<string, Float32Array>): void {
  for (const [name, values] of actual)
    if (!KEY_BIAS.test(name)) expect(relativeError(values, expected.get(name) ?? []), name).toBeLessThan(1e-5);
}

describe('mean states', () => {
  it('are those of each document alone, whatever pieces it runs in, in the order of the documents', async () => {
    const alone = await load();
    const expected: Matrix = matrix(documents.length, HIDDEN);
    for (const [i, document] of documents.entries())
      expected.data.set((await alone.forward([document], 1)).states.data, i * HIDDEN);
    for (const numDocs of [2, 5, 16]) {
      const { states } = await (await load({ microBatchTokens: numDocs * MAX_LENGTH })).forward(documents, 1);
      expect(relativeError(states.data, expected.data)).toBeLessThan(1e-5);
    }
  });

  it('have an encoder and nothing else to train, whatever head the checkpoint has', async () => {
    for (const name of NETWORKS) {
      const { parameters } = await load({}, name);
      expect([...parameters.groups.keys()]).toEqual(['encoder']);
      for (const { name: parameter } of parameters.all) expect(parameter).toMatch(/^bert\./);
    }
  });
});

describe('gradients of the mean cosine distance', () => {
  it('are the same within 1e-5 in pieces of 2, 4 and 16 documents, recomputed or saved', async () => {
    const whole = await gradientsIn(await load());
    for (const numDocs of [2, 4, 16])
      for (const mode of ['recompute', 'save'] as const)
        expectClose(await gradientsIn(await load({ mode, microBatchTokens: numDocs * MAX_LENGTH })), whole);
  });

  it.each([0, 0.2])(
    'with dropout %f: moving the weights along them changes the loss by ‖∂‖² within 1 %',
    async (dropout) => {
      const network = await load({ dropout, microBatchTokens: 4 * MAX_LENGTH });
      const gradients = await gradientsIn(network);
      const norm2 = Array.from(gradients.values()).reduce((sum, g) => sum + g.reduce((s, x) => s + x * x, 0), 0);
      const h = 1e-2 / Math.sqrt(norm2);
      const lossAfter = async (step: number): Promise<number> => {
        for (const [name, g] of gradients) {
          const { weights } = network.parameters.get(name);
          g.forEach((slope, i) => {
            weights[i] += step * slope;
          });
        }
        return cosineDistance((await network.forward(documents, 1)).states, teacher).loss;
      };
      const above = await lossAfter(h);
      const below = await lossAfter(-2 * h);
      expect((above - below) / (2 * h) / norm2).toBeCloseTo(1, 2);
    },
  );

  it.each([
    { frozenLayers: 0, freezeEmbeddings: true },
    { frozenLayers: 0, freezeEmbeddings: true, freezeFeedForward: true },
    { frozenLayers: 1, freezeEmbeddings: false },
  ])('are the same of what is not frozen, with and without a cache: %o', async (freezing) => {
    const expected = await gradientsIn(await load());
    const cachePath = freezing.frozenLayers > 0 ? join(folder, 'states.cache') : undefined;
    for (let run = 0; run < 2; run++) {
      const network = await load({ ...freezing, cachePath, microBatchTokens: 5 * MAX_LENGTH });
      const gradients = await gradientsIn(network);
      expect(gradients.size).toBeLessThan(expected.size);
      expectClose(gradients, expected);
      await network.close();
      networks.pop();
    }
  });
});

it('more frozen layers than there are is an error that names the setting', async () => {
  await expect(load({ frozenLayers: 3 })).rejects.toThrow(ConfigError);
});
