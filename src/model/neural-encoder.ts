/** Documents to term weights by a transformer: the batch side. Sorting, order and streaming are encode.ts's. */
import type { SparseVector } from '../core/index.ts';
import { assert, CheckpointError, EngineError } from '../core/index.ts';
import type { Tensor } from '../graph/index.ts';
import type { ModelInput } from '../text/index.ts';
import type { Activation } from './activation.ts';
import { activate } from './activation.ts';
import { Checkpoint } from './checkpoint.ts';
import { documentGraph } from './document-graph.ts';
import type { BatchEncoder } from './encode.ts';
import type { RunnerOptions, TokenIds } from './graph-runner.ts';
import { GraphRunner } from './graph-runner.ts';
import type { PruneRule } from './prune.ts';
import { prune } from './prune.ts';
import type { TermBounds } from './term-bounds.ts';
import { termBounds } from './term-bounds.ts';

/** What the model folder says about turning logits into weights. */
export type WeightRules = {
  readonly activation: Activation;
  readonly prune: PruneRule;
  /** Term ids whose weight is always 0. */
  readonly droppedTerms: ReadonlySet<number>;
  /** Terms that the tokenizer knows. Rows of the decoder beyond them only fill it up to a round size. */
  readonly numTerms: number;
};

/** Above this share of terms computed, the filter costs more than it saves. */
const FILTER_PAYS_BELOW = 0.25;

/** Whether the next batch is filtered: on until a batch shows that the filter does not pay. */
export type FilterSwitch = { on: boolean };

/** What a stream needs of a network that streams share. */
type SharedEncoder = {
  tokenise(text: string): ModelInput;
  encodeBatch(batch: readonly TokenIds[], filterSwitch: FilterSwitch): Promise<SparseVector[]>;
};

/**
 * One stream's encoder, with a switch of its own that is on again in each window: a term that is filtered is computed in
 * another order, which may change its last bits, and what a window gives must depend on nothing but the window.
 */
export function streamEncoder({ tokenise, encodeBatch }: SharedEncoder): BatchEncoder {
  let filterSwitch: FilterSwitch = { on: true };
  return {
    tokenise,
    beginWindow: () => {
      filterSwitch = { on: true };
    },
    encodeBatch: (batch) => encodeBatch(batch, filterSwitch),
  };
}

/** Encodes batches of token ids. Close it when done. */
export class NeuralEncoder {
  readonly #checkpoint: Checkpoint;
  readonly #runner: GraphRunner;
  readonly #rules: WeightRules;

  /** Opens the checkpoint in `folder` and loads it into the engine. */
  static async open(folder: string, rules: WeightRules, options: RunnerOptions = {}): Promise<NeuralEncoder> {
    const checkpoint = await Checkpoint.open(folder);
    let runner: GraphRunner | undefined;
    try {
      if (checkpoint.head === 'none') throw missingHead(folder);
      let bounds: TermBounds | undefined;
      runner = await GraphRunner.start(checkpoint, (name, values) => {
        if (name === checkpoint.decoderName) bounds = termBounds(values, checkpoint.config.hiddenSize);
      });
      await runner.load(documentGraph(checkpoint, runner.parameters, bounds), options);
      return new NeuralEncoder(checkpoint, runner, rules);
    } catch (error) {
      await runner?.close();
      await checkpoint.close();
      throw error;
    }
  }

  private constructor(checkpoint: Checkpoint, runner: GraphRunner, rules: WeightRules) {
    this.#checkpoint = checkpoint;
    this.#runner = runner;
    this.#rules = rules;
  }

  /** Why the engine is not the best one that is installed. */
  get engineProblem(): string | undefined {
    return this.#runner.engineProblem;
  }

  /** One vector per document of the batch. Turns `filterSwitch` off where the filter did not pay. */
  async encodeBatch(batch: readonly TokenIds[], filterSwitch: FilterSwitch): Promise<SparseVector[]> {
    const filter: Tensor = { dtype: 'bool', dims: [], data: Uint8Array.of(filterSwitch.on ? 1 : 0) };
    const outputs = await this.#runner.run(batch, { filter });
    const [z, norms, numComputed] = [outputs.z.data, outputs.norms.data, outputs.numComputed.data];
    assert(z instanceof Float32Array && norms instanceof Float32Array, 'z and norms are float32');
    assert(numComputed instanceof BigInt64Array, 'counts are int64');
    const { vocabSize } = this.#checkpoint.config;
    const computed = numComputed.reduce((sum, n) => sum + Number(n), 0);
    if (computed > FILTER_PAYS_BELOW * vocabSize * batch.length) filterSwitch.on = false;
    return batch.map((_, b) => {
      if (!Number.isFinite(norms[b])) throw overflow(this.#checkpoint.folder);
      return this.#weights(z.subarray(b * vocabSize, (b + 1) * vocabSize));
    });
  }

  /** Ends the engine and closes the checkpoint. */
  async close(): Promise<void> {
    await this.#runner.close();
    await this.#checkpoint.close();
  }

  /** Active terms of one row of z, activated and pruned. */
  #weights(z: Float32Array): SparseVector {
    const { activation, droppedTerms, numTerms, prune: rule } = this.#rules;
    const terms: number[] = [];
    const weights: number[] = [];
    for (let j = 0; j < numTerms; j++) {
      if (z[j] > 0 && !droppedTerms.has(j)) {
        terms.push(j);
        weights.push(activate(z[j], activation));
      }
    }
    return prune({ terms: Uint32Array.from(terms), weights: Float32Array.from(weights) }, rule);
  }
}

/** Finite weights can still overflow; such a document has no vector, and an empty one would hide it. */
function overflow(folder: string): EngineError {
  return new EngineError(`${folder}: the network gave numbers that are not finite`, {
    hint: 'the checkpoint has diverged or is not the model that its config.json describes',
  });
}

function missingHead(folder: string): CheckpointError {
  return new CheckpointError(`${folder}: the checkpoint has no MLM head, so it gives no weights for terms`, {
    hint: `make one from its word embeddings: lzero model import ${folder} -o MODEL --head tied --calibrate INPUT`,
  });
}
