/**
 * The sparse head's forward part (formulas in training-head.ts), document by document. Keeps the 8-bit side of the decoder,
 * which changes with every step, and decides when it does not pay to ask it.
 */
import { assert } from '../../core/index.ts';
import type { ComputeOptions, Tensor } from '../../graph/index.ts';
import { DirectSession, toOnnx } from '../../graph/index.ts';
import type { TrainingKernel, TrainingMemory } from '../../kernels/index.ts';
import { TERMS_PER_TILE } from '../../model/index.ts';
import type { DecoderSizes } from './training-head.ts';
import { allTermsGraph, possibleTermsGraph, tileName, tileStarts } from './training-head.ts';
import type { FloatTensor, HeadRow } from './work-area.ts';

/** Above this share of terms computed, the bound costs more than it saves. */
const FILTER_PAYS_BELOW = 0.25;

/** A decoder in the training memory. */
export type Decoder = DecoderSizes & {
  /** w, [V, H] */
  readonly weight: Float32Array;
  /** b, [V] */
  readonly bias: Float32Array;
  /** Whether its weights change. */
  readonly isTrained: boolean;
};

/** What the head needs to be run. */
type HeadParts = {
  readonly kernel: TrainingKernel;
  readonly bounds: Bounds;
  readonly possible: DirectSession;
  readonly all: DirectSession;
};

/** The 8-bit side of a decoder, in the training memory. */
type Bounds = {
  readonly codes: Uint8Array;
  readonly scales: Float32Array;
  readonly norms: Float32Array;
  readonly errors: Float32Array;
};

/** Runs the head over the documents of a batch. Close it when done. */
export class HeadForward {
  readonly #decoder: Decoder;
  readonly #parts: HeadParts;
  readonly #feeds: {
    readonly all: Readonly<Record<string, Tensor>>;
    readonly possible: Readonly<Record<string, Tensor>>;
  };
  #isQuantised = false;
  #isFiltering = true;

  /** Bytes that it takes of a memory. */
  static sizeBytes({ vocabSize, hiddenSize }: DecoderSizes): number {
    return vocabSize * (hiddenSize + 3 * 4) + 4 * 64;
  }

  /** Loads the graphs. */
  static async create(
    decoder: Decoder,
    { memory, kernel }: { readonly memory: TrainingMemory; readonly kernel: TrainingKernel },
    options: ComputeOptions,
  ): Promise<HeadForward> {
    const { vocabSize, hiddenSize } = decoder;
    const [scales, norms, errors] = Array.from({ length: 3 }, () => memory.floats(vocabSize));
    const bounds = { codes: memory.bytes(vocabSize * hiddenSize), scales, norms, errors };
    const possible = await DirectSession.create(toOnnx(possibleTermsGraph(decoder)), options);
    try {
      const all = await DirectSession.create(toOnnx(allTermsGraph(decoder)), options);
      return new HeadForward(decoder, { kernel, bounds, possible, all });
    } catch (error) {
      await possible.close();
      throw error;
    }
  }

  private constructor(decoder: Decoder, parts: HeadParts) {
    this.#decoder = decoder;
    this.#parts = parts;
    const all = decoderFeeds(decoder);
    this.#feeds = { all, possible: { ...all, ...boundFeeds(decoder, parts.bounds) } };
  }

  /**
   * To be called before the documents of each batch: the decoder may have changed. Whether the bound pays is found out
   * anew for each batch, so that its bits depend on nothing else.
   */
  beginBatch(): void {
    this.#isFiltering = true;
    if (this.#isQuantised && !this.#decoder.isTrained) return;
    const { weight: rows, hiddenSize: size } = this.#decoder;
    this.#parts.kernel.quantiseRows({ rows, size, ...this.#parts.bounds });
    this.#isQuantised = true;
  }

  /** The active terms of a document, u [T, H]. */
  async run(u: FloatTensor, row: HeadRow): Promise<void> {
    if (!this.#isFiltering) return await this.runAll(u, row);
    const { terms, z, position } = await this.#parts.possible.run({ ...this.#feeds.possible, u });
    const [indices, logits, positions] = [terms.data, z.data, position.data];
    assert(indices instanceof Int32Array && positions instanceof Int32Array, 'terms and positions are int32');
    assert(logits instanceof Float32Array, 'z is float32');
    indices.forEach((term, i) => {
      row.z[term] = logits[i];
      row.positions[term] = positions[i];
    });
    if (indices.length > FILTER_PAYS_BELOW * this.#decoder.vocabSize) this.#isFiltering = false;
  }

  /** Every term of a document, u [T, H]. */
  async runAll(u: FloatTensor, row: HeadRow): Promise<void> {
    const { z, position } = await this.#parts.all.run({ ...this.#feeds.all, u });
    assert(z.data instanceof Float32Array && position.data instanceof Int32Array, 'z is float32, positions are int32');
    row.z.set(z.data);
    row.positions.set(position.data);
  }

  /** Releases the engine's graphs. */
  async close(): Promise<void> {
    await this.#parts.possible.close();
    await this.#parts.all.close();
  }
}

function decoderFeeds({ weight, bias, vocabSize, hiddenSize }: Decoder): Record<string, Tensor> {
  return {
    decoder: { dtype: 'float32', dims: [vocabSize, hiddenSize], data: weight },
    bias: { dtype: 'float32', dims: [vocabSize], data: bias },
  };
}

function boundFeeds({ vocabSize, hiddenSize }: Decoder, { codes, ...vectors }: Bounds): Record<string, Tensor> {
  const tiles = tileStarts(vocabSize).map((start, tile): [string, Tensor] => {
    const end = Math.min(vocabSize, start + TERMS_PER_TILE);
    const data = codes.subarray(start * hiddenSize, end * hiddenSize);
    return [tileName(tile), { dtype: 'uint8', dims: [end - start, hiddenSize], data }];
  });
  const perTerm = Object.entries(vectors).map(([name, data]): [string, Tensor] => [
    name,
    { dtype: 'float32', dims: [vocabSize], data },
  ]);
  return Object.fromEntries([...tiles, ...perTerm]);
}
