/**
 * A network under training, encoder and sparse head: documents in, pooled logits out; their gradient in, gradients of all
 * parameters out. What the loss sees is the whole batch. Runs in the calling thread.
 */
import type { TrainingKernel } from '../../kernels/index.ts';
import type { Matrix } from '../../losses/index.ts';
import { type Checkpoint, TOPIC } from '../../model/index.ts';
import { HeadBackward } from './head-backward.ts';
import type { Decoder } from './head-forward.ts';
import { HeadForward } from './head-forward.ts';
import { LogitArea } from './logit-area.ts';
import type { TokenIds } from './micro-batches.ts';
import { decoderInputs } from './network-output.ts';
import type { IdfLearning } from './parameter-specs.ts';
import { IDF_PARAMETER, parameterSpecs } from './parameter-specs.ts';
import type { Parameters } from './parameters.ts';
import { type TopicDecoder, topicLogits, topicSlopes } from './topic-logits.ts';
import type { EncoderPass, NetworkOptions } from './trainable-encoder.ts';
import { documentRows, sessionOptions, TrainableEncoder } from './trainable-encoder.ts';

/** The weights of query terms, a parameter beside the network. A projection is 0 until it is fitted to them. */
export type IdfParameter = { readonly values: Float32Array; readonly isLearned: IdfLearning };

/** What forward computed, until the next call of it. */
export type ForwardPass = EncoderPass & {
  /** z, [B, V] in the order of the documents; what is not above 0 may be any number that is not. */
  readonly z: Matrix;
  readonly documents: readonly TokenIds[];
};

/** Forward and backward part of the head. */
type Heads = { readonly forward: HeadForward; readonly backward: HeadBackward };

/** Runs forward and backward. Close it when done. */
export class TrainableNetwork {
  readonly #checkpoint: Checkpoint;
  readonly #encoder: TrainableEncoder;
  readonly #heads: Heads;
  readonly #area: LogitArea;
  /** Only of a topic head. */
  readonly #topic: TopicDecoder | undefined;

  /** Reads the checkpoint's weights, makes room for training them, and loads the graphs into the engine. */
  static async create(
    checkpoint: Checkpoint,
    { idf, ...options }: NetworkOptions & { readonly idf: IdfParameter },
  ): Promise<TrainableNetwork> {
    const { config } = checkpoint;
    const specs = parameterSpecs(checkpoint, { ...options, learnsIdf: idf.isLearned });
    const moreBytes = HeadForward.sizeBytes(config) + HeadBackward.sizeBytes;
    const output = decoderInputs(checkpoint);
    const encoder = await TrainableEncoder.create(checkpoint, { specs, output, moreBytes }, options);
    try {
      const { parameters, memory, kernel } = encoder;
      parameters.get(IDF_PARAMETER).weights.set(idf.values);
      const backward = new HeadBackward(memory, kernel);
      const decoder = decoderOf(checkpoint, parameters);
      const forward = await HeadForward.create(decoder, { memory, kernel }, sessionOptions(options));
      const area = new LogitArea({ ...config, maxDocuments: options.maxDocuments });
      return new TrainableNetwork(checkpoint, encoder, { heads: { forward, backward }, area });
    } catch (error) {
      await encoder.close();
      throw error;
    }
  }

  private constructor(
    checkpoint: Checkpoint,
    encoder: TrainableEncoder,
    { heads, area }: { readonly heads: Heads; readonly area: LogitArea },
  ) {
    this.#checkpoint = checkpoint;
    this.#encoder = encoder;
    this.#heads = heads;
    this.#area = area;
    this.#topic = topicDecoderOf(checkpoint, encoder.parameters);
  }

  /** The kernels that share the parameters' memory. */
  get kernel(): TrainingKernel {
    return this.#encoder.kernel;
  }

  /** Weights, gradients and moments. */
  get parameters(): Parameters {
    return this.#encoder.parameters;
  }

