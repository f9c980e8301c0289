/** The thread behind train.ts: runs one training run, tells what happens, and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { assert, failureOf, InterruptedError } from '../../core/index.ts';
import { enter, leave } from '../../graph/index.ts';
import type { EngineGate } from './prepare.ts';
import { TRAINING_FAILED, type TrainingMessage, type TrainingThreadData } from './train.ts';
import { runTraining } from './training-run.ts';
import { unhurried } from './unhurried.ts';

async function main(): Promise<void> {
  assert(parentPort !== null, 'training-worker runs as a worker thread only');
  const port = parentPort;
  const { request, gate }: TrainingThreadData = workerData;
  const send = (message: TrainingMessage): void => port.postMessage(message);
  const controller = new AbortController();
  port.on('message', () => controller.abort(new InterruptedError()));
  const throughGate: EngineGate = async (work) => {
    if (!enter(gate, 'work')) throw new InterruptedError(); // the process is about to end
    try {
      return await work();
    } finally {
      leave(gate);
    }
  };
  const clock = (): number => performance.now();
  const listener = unhurried((event) => send({ kind: 'event', event }), clock);
  try {
    const outcome = await runTraining(request, { listener, signal: controller.signal, clock, gate: throughGate });
    send({ kind: 'done', outcome });
  } catch (error) {
    send(failureOf(error, TRAINING_FAILED));
  } finally {
    port.close();
  }
}

await main();
