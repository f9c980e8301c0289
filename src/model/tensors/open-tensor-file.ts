/** Finds the file of weights in a checkpoint's folder and opens it, whichever of the known formats it has. */
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { CheckpointError, messageOf, printable } from '../../core/index.ts';
import { openSafetensors } from './safetensors.ts';
import type { TensorFile } from './tensor-file.ts';
import { openTorchFile } from './torch-file.ts';

type Opener = (path: string) => Promise<TensorFile>;

/** Files that hold all weights, the best first: safetensors can hold nothing but tensors. */
const WEIGHT_FILES: readonly (readonly [name: string, open: Opener])[] = [
  ['model.safetensors', openSafetensors],
  ['pytorch_model.bin', openTorchFile],
];

/** Their names, in this order. */
export const WEIGHT_FILE_NAMES: readonly string[] = WEIGHT_FILES.map(([name]) => name);

/** What transformers calls the weights of other frameworks. */
const OTHER_WEIGHTS = /^(?:tf_model\.h5|tf_model-.*\.h5|flax_model\.msgpack|model\.ckpt\..*)$/;

/** Names in a message about a folder without weights. */
const MAX_NAMES = 12;

/** Opens the weights of a folder: model.safetensors, or else pytorch_model.bin. Links are followed. */
export async function openTensorFile(folder: string): Promise<TensorFile> {
  const names = await namesIn(folder);
  for (const [name, open] of WEIGHT_FILES) if (names.includes(name)) return await open(await followLinks(folder, name));
  const index = WEIGHT_FILES.map(([name]) => `${name}.index.json`).find((name) => names.includes(name));
  if (index !== undefined)
    throw new CheckpointError(`${join(folder, index)}: the weights are split over several files, expected one`, {
      hint: 'save the checkpoint in one file, in Python with save_pretrained(folder, max_shard_size="100GB")',
    });
  const foreign = names.find((name) => OTHER_WEIGHTS.test(name));
  if (foreign !== undefined)
    throw new CheckpointError(`${join(folder, foreign)}: weights of TensorFlow or Flax, expected those of PyTorch`, {
      hint: 'save them anew with transformers 4: AutoModelForMaskedLM.from_pretrained(folder, from_tf=True), or from_flax=True, then save_pretrained',
    });
  throw new CheckpointError(`${folder} has neither model.safetensors nor pytorch_model.bin: ${listing(names)}`, {
    hint: 'a checkpoint folder has config.json, model.safetensors or pytorch_model.bin, and a tokenizer',
  });
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (cause) {
    throw new CheckpointError(`cannot read the folder ${folder}: ${messageOf(cause)}`, {
      hint: 'give the folder of a checkpoint',
      cause,
    });
  }
}

/** Where a file really is: a hub's cache holds links, and the engine maps only files inside the folder it is given. */
async function followLinks(folder: string, name: string): Promise<string> {
  const path = join(folder, name);
  try {
    return await realpath(path);
  } catch (cause) {
    throw new CheckpointError(`${path} is a link that leads nowhere: ${messageOf(cause)}`, {
      hint: 'fetch the checkpoint again',
      cause,
    });
  }
}

function listing(names: readonly string[]): string {
  if (names.length === 0) return 'it is empty';
  const rest = names.length - MAX_NAMES;
  return `there are ${printable(names.slice(0, MAX_NAMES).join(', '))}${rest > 0 ? ` and ${rest} more` : ''}`;
}