  /**
   * Pooled logits of a batch. `seed` decides dropout.
   *
   * @param options.everyLogit also of terms that are not active: slower, and training has no use for them
   * @param options.terms those that are computed, the others are 0; all if not given
   */
  async forward(
    documents: readonly TokenIds[],
    seed: number,
    { everyLogit = false, terms }: { readonly everyLogit?: boolean; readonly terms?: Uint32Array | undefined } = {},
  ): Promise<ForwardPass> {
    const pass = await this.#encoder.forward(documents, seed);
    this.#encoder.begin('head');
    const z = await this.#pooledLogits(pass, documents, { everyLogit, terms });
    return { ...pass, z, documents };
  }

  async #pooledLogits(
    pass: EncoderPass,
    documents: readonly TokenIds[],
    { everyLogit, terms }: { readonly everyLogit: boolean; readonly terms: Uint32Array | undefined },
  ): Promise<Matrix> {
    const { forward: head } = this.#heads;
    const z = this.#area.logits(documents.length);
    if (!this.#isFinite(pass)) return this.#area.notFinite(z);
    z.data.fill(0);
    head.beginBatch(terms);
    const chosen = terms && new Set(terms);
    const isComputed = (term: number): boolean => chosen?.has(term) ?? true;
    for (const { document, firstRow } of documentRows(pass)) {
      const ids = documents[document];
      const u = this.#encoder.rows(firstRow, this.#topic ? 1 : ids.length);
      const row = this.#area.headRow(document);
      await (everyLogit ? head.runAll(u, row) : head.run(u, row));
      if (this.#topic) topicLogits(this.#topic, { ids, u: u.data, row, isComputed });
    }
    return z;
  }

  /** Whether all decoder inputs are numbers: bounds and maxima would hide those that are not. */
  #isFinite(pass: EncoderPass): boolean {
    return Number.isFinite(this.kernel.sumOfSquares(this.#encoder.allRows(pass).data));
  }

  /** Puts the gradients of this batch, given ∂L/∂z, into the parameters' memory, in place of those before. */
  async backward(pass: ForwardPass, dZ: Matrix): Promise<void> {
    await this.#encoder.backward(pass, (dInputs) => this.#runHead(pass, dZ, dInputs));
  }

  #runHead(pass: ForwardPass, dZ: Matrix, dInputs: Float32Array): void {
    const { decoderName, decoderBiasName, config } = this.#checkpoint;
    const firstRows = new Int32Array(dZ.rows);
    for (const { document, firstRow } of documentRows(pass)) firstRows[document] = firstRow;
    this.#heads.backward.run(
      dZ,
      { firstRows, positions: this.#area.positions, slopeOf: this.#topic && topicSlopes(this.#topic, pass) },
      {
        decoder: this.parameters.get(decoderName).weights,
        dDecoder: this.parameters.get(decoderName).gradients,
        dBias: this.parameters.get(decoderBiasName).gradients,
        inputs: this.#encoder.allRows(pass).data,
        dInputs,
        hiddenSize: config.hiddenSize,
      },
    );
  }

  /** Releases the engine's graphs. */
  async close(): Promise<void> {
    await this.#encoder.close();
    await this.#heads.forward.close();
  }
}

function topicDecoderOf({ head }: Checkpoint, parameters: Parameters): TopicDecoder | undefined {
  if (head !== 'topic') return undefined;
  const [weight, bias, ownBias] = [TOPIC.terms, TOPIC.bias, TOPIC.ownBias].map((name) => parameters.get(name).weights);
  return { weight, bias, ownBias };
}

function decoderOf({ decoderName, decoderBiasName, config }: Checkpoint, parameters: Parameters): Decoder {
  const { weights: weight, gradients } = parameters.get(decoderName);
  const { weights: bias } = parameters.get(decoderBiasName);
  return { ...config, weight, bias, isTrained: gradients !== undefined };
}
