/**
 * A model on disk, of whatever layout, with everything that is needed but the weights: settings, sizes, tokenizer, query
 * weights. Which layout it is, and what that says, is found out in layouts/.
 */
import { join } from 'node:path';
import { CheckpointError, ConfigError } from '../core/index.ts';
import type { IdfTable, Tokenizer } from '../text/index.ts';
import { createTokenizer } from '../text/index.ts';
import type { BertConfig } from './bert-config.ts';
import { parseBertConfig } from './bert-config.ts';
import { WEIGHTS_FILE } from './checkpoint.ts';
import { readSourceModel, withOptions } from './layouts/find-layout.ts';
import { readSmallFile, readTextFile } from './layouts/module-files.ts';
import { weightsIn } from './layouts/network-in.ts';
import type { CheckpointOptions, SourceModel } from './layouts/source-model.ts';
import { numBelowZero, readQueryWeights } from './query-weights.ts';
import { MIN_ENCODE_LENGTH } from './settings.ts';

/** What is in the folder, the weights excepted. */
export type ModelFolder = SourceModel & {
  /** Sizes of the network, where it is one that we run ourselves. */
  readonly config: BertConfig | undefined;
  readonly tokenizer: Tokenizer;
  /** The text of the files that describe the tokenizer. */
  readonly tokenizerFiles: string;
  readonly idf: IdfTable;
};

/** Files that describe a tokenizer. */
export const TOKENIZER_FILES = ['tokenizer.json', 'vocab.txt', 'tokenizer_config.json'] as const;

/**
 * Reads a model folder of any layout, with `options` for what it leaves open.
 *
 * @param name what a pulled model is called
 */
export async function readModelFolder(
  folder: string,
  options: CheckpointOptions = {},
  name?: string | undefined,
): Promise<ModelFolder> {
  const source = withOptions(await readSourceModel(folder), options);
  return await completeModel(withOrigin(source, name), options.idf);
}

/** A pulled model comes from the hub, not from a folder of the cache; what lzero.json says of its origin stays. */
export function withOrigin(source: SourceModel, name: string | undefined): SourceModel {
  if (name === undefined || source.layout === 'lzero') return source;
  const [id] = name.split('@'); // its folder is called by the commit
  return { ...source, settings: { ...source.settings, name: id, source: `checkpoint ${name}` } };
}

/** Reads what a model that was found needs besides; `idf` is a table to use in place of its own. */
export async function completeModel(source: SourceModel, idf: string | undefined): Promise<ModelFolder> {
  const config = await readConfig(source);
  const { tokenizer, tokenizerFiles } = await readTokenizer(source.tokenizerFolder);
  checkFit({ ...source, config, tokenizer });
  await checkTokenizer(source, { tokenizer, tokenizerFiles });
  const weights = await readQueryWeights({ ...source, tokenizer }, idf);
  const notes = [...source.notes, ...weightNotes({ idf: weights.idf, tokenizer })];
  const settings =
    weights.queryWeights.kind === 'none' ? { ...source.settings, idf: 'none' as const } : source.settings;
  return { ...source, settings, notes, config, tokenizer, tokenizerFiles, ...weights };
}

async function readConfig({ encoderFolder, settings }: SourceModel): Promise<BertConfig | undefined> {
  if (settings.kind !== 'bert') return undefined;
  const path = join(encoderFolder, 'config.json');
  const text = await readSmallFile(path);
  return text === undefined ? undefined : parseBertConfig(text, path);
}

