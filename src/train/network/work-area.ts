/**
 * The memory of a step beside the parameters: the encoder's rows and their gradients for the whole batch, gradients of a piece
 * before they are added, masks of dropout. Sized once, for the largest batch.
 */
import type { Tensor } from '../../graph/index.ts';
import type { TrainingMemory } from '../../kernels/index.ts';
import type { Checkpoint } from '../../model/index.ts';
import type { NetworkOutput } from './network-output.ts';
import type { ParameterSpec } from './parameters.ts';
import { numValues } from './parameters.ts';
import type { TrainingGraphs } from './training-graphs.ts';

/** What a batch may have at most. */
export type BatchLimits = {
  /** Tokens that run through the encoder together, padding included. */
  readonly microBatchTokens: number;
  /** Documents of a batch. */
  readonly maxDocuments: number;
  /** Tokens of a document. */
  readonly maxLength: number;
};

/** How much of each there is to be. */
export type WorkSizes = {
  readonly hiddenSize: number;
  /** Rows that the encoder gives of a whole batch, those of padding included. */
  readonly maxRows: number;
  /** Tokens of a piece, padding included. */
  readonly maxPieceTokens: number;
  /** Tokens whose states frozen layers give; 0 without any. */
  readonly maxStates: number;
  /** Values of all gradients that a graph gives of a piece. */
  readonly numScratch: number;
  /** Bytes of all masks of a piece. */
  readonly numMaskBytes: number;
};

/** The arrays, handed out as tensors of the right size. */
export class WorkArea {
  readonly #sizes: WorkSizes;
  readonly #rows: Float32Array;
  readonly #dRows: Float32Array;
  readonly #states: Float32Array;
  readonly #wordRows: Float32Array;
  readonly #indices: Int32Array;
  /** Gradients of a piece. */
  readonly scratch: Float32Array;
  /** Masks of dropout. */
  readonly masks: Uint8Array;

  /** Bytes that it takes of a memory. */
  static sizeBytes({ hiddenSize, maxRows, maxStates, maxPieceTokens, numScratch, numMaskBytes }: WorkSizes): number {
    const numRows = 2 * maxRows + maxStates + maxPieceTokens;
    const numFloats = numRows * hiddenSize + maxPieceTokens + numScratch;
    return 4 * numFloats + numMaskBytes + 64 * NUM_ARRAYS;
  }

  constructor(memory: TrainingMemory, sizes: WorkSizes) {
    const { hiddenSize, maxRows, maxStates, maxPieceTokens, numScratch, numMaskBytes } = sizes;
    this.#sizes = sizes;
    this.#rows = memory.floats(maxRows * hiddenSize);
    this.#dRows = memory.floats(maxRows * hiddenSize);
    this.#states = memory.floats(maxStates * hiddenSize);
    this.#wordRows = memory.floats(maxPieceTokens * hiddenSize);
    this.#indices = memory.ints(maxPieceTokens);
    this.scratch = memory.floats(numScratch);
    this.masks = memory.bytes(numMaskBytes);
  }

  /** u from `firstRow` on, [rows, H] */
  rows(firstRow: number, numRows: number): FloatTensor {
    return this.#part(this.#rows, firstRow, numRows);
  }

  /** ∂L/∂u from `firstRow` on, [rows, H] */
  dRows(firstRow: number, numRows: number): FloatTensor {
    return this.#part(this.#dRows, firstRow, numRows);
  }

  /** Frozen states of the tokens from `firstToken` on, [N, H] */
  states(firstToken: number, numTokens: number): FloatTensor {
    return this.#part(this.#states, firstToken, numTokens);
  }

  /** Gradients of the word embeddings of a piece, [B, T, H] */
  wordRows(numDocs: number, numTokens: number): FloatTensor {
    const { hiddenSize } = this.#sizes;
    const data = this.#wordRows.subarray(0, numDocs * numTokens * hiddenSize);
    return { dtype: 'float32', dims: [numDocs, numTokens, hiddenSize], data };
  }

  /** Term ids of a piece, where the kernel can read them. */
  indices(ids: Int32Array): Int32Array {
    this.#indices.set(ids);
    return this.#indices.subarray(0, ids.length);
  }

  #part(all: Float32Array, firstRow: number, numRows: number): FloatTensor {
    const { hiddenSize } = this.#sizes;
    const data = all.subarray(firstRow * hiddenSize, (firstRow + numRows) * hiddenSize);
    return { dtype: 'float32', dims: [numRows, hiddenSize], data };
  }
}

/** A tensor of float32. */
export type FloatTensor = Tensor & { readonly data: Float32Array };

/** Arrays in the memory, each of which may begin at the next round address. */
const NUM_ARRAYS = 7;

/** What the graphs say of the memory that they need. */
type GraphNeeds = Pick<TrainingGraphs, 'lower' | 'differentiated' | 'dropoutPlaces'> & {
  readonly output: Pick<NetworkOutput, 'rowsAre'>;
};

/** The work area of the largest batch. */
export function workSizes(
  { config: { hiddenSize } }: Pick<Checkpoint, 'config'>,
  parameters: readonly ParameterSpec[],
  { maxDocuments, maxLength, microBatchTokens, output, ...graphs }: BatchLimits & GraphNeeds,
): WorkSizes {
  const maxPieceTokens = Math.max(microBatchTokens, maxLength);
  // Masks grow with B·T or B·T², so none is larger than that of as many of the longest documents as fit, not rounded.
  const mostDocuments = maxPieceTokens / maxLength;
  const differentiated = parameters.filter(({ name }) => graphs.differentiated.includes(name));
  const maxTokens = maxDocuments * maxLength;
  return {
    hiddenSize,
    maxRows: output.rowsAre === 'tokens' ? maxTokens : maxDocuments,
    maxStates: graphs.lower ? maxTokens : 0,
    maxPieceTokens,
    numScratch: differentiated.reduce((sum, spec) => sum + numValues(spec), 0),
    numMaskBytes: graphs.dropoutPlaces.reduce(
      (sum, { shape }) => sum + alignedSize(shape(mostDocuments, maxLength)),
      0,
    ),
  };
}

/** Masks begin at multiples of this, so that kernels can write them by vectors. */
const MASK_ALIGNMENT = 16;

/** Bytes of a mask with these dimensions, up to where the next may begin. */
export function alignedSize(dims: readonly number[]): number {
  return Math.ceil(sizeOf(dims) / MASK_ALIGNMENT) * MASK_ALIGNMENT;
}

/** Values of a tensor with these dimensions. */
export function sizeOf(dims: readonly number[]): number {
  return dims.reduce((product, size) => product * size, 1);
}
