/**
 * An ONNX file as a document encoder, whatever is inside: token ids and mask go in by the names that everybody uses,
 * logits or term weights come out. The file is not trusted: what it asks for and what it gives is compared with what
 * the settings say. What the rest of a model does with the vectors is model.ts's.
 */
import { readFile, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import type { SparseVector } from '../../core/index.ts';
import { CheckpointError, EngineError, messageOf, printable } from '../../core/index.ts';
import type { ModelInterface, Tensor } from '../../graph/index.ts';
import { Session } from '../../graph/index.ts';
import { documentWeights } from '../document-weights.ts';
import type { RunnerOptions } from '../graph-runner.ts';
import type { TokenIds } from '../padded-batch.ts';
import { longest, paddedBatch } from '../padded-batch.ts';
import type { OnnxSettings } from '../settings.ts';
import { graphFiles } from './graph-files.ts';
import type { PooledOutput } from './pool-output.ts';
import { pooledRows } from './pool-output.ts';

/** What the model folder says about turning outputs into weights. */
export type OnnxRules = OnnxSettings & {
  /** Term ids whose weight is always 0. */
  readonly droppedTerms: ReadonlySet<number>;
  /** Terms that the tokenizer knows. */
  readonly numTerms: number;
};

/** Inputs that we can feed; the first is needed. */
const INPUTS = ['input_ids', 'attention_mask', 'token_type_ids'] as const;
type InputName = (typeof INPUTS)[number];

/** A file of protobuf ends here. */
const MAX_FILE_BYTES = 2 ** 31 - 1;

/** Bytes of [B, T, V] that one run may give: larger batches are cut. */
const MAX_LOGIT_BYTES = 2 ** 27;

/** Encodes batches of token ids by an ONNX file. Close it when done. */
export class OnnxEncoder {
  readonly #path: string;
  readonly #session: Session;
  readonly #rules: OnnxRules;
  readonly #inputs: readonly InputName[];
  readonly #output: string;

  /** Loads the file that the settings name into the engine. */
  static async open(folder: string, rules: OnnxRules, options: RunnerOptions = {}): Promise<OnnxEncoder> {
    const path = join(folder, rules.file);
    await graphFiles(path); // the engine is given no file that names others outside of its folder
    const bytes = await readModel(path);
    const session = await Session.start();
    try {
      const { threads = availableParallelism() } = options;
      const found = await session.load({ bytes, folder: dirname(path) }, { threads });
      const inputs = checkInputs(path, found);
      return new OnnxEncoder(path, session, { rules, inputs, output: checkOutput(path, found, rules) });
    } catch (error) {
      await session.close();
      throw error instanceof EngineError ? refused(path, error) : error;
    }
  }

  private constructor(
    path: string,
    session: Session,
    { rules, inputs, output }: { rules: OnnxRules; inputs: readonly InputName[]; output: string },
  ) {
    this.#path = path;
    this.#session = session;
    this.#rules = rules;
    this.#inputs = inputs;
    this.#output = output;
  }

  /** Why the engine is not the best one that is installed. */
  get engineProblem(): string | undefined {
    return this.#session.engineProblem;
  }

  /** One vector per document of the batch. */
  async encodeBatch(batch: readonly TokenIds[]): Promise<SparseVector[]> {
    const vectors: SparseVector[] = [];
    for (const part of this.#parts(batch)) vectors.push(...(await this.#encode(part)));
    return vectors;
  }

  /** Ends the engine. */
  close(): Promise<void> {
    return this.#session.close();
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
    const outputs = await this.#session.run(feedsOf(batch, this.#inputs));
    const pooled: PooledOutput = {
      label: `${this.#path}: output ${this.#output}`,
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

async function readModel(path: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const { size } = await stat(path);
    if (size > MAX_FILE_BYTES) {
      throw new CheckpointError(`${path}: ${size} bytes, and an ONNX file has at most ${MAX_FILE_BYTES}`, {
        hint: 'save the weights of a larger model as external data, in a file beside it',
      });
    }
    return new Uint8Array(await readFile(path));
  } catch (cause) {
    if (cause instanceof CheckpointError) throw cause;
    throw new CheckpointError(`cannot read ${path}: ${messageOf(cause)}`, {
      hint: 'the folder is not whole: copy or convert it again',
      cause,
    });
  }
}

/** The engine's own words do not say which file it was. */
function refused(path: string, cause: EngineError): EngineError {
  return new EngineError(`${path}: the engine cannot use it: ${cause.message}`, { hint: cause.hint, cause });
}

/** Every input must be one that we know how to fill. */
function checkInputs(path: string, { inputs }: ModelInterface): InputName[] {
  const known = inputs.filter(isInput);
  const others = inputs.filter((name) => !isInput(name));
  if (others.length === 0 && known.includes('input_ids')) return known;
  const problem = others.length > 0 ? printable(`has the input ${others.join(', ')}`) : 'has no input input_ids';
  throw new CheckpointError(`${path}: ${problem}; expected input_ids and perhaps attention_mask, token_type_ids`, {
    hint: 'export the encoder with these inputs, as transformers and sentence-transformers name them',
  });
}

function isInput(name: string): name is InputName {
  return INPUTS.some((input) => input === name);
}

function checkOutput(path: string, { outputs }: ModelInterface, { output }: OnnxRules): string {
  const name = output.name ?? (outputs.length === 1 ? outputs[0] : undefined);
  if (name !== undefined && outputs.includes(name)) return name;
  const wanted = output.name === undefined ? 'one output' : `the output ${output.name}`;
  throw new CheckpointError(`${path}: expected ${wanted}, found ${printable(outputs.join(', '))}`, {
    hint: 'name the output that holds the term logits or weights in lzero.json',
  });
}

/** The batch, padded to its longest document. */
function feedsOf(batch: readonly TokenIds[], inputs: readonly InputName[]): Record<string, Tensor> {
  const { dims, ids, mask } = paddedBatch(batch);
  const all = {
    input_ids: BigInt64Array.from(ids, BigInt),
    attention_mask: BigInt64Array.from(mask, BigInt),
    token_type_ids: new BigInt64Array(ids.length),
  };
  return Object.fromEntries(inputs.map((name) => [name, { dtype: 'int64', dims, data: all[name] }]));
}
