/** A model ready for use: documents to vectors, queries to vectors. What it is made of is model-folder.ts's. */
import type { Logger, SparseVector } from '../core/index.ts';
import { ConfigError, EngineError, silentLogger } from '../core/index.ts';
import type { EncodedQuery, IdfTable, Tokenizer } from '../text/index.ts';
import { encodeQuery } from '../text/index.ts';
import { activate } from './activation.ts';
import { EMBEDDED_MODEL } from './embedded-model.ts';
import type { BatchEncoder, DocumentToEncode, EncodedDocument, EncodeOptions } from './encode.ts';
import { EMPTY_VECTOR, encodeStream } from './encode.ts';
import type { QueryTexts } from './encode-queries.ts';
import { encodeQueries } from './encode-queries.ts';
import { resolveModel } from './hub/resolve-model.ts';
import type { Precision } from './int8/precision.ts';
import { PRECISIONS } from './int8/precision.ts';
import type { CheckpointOptions } from './layouts/source-model.ts';
import type { ModelFolder } from './model-folder.ts';
import { readModelFolder } from './model-folder.ts';
import { modelIdentity } from './model-identity.ts';
import type { EncoderOptions } from './neural-encoder.ts';
import { NeuralEncoder, streamEncoder } from './neural-encoder.ts';
import { OnnxEncoder } from './onnx/onnx-encoder.ts';
import type { PruneRule } from './prune.ts';
import { prune } from './prune.ts';
import type { BertSettings, ModelSettings, OnnxSettings } from './settings.ts';
import { precisionOf } from './settings.ts';

/**
 * Logits of trained sparse models stay below this: splade-tiny's largest on SciFact is 13.9. The larger this is, the coarser
 * are the 255 steps of an index: the ten best by codes and by floats share 99.8 % at this value, 98.7 % at three times the
 * weight it stands for (bench/quantise.ts).
 */
const LARGE_LOGIT = 31;

/** How to load a model. */
export type LoadOptions = CheckpointOptions &
  EncoderOptions & {
    /** Folder of the cache that pulled models are in; that of the environment where left out. */
    readonly cache?: string | undefined;
  };

/** An encoder of documents and queries. Close it when done: a transformer keeps an engine thread. */
export class Model {
  readonly #folder: ModelFolder;
  readonly #options: EncoderOptions & { readonly name?: string | undefined };
  #encoder: Promise<NeuralEncoder | OnnxEncoder> | undefined;
  #closed = false;

  /** Use `loadModel`. */
  constructor(folder: ModelFolder, options: EncoderOptions & { readonly name?: string | undefined } = {}) {
    this.#folder = folder;
    this.#options = options;
  }

  /** What fixes this model's vectors. */
  get settings(): ModelSettings {
    return this.#folder.settings;
  }

  /** What the folder says, and which layout it has. */
  get source(): ModelFolder {
    return this.#folder;
  }

  /** Folder the model was read from. */
  get folder(): string {
    return this.#folder.folder;
  }

