/**
 * A session: one graph, loaded into the engine, run again and again. The engine computes on a worker thread, so that the
 * caller's event loop stays live: progress is drawn and Ctrl-C is heard while a batch is encoded.
 */
import { Worker } from 'node:worker_threads';
import { EngineError, LzeroError, MissingDependencyError } from '../core/index.ts';
import type { EngineName } from './engine.ts';
import type { Tensor } from './value.ts';

/** A model for the engine. */
export type SessionModel = {
  /** An ONNX ModelProto. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Folder of the files that hold the graph's external constants. */
  readonly folder?: string | undefined;
};

/** What the worker is asked. */
export type SessionRequest =
  | { readonly kind: 'start' }
  | { readonly kind: 'load'; readonly model: SessionModel; readonly threads: number }
  | { readonly kind: 'run'; readonly feeds: Readonly<Record<string, Tensor>> }
  | { readonly kind: 'close' };

/** What the worker answers; errors cross the thread as plain data. */
export type SessionReply =
  | { readonly ok: true; readonly engine?: EngineName; readonly outputs?: Readonly<Record<string, Tensor>> }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly hint?: string | undefined };

/** Node 20 loads no .ts in threads: sources run by tests and scripts use the built worker. */
const WORKER = import.meta.url.endsWith('.ts')
  ? new URL('../../dist/graph/session-worker.js', import.meta.url)
  : new URL('./session-worker.js', import.meta.url);

type Waiting = { resolve(reply: SessionReply): void; reject(error: Error): void };

/** Runs graphs on a worker thread. Close it, or the process stays alive. */
export class Session {
  readonly #worker = new Worker(WORKER);
  /** Requests sent and not yet answered; the worker answers in order. */
  readonly #waiting: Waiting[] = [];
  #ended: Error | undefined;
  #engine: EngineName = 'onnxruntime-node';

  /** Starts the worker and its engine; `MissingDependencyError` where there is none. */
  static async start(): Promise<Session> {
    const session = new Session();
    try {
      session.#engine = (await session.#ask({ kind: 'start' })).engine ?? session.#engine;
      return session;
    } catch (error) {
      await session.#worker.terminate();
      throw error;
    }
  }

  private constructor() {
    this.#worker.on('message', (reply: SessionReply) => this.#waiting.shift()?.resolve(reply));
    this.#worker.on('error', (error) => this.#end(new EngineError('the engine thread failed', { cause: error })));
    this.#worker.on('exit', () => this.#end(new EngineError('the engine thread has ended')));
  }

  /** The engine that the worker found. */
  get engine(): EngineName {
    return this.#engine;
  }

  /** Loads a model, in place of the one before. Its bytes move to the worker and are gone here. */
  async load(model: SessionModel, { threads }: { threads: number }): Promise<void> {
    await this.#ask({ kind: 'load', model, threads }, [model.bytes.buffer]);
  }

  /** Runs the loaded model. */
  async run(feeds: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>> {
    const reply = await this.#ask({ kind: 'run', feeds });
    return reply.outputs ?? {};
  }

  /** Releases the model and ends the thread. */
  async close(): Promise<void> {
    if (this.#ended) return;
    await this.#ask({ kind: 'close' }).catch(() => {});
    await this.#worker.terminate();
  }

  async #ask(request: SessionRequest, move: ArrayBuffer[] = []): Promise<SessionReply & { ok: true }> {
    if (this.#ended) throw this.#ended;
    const reply = await new Promise<SessionReply>((resolve, reject) => {
      // Sent first: a request that cannot be cloned throws here, and must not wait for an answer that is another's.
      this.#worker.postMessage(request, move);
      this.#waiting.push({ resolve, reject });
    });
    if (!reply.ok) throw errorFrom(reply);
    return reply;
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended);
  }
}

function errorFrom(reply: SessionReply & { ok: false }): LzeroError {
  const { code, message, hint } = reply;
  if (code === 'MISSING_DEPENDENCY') return new MissingDependencyError(message, { hint });
  return code === 'ENGINE' ? new EngineError(message, { hint }) : new LzeroError(code, message, { hint });
}
