/** Documents to term weights by a transformer: the batch side. Sorting, order and streaming are encode.ts's. */
import type { SparseVector } from '../core/index.ts';
import { assert, EngineError } from '../core/index.ts';
import type { Tensor } from '../graph/index.ts';
import { Checkpoint, missingHead } from './checkpoint.ts';
import { documentGraph, integerDocumentGraph } from './document-graph.ts';
import type { WeightRules } from './document-weights.ts';
import { documentWeights } from './document-weights.ts';
import type { BatchEncoder } from './encode.ts';
import { EMPTY_VECTOR } from './encode.ts';
import type { Network, RunnerOptions } from './graph-runner.ts';
import { GraphRunner } from './graph-runner.ts';
import type { Precision } from './int8/precision.ts';
import { DEFAULT_PRECISION } from './int8/precision.ts';
import { quantisedMatrices } from './int8/quantised-matrices.ts';
import type { TokenIds } from './padded-batch.ts';
import type { TermBounds } from './term-bounds.ts';
import { termBounds } from './term-bounds.ts';

/** How a network is run. */
export type EncoderOptions = RunnerOptions & {
  /** The arithmetic of its products. */
  readonly precision?: Precision | undefined;
};

/** Above this share of terms computed, the filter costs more than it saves. */
const FILTER_PAYS_BELOW = 0.25;

/** Whether the next batch is filtered: on until a batch shows that the filter does not pay. */
export type FilterSwitch = { on: boolean };

/** What a stream needs of a network that streams share. */
type SharedEncoder = Pick<BatchEncoder, 'tokenise' | 'complete'> & {
  encodeBatch(batch: readonly TokenIds[], filterSwitch: FilterSwitch): Promise<SparseVector[]>;
};

/**
 * One stream's encoder, with a switch of its own that is on again in each window: a term that is filtered is computed in
 * another order, which may change its last bits, and what a window gives must depend on nothing but the window.
 */
export function streamEncoder({ encodeBatch, ...shared }: SharedEncoder): BatchEncoder {
  let filterSwitch: FilterSwitch = { on: true };
  return {
    ...shared,
    beginWindow: () => {
      filterSwitch = { on: true };
    },
    encodeBatch: (batch) => encodeBatch(batch, filterSwitch),
    emptyVector: EMPTY_VECTOR,
  };
}

/** Encodes batches of token ids. Close it when done. */
export class NeuralEncoder {
  readonly #checkpoint: Checkpoint;
  readonly #runner: GraphRunner;
  readonly #rules: WeightRules;
  readonly #precision: Precision;

  /** Opens the checkpoint in `folder` and loads it into the engine. */
  static async open(
    folder: string,
    rules: WeightRules,
    { precision = DEFAULT_PRECISION, ...options }: EncoderOptions = {},
  ): Promise<NeuralEncoder> {
    const checkpoint = await Checkpoint.open(folder);
    try {
      if (checkpoint.head === 'none') throw missingHead(folder, `lzero model import ${folder} -o MODEL`);
      const network = precision === 'int8' ? integerNetwork(checkpoint) : floatNetwork(checkpoint);
      const runner = await GraphRunner.open(checkpoint, network, options);
      return new NeuralEncoder(checkpoint, runner, { ...rules, precision });
    } catch (error) {
      await checkpoint.close();
      throw error;
    }
  }

  private constructor(
    checkpoint: Checkpoint,
    runner: GraphRunner,
    { precision, ...rules }: WeightRules & { readonly precision: Precision },
  ) {
    this.#checkpoint = checkpoint;
    this.#runner = runner;
    this.#rules = rules;
    this.#precision = precision;
  }

  /** Why the engine is not the best one that is installed. */
  get engineProblem(): string | undefined {
    return this.#runner.engineProblem;
  }

  /** One vector per document of the batch. Turns `filterSwitch` off where the filter did not pay. */
  async encodeBatch(batch: readonly TokenIds[], filterSwitch: FilterSwitch): Promise<SparseVector[]> {
    const rows = this.#precision === 'int8' ? await this.#oneByOne(batch) : await this.#together(batch, filterSwitch);
    return rows.map(({ z, norm }) => {
      if (!Number.isFinite(norm)) throw overflow(this.#checkpoint.folder);
      return documentWeights(z, this.#rules);
    });
  }

  /** In float32: the whole batch in one run. */
  async #together(batch: readonly TokenIds[], filterSwitch: FilterSwitch): Promise<PooledRow[]> {
    const filter: Tensor = { dtype: 'bool', dims: [], data: Uint8Array.of(filterSwitch.on ? 1 : 0) };
    const outputs = await this.#runner.run(batch, isFiltered(this.#checkpoint) ? { filter } : {});
    const [z, norms, numComputed] = [floatsOf(outputs.z), floatsOf(outputs.norms), outputs.numComputed.data];
    assert(numComputed instanceof BigInt64Array, 'counts are int64');
    const { vocabSize } = this.#checkpoint.config;
    const computed = numComputed.reduce((sum, n) => sum + Number(n), 0);
    if (computed > FILTER_PAYS_BELOW * vocabSize * batch.length) filterSwitch.on = false;
    return batch.map((_, b) => ({ z: z.subarray(b * vocabSize, (b + 1) * vocabSize), norm: norms[b] }));
  }

  /**
   * In integers: one document in each run, so that the range of its activations is its own. What is computed for one
   * stays in the cache, and nothing is spent on padding: with a copy of the network for each core that is faster than a batch.
   */
  #oneByOne(batch: readonly TokenIds[]): Promise<PooledRow[]> {
    return Promise.all(
      batch.map(async (document) => {
        const { z, norms } = await this.#runner.run([document]);
        return { z: floatsOf(z), norm: floatsOf(norms)[0] };
      }),
    );
  }

  /** Ends the engine and closes the checkpoint. */
  async close(): Promise<void> {
    await this.#runner.close();
    await this.#checkpoint.close();
  }
}

/** What a run gives of a document: relu'd pooled logits, [V], and the norm of its decoder inputs. */
type PooledRow = { readonly z: Float32Array; readonly norm: number };

function floatsOf({ data }: Tensor): Float32Array {
  assert(data instanceof Float32Array, 'z and norms are float32');
  return data;
}

function floatNetwork(checkpoint: Checkpoint): Network {
  const { decoderName, config } = checkpoint;
  let bounds: TermBounds | undefined;
  return {
    visit: (name, values) => {
      if (name === decoderName && isFiltered(checkpoint)) bounds = termBounds(values, config.hiddenSize);
    },
    graph: (source) => documentGraph(checkpoint, source, bounds),
  };
}

/** A topic head decodes one row a document, which costs less than finding out what could be left out. */
function isFiltered({ head }: Checkpoint): boolean {
  return head !== 'topic';
}

/** The network in 8-bit integers. */
export function integerNetwork(checkpoint: Checkpoint): Network {
  const { matrices, ...parts } = quantisedMatrices(checkpoint);
  return { ...parts, isOneByOne: true, graph: (source) => integerDocumentGraph(checkpoint, source, matrices) };
}

/** Finite weights can still overflow; such a document has no vector, and an empty one would hide it. */
export function overflow(folder: string): EngineError {
  return new EngineError(`${folder}: the network gave numbers that are not finite`, {
    hint: 'the checkpoint has diverged or is not the model that its config.json describes',
  });
}