/** Settings, network and tokenizer must belong together: each alone may be sound. */
function checkFit({
  folder,
  encoderFolder,
  settings,
  config,
  tokenizer,
}: Pick<ModelFolder, 'folder' | 'encoderFolder' | 'settings' | 'config' | 'tokenizer'>): void {
  if (settings.kind === 'bow') return;
  if (settings.kind === 'bert' && config === undefined) {
    throw new CheckpointError(`${encoderFolder}: config.json is missing`, {
      hint: 'the folder is not whole: import it again',
    });
  }
  const { encodeLength } = settings;
  const limit = config?.maxPositions ?? Number.POSITIVE_INFINITY;
  if (encodeLength < MIN_ENCODE_LENGTH || encodeLength > limit) {
    throw new ConfigError(
      `${folder}: encode length ${encodeLength}; expected ${MIN_ENCODE_LENGTH} to ${limit}, the positions of the network`,
      { hint: 'choose one of these with --encode-length; what a document has beyond it is cut off' },
    );
  }
  if (config !== undefined && tokenizer.vocabulary.size > config.vocabSize) {
    throw new CheckpointError(
      `${folder}: the tokenizer has ${tokenizer.vocabulary.size} tokens, the network only ${config.vocabSize}`,
      { hint: 'tokenizer and weights belong to different models' },
    );
  }
}

type ReadTokenizer = Pick<ModelFolder, 'tokenizer' | 'tokenizerFiles'>;

/** tokenizer.json describes all; without it vocab.txt and tokenizer_config.json do. */
export async function readTokenizer(folder: string): Promise<ReadTokenizer> {
  const [tokenizerJson, vocabTxt, tokenizerConfig] = await Promise.all(
    TOKENIZER_FILES.map((name) => readTextFile(join(folder, name))),
  );
  const tokenizer = await createTokenizer({ tokenizerJson, vocabTxt, tokenizerConfig, label: folder });
  return { tokenizer, tokenizerFiles: tokenizerJson ?? JSON.stringify([vocabTxt, tokenizerConfig]) };
}

/** What a layout says of its tokenizers beyond their files must hold: we have one for documents and queries. */
async function checkTokenizer(source: SourceModel, own: ReadTokenizer): Promise<void> {
  const { queryTokenizerFolder, tokenizerFolder, lowerCase } = source;
  if (queryTokenizerFolder !== undefined && !isSame(own, await readTokenizer(queryTokenizerFolder)))
    throw new CheckpointError(`${queryTokenizerFolder}: its tokenizer is not that of ${tokenizerFolder}`, {
      hint: 'queries and documents must be cut into the same tokens: save the model again with one tokenizer',
    });
  if (lowerCase !== undefined && own.tokenizer.wordPiece?.normalization.lowercase !== true)
    throw new CheckpointError(`${lowerCase}: true, but the tokenizer in ${tokenizerFolder} keeps upper case`, {
      hint: 'let the tokenizer do it: set lowercase in tokenizer.json, then do_lower_case to false',
    });
}

/** Whether two tokenizers cut texts alike. */
function isSame(a: ReadTokenizer, b: ReadTokenizer): boolean {
  if (a.tokenizerFiles === b.tokenizerFiles) return true;
  if (!a.tokenizer.vocabulary.equals(b.tokenizer.vocabulary)) return false;
  const [one, other] = [a.tokenizer.wordPiece, b.tokenizer.wordPiece];
  if (one !== undefined && other !== undefined) return JSON.stringify(one) === JSON.stringify(other);
  return cutting(a.tokenizerFiles) === cutting(b.tokenizerFiles);
}

/** tokenizer.json without what does not cut: padding, truncation, and the special tokens around a text. */
function cutting(tokenizerJson: string): string {
  const { truncation: _t, padding: _p, post_processor: _s, ...rest } = JSON.parse(tokenizerJson);
  return JSON.stringify(rest);
}

/** Weights that others may read in another way. */
export function weightNotes({ idf, tokenizer }: Pick<ModelFolder, 'idf' | 'tokenizer'>): string[] {
  const numNegative = numBelowZero(idf, tokenizer);
  return numNegative === 0 ? [] : [`${numNegative} query weights are below 0: they count as 0`];
}

/** The file that holds the network; undefined where there is no network. */
export async function networkFile({ encoderFolder, settings }: SourceModel): Promise<string | undefined> {
  if (settings.kind === 'bow') return undefined;
  if (settings.kind === 'onnx') return join(encoderFolder, settings.file);
  return (await weightsIn(encoderFolder)) ?? join(encoderFolder, WEIGHTS_FILE);
}
