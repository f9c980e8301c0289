/** The thread behind train.ts: runs one training run, tells what happens, and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { assert, failureOf, InterruptedError } from '../../core/index.ts';
import { enter, leave } from '../../graph/index.ts';
import type { TrainListener } from './events.ts';
import type { StepGate } from './loop.ts';
import { TRAINING_FAILED, type TrainingMessage, type TrainingThreadData } from './train.ts';
import { runTraining } from './training-run.ts';

/** Progress of work beside the steps is told at most so often. */
const WORK_EVENT_MS = 50;

async function main(): Promise<void> {
  assert(parentPort !== null, 'training-worker runs as a worker thread only');
  const port = parentPort;
  const { request, gate }: TrainingThreadData = workerData;
  const send = (message: TrainingMessage): void => port.postMessage(message);
  const controller = new AbortController();
  port.on('message', () => controller.abort(new InterruptedError()));
  const throughGate: StepGate = async (work) => {
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

/** A listener that hears of each piece of work, but not of every document of it. */
function unhurried(listener: TrainListener, clock: () => number): TrainListener {
  let last = { label: '', timeMs: 0 };
  return (event) => {
    if (event.kind === 'work') {
      if (event.label === last.label && clock() - last.timeMs < WORK_EVENT_MS) return;
      last = { label: event.label, timeMs: clock() };
    }
    if (event.kind === 'work-over') last = { label: '', timeMs: 0 };
    listener(event);
  };
}

await main();
