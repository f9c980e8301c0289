/**
 * A Hugging Face BERT or DistilBERT on disk: config.json and the file of weights, checked against each other. Names are
 * those of BertForMaskedLM; checkpoints that spell them in another way are read under the same names (tensor-names.ts).
 */
import { basename, join } from 'node:path';
import { CheckpointError, InterruptedError, printable } from '../core/index.ts';
import type { BertConfig } from './bert-config.ts';
import { isDistilBert, parseBertConfig } from './bert-config.ts';
import { codesOf, readStoredCodes, scaleName, shapeOfValues } from './int8/stored-codes.ts';
import { readSmallFile } from './layouts/module-files.ts';
import {
  DECODER,
  DECODER_BIAS,
  isKnownToOthers,
  MLM_BIAS,
  namesInFile,
  TIED,
  TOPIC,
  WORD_EMBEDDINGS,
} from './tensor-names.ts';
import { openTensorFile } from './tensors/open-tensor-file.ts';
import type { ReusedMemory } from './tensors/reused-memory.ts';
import type { Place, StoredTensor, TensorFile } from './tensors/tensor-file.ts';
import { tensorLabel } from './tensors/weights-file.ts';

export { TIED, TOPIC, WORD_EMBEDDINGS } from './tensor-names.ts';

/** The file that holds the weights of the model folders that we make. */
export const WEIGHTS_FILE = 'model.safetensors';

/** What turns hidden states into term logits: BERT's own MLM head, one that lzero made, or nothing yet. */
export type Head = 'mlm' | OwnHead | 'none';
/** Heads of our own: of the word embeddings, or with a vector of its own for each term. */
export type OwnHead = TiedKind | 'topic';
/** Heads that are made of the word embeddings (tied-head.ts); `pooled` also reads the mean state of the document. */
export const TIED_KINDS = ['tied', 'pooled'] as const;
/** One of them. */
export type TiedKind = (typeof TIED_KINDS)[number];

/** Whether a head is made of the word embeddings. */
export function isTiedKind(head: Head): head is TiedKind {
  return TIED_KINDS.some((kind) => kind === head);
}

/** Whether lzero made a head. */
export function isOwnHead(head: Head): head is OwnHead {
  return head === 'topic' || isTiedKind(head);
}

/** Parameters of the encoder; what it counts positions and types with are none. */
const ENCODER_NAME = /^bert\.(?:encoder\.layer\.|embeddings\.(?!position_ids|token_type_ids))/;
/** The end of the names of scales (int8/stored-codes.ts). */
const SCALES = /_scale$/;

/** Bytes of a float32; engines want them at multiples of that. */
const FLOAT_BYTES = 4;

/** An open checkpoint. Close it when done. */
export class Checkpoint {
  readonly folder: string;
  readonly config: BertConfig;
  readonly head: Head;
  readonly #file: TensorFile;
  /** BertForMaskedLM's names → names in the file. */
  readonly #namesInFile: ReadonlyMap<string, string>;
  readonly #signal: AbortSignal | undefined;

