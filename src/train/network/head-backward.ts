/**
 * The sparse head's backward part (formulas in training-head.ts): of [B, V] gradients those of active terms are gathered
 * into lists, in the order of documents and terms, and given to the kernel piece by piece.
 */
import type { TrainingKernel, TrainingMemory } from '../../kernels/index.ts';
import type { Matrix } from '../../losses/index.ts';

/** Active terms a call of the kernel; their lists take 12 bytes each. */
const LIST_LENGTH = 2 ** 16;

/** A decoder and its inputs, in the training memory. */
export type DecoderBlocks = {
  /** w, [V, H] */
  readonly decoder: Float32Array;
  /** ∂L/∂w, undefined where it is frozen. */
  readonly dDecoder: Float32Array | undefined;
  /** ∂L/∂b, [V], undefined where it is frozen. */
  readonly dBias: Float32Array | undefined;
  /** u of the whole batch, [N, H] */
  readonly inputs: Float32Array;
  /** ∂L/∂u */
  readonly dInputs: Float32Array;
  readonly hiddenSize: number;
};

/** Where the documents of a batch lie, and which positions were the best of each term. */
export type Pooling = {
  /** The row of u with which each document begins. */
  readonly firstRows: Int32Array;
  /** Position in its document of each maximum, [B, V] */
  readonly positions: Int32Array;
  /** What z has for a slope over the product that it is made of, by document and term; 1 if not given. */
  readonly slopeOf?: ((document: number, term: number) => number) | undefined;
};

/** Gathers and runs. */
export class HeadBackward {
  readonly #kernel: TrainingKernel;
  readonly #terms: Int32Array;
  readonly #rows: Int32Array;
  readonly #gradients: Float32Array;

  /** Bytes that it takes of a memory. */
  static readonly sizeBytes = 3 * (LIST_LENGTH * 4 + 64);

  constructor(memory: TrainingMemory, kernel: TrainingKernel) {
    this.#kernel = kernel;
    this.#terms = memory.ints(LIST_LENGTH);
    this.#rows = memory.ints(LIST_LENGTH);
    this.#gradients = memory.floats(LIST_LENGTH);
  }

  /** Adds to dInputs, dDecoder and dBias what ∂L/∂z, [B, V], gives them. */
  run(dZ: Matrix, { firstRows, positions, slopeOf }: Pooling, blocks: DecoderBlocks): void {
    let count = 0;
    for (let b = 0; b < dZ.rows; b++) {
      for (let j = 0, at = b * dZ.cols; j < dZ.cols; j++, at++) {
        const g = dZ.data[at];
        if (g === 0) continue;
        if (blocks.dBias) blocks.dBias[j] += g;
        this.#terms[count] = j;
        this.#rows[count] = firstRows[b] + positions[at];
        this.#gradients[count] = slopeOf ? g * slopeOf(b, j) : g;
        if (++count === LIST_LENGTH) count = this.#flush(count, blocks);
      }
    }
    this.#flush(count, blocks);
  }

  #flush(count: number, { hiddenSize, dBias: _, ...blocks }: DecoderBlocks): 0 {
    const lists = { terms: this.#terms, rows: this.#rows, gradients: this.#gradients };
    if (count > 0) this.#kernel.headBackward({ count, ...lists, ...blocks, size: hiddenSize });
    return 0;
  }
}
