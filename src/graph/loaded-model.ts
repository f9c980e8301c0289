/**
 * A model in the engine, on the thread that calls: tensors of ours in and out. What both kinds of session share; which
 * thread that is, and what its errors become, is theirs to say.
 */
import { EngineError } from '../core/index.ts';
import type { Device, Engine, LoadedEngine } from './engine.ts';
import { providerOf } from './engine.ts';
import type { DType, Tensor, TensorData } from './value.ts';
import { ONNX_DTYPE } from './value.ts';

/** A model for the engine. */
export type SessionModel = {
  /** An ONNX ModelProto. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Folder of the files that hold the graph's external constants. */
  readonly folder?: string | undefined;
};

/** What a loaded model calls the values that go in and come out. */
export type ModelInterface = { readonly inputs: readonly string[]; readonly outputs: readonly string[] };

/** How a model is computed. */
export type ComputeOptions = {
  /** Threads that compute, on the processor. */
  readonly threads: number;
  readonly device?: Device | undefined;
  /**
   * Whether the engine lays out the memory of a run in advance, once for each shape of inputs. That takes one large block
   * beside the small ones of the first run, which it never gives back: for a graph of training 0.5 GB of 1.4, and no time.
   */
  readonly plansMemory?: boolean | undefined;
  /**
   * Whether its threads stay awake for a while after a run, to be there at once for the next. Where sessions take turns,
   * those of one would keep the processor from the other.
   */
  readonly staysAwake?: boolean | undefined;
};

type Model = Awaited<ReturnType<Engine['InferenceSession']['create']>>;
type EngineTensor = InstanceType<Engine['Tensor']>;

/** Engine messages below this severity are not for users: 3 = errors. */
const LOG_SEVERITY = 3;

/**
 * A model that the engine has read and optimised. Release it when done.
 * @internal
 */
export class LoadedModel {
  readonly #ort: Engine;
  readonly #model: Model;

  /** Reads a model. Errors are the engine's own. */
  static async create(
    { ort, name }: LoadedEngine,
    { bytes, folder }: SessionModel,
    { threads, device, plansMemory = true, staysAwake = true }: ComputeOptions,
  ): Promise<LoadedModel> {
    const model = await ort.InferenceSession.create(bytes, {
      executionProviders: [providerOf(name, device)],
      graphOptimizationLevel: 'all',
      intraOpNumThreads: threads,
      enableMemPattern: plansMemory,
      logSeverityLevel: LOG_SEVERITY,
      extra: {
        session: {
          ...(staysAwake ? {} : { force_spinning_stop: '1' }),
          ...(folder ? { model_external_initializers_file_folder_path: folder } : {}),
        },
      },
    });
    return new LoadedModel(ort, model);
  }

  private constructor(ort: Engine, model: Model) {
    this.#ort = ort;
    this.#model = model;
  }

  /** What its inputs and outputs are called. */
  get names(): ModelInterface {
    return { inputs: [...this.#model.inputNames], outputs: [...this.#model.outputNames] };
  }

  /**
   * Runs it once. The engine reads the memory of the feeds where it is.
   *
   * @param into tensors that take an output's values in their memory; they are given back as they are
   */
  async run(
    feeds: Readonly<Record<string, Tensor>>,
    into: Readonly<Record<string, Tensor>> = {},
  ): Promise<Record<string, Tensor>> {
    const nothing = this.#model.outputNames.map((name) => [name, null]);
    const fetches = { ...Object.fromEntries(nothing), ...this.#toEngine(into) };
    const results = await this.#model.run(this.#toEngine(feeds), fetches);
    return Object.fromEntries(
      Object.entries(results).map(([name, tensor]) => [name, into[name] ?? fromEngine(name, tensor)]),
    );
  }

  /** Frees the engine's memory for it. */
  release(): Promise<void> {
    return this.#model.release();
  }

  #toEngine(tensors: Readonly<Record<string, Tensor>>): Record<string, EngineTensor> {
    const { Tensor } = this.#ort;
    return Object.fromEntries(
      Object.entries(tensors).map(([name, { dtype, data, dims }]) => [name, new Tensor(dtype, data, dims)]),
    );
  }
}

/** Checks that an output has an element type of ours. */
function fromEngine(name: string, { type, dims, data }: EngineTensor): Tensor {
  if (!isOurs(type) || !isTensorData(data)) {
    throw new EngineError(`output ${name} has the element type ${type}, which lzero does not use`);
  }
  return { dtype: type, dims: [...dims], data };
}

function isOurs(type: string): type is DType {
  return type in ONNX_DTYPE;
}

function isTensorData(data: unknown): data is TensorData {
  return [Float32Array, Uint8Array, Int8Array, Int32Array, BigInt64Array].some((kind) => data instanceof kind);
}
