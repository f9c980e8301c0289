/** A model ready for use: documents to vectors, queries to vectors. What it is made of is model-folder.ts's. */
import type { Logger, SparseVector } from '../core/index.ts';
import { ConfigError, EngineError, silentLogger, sumOf } from '../core/index.ts';
import type { EncodedQuery, IdfTable, Tokenizer } from '../text/index.ts';
import { encodeQuery } from '../text/index.ts';
import { activate } from './activation.ts';
import { DEFAULT_MODEL, embeddedFolder } from './embedded-model.ts';
import type { BatchEncoder, DocumentToEncode, EncodedDocument, EncodeOptions } from './encode.ts';
import { EMPTY_VECTOR, encodeStream } from './encode.ts';
import type { QueryTexts } from './encode-queries.ts';
import { encodeQueries } from './encode-queries.ts';
import { checkThreads } from './graph-runner.ts';
import type { ResolvedModel } from './hub/resolve-model.ts';
import { resolveModel } from './hub/resolve-model.ts';
import type { Precision } from './int8/precision.ts';
import { PRECISIONS } from './int8/precision.ts';
import type { CheckpointOptions } from './layouts/source-model.ts';
import type { LexicalRule } from './lexical.ts';
import { lexicalPart } from './lexical.ts';
import type { ModelFolder } from './model-folder.ts';
import { readModelFolder } from './model-folder.ts';
import { modelIdentity } from './model-identity.ts';
import type { EncoderOptions } from './neural-encoder.ts';
import { NeuralEncoder, streamEncoder } from './neural-encoder.ts';
import { OnnxEncoder } from './onnx/onnx-encoder.ts';
import type { PruneRule } from './prune.ts';
import { prune } from './prune.ts';
import type { BertSettings, ModelSettings, OnnxSettings } from './settings.ts';
import { lexicalOf, precisionOf } from './settings.ts';

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

  /** What people call it: `default` or `bow` for those that ship, OWNER/NAME@COMMIT for a pulled one, else the folder. */
  get name(): string {
    return this.#options.name ?? this.folder;
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
    if (this.settings.kind === 'bow') return 1;
    return activate(LARGE_LOGIT, this.settings.activation) + (lexicalOf(this.settings)?.gain ?? 0);
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
    const lexical = lexicalOf(settings);
    let isTold = false;
    return streamEncoder({
      tokenise: (text) => tokenizer.encodeForModel(text, settings.encodeLength),
      ...(lexical && { complete: this.#withLexicalPart(lexical, settings.prune) }),
      encodeBatch: async (batch, filterSwitch) => {
        const encoder = await this.#openEncoder(settings);
        if (!isTold && encoder.engineProblem)
          logger.warn(`encoding is slower than it could be: ${encoder.engineProblem}`);
        isTold = true;
        return await encoder.encodeBatch(batch, filterSwitch);
      },
    });
  }

  /** The network's vector with the lexical part of the text, pruned as a whole. */
  #withLexicalPart(lexical: LexicalRule, rule: PruneRule): NonNullable<BatchEncoder['complete']> {
    const { tokenizer, idf } = this.#folder;
    const terms = { idf: idf.values, droppedTerms: tokenizer.vocabulary.specialIds };
    return (vector, { textIds }) => prune(sumOf(vector, lexicalPart(textIds, lexical, terms)), rule);
  }

  /** The network, loaded when it is first needed. */
  #openEncoder(settings: BertSettings | OnnxSettings): Promise<NeuralEncoder | OnnxEncoder> {
    if (this.#closed) throw new EngineError('the model was closed', { hint: 'load it again with loadModel' });
    const { encoderFolder, tokenizer } = this.#folder;
    const { size: numTerms, specialIds: droppedTerms } = tokenizer.vocabulary;
    const options = { ...this.#options, precision: this.precision };
    const isPrunedLater = lexicalOf(settings) !== undefined;
    const rule: PruneRule = isPrunedLater ? { rule: 'none' } : settings.prune;
    this.#encoder ??=
      settings.kind === 'onnx'
        ? OnnxEncoder.open(encoderFolder, { ...settings, droppedTerms, numTerms }, options)
        : NeuralEncoder.open(encoderFolder, { ...settings, prune: rule, droppedTerms, numTerms }, options);
    return this.#encoder;
  }
}

/** The model without a network. */
function bowEncoder(tokenizer: Tokenizer, rule: PruneRule): BatchEncoder {
  const { specialIds } = tokenizer.vocabulary;
  return {
    tokenise: (text) => {
      const textIds = tokenizer.encode(text);
      return { ids: Int32Array.from(textIds), numTokens: textIds.length, textIds };
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
 * OWNER/NAME or OWNER/NAME@REVISION; `default` and `bow` ship with the package, and without a folder it is the first. The
 * network itself is loaded when the first document is encoded.
 */
export async function loadModel(folder: string = DEFAULT_MODEL, options: LoadOptions = {}): Promise<Model> {
  const { threads, precision, cache, ...checkpoint } = options;
  checkThreads({ threads });
  if (precision !== undefined && !PRECISIONS.includes(precision))
    throw new ConfigError(`precision is ${precision}, expected ${PRECISIONS.join(' or ')}`);
  const found = await resolveModel(folder, cache);
  const isPlain = Object.values(checkpoint).every((value) => value === undefined);
  const isEmbedded = embeddedFolder(folder) !== undefined;
  const model =
    isPlain && isEmbedded ? await readEmbedded(found) : await readModelFolder(found.folder, checkpoint, found.name);
  return new Model(model, { threads, precision, name: found.name });
}

const embedded = new Map<string, Promise<ModelFolder>>();

/** Embedded models come with the code, so they are read once. */
function readEmbedded({ folder, name }: ResolvedModel): Promise<ModelFolder> {
  const known = embedded.get(folder);
  if (known) return known;
  const reading = readModelFolder(folder, {}, name);
  embedded.set(folder, reading);
  reading.catch(() => embedded.delete(folder));
  return reading;
}
