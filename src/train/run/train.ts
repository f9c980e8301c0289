/**
 * Training on a thread of its own: steps keep a thread busy, and the caller's stays free to draw and to hear Ctrl-C. What
 * the run tells comes over as events, an error as the error it was.
 */
import { Worker } from 'node:worker_threads';
import { assert, errorFrom, LzeroError, messageOf, type ThreadFailure, threadFlags } from '../../core/index.ts';
import type { NativeGate } from '../../graph/index.ts';
import { createGate, guardExit, unguardExit } from '../../graph/index.ts';
import { checkedBy, type TrainConfigInput, trainConfigSchema } from '../config.ts';
import { asksForStates, type RunConfig, type StatesConfigInput, statesConfigSchema } from '../states-config.ts';
import type { TrainEvent, TrainListener, TrainOutcome } from './events.ts';
import { alarmFrom } from './guards.ts';
import type { RunRequest } from './training-run.ts';

/** How to train. */
export type TrainOptions = Omit<RunRequest, 'config'> & {
  /** Told what happens. What it throws stops the run as the signal does, and is thrown in the end. */
  readonly onEvent?: TrainListener | undefined;
  /** Stops the run after the step at hand, which is saved; it then fails with `InterruptedError`. */
  readonly signal?: AbortSignal | undefined;
};

/** What the thread is started with. */
export type TrainingThreadData = { readonly request: RunRequest; readonly gate: NativeGate };

/** What the thread sends. */
export type TrainingMessage =
  | { readonly kind: 'event'; readonly event: TrainEvent }
  | { readonly kind: 'done'; readonly outcome: TrainOutcome }
  | ThreadFailure;

/** The code of errors that are nobody's but the thread's own. */
export const TRAINING_FAILED = 'TRAINING';

/** Node 20 loads no .ts in threads: sources run by tests and scripts use the built file. */
const WORKER = import.meta.url.endsWith('.ts')
  ? new URL('../../../dist/train/run/training-worker.js', import.meta.url)
  : new URL('./training-worker.js', import.meta.url);

/** Trains, and gives what came of it. Defaults are filled in; a configuration that cannot work is a `ConfigError`. */
export async function train(given: TrainConfigInput | StatesConfigInput, options: TrainOptions): Promise<TrainOutcome> {
  const { onEvent, signal, ...run } = options;
  const config = checked(given);
  const gate = createGate();
  const workerData: TrainingThreadData = { request: { config, ...run }, gate };
  const worker = new Worker(WORKER, { workerData, execArgv: threadFlags(process.execArgv) });
  const stop = (): void => worker.postMessage('stop');
  guardExit(gate);
  process.prependListener('exit', stop); // before the guard waits: an evaluation ends early only where it is told to
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  try {
    return await outcomeOf(worker, onEvent ?? (() => {}), stop);
  } finally {
    signal?.removeEventListener('abort', stop);
    process.off('exit', stop);
    unguardExit(gate);
    await worker.terminate();
  }
}

function checked(given: TrainConfigInput | StatesConfigInput): RunConfig {
  return asksForStates(given) ? checkedBy(statesConfigSchema, given) : checkedBy(trainConfigSchema, given);
}

/** What comes of the thread, when it is done. What the listener throws stops the run, and is what comes of it. */
function outcomeOf(worker: Worker, onEvent: TrainListener, stop: () => void): Promise<TrainOutcome> {
  let thrown: { readonly error: unknown } | undefined;
  return new Promise((resolve, reject) => {
    worker.on('message', (message: TrainingMessage) => {
      switch (message.kind) {
        case 'event':
          if (thrown) return;
          try {
            return onEvent(message.event);
          } catch (error) {
            thrown = { error };
            return stop();
          }
        case 'done':
          return thrown ? reject(thrown.error) : resolve(message.outcome);
        case 'failure':
          return reject(thrown ? thrown.error : alarmFrom(errorFrom(message)));
        default:
          return assert(false, `the training thread sent ${JSON.stringify(message satisfies never)}`);
      }
    });
    const failed = (what: string, cause?: unknown) =>
      reject(new LzeroError(TRAINING_FAILED, `the training thread ${what}`, { cause, hint: MEMORY_HINT }));
    worker.on('error', (cause) => failed(`failed: ${messageOf(cause)}`, cause));
    worker.on('exit', () => failed('has ended'));
  });
}

const MEMORY_HINT = 'where memory ran out: lower engine.microBatchTokens or model.maxLength, or freeze layers';
