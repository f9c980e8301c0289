/**
 * An ONNX file as a document encoder: logits or term weights come out. The file is not trusted: what it gives is compared
 * with what the settings say. What the rest of a model does with the vectors is model.ts's.
 */
import { join } from 'node:path';
import type { SparseVector } from '../../core/index.ts';
import { CheckpointError, printable } from '../../core/index.ts';
import { documentWeights } from '../document-weights.ts';
import type { RunnerOptions } from '../graph-runner.ts';
import type { TokenIds } from '../padded-batch.ts';
import { longest } from '../padded-batch.ts';
import type { OnnxSettings } from '../settings.ts';
import { OnnxNetwork } from './onnx-network.ts';
import type { PooledOutput } from './pool-output.ts';
import { pooledRows } from './pool-output.ts';

/** What the model folder says about turning outputs into weights. */
export type OnnxRules = OnnxSettings & {
  /** Term ids whose weight is always 0. */
  readonly droppedTerms: ReadonlySet<number>;
  /** Terms that the tokenizer knows. */
  readonly numTerms: number;
};

/** Bytes of [B, T, V] that one run may give: larger batches are cut. */
const MAX_LOGIT_BYTES = 2 ** 27;

/** Encodes batches of token ids by an ONNX file. Close it when done. */
export class OnnxEncoder {
  readonly #network: OnnxNetwork;
  readonly #rules: OnnxRules;
  readonly #output: string;

  /** Loads the file that the settings name into the engine. */
  static async open(folder: string, rules: OnnxRules, options: RunnerOptions = {}): Promise<OnnxEncoder> {
    const network = await OnnxNetwork.open(join(folder, rules.file), options);
    try {
      return new OnnxEncoder(network, rules, checkOutput(network, rules));
    } catch (error) {
      await network.close();
      throw error;
    }
  }

  private constructor(network: OnnxNetwork, rules: OnnxRules, output: string) {
    this.#network = network;
    this.#rules = rules;
    this.#output = output;
  }

  /** Why the engine is not the best one that is installed. */
  get engineProblem(): string | undefined {
    return this.#network.engineProblem;
  }

  /** One vector per document of the batch. */
  async encodeBatch(batch: readonly TokenIds[]): Promise<SparseVector[]> {
    const vectors: SparseVector[] = [];
    for (const part of this.#parts(batch)) vectors.push(...(await this.#encode(part)));
    return vectors;
  }

  /** Ends the engine. */
  close(): Promise<void> {
    return this.#network.close();
  }

  *#parts(batch: readonly TokenIds[]): Generator<readonly TokenIds[]> {
    const size = this.#documentsPerRun(batch);
    for (let begin = 0; begin < batch.length; begin += size) yield batch.slice(begin, begin + size);
  }

  /** Logits of all positions are large: no run may give more of them than fit. */
  #documentsPerRun(batch: readonly TokenIds[]): number {
    const { numTerms, output, precision } = this.#rules;
    if (precision === 'int8') return 1;
    const documentBytes = longest(batch) * numTerms * Float32Array.BYTES_PER_ELEMENT;
    return output.form === 'logits' ? Math.max(1, Math.floor(MAX_LOGIT_BYTES / documentBytes)) : batch.length;
  }

  async #encode(batch: readonly TokenIds[]): Promise<SparseVector[]> {
    const outputs = await this.#network.run(batch);
    const pooled: PooledOutput = {
      label: `${this.#network.path}: output ${this.#output}`,
      form: this.#rules.output.form,
      numTerms: this.#rules.numTerms,
      tensor: outputs[this.#output],
    };
    return pooledRows(batch, pooled).map((row) => this.#vector(row));
  }

  /** A row as the vector of its document; weights that the file gives are activated already. */
  #vector(row: Float32Array): SparseVector {
    const { activation, output, ...rules } = this.#rules;
    return documentWeights(row, { ...rules, activation: output.form === 'weights' ? undefined : activation });
  }
}

function checkOutput({ path, outputs }: OnnxNetwork, { output }: OnnxRules): string {
  const name = output.name ?? (outputs.length === 1 ? outputs[0] : undefined);
  if (name !== undefined && outputs.includes(name)) return name;
  const wanted = output.name === undefined ? 'one output' : `the output ${output.name}`;
  throw new CheckpointError(`${path}: expected ${wanted}, found ${printable(outputs.join(', '))}`, {
    hint: 'name the output that holds the term logits or weights in lzero.json',
  });
}
