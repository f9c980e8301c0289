/** Batches of token ids to dense vectors, by weights that we run ourselves or by an ONNX file as it is. */
import { CheckpointError, EngineError, printable } from '../../core/index.ts';
import type { Tensor } from '../../graph/index.ts';
import { Checkpoint } from '../checkpoint.ts';
import type { Network, RunnerOptions } from '../graph-runner.ts';
import { GraphRunner } from '../graph-runner.ts';
import type { Precision } from '../int8/precision.ts';
import { quantisedMatrices } from '../int8/quantised-matrices.ts';
import { overflow } from '../neural-encoder.ts';
import { OnnxNetwork } from '../onnx/onnx-network.ts';
import type { TokenIds } from '../padded-batch.ts';
import { longest } from '../padded-batch.ts';
import { denseGraph } from './dense-graph.ts';
import { DENSE_OUTPUTS, POOLED_OUTPUTS } from './dense-outputs.ts';
import type { DenseFolder, DenseSettings } from './dense-settings.ts';
import { readProjection } from './projection.ts';

/** Encodes batches of token ids. Close it when done. */
export type DenseNetwork = {
  /** Why the engine is not the best one that is installed. */
  readonly engineProblem: string | undefined;
  /** One vector for each text of the batch. */
  encodeBatch(batch: readonly TokenIds[]): Promise<Float32Array[]>;
  close(): Promise<void>;
};

/** How the network is run. */
export type DenseRunOptions = RunnerOptions & { readonly precision: Precision };

/** Loads the network of a folder into the engine. */
export async function openDenseNetwork(folder: DenseFolder, options: DenseRunOptions): Promise<DenseNetwork> {
  const { settings, projectionFolder } = folder;
  const { normalise, projection } = settings;
  if (projection === undefined || projectionFolder === undefined) return await openPooled(folder, options);
  const project = await readProjection(projectionFolder, projection);
  const pooled = await openPooled(
    { ...folder, settings: { ...settings, normalise: projection.ofUnitVectors } },
    options,
  );
  return {
    ...pooled,
    encodeBatch: async (batch) => {
      const vectors = (await pooled.encodeBatch(batch)).map((vector) => {
        if (vector.length === projection.inputs) return project(vector);
        throw unexpected(projectionFolder, [vector.length], `vectors of ${projection.inputs} numbers`);
      });
      return normalise ? vectors.map(unitLength) : vectors;
    },
  };
}

/** The network up to its pooled vectors, at length 1 where the settings say so. */
async function openPooled(folder: DenseFolder, options: DenseRunOptions): Promise<DenseNetwork> {
  if (folder.graph === undefined) return await openCheckpoint(folder, options);
  const network = await OnnxNetwork.open(folder.graph, options);
  try {
    return openGraph(network, folder.settings);
  } catch (error) {
    await network.close();
    throw error;
  }
}

async function openCheckpoint(
  { encoderFolder, settings }: DenseFolder,
  { precision, ...options }: DenseRunOptions,
): Promise<DenseNetwork> {
  const checkpoint = await Checkpoint.open(encoderFolder);
  try {
    const runner = await GraphRunner.open(checkpoint, networkOf(checkpoint, settings, precision), options);
    const run = async (batch: readonly TokenIds[]): Promise<Float32Array[]> =>
      rowsOf((await runner.run(batch)).vector, batch.length, encoderFolder);
    return {
      engineProblem: runner.engineProblem,
      // In integers one text at a time: the range of its activations is its own, whatever its neighbours are.
      encodeBatch:
        precision === 'int8'
          ? async (batch) => (await Promise.all(batch.map((ids) => run([ids])))).flat()
          : (batch) => run(batch),
      close: async () => {
        await runner.close();
        await checkpoint.close();
      },
    };
  } catch (error) {
    await checkpoint.close();
    throw error;
  }
}

function networkOf(checkpoint: Checkpoint, settings: DenseSettings, precision: Precision): Network {
  if (precision === 'fp32')
    return { visit: () => {}, graph: (source) => denseGraph(checkpoint, { ...settings, source }) };
  const { matrices, ...parts } = quantisedMatrices(checkpoint);
  return { ...parts, graph: (source) => denseGraph(checkpoint, { ...settings, source, matrices }) };
}

function openGraph(network: OnnxNetwork, settings: DenseSettings): DenseNetwork {
  const named = DENSE_OUTPUTS.find((name) => network.outputs.includes(name));
  if (named === undefined)
    throw new CheckpointError(
      `${network.path}: expected an output ${DENSE_OUTPUTS.join(', ')}, found ${printable(network.outputs.join(', '))}`,
      { hint: 'export the encoder with the hidden states of its last layer, or with pooled vectors' },
    );
  return {
    engineProblem: network.engineProblem,
    encodeBatch: async (batch) => {
      const output = (await network.run(batch))[named];
      const pooled = POOLED_OUTPUTS.includes(named)
        ? rowsOf(output, batch.length, network.path)
        : pool(output, batch, { ...settings, path: network.path });
      return settings.normalise ? pooled.map(unitLength) : pooled;
    },
    close: () => network.close(),
  };
}

/** Rows of a [B, H] tensor, checked. */
function rowsOf({ data, dims }: Tensor, numTexts: number, where: string): Float32Array[] {
  const [rows, width] = dims;
  if (!(data instanceof Float32Array) || dims.length !== 2 || rows !== numTexts || data.length !== rows * width)
    throw unexpected(where, dims, `[${numTexts}, H]`);
  if (!data.every(Number.isFinite)) throw overflow(where);
  return Array.from({ length: rows }, (_, b) => data.slice(b * width, (b + 1) * width));
}

/** Rows of a [B, T, H] tensor, pooled as dense-graph.ts does. */
function pool(
  { data, dims }: Tensor,
  batch: readonly TokenIds[],
  { pooling, path }: Pick<DenseSettings, 'pooling'> & { readonly path: string },
): Float32Array[] {
  const [numTexts, numTokens, width] = dims;
  const isRight = dims.length === 3 && numTexts === batch.length && numTokens === longest(batch);
  if (!(data instanceof Float32Array) || !isRight || data.length !== numTexts * numTokens * width)
    throw unexpected(path, dims, `[${batch.length}, ${longest(batch)}, H]`);
  if (!data.every(Number.isFinite)) throw overflow(path);
  return batch.map((ids, b) => {
    const states = data.subarray(b * numTokens * width, (b + 1) * numTokens * width);
    return pooling === 'cls' ? states.slice(0, width) : meanOf(states.subarray(0, ids.length * width), width);
  });
}

function meanOf(states: Float32Array, width: number): Float32Array {
  const mean = new Float32Array(width);
  for (let at = 0; at < states.length; at++) mean[at % width] += states[at];
  return mean.map((sum) => (sum * width) / states.length);
}

function unitLength(vector: Float32Array): Float32Array {
  const norm = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
  return norm > 0 ? vector.map((x) => x / norm) : vector;
}

function unexpected(where: string, dims: readonly number[], expected: string): EngineError {
  return new EngineError(`${where}: expected float32 ${expected}, got [${dims.join(', ')}]`, {
    hint: 'the file is no encoder of texts, or gives vectors in another form',
  });
}