  /**
   * Opens a folder and checks that every tensor the encoder and its head need is there, in its shape. `signal` stops
   * whoever reads tensor after tensor with `InterruptedError`.
   */
  static async open(
    folder: string,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Checkpoint> {
    const config = await readConfig(folder);
    const file = await openTensorFile(folder);
    try {
      return new Checkpoint(folder, config, { file, signal });
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  private constructor(
    folder: string,
    config: BertConfig,
    { file, signal }: { readonly file: TensorFile; readonly signal: AbortSignal | undefined },
  ) {
    this.folder = folder;
    this.config = config;
    this.#file = file;
    this.#signal = signal;
    this.#namesInFile = namesInFile(file.tensors.keys(), file.path);
    this.head = this.#kindOfHead();
    for (const [name, shape] of expectedTensors(config, this.head)) this.#check(name, shape);
    this.#refuseMoreLayers();
    this.#refuseUnknownParts();
    this.#refuseUnknownHead();
    this.#refuseLostDecoder();
    if (this.decoderName === DECODER) this.#check(DECODER, [config.vocabSize, config.hiddenSize]);
    if (this.head === 'mlm') this.#check(this.decoderBiasName, [config.vocabSize]);
  }

  /**
   * The decoder's weights, [V, H]: a topic head's own, the word embeddings where they are tied. A decoder that the file has counts, also
   * against config.json, as in transformers 5; older versions put the word embeddings in its place.
   */
  get decoderName(): string {
    if (this.head === 'topic') return TOPIC.terms;
    if (this.head !== 'mlm' || !this.#has(DECODER)) return WORD_EMBEDDINGS;
    return samePlace(this.entry(DECODER), this.entry(WORD_EMBEDDINGS)) ? WORD_EMBEDDINGS : DECODER;
  }

  /** The decoder's bias, [V]. */
  get decoderBiasName(): string {
    if (this.head === 'topic') return TOPIC.bias;
    if (isTiedKind(this.head)) return TIED.bias;
    return this.#has(DECODER_BIAS) ? DECODER_BIAS : MLM_BIAS;
  }

  /** The tensors that encoding reads. */
  get usedNames(): string[] {
    const names = Array.from(expectedTensors(this.config, this.head), ([name]) => name);
    return this.head === 'none' ? names : [...new Set([...names, this.decoderName, this.decoderBiasName])];
  }

  /** Those of them that transformers does not find, with the names that the file has for them. */
  get unusualNames(): ReadonlyMap<string, string> {
    const stored = this.usedNames.flatMap((name) => {
      const inFile = this.#namesInFile.get(name);
      return inFile === undefined || isKnownToOthers(inFile, name, this.config) ? [] : [[name, inFile] as const];
    });
    return new Map(stored);
  }

  /** The file that holds the weights, links followed. */
  get weightsPath(): string {
    return this.#file.path;
  }

  /** How that file is written. */
  get weightsFormat(): TensorFile['format'] {
    return this.#file.format;
  }

  /** Type and place of a tensor, and the shape of its values: one in 4-bit codes has two a byte. */
  entry(name: string): StoredTensor {
    const stored = this.#namesInFile.get(name);
    const entry = stored === undefined ? undefined : this.#file.tensors.get(stored);
    if (entry) return { ...entry, shape: shapeOfValues(entry) };
    if (this.#isZero(name)) return { dtype: 'F32', shape: [this.config.vocabSize], place: undefined };
    throw new CheckpointError(`${this.#file.path}: the tensor ${name} is missing`, {
      hint: 'the checkpoint is not a whole BERT or DistilBERT encoder, or is of another architecture',
    });
  }

  /** Where the engine can take a tensor's float32 values from the file; undefined where they must be read first. */
  place(name: string): Place | undefined {
    const { dtype, place } = this.entry(name);
    return dtype === 'F32' && place && place.offset % FLOAT_BYTES === 0 ? place : undefined;
  }

  /** A tensor's values, those of a quantised model from its codes. NaN and Inf are refused. `memory`: see TensorFile. */
  async read(name: string, memory?: ReusedMemory): Promise<Float32Array<ArrayBuffer>> {
    if (this.#signal?.aborted) throw new InterruptedError();
    if (this.#isZero(name)) return new Float32Array(this.config.vocabSize);
    const stored = this.#namesInFile.get(name) ?? name;
    if (codesOf(this.entry(name)) === undefined) return await this.#file.readFloat32(stored, memory);
    return await readStoredCodes(this.#file, { codes: stored, scales: this.#namesInFile.get(scaleName(name)) });
  }

  /** Closes the file. */
  close(): Promise<void> {
    return this.#file.close();
  }

  #kindOfHead(): Head {
    if (this.#has(TOPIC.terms)) return 'topic';
    if (this.#has(TIED.bias)) return this.#has(TIED.pooled) ? 'pooled' : 'tied';
    return this.#hasMlmHead() ? 'mlm' : 'none';
  }

  #hasMlmHead(): boolean {
    return Array.from(this.#namesInFile.keys()).some((name) => name.startsWith('cls.predictions.'));
  }

  /** An MLM head may lack its bias: transformers makes it 0 then, as it makes it for a new model. */
  #isZero(name: string): boolean {
    return name === MLM_BIAS && this.head === 'mlm' && !this.#has(MLM_BIAS);
  }

  /** A config.json of a smaller model would use the first layers and give vectors that mean nothing. */
  #refuseMoreLayers(): void {
    const { numLayers } = this.config;
    for (const name of this.#namesInFile.keys()) {
      const layer = Number(/^bert\.encoder\.layer\.(\d+)\./.exec(name)?.[1] ?? -1);
      if (layer < numLayers) continue;
      throw new CheckpointError(
        `${this.#file.path}: has the ${tensorLabel(name)}, config.json only ${numLayers} layers`,
        {
          hint: this.#mismatch,
        },
      );
    }
  }

  /** A head that a later version made has parts that count, too. */
  #refuseUnknownHead(): void {
    const parts: Readonly<Record<string, string>> = this.head === 'topic' ? TOPIC : TIED;
    const known = new Set(isOwnHead(this.head) ? Object.values(parts) : []);
    for (const [name, stored] of this.#namesInFile) {
      if (!name.startsWith('lzero.')) continue;
      if (known.has(name.replace(SCALES, ''))) continue;
      throw new CheckpointError(
        `${this.#file.path}: has the ${tensorLabel(stored)}, which is no part of a head that this version knows`,
        {
          hint: 'the model was made by a newer version of lzero, or is damaged',
        },
      );
    }
  }

  /** What a network has beside BERT's own parts, such as adapters, would change its vectors: without it they are others. */
  #refuseUnknownParts(): void {
    const known = new Set(Array.from(expectedTensors(this.config, this.head), ([name]) => name));
    for (const [name, stored] of this.#namesInFile) {
      if (!ENCODER_NAME.test(name) || known.has(name.replace(SCALES, ''))) continue;
      throw new CheckpointError(
        `${this.#file.path}: has the ${tensorLabel(stored)}, which is no part of ${this.#kind}`,
        {
          hint: 'merge adapters into the weights before saving; other additions to the network lzero cannot run',
        },
      );
    }
  }

  get #kind(): string {
    return isDistilBert(this.config) ? 'DistilBERT' : 'BERT';
  }

  /** In place of a decoder that was not saved, transformers would take a random one. */
  #refuseLostDecoder(): void {
    if (this.config.decoder !== 'untied' || this.head !== 'mlm' || this.#has(DECODER)) return;
    throw new CheckpointError(
      `${this.#file.path}: the tensor ${DECODER} is missing, and config.json says (tie_word_embeddings false) that the word embeddings do not stand for it`,
      { hint: 'the checkpoint was not saved as a whole; or, if its decoder is tied, config.json is wrong' },
    );
  }

  #has(name: string): boolean {
    return this.#namesInFile.has(name);
  }

  #check(name: string, shape: readonly number[]): void {
    const entry = this.entry(name);
    const found = entry.shape;
    if (found.join() === shape.join()) return;
    const how = codesOf(entry) === '4bit' ? ', two 4-bit codes a byte,' : '';
    throw new CheckpointError(
      `${this.#file.path}: the tensor ${name}${how} has shape ${printable(`[${found.join(', ')}]`)}, config.json asks for [${shape.join(', ')}]`,
      { hint: this.#mismatch },
    );
  }

  get #mismatch(): string {
    return `config.json and ${basename(this.#file.path)} belong to different models`;
  }
}

/** Tied tensors of a pytorch_model.bin are one and the same bytes. */
function samePlace({ place: a }: StoredTensor, { place: b }: StoredTensor): boolean {
  return a !== undefined && b !== undefined && a.offset === b.offset && a.length === b.length;
}

async function readConfig(folder: string): Promise<BertConfig> {
  const path = join(folder, 'config.json');
  const text = await readSmallFile(path);
  if (text !== undefined) return parseBertConfig(text, path);
  throw new CheckpointError(`${path} is missing`, {
    hint: 'a checkpoint folder has config.json, model.safetensors or pytorch_model.bin, and a tokenizer',
  });
}

/** Every tensor that an encoder of these sizes has, with its shape. */
function* expectedTensors(config: BertConfig, head: Head): Generator<[string, number[]]> {
  const { vocabSize: v, hiddenSize: h, intermediateSize: i } = config;
  yield [WORD_EMBEDDINGS, [v, h]];
  yield ['bert.embeddings.position_embeddings.weight', [config.maxPositions, h]];
  if (config.numTypes > 0) yield ['bert.embeddings.token_type_embeddings.weight', [config.numTypes, h]];
  yield* norm('bert.embeddings.LayerNorm', h);
  for (let layer = 0; layer < config.numLayers; layer++) {
    const name = `bert.encoder.layer.${layer}`;
    for (const part of ['query', 'key', 'value']) yield* dense(`${name}.attention.self.${part}`, h, h);
    yield* dense(`${name}.attention.output.dense`, h, h);
    yield* norm(`${name}.attention.output.LayerNorm`, h);
    yield* dense(`${name}.intermediate.dense`, i, h);
    yield* dense(`${name}.output.dense`, h, i);
    yield* norm(`${name}.output.LayerNorm`, h);
  }
  if (head === 'mlm') {
    yield* dense('cls.predictions.transform.dense', h, h);
    yield* norm('cls.predictions.transform.LayerNorm', h);
  }
  if (isTiedKind(head)) {
    yield [TIED.bias, [v]];
    yield [TIED.scale, [1]];
    yield [TIED.inputShare, [1]];
  }
  if (head === 'pooled') yield [TIED.pooled, [h, h]];
  if (head === 'topic') {
    yield [TOPIC.terms, [v, h]];
    yield [TOPIC.mean, [h]];
    yield [TOPIC.bias, [v]];
    yield [TOPIC.ownBias, [v]];
  }
}

function* dense(name: string, outputs: number, inputs: number): Generator<[string, number[]]> {
  yield [`${name}.weight`, [outputs, inputs]];
  yield [`${name}.bias`, [outputs]];
}

function* norm(name: string, size: number): Generator<[string, number[]]> {
  yield [`${name}.weight`, [size]];
  yield [`${name}.bias`, [size]];
}

/** The options that make a head, as errors name them. */
export const HEAD_OPTIONS = '--head pooled --calibrate INPUT (--head tied where it is no sentence encoder)';

/** The error for an encoder without a head; `how` is what comes before the options that make one. */
export function missingHead(folder: string, how: string): CheckpointError {
  return new CheckpointError(`${folder}: the checkpoint has no MLM head, so it gives no weights for terms`, {
    hint: `make one from its word embeddings: ${how} ${HEAD_OPTIONS}`,
  });
}
