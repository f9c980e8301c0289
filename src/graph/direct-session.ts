/**
 * A session on the calling thread. Tensors need not cross to another thread, so what is fed can be a view of one large
 * memory that kernels change in place: a trainer's parameters. A run blocks the event loop, so callers live in a worker
 * thread; whoever may end that thread must wait until it is outside the engine (native-gate.ts).
 */
import { EngineError, LzeroError, messageOf } from '../core/index.ts';
import { type Device, type LoadedEngine, loadEngine } from './engine.ts';
import { type ComputeOptions, LoadedModel, type ModelInterface } from './loaded-model.ts';
import type { Tensor } from './value.ts';

/** What each device needs, for the error where it is missing. */
const DEVICE_HINTS: Readonly<Record<Exclude<Device, 'cpu'>, string>> = {
  webgpu: 'webgpu needs a graphics driver: Vulkan on Linux, Direct3D 12 on Windows, Metal on macOS',
  cuda: "cuda needs NVIDIA's driver, CUDA, and the engine's libraries for it: npm rebuild onnxruntime-node",
  dml: 'dml is DirectML, on Windows only',
  coreml: 'coreml is on macOS only',
};

/** One graph in the engine, on this thread. Runs follow each other; close it when done. */
export class DirectSession {
  readonly #model: LoadedModel;
  #last: Promise<void> = Promise.resolve();
  #isClosed = false;

  /**
   * Loads the bytes of an ONNX model. `MissingDependencyError` where there is no engine, `EngineError` where it refuses
   * the model or has no such device.
   */
  static async create(bytes: Uint8Array<ArrayBuffer>, options: ComputeOptions): Promise<DirectSession> {
    const engine = await loadEngine();
    const model = await asOurs(() => load(engine, bytes, options));
    return new DirectSession(model);
  }

  private constructor(model: LoadedModel) {
    this.#model = model;
  }

  /** What the model's inputs and outputs are called. */
  get names(): ModelInterface {
    return this.#model.names;
  }

  /**
   * Runs the model. The engine reads feeds where they are, views of a WebAssembly memory included; they must not change
   * until the run has ended. Shared memory is refused.
   *
   * @param into tensors whose memory takes an output's values, of exactly its dimensions; they are given back themselves.
   *   The engine's binding still copies such an output once for itself, so this saves memory traffic, not memory.
   */
  run(
    feeds: Readonly<Record<string, Tensor>>,
    into: Readonly<Record<string, Tensor>> = {},
  ): Promise<Record<string, Tensor>> {
    return this.#inTurn(() => {
      for (const [name, { data }] of Object.entries({ ...feeds, ...into })) checkMemory(name, data.buffer);
      return this.#model.run(feeds, into);
    });
  }

  /** Frees the model, after the runs that were asked for before. */
  async close(): Promise<void> {
    if (this.#isClosed) return await this.#last;
    const released = this.#inTurn(() => this.#model.release());
    this.#isClosed = true;
    await released;
  }

  /** One after the other; the failure of one is not that of the next. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(new EngineError('the session is closed', { hint: 'create another' }));
    const done = this.#last.then(() => asOurs(work));
    this.#last = done.then(
      () => {},
      () => {},
    );
    return done;
  }
}

async function load(
  engine: LoadedEngine,
  bytes: Uint8Array<ArrayBuffer>,
  { device = 'cpu', ...options }: ComputeOptions,
): Promise<LoadedModel> {
  try {
    return await LoadedModel.create(engine, { bytes }, { ...options, device });
  } catch (cause) {
    if (device === 'cpu') throw cause;
    throw new EngineError(`${engine.name} cannot compute on ${device}: ${messageOf(cause)}`, {
      cause,
      hint: `${DEVICE_HINTS[device]}; or compute on cpu`,
    });
  }
}

/** Does a piece of work, and makes a failure of the engine an error of ours. */
async function asOurs<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw cause instanceof LzeroError ? cause : new EngineError(messageOf(cause), { cause });
  }
}

function checkMemory(name: string, memory: ArrayBufferLike): void {
  if (memory instanceof ArrayBuffer) return;
  throw new EngineError(`${name} lies in shared memory, which the engine does not read`, {
    hint: 'use a view of memory that is not shared',
  });
}
