/**
 * The sparse head's forward part (formulas in training-head.ts), document by document. Keeps the 8-bit side of the decoder,
 * which changes with every step, and decides when it does not pay to ask it.
 */
import { assert } from '../../core/index.ts';
import type { ComputeOptions, Tensor } from '../../graph/index.ts';
import { DirectSession, toOnnx } from '../../graph/index.ts';
import type { TrainingKernel, TrainingMemory } from '../../kernels/index.ts';
import { TERMS_PER_TILE } from '../../model/index.ts';
import type { HeadRow } from './logit-area.ts';
import type { DecoderSizes } from './training-head.ts';
import { allTermsGraph, chosenTermsGraph, possibleTermsGraph, tileName, tileStarts } from './training-head.ts';
import type { FloatTensor } from './work-area.ts';

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
  readonly chosen: DirectSession;
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
  #chosen: Chosen | undefined;

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
    const graphs = [possibleTermsGraph(decoder), allTermsGraph(decoder), chosenTermsGraph(decoder)];
    const sessions: DirectSession[] = [];
    try {
      for (const graph of graphs) sessions.push(await DirectSession.create(toOnnx(graph), options));
    } catch (error) {
      for (const session of sessions) await session.close();
      throw error;
    }
    const [possible, all, chosen] = sessions;
    return new HeadForward(decoder, { kernel, bounds, possible, all, chosen });
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
   *
   * @param terms those that are computed; all if not given
   */
  beginBatch(terms?: Uint32Array): void {
    this.#chosen = terms && chosenRows(this.#decoder, terms);
    if (this.#chosen) return;
    this.#isFiltering = true;
    if (this.#isQuantised && !this.#decoder.isTrained) return;
    const { weight: rows, hiddenSize: size } = this.#decoder;
    this.#parts.kernel.quantiseRows({ rows, size, ...this.#parts.bounds });
    this.#isQuantised = true;
  }

  /** The active terms of a document, u [T, H]. */
  async run(u: FloatTensor, row: HeadRow): Promise<void> {
    if (this.#chosen) {
      const { terms, feeds } = this.#chosen;
      return put(terms, await this.#parts.chosen.run({ ...feeds, u }), row);
    }
    if (!this.#isFiltering) return await this.runAll(u, row);
    const { terms, ...found } = await this.#parts.possible.run({ ...this.#feeds.possible, u });
    assert(terms.data instanceof Int32Array, 'terms are int32');
    put(terms.data, found, row);
    if (terms.data.length > FILTER_PAYS_BELOW * this.#decoder.vocabSize) this.#isFiltering = false;
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
    const { possible, all, chosen } = this.#parts;
    for (const session of [possible, all, chosen]) await session.close();
  }
}

/** Terms that a batch is computed for, and their rows of the decoder. */
type Chosen = { readonly terms: Uint32Array; readonly feeds: Readonly<Record<string, Tensor>> };

/** The rows of terms, copied together. */
function chosenRows({ weight, bias, hiddenSize }: Decoder, terms: Uint32Array): Chosen {
  const rows = new Float32Array(terms.length * hiddenSize);
  terms.forEach((term, i) => {
    rows.set(weight.subarray(term * hiddenSize, (term + 1) * hiddenSize), i * hiddenSize);
  });
  const biases = Float32Array.from(terms, (term) => bias[term]);
  return {
    terms,
    feeds: {
      decoder: { dtype: 'float32', dims: [terms.length, hiddenSize], data: rows },
      bias: { dtype: 'float32', dims: [terms.length], data: biases },
    },
  };
}

/** What was found for some terms, in its place. */
function put(terms: Uint32Array | Int32Array, { z, position }: Record<string, Tensor>, row: HeadRow): void {
  const [logits, positions] = [z.data, position.data];
  assert(logits instanceof Float32Array && positions instanceof Int32Array, 'z is float32, positions are int32');
  terms.forEach((term, i) => {
    row.z[term] = logits[i];
    row.positions[term] = positions[i];
  });
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
