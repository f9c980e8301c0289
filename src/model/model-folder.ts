/**
 * A model on disk: lzero.json, tokenizer, idf.json, and for transformers config.json and model.safetensors. A checkpoint
 * without lzero.json is read as SPLADE reads it, unless the caller says otherwise.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CheckpointError, ConfigError, IdfError } from '../core/index.ts';
import { readIfExists } from '../files/index.ts';
import type { IdfTable, Tokenizer } from '../text/index.ts';
import { createTokenizer, noIdf, parseIdf } from '../text/index.ts';
import type { Activation } from './activation.ts';
import type { BertConfig } from './bert-config.ts';
import { parseBertConfig } from './bert-config.ts';
import { WEIGHTS_FILE } from './checkpoint.ts';
import type { PruneRule } from './prune.ts';
import type { BertSettings, ModelSettings } from './settings.ts';
import { IDF_FILE, MIN_ENCODE_LENGTH, parseSettings, SETTINGS_FILE } from './settings.ts';

/** The model that ships with the package: no network, every token weighs 1. */
export const EMBEDDED_MODEL = fileURLToPath(new URL('../../models/bow/', import.meta.url));

/** What is in the folder, the weights excepted. */
export type ModelFolder = {
  readonly folder: string;
  readonly settings: ModelSettings;
  /** Sizes of the network, where there is one. */
  readonly config: BertConfig | undefined;
  readonly tokenizer: Tokenizer;
  /** The text of the files that describe the tokenizer. */
  readonly tokenizerFiles: string;
  readonly idf: IdfTable;
};

/** Settings that a checkpoint without lzero.json leaves open. */
export type CheckpointOptions = {
  readonly activation?: Activation | undefined;
  readonly encodeLength?: number | undefined;
  readonly prune?: PruneRule | undefined;
  /** A table to use in place of the folder's or the embedded one; 'none' is weight 1. */
  readonly idf?: string | undefined;
};

/** Tokens that BERTs of the usual sizes can read. */
const USUAL_LENGTH = 512;

/** Files that describe a tokenizer. */
export const TOKENIZER_FILES = ['tokenizer.json', 'vocab.txt', 'tokenizer_config.json'] as const;

/** Reads a model folder, or a bare checkpoint with `options`. */
export async function readModelFolder(folder: string, options: CheckpointOptions = {}): Promise<ModelFolder> {
  await requireFolder(folder);
  const path = join(folder, SETTINGS_FILE);
  const text = await readIfExists(path);
  if (text !== undefined) refuseOptions(folder, options);
  const config = await readConfig(folder);
  const settings = text === undefined ? checkpointSettings(folder, config, options) : parseSettings(text, path);
  const { tokenizer, tokenizerFiles } = await readTokenizer(folder);
  checkFit({ folder, settings, config, tokenizer });
  const idf = await idfOf({ folder, settings, tokenizer, isModel: text !== undefined }, options.idf);
  return { folder, settings, config, tokenizer, tokenizerFiles, idf };
}

async function requireFolder(folder: string): Promise<void> {
  const stats = await stat(folder).catch(() => undefined);
  if (stats?.isDirectory()) return;
  throw new CheckpointError(`${folder || '""'} ${stats ? 'is not a folder' : 'does not exist'}`, {
    hint: 'give a model folder made by lzero, or a Hugging Face checkpoint folder',
  });
}

/** lzero.json has the last word: options beside it would make other vectors under the same name. */
function refuseOptions(folder: string, options: CheckpointOptions): void {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  if (given.length === 0) return;
  const names = given.map(([name]) => name).join(', ');
  throw new ConfigError(`${folder}: ${names} cannot be changed from outside, ${SETTINGS_FILE} fixes it`, {
    hint: `make another model with other settings: lzero model import ${folder} -o NEW_MODEL …`,
  });
}

async function readConfig(folder: string): Promise<BertConfig | undefined> {
  const path = join(folder, 'config.json');
  const text = await readIfExists(path);
  return text === undefined ? undefined : parseBertConfig(text, path);
}

function checkpointSettings(
  folder: string,
  config: BertConfig | undefined,
  { activation = 'relu', encodeLength, prune = { rule: 'none' }, idf }: CheckpointOptions,
): BertSettings {
  if (config === undefined) {
    throw new CheckpointError(`${folder}: neither ${SETTINGS_FILE} nor config.json is there`, {
      hint: 'give a model folder made by lzero, or a Hugging Face checkpoint folder',
    });
  }
  const name = basename(resolve(folder));
  return {
    format: 1,
    kind: 'bert',
    name,
    activation,
    encodeLength: encodeLength ?? Math.min(USUAL_LENGTH, config.maxPositions),
    prune,
    specialTokens: 'drop',
    idf: idf === 'none' ? 'none' : IDF_FILE,
    source: `checkpoint ${name}`,
  };
}

