/**
 * An ONNX file in the engine, whatever is inside: token ids and mask go in by the names that everybody uses. The file is
 * not trusted: what it asks for is compared with what we can give. What comes out is for others to understand.
 */
import { readFile, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { CheckpointError, EngineError, messageOf, printable } from '../../core/index.ts';
import type { ModelInterface, Tensor } from '../../graph/index.ts';
import { Session } from '../../graph/index.ts';
import type { RunnerOptions } from '../graph-runner.ts';
import type { TokenIds } from '../padded-batch.ts';
import { paddedBatch } from '../padded-batch.ts';
import { graphFiles } from './graph-files.ts';

/** Inputs that we can feed; the first is needed. */
const INPUTS = ['input_ids', 'attention_mask', 'token_type_ids'] as const;
type InputName = (typeof INPUTS)[number];

/** A file of protobuf ends here. */
const MAX_FILE_BYTES = 2 ** 31 - 1;

/** An ONNX file that batches of token ids can be given to. Close it when done. */
export class OnnxNetwork {
  readonly path: string;
  /** Names of what a run gives. */
  readonly outputs: readonly string[];
  readonly #session: Session;
  readonly #inputs: readonly InputName[];

  /** Loads a file into the engine. */
  static async open(path: string, { threads = availableParallelism() }: RunnerOptions = {}): Promise<OnnxNetwork> {
    await graphFiles(path); // the engine is given no file that names others outside of its folder
    const bytes = await readModel(path);
    const session = await Session.start();
    try {
      const found = await session.load({ bytes, folder: dirname(path) }, { threads });
      return new OnnxNetwork(path, session, { outputs: found.outputs, inputs: checkInputs(path, found) });
    } catch (error) {
      await session.close();
      throw error instanceof EngineError ? refused(path, error) : error;
    }
  }

  private constructor(
    path: string,
    session: Session,
    { inputs, outputs }: { inputs: readonly InputName[]; outputs: readonly string[] },
  ) {
    this.path = path;
    this.outputs = outputs;
    this.#session = session;
    this.#inputs = inputs;
  }

  /** Why the engine is not the best one that is installed. */
  get engineProblem(): string | undefined {
    return this.#session.engineProblem;
  }

  /** Runs one batch, padded to its longest document. */
  run(batch: readonly TokenIds[]): Promise<Readonly<Record<string, Tensor>>> {
    return this.#session.run(feedsOf(batch, this.#inputs));
  }

  /** Ends the engine. */
  close(): Promise<void> {
    return this.#session.close();
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
