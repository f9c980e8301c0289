/** A tiny model folder without faults, and ways to break one thing about a copy of it. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openSafetensors, writeSafetensors } from '../../../src/model/index.ts';
import { goldenFolder } from '../model/fixtures.ts';
import { tokenizerJson } from '../text/fixtures.ts';

/** Tokens of the golden models. */
export const TOKENS = readFileSync(join(goldenFolder('tied'), 'vocab.txt'), 'utf8')
  .trimEnd()
  .split('\n');

/** Query weights: none is 0 or 1, and neighbours differ. */
export function idfTable(): Record<string, number> {
  return Object.fromEntries(TOKENS.map((token, id) => [token, 1.5 + (id % 7) / 2]));
}

/** What lzero.json of the sound model says. */
export const SETTINGS = {
  format: 1,
  kind: 'bert',
  name: 'tiny',
  specialTokens: 'drop',
  prune: { rule: 'none' },
  idf: 'idf.json',
  source: 'golden model',
  activation: 'relu',
  encodeLength: 128,
};

/** What tokenizer_config.json of the sound model says. */
export const TOKENIZER_CONFIG = {
  tokenizer_class: 'BertTokenizer',
  do_lower_case: true,
  strip_accents: null,
  tokenize_chinese_chars: true,
  unk_token: '[UNK]',
  cls_token: '[CLS]',
  sep_token: '[SEP]',
  pad_token: '[PAD]',
  mask_token: '[MASK]',
  model_max_length: 128,
};

/** Makes a model folder in which all files agree, from a golden model. */
export function writeSoundModel(folder: string, golden = 'tied'): void {
  cpSync(goldenFolder(golden), folder, { recursive: true });
  writeJson(folder, 'lzero.json', { ...SETTINGS, encodeLength: golden === 'untied' ? 48 : 128 });
  writeJson(folder, 'idf.json', idfTable());
  writeJson(folder, 'tokenizer.json', tokenizerJson(TOKENS));
  writeJson(folder, 'tokenizer_config.json', {
    ...TOKENIZER_CONFIG,
    model_max_length: golden === 'untied' ? 48 : 128,
  });
}

/** Writes a JSON file of a folder, and the folders on the way. */
export function writeJson(folder: string, name: string, value: unknown): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), `${JSON.stringify(value, undefined, 2)}\n`);
}

/** Changes some keys of a JSON file. */
export function changeJson(folder: string, name: string, changes: Readonly<Record<string, unknown>>): void {
  writeJson(folder, name, { ...JSON.parse(readFileSync(join(folder, name), 'utf8')), ...changes });
}

/** Removes a file. */
export function remove(folder: string, ...names: string[]): void {
  for (const name of names) rmSync(join(folder, name));
}

/** Overwrites the first value of some tensors with NaN. */
export async function putNaN(folder: string, ...names: string[]): Promise<void> {
  const path = join(folder, 'model.safetensors');
  const file = await openSafetensors(path);
  const bytes = readFileSync(path);
  for (const name of names) bytes.writeFloatLE(Number.NaN, file.tensors.get(name)?.place.offset ?? 0);
  await file.close();
  writeFileSync(path, bytes);
}

/** Writes the weights again with only those tensors that `keep` wants, their values changed by `change`. */
export async function rewriteWeights(
  folder: string,
  keep: (name: string) => boolean,
  change: (name: string, values: Float32Array) => Float32Array = (_, values) => values,
): Promise<void> {
  const path = join(folder, 'model.safetensors');
  const file = await openSafetensors(path);
  const tensors = await Promise.all(
    [...file.tensors.keys()].filter(keep).map(async (name) => ({
      name,
      dtype: 'F32' as const,
      shape: file.tensors.get(name)?.shape ?? [],
      values: change(name, await file.readFloat32(name)),
    })),
  );
  await file.close();
  await writeSafetensors(path, tensors);
}
