import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { createGate, enter, guardExit, leave, shutAndWait, shutToWork, unguardExit } from './native-gate.ts';

describe('the gate', () => {
  it('lets one in to work at a time, and nobody in to close before it is shut to work', () => {
    const gate = createGate();
    expect([enter(gate, 'close'), enter(gate, 'work'), enter(gate, 'work'), enter(gate, 'close')]).toEqual([
      false,
      true,
      false,
      false,
    ]);
    leave(gate);
    expect(enter(gate, 'work')).toBe(true);
  });

  it('shut to work lets only close in, once who is inside has left', () => {
    const gate = createGate();
    enter(gate, 'work');
    shutToWork(gate);
    expect(enter(gate, 'close')).toBe(false);
    leave(gate);
    expect([enter(gate, 'work'), enter(gate, 'close')]).toEqual([false, true]);
  });

  it('shut lets nobody in, not even to close', () => {
    for (const gate of [createGate(), createGate()].map((gate, i) => (i === 0 ? gate : closing(gate)))) {
      shutAndWait(gate);
      expect([enter(gate, 'work'), enter(gate, 'close')]).toEqual([false, false]);
    }
  });

  it('is waited for until the thread inside has left, also by close', async () => {
    for (const gate of [createGate(), closing(createGate())]) {
      const thread = await threadInside(gate);
      shutAndWait(gate);
      expect(enter(gate, 'close')).toBe(false);
      const [code] = await once(thread, 'exit');
      expect(code).toBe(0); // it left only after it had seen the gate shut
    }
  });

  it('is listened for at the end of the process while a thread lives, with one listener for all', () => {
    const before = process.listenerCount('exit');
    const gates = [createGate(), createGate()];
    for (const gate of gates) guardExit(gate);
    expect(process.listenerCount('exit')).toBeLessThanOrEqual(before + 1);
    for (const gate of gates) unguardExit(gate);
    expect(process.listenerCount('exit')).toBe(before);
  });
});

function closing(gate: ReturnType<typeof createGate>): typeof gate {
  shutToWork(gate);
  return gate;
}

/** A thread that is inside and leaves when it sees the gate shut (4); it does what `leave` does. */
async function threadInside(gate: ReturnType<typeof createGate>): Promise<Worker> {
  const script = `
    const { workerData: gate, parentPort } = require('node:worker_threads');
    Atomics.or(gate, 0, 1);
    parentPort.postMessage('inside');
    while ((Atomics.load(gate, 0) & 4) === 0);
    Atomics.and(gate, 0, ~1);
    Atomics.notify(gate, 0);`;
  const thread = new Worker(script, { eval: true, workerData: gate });
  await once(thread, 'message');
  return thread;
}
