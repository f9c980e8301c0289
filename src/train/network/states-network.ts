/** An encoder under training whose documents become mean states: their gradient in, gradients of all parameters out. */
import type { TrainingKernel } from '../../kernels/index.ts';
import { type Matrix, matrix, rowOf } from '../../losses/index.ts';
import type { Checkpoint } from '../../model/index.ts';
import type { TokenIds } from './micro-batches.ts';
import { MEAN_STATES } from './network-output.ts';
import { encoderSpecs } from './parameter-specs.ts';
import type { Parameters } from './parameters.ts';
import type { EncoderPass, NetworkOptions } from './trainable-encoder.ts';
import { documentRows, TrainableEncoder } from './trainable-encoder.ts';

/** What forward computed, until the next call of it. */
export type StatesPass = EncoderPass & {
  /** h̄, [B, H] in the order of the documents. */
  readonly states: Matrix;
};

/** Runs forward and backward. Close it when done. */
export class StatesNetwork {
  readonly #encoder: TrainableEncoder;
  readonly #hiddenSize: number;

  /** Reads the checkpoint's weights, makes room for training them, and loads the graphs into the engine. A head stays aside. */
  static async create(checkpoint: Checkpoint, options: NetworkOptions): Promise<StatesNetwork> {
    const parts = { specs: encoderSpecs(checkpoint, options), output: MEAN_STATES };
    return new StatesNetwork(await TrainableEncoder.create(checkpoint, parts, options), checkpoint.config.hiddenSize);
  }

  private constructor(encoder: TrainableEncoder, hiddenSize: number) {
    this.#encoder = encoder;
    this.#hiddenSize = hiddenSize;
  }

  /** The kernels that share the parameters' memory. */
  get kernel(): TrainingKernel {
    return this.#encoder.kernel;
  }

  /** Weights, gradients and moments. */
  get parameters(): Parameters {
    return this.#encoder.parameters;
  }

  /** Mean states of a batch. `seed` decides dropout. */
  async forward(documents: readonly TokenIds[], seed: number): Promise<StatesPass> {
    const pass = await this.#encoder.forward(documents, seed);
    const rows = this.#encoder.allRows(pass).data;
    const states = matrix(documents.length, this.#hiddenSize);
    for (const { document, firstRow } of documentRows(pass))
      rowOf(states, document).set(rows.subarray(firstRow * this.#hiddenSize, (firstRow + 1) * this.#hiddenSize));
    return { ...pass, states };
  }

  /** Puts the gradients of this batch, given ∂L/∂h̄, into the parameters' memory, in place of those before. */
  async backward(pass: StatesPass, dStates: Matrix): Promise<void> {
    await this.#encoder.backward(pass, (dRows) => {
      for (const { document, firstRow } of documentRows(pass))
        dRows.set(rowOf(dStates, document), firstRow * this.#hiddenSize);
    });
  }

  /** Releases the engine's graphs. */
  close(): Promise<void> {
    return this.#encoder.close();
  }
}
