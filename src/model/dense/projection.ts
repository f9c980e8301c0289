/**
 * A linear layer behind the pooling of a dense encoder, sentence-transformers' Dense: vectors of another size.
 *
 *     v′ = φ(W·v + b)          φ the identity or tanh;  v at length 1 where a Normalize stands before it
 */
import { join } from 'node:path';
import { z } from 'zod';
import { CheckpointError } from '../../core/index.ts';
import { readJsonFile, unsupported } from '../layouts/module-files.ts';
import { openTensorFile } from '../tensors/open-tensor-file.ts';

/** What a folder says of the layer. */
export type ProjectionSettings = {
  readonly inputs: number;
  readonly outputs: number;
  readonly activation: 'identity' | 'tanh';
  /** Whether it reads vectors of length 1. */
  readonly ofUnitVectors: boolean;
};

/** The layer, its weights read: v to v′. */
export type Projection = (vector: Float32Array) => Float32Array;

/** Keys as sentence-transformers 6.2 writes them (`Dense.save`); φ is the class of a torch module. */
const configSchema = z.looseObject({
  in_features: z.int().positive(),
  out_features: z.int().positive(),
  activation_function: z.string().default('torch.nn.modules.activation.Tanh'),
});
const ACTIVATIONS: ReadonlyMap<string, ProjectionSettings['activation']> = new Map([
  ['Identity', 'identity'],
  ['Tanh', 'tanh'],
]);

/** Reads the config.json of a Dense module. */
export async function readProjectionSettings(folder: string): Promise<Omit<ProjectionSettings, 'ofUnitVectors'>> {
  const path = join(folder, 'config.json');
  const {
    in_features: inputs,
    out_features: outputs,
    activation_function: named,
  } = await readJsonFile(path, configSchema);
  const activation = ACTIVATIONS.get(named.split('.').at(-1) ?? '');
  if (activation === undefined)
    throw unsupported(`${path}: activation_function`, `expected Identity or Tanh, got ${named}`);
  return { inputs, outputs, activation };
}

/** Reads the weights: linear.weight [outputs, inputs], and linear.bias [outputs] if there is one. */
export async function readProjection(
  folder: string,
  { inputs, outputs, activation }: ProjectionSettings,
): Promise<Projection> {
  const file = await openTensorFile(folder);
  try {
    const read = async (name: string, shape: readonly number[]): Promise<Float32Array> => {
      const found = file.tensors.get(name)?.shape;
      if (found?.join() !== shape.join())
        throw new CheckpointError(
          `${file.path}: expected ${name} of [${shape}], found ${found ? `[${found}]` : 'none'}`,
          {
            hint: 'its config.json speaks of another layer, or the file is damaged: fetch it again',
          },
        );
      return await file.readFloat32(name);
    };
    const weight = await read('linear.weight', [outputs, inputs]);
    const bias = file.tensors.has('linear.bias') ? await read('linear.bias', [outputs]) : new Float32Array(outputs);
    return (vector) =>
      bias.map((b, i) => {
        let sum = b;
        for (let k = 0, at = i * inputs; k < inputs; k++, at++) sum += weight[at] * vector[k];
        return activation === 'tanh' ? Math.tanh(sum) : sum;
      });
  } finally {
    await file.close();
  }
}