  /** What people call it: `default` for the embedded model, OWNER/NAME@COMMIT for a pulled one, else the folder. */
  get name(): string {
    return this.folder === EMBEDDED_MODEL ? 'default' : (this.#options.name ?? this.folder);
  }

  /**
   * The arithmetic of its network: what the caller chose, else what the folder was made for. That of an ONNX file is its
   * own, and without a network there is none but floats.
   */
  get precision(): Precision {
    const { settings } = this.#folder;
    const chosen = settings.kind === 'bert' ? this.#options.precision : undefined;
    return chosen ?? precisionOf(settings);
  }

  /** Weights of documents are below this, all but a few: what an index with 8-bit weights covers. */
  get maxWeight(): number {
    return this.settings.kind === 'bow' ? 1 : activate(LARGE_LOGIT, this.settings.activation);
  }

  /** Text to term ids. */
  get tokenizer(): Tokenizer {
    return this.#folder.tokenizer;
  }

  /** Weights of query terms. */
  get idf(): IdfTable {
    return this.#folder.idf;
  }

  /** A query as weighted terms: a table look-up, no network. */
  encodeQuery(text: string): EncodedQuery {
    return encodeQuery(this.#folder, text);
  }

  /** Documents as vectors, in input order. Memory does not grow with the input. */
  encode(
    documents: AsyncIterable<DocumentToEncode> | Iterable<DocumentToEncode>,
    options: EncodeOptions = {},
  ): AsyncGenerator<EncodedDocument> {
    return encodeStream(documents, this.#batchEncoder(options.logger), options);
  }

  /** Queries as the network sees them, in batches: for Siamese models. Inference-free ones need `encodeQuery` only. */
  encodeQueries(texts: QueryTexts, options: EncodeOptions = {}): AsyncGenerator<EncodedQuery> {
    return encodeQueries(this, texts, options);
  }

  /** sha256 of all that decides the vectors, the precision included: indexes keep it and refuse vectors of another. */
  identity(): Promise<string> {
    return modelIdentity(this.#folder, this.precision);
  }

  /** Ends the engine, if it was started. Streams that are still running fail. */
  async close(): Promise<void> {
    this.#closed = true;
    // One that failed to open has told so where it was asked for, and has nothing to close.
    await (await this.#encoder?.catch(() => undefined))?.close();
  }

  #batchEncoder(logger: Logger = silentLogger): BatchEncoder {
    const { settings, tokenizer } = this.#folder;
    if (settings.kind === 'bow') return bowEncoder(tokenizer, settings.prune);
    let isTold = false;
    return streamEncoder({
      tokenise: (text) => tokenizer.encodeForModel(text, settings.encodeLength),
      encodeBatch: async (batch, filterSwitch) => {
        const encoder = await this.#openEncoder(settings);
        if (!isTold && encoder.engineProblem)
          logger.warn(`encoding is slower than it could be: ${encoder.engineProblem}`);
        isTold = true;
        return await encoder.encodeBatch(batch, filterSwitch);
      },
    });
  }

  /** The network, loaded when it is first needed. */
  #openEncoder(settings: BertSettings | OnnxSettings): Promise<NeuralEncoder | OnnxEncoder> {
    if (this.#closed) throw new EngineError('the model was closed', { hint: 'load it again with loadModel' });
    const { encoderFolder, tokenizer } = this.#folder;
    const { size: numTerms, specialIds: droppedTerms } = tokenizer.vocabulary;
    const options = { ...this.#options, precision: this.precision };
    this.#encoder ??=
      settings.kind === 'onnx'
        ? OnnxEncoder.open(encoderFolder, { ...settings, droppedTerms, numTerms }, options)
        : NeuralEncoder.open(encoderFolder, { ...settings, droppedTerms, numTerms }, options);
    return this.#encoder;
  }
}

/** The model without a network. */
function bowEncoder(tokenizer: Tokenizer, rule: PruneRule): BatchEncoder {
  const { specialIds } = tokenizer.vocabulary;
  return {
    tokenise: (text) => {
      const ids = Int32Array.from(tokenizer.encode(text));
      return { ids, numTokens: ids.length };
    },
    encodeBatch: async (batch) => batch.map((ids) => prune(bagOfWords(ids, specialIds), rule)),
    emptyVector: EMPTY_VECTOR,
  };
}

/** w_j = 1 for each token of the text. */
function bagOfWords(ids: Int32Array, dropped: ReadonlySet<number>): SparseVector {
  const terms = Uint32Array.from(new Set(ids))
    .filter((j) => !dropped.has(j))
    .sort();
  return { terms, weights: new Float32Array(terms.length).fill(1) };
}

/**
 * Loads a model folder, or a Hugging Face checkpoint folder with `options`; a model that was pulled also by its name,
 * OWNER/NAME or OWNER/NAME@REVISION; without a folder the embedded model. The network itself is loaded when the first
 * document is encoded.
 */
export async function loadModel(folder: string = EMBEDDED_MODEL, options: LoadOptions = {}): Promise<Model> {
  const { threads, precision, cache, ...checkpoint } = options;
  if (threads !== undefined && !(Number.isInteger(threads) && threads > 0))
    throw new ConfigError(`threads is ${threads}, expected a whole number from 1`);
  if (precision !== undefined && !PRECISIONS.includes(precision))
    throw new ConfigError(`precision is ${precision}, expected ${PRECISIONS.join(' or ')}`);
  const found = await resolveModel(folder, cache);
  const isPlain = found.folder === EMBEDDED_MODEL && Object.values(checkpoint).every((value) => value === undefined);
  const model = isPlain ? await readEmbeddedModel() : await readModelFolder(found.folder, checkpoint, found.name);
  return new Model(model, { threads, precision, name: found.name });
}

let embedded: Promise<ModelFolder> | undefined;

/** The embedded model comes with the code, so it is read once. */
function readEmbeddedModel(): Promise<ModelFolder> {
  embedded ??= readModelFolder(EMBEDDED_MODEL).catch((error: unknown) => {
    embedded = undefined;
    throw error;
  });
  return embedded;
}
