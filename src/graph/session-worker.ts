/** The thread behind `session.ts`: owns the engine and the loaded model, answers one request after the other. */
import { inspect } from 'node:util';
import type { MessagePort } from 'node:worker_threads';
import { parentPort, workerData } from 'node:worker_threads';
import { assert, EngineError, LzeroError, messageOf } from '../core/index.ts';
import type { Engine } from './engine.ts';
import { loadEngine, providerOf } from './engine.ts';
import { enter, leave, type NativeGate } from './native-gate.ts';
import type { SessionAnswer, SessionFailure, SessionModel, SessionReply, SessionRequest } from './session.ts';
import { REFUSED } from './session.ts';
import type { DType, Tensor, TensorData } from './value.ts';
import { ONNX_DTYPE } from './value.ts';

type LoadedModel = Awaited<ReturnType<Engine['InferenceSession']['create']>>;

/** Engine messages below this severity are not for users: 3 = errors. */
const LOG_SEVERITY = 3;

class EngineHost {
  #engine: Awaited<ReturnType<typeof loadEngine>> | undefined;
  #model: LoadedModel | undefined;

  async answer(request: SessionRequest): Promise<SessionAnswer> {
    switch (request.kind) {
      case 'start':
        this.#engine = await loadEngine();
        return { kind: 'start', engine: this.#engine.name, problem: this.#engine.problem };
      case 'load':
        await this.#release();
        this.#model = await this.#create(request.model, request.threads);
        return { kind: 'load', inputs: [...this.#model.inputNames], outputs: [...this.#model.outputNames] };
      case 'run':
        return { kind: 'run', outputs: await this.#run(request.feeds) };
      case 'close':
        await this.#release();
        return { kind: 'close' };
      default:
        return request satisfies never;
    }
  }

  #create({ bytes, folder }: SessionModel, threads: number): Promise<LoadedModel> {
    assert(this.#engine !== undefined, 'load before start');
    return this.#engine.ort.InferenceSession.create(bytes, {
      executionProviders: [providerOf(this.#engine.name)],
      graphOptimizationLevel: 'all',
      intraOpNumThreads: threads,
      logSeverityLevel: LOG_SEVERITY,
      ...(folder ? { extra: { session: { model_external_initializers_file_folder_path: folder } } } : {}),
    });
  }

  async #run(feeds: Readonly<Record<string, Tensor>>): Promise<Record<string, Tensor>> {
    assert(this.#engine !== undefined && this.#model !== undefined, 'run before load');
    const { Tensor } = this.#engine.ort;
    const inputs = Object.entries(feeds).map(([name, { dtype, data, dims }]) => [name, new Tensor(dtype, data, dims)]);
    const results = await this.#model.run(Object.fromEntries(inputs));
    return Object.fromEntries(Object.entries(results).map(([name, tensor]) => [name, fromEngine(name, tensor)]));
  }

  async #release(): Promise<void> {
    await this.#model?.release();
    this.#model = undefined;
  }
}

/** Checks that an output has an element type of ours. */
function fromEngine(name: string, { type, dims, data }: InstanceType<Engine['Tensor']>): Tensor {
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

/** As text: an error's own fields need not be such that they can cross to another thread. */
function failure(error: unknown): SessionFailure {
  const stack = inspect(error);
  if (error instanceof LzeroError)
    return { kind: 'failure', code: error.code, message: error.message, hint: error.hint, stack };
  return { kind: 'failure', code: 'ENGINE', message: messageOf(error), stack };
}

async function throughGate(gate: NativeGate, host: EngineHost, request: SessionRequest): Promise<SessionReply> {
  if (!enter(gate, request.kind === 'close' ? 'close' : 'work')) return REFUSED;
  try {
    return await host.answer(request);
  } catch (error) {
    return failure(error);
  } finally {
    leave(gate);
  }
}

/** Answers in the order of asking, one at a time. */
function serve(port: MessagePort, gate: NativeGate): void {
  const host = new EngineHost();
  let last: Promise<void> = Promise.resolve();
  port.on('messageerror', (error) => {
    throw error; // ends the thread: without an answer to this request all later ones would be taken for it
  });
  port.on('message', (request: SessionRequest) => {
    last = last.then(async () => {
      const reply = await throughGate(gate, host, request);
      // A run's outputs belong to nobody else: they move, they are not copied.
      const buffers = reply.kind === 'run' ? Object.values(reply.outputs).map(({ data }) => data.buffer) : [];
      port.postMessage(
        reply,
        buffers.filter((buffer) => buffer instanceof ArrayBuffer),
      );
    });
  });
}

assert(parentPort !== null, 'session-worker runs as a worker thread only');
serve(parentPort, workerData);
