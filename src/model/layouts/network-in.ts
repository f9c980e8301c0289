/** What kind of network lies in a folder, and how many tokens it can read. Opens no weights. */
import { join } from 'node:path';
import { z } from 'zod';
import { CheckpointError, ConfigError, printable } from '../../core/index.ts';
import { exists } from '../../files/index.ts';
import { parseBertConfig } from '../bert-config.ts';
import { readOnnxInterface } from '../onnx/onnx-interface.ts';
import type { OnnxSettings } from '../settings.ts';
import { WEIGHT_FILE_NAMES } from '../tensors/open-tensor-file.ts';
import { readJsonIfThere, readSmallFile } from './module-files.ts';

export { graphFiles } from '../onnx/graph-files.ts';

/** A network that we run ourselves, or one that is run as it is. */
export type NetworkKind = { readonly kind: 'bert' } | Pick<OnnxSettings, 'kind' | 'file' | 'output'>;

/** Where exporters put a graph. */
export const GRAPHS = ['model.onnx', 'onnx/model.onnx'];
/** The output of graphs that have the activation inside. */
const WEIGHTS_OUTPUT = 'sparse_weights';

/** The network of a folder. Weights come before a graph: they can be checked, and quantised. */
export async function networkIn(folder: string): Promise<NetworkKind> {
  if ((await weightsIn(folder)) !== undefined) return { kind: 'bert' };
  for (const file of GRAPHS) if (await exists(join(folder, file))) return await graphIn(folder, file);
  if (!(await exists(join(folder, 'adapter_config.json')))) return { kind: 'bert' };
  throw new CheckpointError(`${join(folder, 'adapter_config.json')}: the folder has an adapter, not a whole network`, {
    hint: 'merge it into its base model first, in Python with merge_and_unload()',
  });
}

/** The file of weights in a folder; undefined where there is none. */
export async function weightsIn(folder: string): Promise<string | undefined> {
  for (const name of WEIGHT_FILE_NAMES) if (await exists(join(folder, name))) return join(folder, name);
  return undefined;
}

async function graphIn(folder: string, file: string): Promise<NetworkKind> {
  const path = join(folder, file);
  const { outputs } = await readOnnxInterface(path);
  const perToken = outputs.filter(({ shape }) => shape.length === 3);
  if (perToken.length === 1) return { kind: 'onnx', file, output: { name: perToken[0].name, form: 'logits' } };
  const weights = outputs.find(({ name, shape }) => name === WEIGHTS_OUTPUT && shape.length === 2);
  if (weights) return { kind: 'onnx', file, output: { name: weights.name, form: 'weights' } };
  const found = printable(outputs.map(({ name, shape }) => `${name} [${shape.join(', ')}]`).join('; '));
  throw new ConfigError(
    `${path}: it is not known what its outputs mean: ${found}; expected one of [batch, tokens, terms], or ${WEIGHTS_OUTPUT} of [batch, terms]`,
    { hint: 'say it in a lzero.json beside the file: kind onnx, output.name, output.form' },
  );
}

/** What config.json says of any transformer. */
const anyConfig = z.looseObject({ max_position_embeddings: z.int().positive().optional() });

/** Positions of the network, if its config.json tells. */
export async function positionsIn(folder: string, { kind }: Pick<NetworkKind, 'kind'>): Promise<number | undefined> {
  const path = join(folder, 'config.json');
  if (kind === 'onnx') return (await readJsonIfThere(path, anyConfig))?.max_position_embeddings;
  const text = await readSmallFile(path);
  return text === undefined ? undefined : parseBertConfig(text, path).maxPositions;
}
