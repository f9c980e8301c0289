/**
 * A session: one graph, loaded into the engine, run again and again. The engine computes on a worker thread, so that the
 * caller's event loop stays live: progress is drawn and Ctrl-C is heard while a batch is encoded.
 */
import { Worker } from 'node:worker_threads';
import { assert, EngineError, errorFrom, messageOf, type ThreadFailure, threadFlags } from '../core/index.ts';
import type { EngineName } from './engine.ts';
import type { ModelInterface, SessionModel } from './loaded-model.ts';
import { createGate, guardExit, shutToWork, unguardExit } from './native-gate.ts';
import type { Tensor } from './value.ts';

/** What the worker is asked. */
export type SessionRequest =
  | { readonly kind: 'start' }
  | { readonly kind: 'load'; readonly model: SessionModel; readonly threads: number }
  | { readonly kind: 'run'; readonly feeds: Readonly<Record<string, Tensor>> }
  | { readonly kind: 'close' };

/** What the worker answers to each kind of request that it could fulfil. */
export type SessionAnswer =
  | { readonly kind: 'start'; readonly engine: EngineName; readonly problem: string | undefined }
  | ({ readonly kind: 'load' } & ModelInterface)
  | { readonly kind: 'run'; readonly outputs: Readonly<Record<string, Tensor>> }
  | { readonly kind: 'close' };

/** What the worker sends back. */
export type SessionReply = SessionAnswer | ThreadFailure;

/** Node 20 loads no .ts in threads: sources run by tests and scripts use the built worker. */
const WORKER = import.meta.url.endsWith('.ts')
  ? new URL('../../dist/graph/session-worker.js', import.meta.url)
  : new URL('./session-worker.js', import.meta.url);

/** What makes a whole thread fail: its file, or its memory. */
const THREAD_HINT = 'see `lzero doctor`; where memory ran out, encode on a machine with more or with a smaller model';

/** What a request meets that comes too late. */
const ENDED = {
  message: 'the engine thread has ended',
  hint: 'a closed session or model cannot be used: start another',
} as const;

/**
 * The answer to a request that the worker did not begin.
 * @internal
 */
export const REFUSED: ThreadFailure = { kind: 'failure', code: 'ENGINE', ...ENDED };

type Waiting = { resolve(reply: SessionReply): void; reject(error: Error): void };

/**
 * Runs graphs on a worker thread. Close it, or the process stays alive. `process.exit` waits for a run that was begun, on
 * the main thread; a thread with a session in it must not be terminated.
 */
export class Session {
  readonly #gate = createGate();
  readonly #worker = new Worker(WORKER, { workerData: this.#gate, execArgv: threadFlags(process.execArgv) });
  /** Requests sent and not yet answered; the worker answers in order. */
  readonly #waiting: Waiting[] = [];
  #ended: Error | undefined;
  #closing: Promise<void> | undefined;
  #engine: EngineName | undefined;
  #engineProblem: string | undefined;

  /** Starts the worker and its engine; `MissingDependencyError` where there is none. */
  static async start(): Promise<Session> {
    const session = new Session();
    try {
      const { engine, problem } = answerTo('start', await session.#ask({ kind: 'start' }));
      session.#engine = engine;
      session.#engineProblem = problem;
      return session;
    } catch (error) {
      await session.#worker.terminate();
      throw error;
    }
  }

  private constructor() {
    guardExit(this.#gate);
    this.#worker.on('message', (reply: SessionReply) => {
      const first = this.#waiting.shift();
      assert(first !== undefined, 'the engine thread answered what nobody asked');
      first.resolve(reply);
    });
    // Answers come in order: the one that cannot be read is that to the first request.
    this.#worker.on('messageerror', (cause) =>
      this.#waiting
        .shift()
        ?.reject(new EngineError(`an answer of the engine thread cannot be read: ${messageOf(cause)}`, { cause })),
    );
    this.#worker.on('error', (cause) =>
      this.#end(new EngineError(`the engine thread failed: ${messageOf(cause)}`, { cause, hint: THREAD_HINT })),
    );
    this.#worker.on('exit', () => {
      unguardExit(this.#gate);
      this.#end(new EngineError(ENDED.message, { hint: ENDED.hint }));
    });
  }

  /** The engine that the worker found. */
  get engine(): EngineName {
    assert(this.#engine !== undefined, 'a session without an engine');
    return this.#engine;
  }

  /** Why a better engine that is installed is not used. */
  get engineProblem(): string | undefined {
    return this.#engineProblem;
  }

  /** How many requests have no answer yet. */
  get numWaiting(): number {
    return this.#waiting.length;
  }

  /** Loads a model, in place of the one before. Its bytes move to the worker and are gone here. */
  async load(model: SessionModel, { threads }: { threads: number }): Promise<ModelInterface> {
    const answer = answerTo('load', await this.#ask({ kind: 'load', model, threads }, [model.bytes.buffer]));
    return { inputs: answer.inputs, outputs: answer.outputs };
  }

  /** Runs the loaded model. */
  async run(feeds: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>> {
    const { outputs } = answerTo('run', await this.#ask({ kind: 'run', feeds }));
    return outputs;
  }

  /** Releases the model and ends the thread; runs that were not begun fail, one that was is waited for. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#ended) return;
    this.#ended = new EngineError(ENDED.message, { hint: ENDED.hint });
    shutToWork(this.#gate);
    await this.#send({ kind: 'close' }).catch(() => {});
    await this.#worker.terminate();
  }

  async #ask(request: SessionRequest, move: ArrayBuffer[] = []): Promise<SessionAnswer> {
    if (this.#ended) throw this.#ended;
    return await this.#send(request, move);
  }

  async #send(request: SessionRequest, move: ArrayBuffer[] = []): Promise<SessionAnswer> {
    const reply = await new Promise<SessionReply>((resolve, reject) => {
      // Sent first: a request that cannot be cloned throws here, and must not wait for an answer that is another's.
      this.#worker.postMessage(request, move);
      this.#waiting.push({ resolve, reject });
    });
    if (reply.kind === 'failure') throw errorFrom(reply);
    return reply;
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended);
  }
}

/** The answer, which must be of the kind that was asked for: the worker answers in order. */
function answerTo<Kind extends SessionAnswer['kind']>(
  kind: Kind,
  answer: SessionAnswer,
): Extract<SessionAnswer, { readonly kind: Kind }> {
  assert(isOfKind(answer, kind), `asked the engine thread to ${kind}, got the answer to ${answer.kind}`);
  return answer;
}

function isOfKind<Kind extends SessionAnswer['kind']>(
  answer: SessionAnswer,
  kind: Kind,
): answer is Extract<SessionAnswer, { readonly kind: Kind }> {
  return answer.kind === kind;
}
