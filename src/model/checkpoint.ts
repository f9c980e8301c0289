/**
 * A Hugging Face BERT on disk: config.json and model.safetensors, checked against each other. Names are those of
 * BertForMaskedLM; checkpoints that spell them in another way are read under the same names.
 */
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { CheckpointError, messageOf } from '../core/index.ts';
import { exists } from '../files/index.ts';
import type { BertConfig } from './bert-config.ts';
import { parseBertConfig } from './bert-config.ts';
import type { SafetensorsFile } from './tensors/safetensors.ts';
import { openSafetensors } from './tensors/safetensors.ts';
import type { TensorEntry } from './tensors/safetensors-header.ts';

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
  /** BertForMaskedLM's names → names in the file. */
  readonly #namesInFile: ReadonlyMap<string, string>;

  /** Opens a folder and checks that every tensor the encoder and its head need is there, in its shape. */
  static async open(folder: string): Promise<Checkpoint> {
    const configPath = join(folder, 'config.json');
    const config = parseBertConfig(await readText(configPath), configPath);
    const file = await openSafetensors(await weightsPath(folder));
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
    this.#namesInFile = new Map(Array.from(file.tensors.keys(), (name) => [usualName(name), name]));
    this.head = this.#has(TIED.bias) ? 'tied' : this.#has(MLM_BIAS) ? 'mlm' : 'none';
    for (const [name, shape] of expectedTensors(config, this.head)) this.#check(name, shape);
    this.#refuseMoreLayers();
    if (this.decoderName === DECODER) this.#check(DECODER, [config.vocabSize, config.hiddenSize]);
    if (this.decoderBiasName === DECODER_BIAS) this.#check(DECODER_BIAS, [config.vocabSize]);
  }

  /** The decoder's weights, [V, H]: the word embeddings where they are tied. */
  get decoderName(): string {
    return this.head === 'mlm' && this.#has(DECODER) ? DECODER : WORD_EMBEDDINGS;
  }

  /** The decoder's bias, [V]. */
  get decoderBiasName(): string {
    if (this.head === 'tied') return TIED.bias;
    return this.#has(DECODER_BIAS) ? DECODER_BIAS : MLM_BIAS;
  }

  /** The tensors that encoding reads. */
  get usedNames(): string[] {
    const names = Array.from(expectedTensors(this.config, this.head), ([name]) => name);
    return this.head === 'none' ? names : [...new Set([...names, this.decoderName, this.decoderBiasName])];
  }

  /** The file that holds the weights, links followed. */
  get weightsPath(): string {
    return this.#file.path;
  }

  /** Type, shape and place of a tensor. */
  entry(name: string): TensorEntry {
    const entry = this.#file.tensors.get(this.#namesInFile.get(name) ?? '');
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
    return this.#file.readFloat32(this.#namesInFile.get(name) ?? name);
  }

  /** Closes the file. */
  close(): Promise<void> {
    return this.#file.close();
  }

  /** A config.json of a smaller model would use the first layers and give vectors that mean nothing. */
  #refuseMoreLayers(): void {
    const { numLayers } = this.config;
    for (const name of this.#namesInFile.keys()) {
      const layer = Number(/^bert\.encoder\.layer\.(\d+)\./.exec(name)?.[1] ?? -1);
      if (layer < numLayers) continue;
      throw new CheckpointError(`${this.#file.path}: has the tensor ${name}, config.json only ${numLayers} layers`, {
        hint: 'config.json and model.safetensors belong to different models',
      });
    }
  }

  #has(name: string): boolean {
    return this.#namesInFile.has(name);
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

/**
 * BertForMaskedLM's name for a tensor of the file: encoders are saved without "bert.", and checkpoints that were made by
 * TensorFlow call the parameters of LayerNorm gamma and beta.
 */
function usualName(name: string): string {
  const prefixed = /^(?:embeddings|encoder|pooler)\./.test(name) ? PREFIX + name : name;
  return prefixed.replace(/\.LayerNorm\.gamma$/, '.LayerNorm.weight').replace(/\.LayerNorm\.beta$/, '.LayerNorm.bias');
}

/** Where the weights really are: a hub's cache holds links, and the engine maps only files inside the folder it is given. */
async function weightsPath(folder: string): Promise<string> {
  const path = join(folder, WEIGHTS_FILE);
  try {
    return await realpath(path);
  } catch (cause) {
    const pickled = await exists(join(folder, 'pytorch_model.bin'));
    throw new CheckpointError(`${path} does not exist${pickled ? '; there is only pytorch_model.bin' : ''}`, {
      hint: pickled
        ? 'save the checkpoint as safetensors first'
        : 'a checkpoint folder has config.json, model.safetensors and a tokenizer',
      cause,
    });
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
