/**
 * Models that run on a server with the ML plugin, as the archives it takes: a tokenizer with query weights, so that the
 * server weighs queries as we do, and the network that encodes documents.
 *
 *     SPARSE_TOKENIZE   tokenizer.json, idf.json       no network; the server reads 512 tokens of a query at most
 *     SPARSE_ENCODING   tokenizer.json, model.onnx     inputs named as the server feeds them
 *
 * What the server does with idf.json differs from our queries in two places: a token that it lacks weighs 1, and a weight of
 * 0 makes the whole query fail. So every token is in the file, and what weighs nothing here weighs 10⁻⁶ there.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, type JsonObject } from '../core/index.ts';
import { type CheckpointOptions, convertModel, type Droppable, type Model, tokenizerRules } from '../model/index.ts';
import { formatIdf, type IdfTable } from '../text/index.ts';
import { MAX_QUERY_WEIGHT } from './queries.ts';
import { type ZipFile, zip } from './zip.ts';

/** A model for a server. */
export type MlModel = {
  /** All that is said of it when it is registered, but for where it comes from: hash and size of the archive included. */
  readonly config: JsonObject;
  /** A zip archive. */
  readonly archive: Buffer;
};

/** What a model is called on a server. A name that is there gets one more version. */
export type MlModelName = { readonly name: string; readonly version?: string | undefined };

/** The least that the server takes for a token that must not count. */
const LEAST_WEIGHT = 1e-6;

/** How the server names what it feeds to a network. */
const INPUT_PREFIX = 'input1.';

/** Tokenizer and query weights of a model. */
export async function tokenizerModel(model: Model, name: MlModelName): Promise<MlModel> {
  const { tokenizer, idf } = model;
  const files = [
    jsonFile('tokenizer.json', await tokenizerRules(model.source, { maxLength: undefined })),
    { name: 'idf.json', content: Buffer.from(formatIdf(serverWeights(model, idf), tokenizer.vocabulary)) },
  ];
  const about = `tokenizer and query weights of ${model.settings.name}`;
  return pack(files, { ...name, about, functionName: 'SPARSE_TOKENIZE', format: 'TORCH_SCRIPT' });
}

function serverWeights({ tokenizer: { vocabulary } }: Model, { values }: IdfTable): IdfTable {
  const tooLarge = values.findIndex((weight) => weight > MAX_QUERY_WEIGHT);
  if (tooLarge >= 0)
    throw new ConfigError(
      `the query token ${JSON.stringify(vocabulary.tokens[tooLarge])} weighs ${values[tooLarge]}; OpenSearch takes weights up to ${MAX_QUERY_WEIGHT}`,
      { hint: 'scale the table down: the order of answers stays' },
    );
  const isSilent = (id: number): boolean => vocabulary.specialIds.has(id);
  return { values: values.map((weight, id) => (isSilent(id) ? LEAST_WEIGHT : Math.max(LEAST_WEIGHT, weight))) };
}

/** What the network of a model is made of. */
export type EncoderModelOptions = CheckpointOptions & {
  /** What may be left out where an ONNX file has no place for it. */
  readonly drop?: readonly Droppable[] | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * The network of a model, in float32. The server cuts texts at 512 tokens and gives weights by token.
 *
 * @param source folder or name
 */
export async function encoderModel(
  source: string,
  name: MlModelName,
  options: EncoderModelOptions = {},
): Promise<MlModel> {
  const folder = await mkdtemp(join(tmpdir(), 'lzero-encoder-'));
  try {
    const output = join(folder, 'model');
    const { settings } = await convertModel({
      ...options,
      source,
      output,
      to: 'onnx',
      precision: 'fp32',
      inputPrefix: INPUT_PREFIX,
    });
    const files = await Promise.all(
      ['tokenizer.json', 'model.onnx'].map(async (file) => ({
        name: file,
        content: await readFile(join(output, file)),
      })),
    );
    const about = `document encoder, ${settings.source ?? settings.name}`;
    return pack(files, { ...name, about, functionName: 'SPARSE_ENCODING', format: 'ONNX' });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function jsonFile(name: string, value: unknown): ZipFile {
  return { name, content: Buffer.from(JSON.stringify(value)) };
}

type Packed = MlModelName & {
  readonly about: string;
  readonly functionName: 'SPARSE_TOKENIZE' | 'SPARSE_ENCODING';
  /** Of tokenizers it says nothing; released ones say so. */
  readonly format: 'TORCH_SCRIPT' | 'ONNX';
};

function pack(files: readonly ZipFile[], { name, version = '1.0.0', about, functionName, format }: Packed): MlModel {
  const archive = zip(files);
  return {
    archive,
    config: {
      name,
      version,
      description: about,
      function_name: functionName,
      model_format: format,
      model_content_size_in_bytes: archive.length,
      model_content_hash_value: createHash('sha256').update(archive).digest('hex'),
    },
  };
}
