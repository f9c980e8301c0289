/** A tiny model folder without faults, and ways to break one thing about a copy of it. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import {
  type CheckId,
  type CheckOptions,
  type CheckReport,
  type CheckResult,
  checkModel,
  openSafetensors,
  writeSafetensors,
} from '../../../src/model/index.ts';
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

/** The same without a network, for what is about words: no engine is started. */
export function writeSoundWords(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const { activation: _a, encodeLength: _e, ...settings } = SETTINGS;
  writeJson(folder, 'lzero.json', { ...settings, kind: 'bow' });
  writeJson(folder, 'idf.json', idfTable());
  writeFileSync(join(folder, 'vocab.txt'), `${TOKENS.join('\n')}\n`);
  writeJson(folder, 'tokenizer.json', tokenizerJson(TOKENS));
  writeJson(folder, 'tokenizer_config.json', TOKENIZER_CONFIG);
}

/** One result of a report, and whether anything in it changes scores. */
export type Found = CheckResult & Pick<CheckReport, 'changesScores'>;

/** Checks a model on the kit's own texts and gives one check of the report. */
export async function checkFor(id: CheckId, folder: string, options: CheckOptions = {}): Promise<Found> {
  const { checks, changesScores } = await checkModel(folder, options);
  const result = checks.find((check) => check.id === id);
  if (result === undefined) throw new Error(`no check ${id} in ${JSON.stringify(checks)}`);
  return { changesScores, ...result };
}

/** What a found difference that moves scores looks like. */
export const CHANGES = {
  changesScores: true,
  verdict: 'differs',
  fix: expect.stringMatching(/./),
  effect: {
    largestChange: expect.toSatisfy((x: number) => x > 1e-3),
    meanChange: expect.toSatisfy((x: number) => x > 0),
    numPairs: 14 * 14,
    numChangedScores: expect.toSatisfy((n: number) => n > 0),
    numQueries: 14,
    numChangedTopTens: expect.any(Number),
  },
};
/** What something that cannot be used looks like. */
export const BROKEN = { changesScores: true, verdict: 'broken', fix: expect.stringMatching(/./) };
/** What is in order looks like this. */
export const OK = { changesScores: false, verdict: 'ok' };

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
  await rewrite(folder, (name, values) => (keep(name) ? { name, values: change(name, values) } : undefined));
}

/** Gives tensors other names. */
export async function renameTensors(folder: string, rename: (name: string) => string): Promise<void> {
  await rewrite(folder, (name, values) => ({ name: rename(name), values }));
}

type NamedValues = { readonly name: string; readonly values: Float32Array };

async function rewrite(
  folder: string,
  change: (name: string, values: Float32Array) => NamedValues | undefined,
): Promise<void> {
  const path = join(folder, 'model.safetensors');
  const file = await openSafetensors(path);
  const tensors = await Promise.all(
    [...file.tensors].map(async ([name, { shape }]) => {
      const changed = change(name, await file.readFloat32(name));
      return changed ? [{ ...changed, dtype: 'F32' as const, shape }] : [];
    }),
  );
  await file.close();
  await writeSafetensors(path, tensors.flat());
}