/** Settings, network and tokenizer must belong together: each alone may be sound. */
export function checkFit({
  folder,
  settings,
  config,
  tokenizer,
}: Pick<ModelFolder, 'folder' | 'settings' | 'config' | 'tokenizer'>): void {
  if (settings.kind === 'bow') return;
  if (config === undefined) {
    throw new CheckpointError(`${folder}: config.json is missing`, {
      hint: 'the folder is not whole: import it again',
    });
  }
  const { encodeLength } = settings;
  if (encodeLength < MIN_ENCODE_LENGTH || encodeLength > config.maxPositions) {
    throw new ConfigError(
      `${folder}: encode length ${encodeLength}; expected ${MIN_ENCODE_LENGTH} to ${config.maxPositions}, the positions of the network`,
      { hint: 'choose one of these with --encode-length; what a document has beyond it is cut off' },
    );
  }
  if (tokenizer.vocabulary.size > config.vocabSize) {
    throw new CheckpointError(
      `${folder}: the tokenizer has ${tokenizer.vocabulary.size} tokens, the network only ${config.vocabSize}`,
      { hint: 'tokenizer and weights belong to different models' },
    );
  }
}

type IdfOwner = Pick<ModelFolder, 'folder' | 'settings' | 'tokenizer'> & { readonly isModel: boolean };

function idfOf({ folder, settings, tokenizer, isModel }: IdfOwner, chosen: string | undefined): Promise<IdfTable> {
  if (settings.idf === 'none') return readIdf('none', tokenizer);
  if (chosen !== undefined) return readIdf(chosen, tokenizer);
  return isModel ? readIdf(join(folder, IDF_FILE), tokenizer) : readDefaultIdf(folder, tokenizer);
}

/** The checkpoint's own table, else the embedded one, which fits BERT's uncased vocabulary only. */
async function readDefaultIdf(folder: string, tokenizer: Tokenizer): Promise<IdfTable> {
  const own = join(folder, IDF_FILE);
  const text = await readIfExists(own);
  if (text !== undefined) return parseIdf(text, tokenizer.vocabulary, own);
  try {
    return await readIdf(join(EMBEDDED_MODEL, IDF_FILE), tokenizer);
  } catch (cause) {
    if (!(cause instanceof IdfError)) throw cause;
    throw new ConfigError(`${folder}: there is no ${IDF_FILE}, and the embedded one is for another vocabulary`, {
      hint: 'give query weights: --idf FILE (lzero model idf makes one), or --idf none for weight 1',
      cause,
    });
  }
}

/** tokenizer.json describes all; without it vocab.txt and tokenizer_config.json do. */
async function readTokenizer(folder: string): Promise<Pick<ModelFolder, 'tokenizer' | 'tokenizerFiles'>> {
  const [tokenizerJson, vocabTxt, tokenizerConfig] = await Promise.all(
    TOKENIZER_FILES.map((name) => readIfExists(join(folder, name))),
  );
  const tokenizer = await createTokenizer({ tokenizerJson, vocabTxt, tokenizerConfig, label: folder });
  return { tokenizer, tokenizerFiles: tokenizerJson ?? JSON.stringify([vocabTxt, tokenizerConfig]) };
}

/** Reads an IDF table for a tokenizer; 'none' gives every token weight 1. */
export async function readIdf(path: string, tokenizer: Tokenizer): Promise<IdfTable> {
  if (path === 'none') return noIdf(tokenizer.vocabulary);
  const text = await readIfExists(path);
  if (text === undefined) {
    throw new ConfigError(`${path}: no such file`, { hint: 'compute one: lzero model idf INPUT -o idf.json' });
  }
  return parseIdf(text, tokenizer.vocabulary, path);
}

/** Node's default of 64 KiB takes longer. */
const HASH_CHUNK_BYTES = 2 ** 20;

/** sha256 over all that decides a model's vectors: settings, network, tokenizer, IDF and weights. */
export async function modelIdentity({ folder, settings, config, idf, tokenizerFiles }: ModelFolder): Promise<string> {
  const hash = createHash('sha256');
  const { name: _name, source: _source, ...decisive } = settings;
  hash.update(JSON.stringify([decisive, config, tokenizerFiles]));
  hash.update(new Uint8Array(idf.values.buffer, idf.values.byteOffset, idf.values.byteLength));
  if (settings.kind === 'bert') {
    const weights = createReadStream(join(folder, WEIGHTS_FILE), { highWaterMark: HASH_CHUNK_BYTES });
    for await (const chunk of weights) hash.update(chunk);
  }
  return hash.digest('hex');
}
