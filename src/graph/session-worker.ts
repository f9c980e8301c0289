/** The thread behind `session.ts`: owns the engine and the loaded model, answers one request after the other. */
import type { MessagePort } from 'node:worker_threads';
import { parentPort, workerData } from 'node:worker_threads';
import { assert, failureOf } from '../core/index.ts';
import { type LoadedEngine, loadEngine } from './engine.ts';
import { LoadedModel } from './loaded-model.ts';
import { enter, leave, type NativeGate } from './native-gate.ts';
import type { SessionAnswer, SessionReply, SessionRequest } from './session.ts';
import { REFUSED } from './session.ts';

class EngineHost {
  #engine: LoadedEngine | undefined;
  #model: LoadedModel | undefined;

  async answer(request: SessionRequest): Promise<SessionAnswer> {
    switch (request.kind) {
      case 'start':
        this.#engine = await loadEngine();
        return { kind: 'start', engine: this.#engine.name, problem: this.#engine.problem };
      case 'load':
        await this.#release();
        assert(this.#engine !== undefined, 'load before start');
        this.#model = await LoadedModel.create(this.#engine, request.model, { threads: request.threads });
        return { kind: 'load', ...this.#model.names };
      case 'run':
        assert(this.#model !== undefined, 'run before load');
        return { kind: 'run', outputs: await this.#model.run(request.feeds) };
      case 'close':
        await this.#release();
        return { kind: 'close' };
      default:
        return request satisfies never;
    }
  }

  async #release(): Promise<void> {
    await this.#model?.release();
    this.#model = undefined;
  }
}

async function throughGate(gate: NativeGate, host: EngineHost, request: SessionRequest): Promise<SessionReply> {
  if (!enter(gate, request.kind === 'close' ? 'close' : 'work')) return REFUSED;
  try {
    return await host.answer(request);
  } catch (error) {
    return failureOf(error, 'ENGINE');
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
