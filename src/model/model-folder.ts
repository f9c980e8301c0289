/**
 * A model on disk: lzero.json, tokenizer, idf.json, and for transformers config.json and model.safetensors. A checkpoint
 * without lzero.json is read as SPLADE reads it, unless the caller says otherwise.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { CheckpointError, ConfigError, IdfError } from '../core/index.ts';
import type { IdfTable, Tokenizer } from '../text/index.ts';
import { createTokenizer, noIdf, parseIdf } from '../text/index.ts';
import type { Activation } from './activation.ts';
import { parseBertConfig } from './bert-config.ts';
import { WEIGHTS_FILE } from './checkpoint.ts';
import type { PruneRule } from './prune.ts';
import type { BertSettings, ModelSettings } from './settings.ts';
import { IDF_FILE, parseSettings, SETTINGS_FILE } from './settings.ts';

/** The model that ships with the package: no network, every token weighs 1. */
export const EMBEDDED_MODEL = fileURLToPath(new URL('../../models/bow/', import.meta.url));

/** What is in the folder, the weights excepted. */
export type ModelFolder = {
  readonly folder: string;
  readonly settings: ModelSettings;
  readonly tokenizer: Tokenizer;
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
  const path = join(folder, SETTINGS_FILE);
  const text = await readIfExists(path);
  const tokenizer = await readTokenizer(folder);
  if (text !== undefined) {
    refuseOptions(folder, options);
    const settings = parseSettings(text, path);
    const idf = await readIdf(settings.idf === 'none' ? 'none' : join(folder, IDF_FILE), tokenizer);
    return { folder, settings, tokenizer, idf };
  }
  const settings = await checkpointSettings(folder, options);
  const idf =
    options.idf === undefined ? await readDefaultIdf(folder, tokenizer) : await readIdf(options.idf, tokenizer);
  return { folder, settings, tokenizer, idf };
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

async function checkpointSettings(folder: string, options: CheckpointOptions): Promise<BertSettings> {
  const path = join(folder, 'config.json');
  const text = await readIfExists(path);
  if (text === undefined) {
    throw new CheckpointError(`${folder}: neither ${SETTINGS_FILE} nor config.json is there`, {
      hint: 'give a model folder made by lzero, or a Hugging Face checkpoint folder',
    });
  }
  const { maxPositions } = parseBertConfig(text, path);
  const encodeLength = options.encodeLength ?? Math.min(USUAL_LENGTH, maxPositions);
  if (encodeLength > maxPositions) {
    throw new ConfigError(`encode length ${encodeLength} is more than the ${maxPositions} positions of ${folder}`);
  }
  return {
    format: 1,
    kind: 'bert',
    name: basename(resolve(folder)),
    activation: options.activation ?? 'relu',
    encodeLength,
    prune: options.prune ?? { rule: 'none' },
    specialTokens: 'drop',
    idf: options.idf === 'none' ? 'none' : IDF_FILE,
    source: `checkpoint ${basename(resolve(folder))}`,
  };
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

async function readTokenizer(folder: string): Promise<Tokenizer> {
  const [tokenizerJson, vocabTxt, tokenizerConfig] = await Promise.all(
    TOKENIZER_FILES.map((name) => readIfExists(join(folder, name))),
  );
  return createTokenizer({ tokenizerJson, vocabTxt, tokenizerConfig, label: folder });
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

/** The text of a file, or undefined where there is none. */
export async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR')) {
      return undefined;
    }
    throw cause;
  }
}

/** Node's default of 64 KiB takes twice as long. */
const HASH_CHUNK_BYTES = 2 ** 20;

/** sha256 over all that decides a model's vectors: settings, tokenizer, IDF and weights. */
export async function modelIdentity({ folder, settings, idf, tokenizer }: ModelFolder): Promise<string> {
  const hash = createHash('sha256');
  const { name: _name, source: _source, ...decisive } = settings;
  hash.update(JSON.stringify(decisive));
  hash.update(JSON.stringify([tokenizer.vocabulary.tokens, tokenizer.wordPiece]));
  hash.update(new Uint8Array(idf.values.buffer, idf.values.byteOffset, idf.values.byteLength));
  if (settings.kind === 'bert') {
    await pipeline(
      createReadStream(join(folder, WEIGHTS_FILE), { highWaterMark: HASH_CHUNK_BYTES }),
      async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) hash.update(chunk);
      },
    );
  }
  return hash.digest('hex');
}
