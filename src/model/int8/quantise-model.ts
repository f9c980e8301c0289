/**
 * A model folder with its matrices in 8-bit codes: a quarter of the size, and the vectors that the source gives with
 * precision int8. Everything else is as in the source.
 */
import { stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { ConfigError } from '../../core/index.ts';
import { writeFileAtomically } from '../../files/index.ts';
import { formatIdf } from '../../text/index.ts';
import { modelCard } from '../card.ts';
import { Checkpoint, WEIGHTS_FILE } from '../checkpoint.ts';
import { copyFiles, makeFolder } from '../folder-output.ts';
import { resolveModel } from '../hub/resolve-model.ts';
import type { CheckpointOptions } from '../layouts/source-model.ts';
import type { ModelFolder } from '../model-folder.ts';
import { readModelFolder, TOKENIZER_FILES } from '../model-folder.ts';
import type { BertSettings } from '../settings.ts';
import { formatSettings, IDF_FILE, SETTINGS_FILE } from '../settings.ts';
import type { TensorToWrite } from '../tensors/safetensors-writer.ts';
import { writeSafetensors } from '../tensors/safetensors-writer.ts';
import { quantiseRows } from './codes.ts';
import { matrixNames } from './matrix-names.ts';
import { scaleName } from './stored-codes.ts';

/** How to quantise a model; checkpoints without lzero.json take the options that they leave open. */
export type QuantiseOptions = CheckpointOptions & {
  /** Folder of the model or checkpoint to read, or the name of a pulled one. */
  readonly source: string;
  /** Folder to make. */
  readonly output: string;
  /** Replace a model folder that is there. */
  readonly force?: boolean | undefined;
};

/** What was made. */
export type QuantiseReport = {
  readonly settings: BertSettings;
  /** Size of the weights, before and after. */
  readonly sourceBytes: number;
  readonly sizeBytes: number;
};

/** Makes the folder. */
export async function quantiseModel({ source, output, force, ...options }: QuantiseOptions): Promise<QuantiseReport> {
  const model = await readModelFolder((await resolveModel(source)).folder, options);
  const settings = quantisedSettings(model, basename(resolve(output)));
  return await makeFolder(output, { inputs: [model.folder], force }, async (folder) => {
    const checkpoint = await Checkpoint.open(model.encoderFolder);
    try {
      const path = join(folder, WEIGHTS_FILE);
      await writeSafetensors(path, await quantisedTensors(checkpoint), { format: 'pt' });
      await writeRest(folder, { ...model, settings }, checkpoint);
      const [before, after] = [await stat(checkpoint.weightsPath), await stat(path)];
      return { settings, sourceBytes: before.size, sizeBytes: after.size };
    } finally {
      await checkpoint.close();
    }
  });
}

function quantisedSettings({ folder, settings }: ModelFolder, name: string): BertSettings {
  if (settings.kind === 'bert') return { ...settings, name, precision: 'int8' };
  const why = settings.kind === 'bow' ? 'has no network' : 'is an ONNX file, whose arithmetic is its own';
  throw new ConfigError(`${folder}: the model ${why}, so there are no weights to quantise`, {
    hint: 'quantise the checkpoint that it was made from',
  });
}

/** Matrices as codes and scales, the rest as float32. */
async function quantisedTensors(checkpoint: Checkpoint): Promise<TensorToWrite[]> {
  const matrices = matrixNames(checkpoint);
  const tensors: TensorToWrite[] = [];
  for (const name of checkpoint.usedNames) {
    const { shape } = checkpoint.entry(name);
    const values = await checkpoint.read(name);
    if (!matrices.has(name)) {
      tensors.push({ name, dtype: 'F32', shape, values });
      continue;
    }
    const { codes, scales } = quantiseRows(values, shape[1]);
    tensors.push({ name, dtype: 'I8', shape, values: codes });
    tensors.push({ name: scaleName(name), dtype: 'F32', shape: [scales.length], values: scales });
  }
  return tensors;
}

type QuantisedFolder = ModelFolder & { readonly settings: BertSettings };

async function writeRest(folder: string, model: QuantisedFolder, { head }: Checkpoint): Promise<void> {
  const { settings, tokenizer, encoderFolder, tokenizerFolder } = model;
  await copyFiles(encoderFolder, folder, ['config.json']);
  await copyFiles(tokenizerFolder, folder, TOKENIZER_FILES);
  if (settings.idf === IDF_FILE) {
    await writeFileAtomically(join(folder, IDF_FILE), formatIdf(model.idf, tokenizer.vocabulary));
  }
  const card = modelCard(settings, { head: head === 'none' ? undefined : head, tokenizer });
  await writeFileAtomically(join(folder, 'README.md'), card);
  await writeFileAtomically(join(folder, SETTINGS_FILE), formatSettings(settings));
}
