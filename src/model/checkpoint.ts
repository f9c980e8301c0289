/**
 * A Hugging Face BERT on disk: config.json and model.safetensors, checked against each other. Names are those of
 * BertForMaskedLM; checkpoints saved without the "bert." prefix are read under the same names.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CheckpointError, messageOf } from '../core/index.ts';
import type { BertConfig } from './bert-config.ts';
import { parseBertConfig } from './bert-config.ts';
import type { SafetensorsFile } from './safetensors.ts';
import { openSafetensors } from './safetensors.ts';
import type { TensorEntry } from './safetensors-header.ts';

/** The file that holds the weights. */
export const WEIGHTS_FILE = 'model.safetensors';

/** What turns hidden states into term logits: BERT's own MLM head, our tied head, or nothing yet. */
export type Head = 'mlm' | 'tied' | 'none';

/** Names of the tied head's tensors (tied-head.ts). */
export const TIED = {
  bias: 'lzero.tied_head.bias',
  scale: 'lzero.tied_head.scale',
  inputShare: 'lzero.tied_head.input_share',
} as const;

/** Names of the tensors that have more than one meaning to us. */
export const WORD_EMBEDDINGS = 'bert.embeddings.word_embeddings.weight';
const DECODER = 'cls.predictions.decoder.weight';
const MLM_BIAS = 'cls.predictions.bias';
/** The bias that counts in checkpoints saved untied; elsewhere it is MLM_BIAS itself, or left out. */
const DECODER_BIAS = 'cls.predictions.decoder.bias';
const PREFIX = 'bert.';

/** An open checkpoint. Close it when done. */
export class Checkpoint {
  readonly folder: string;
  readonly config: BertConfig;
  readonly head: Head;
  readonly #file: SafetensorsFile;
  /** What stands before the encoder's names in the file: "bert." or nothing. */
  readonly #prefix: string;

  /** Opens a folder and checks that every tensor the encoder and its head need is there, in its shape. */
  static async open(folder: string): Promise<Checkpoint> {
    const configPath = join(folder, 'config.json');
    const config = parseBertConfig(await readText(configPath), configPath);
    const file = await openSafetensors(join(folder, WEIGHTS_FILE));
    try {
      return new Checkpoint(folder, config, file);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  private constructor(folder: string, config: BertConfig, file: SafetensorsFile) {
    this.folder = folder;
    this.config = config;
    this.#file = file;
    this.#prefix = file.tensors.has(WORD_EMBEDDINGS) ? PREFIX : '';
    this.head = file.tensors.has(TIED.bias) ? 'tied' : file.tensors.has(MLM_BIAS) ? 'mlm' : 'none';
    for (const [name, shape] of expectedTensors(config, this.head)) this.#check(name, shape);
    if (this.decoderName === DECODER) this.#check(DECODER, [config.vocabSize, config.hiddenSize]);
    if (this.decoderBiasName === DECODER_BIAS) this.#check(DECODER_BIAS, [config.vocabSize]);
  }

  /** The decoder's weights, [V, H]: the word embeddings where they are tied. */
  get decoderName(): string {
    return this.head === 'mlm' && this.#file.tensors.has(DECODER) ? DECODER : WORD_EMBEDDINGS;
  }

  /** The decoder's bias, [V]. */
  get decoderBiasName(): string {
    if (this.head === 'tied') return TIED.bias;
    return this.#file.tensors.has(DECODER_BIAS) ? DECODER_BIAS : MLM_BIAS;
  }

  /** The tensors that encoding reads. */
  get usedNames(): string[] {
    const names = Array.from(expectedTensors(this.config, this.head), ([name]) => name);
    return this.head === 'none' ? names : [...new Set([...names, this.decoderName, this.decoderBiasName])];
  }

  /** All tensors of the file, under BertForMaskedLM's names. */
  get names(): string[] {
    return [...this.#file.tensors.keys()].map((name) => (this.#isBare(name) ? PREFIX + name : name));
  }

  /** Type, shape and place of a tensor. */
  entry(name: string): TensorEntry {
    const entry = this.#file.tensors.get(this.#nameInFile(name));
    if (entry) return entry;
    throw new CheckpointError(`${this.#file.path}: the tensor ${name} is missing`, {
      hint: 'the checkpoint is not a whole BERT encoder, or is of another architecture',
    });
  }

  /** Position of a tensor's bytes in the file. */
  position(name: string): { readonly offset: number; readonly length: number } {
    const { begin, end } = this.entry(name);
    return { offset: this.#file.dataStart + begin, length: end - begin };
  }

  /** A tensor's values. NaN and Inf are refused. */
  read(name: string): Promise<Float32Array<ArrayBuffer>> {
    this.entry(name);
    return this.#file.readFloat32(this.#nameInFile(name));
  }

  /** Closes the file. */
  close(): Promise<void> {
    return this.#file.close();
  }

  #isBare(name: string): boolean {
    return this.#prefix === '' && /^(?:embeddings|encoder|pooler)\./.test(name);
  }

  #nameInFile(name: string): string {
    return this.#prefix === '' && name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
  }

  #check(name: string, shape: readonly number[]): void {
    const found = this.entry(name).shape;
    if (found.join() === shape.join()) return;
    throw new CheckpointError(
      `${this.#file.path}: the tensor ${name} has shape [${found.join(', ')}], config.json asks for [${shape.join(', ')}]`,
      { hint: 'config.json and model.safetensors belong to different models' },
    );
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new CheckpointError(`cannot read ${path}: ${messageOf(cause)}`, {
      hint: 'a checkpoint folder has config.json, model.safetensors and tokenizer.json or vocab.txt',
      cause,
    });
  }
}

/** Every tensor that an encoder of these sizes has, with its shape. */
function* expectedTensors(config: BertConfig, head: Head): Generator<[string, number[]]> {
  const { vocabSize: v, hiddenSize: h, intermediateSize: i } = config;
  yield [WORD_EMBEDDINGS, [v, h]];
  yield ['bert.embeddings.position_embeddings.weight', [config.maxPositions, h]];
  yield ['bert.embeddings.token_type_embeddings.weight', [config.numTypes, h]];
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
    yield [MLM_BIAS, [v]];
  }
  if (head === 'tied') {
    yield [TIED.bias, [v]];
    yield [TIED.scale, [1]];
    yield [TIED.inputShare, [1]];
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
