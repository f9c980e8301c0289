/**
 * A gate around the engine's native code. A thread that is ended while it is in there aborts the whole process: the
 * engine then fails to make its results, and throws where nobody can catch. So the thread passes the gate for each piece
 * of work, and whoever ends the thread, or the process, shuts the gate and waits until nobody is inside.
 *
 *     OPEN ──shutToWork──▶ CLOSING ──▶ only the last request, close, passes
 *     any  ──shutAndWait─▶ SHUT ─────▶ nothing passes            BUSY is set beside them while somebody is inside
 */

/** The state, in memory that both threads see. */
export type NativeGate = Int32Array<SharedArrayBuffer>;

const OPEN = 0;
const BUSY = 1;
const CLOSING = 2;
const SHUT = 4;

/**
 * An engine that hangs must not keep a process for ever. Batches take a second or two; the loading of a model of several
 * gigabytes, or a batch on a machine that swaps, may take longer than this, and is then aborted with the whole process.
 */
const LONGEST_WORK_MS = 60_000;

/** An open gate. */
export function createGate(): NativeGate {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** The thread wants in, to work or to clean up after all work. False where it must not; else it calls `leave`. */
export function enter(gate: NativeGate, purpose: 'work' | 'close'): boolean {
  const expected = purpose === 'work' ? OPEN : CLOSING;
  return Atomics.compareExchange(gate, 0, expected, expected | BUSY) === expected;
}

/** The thread is out again. */
export function leave(gate: NativeGate): void {
  Atomics.and(gate, 0, ~BUSY);
  Atomics.notify(gate, 0);
}

/** No more work; who is inside finishes. */
export function shutToWork(gate: NativeGate): void {
  Atomics.or(gate, 0, CLOSING);
}

/** Nothing passes any more; returns when nobody is inside. */
export function shutAndWait(gate: NativeGate): void {
  Atomics.or(gate, 0, SHUT);
  for (let state = Atomics.load(gate, 0); state & BUSY; state = Atomics.load(gate, 0))
    if (Atomics.wait(gate, 0, state, LONGEST_WORK_MS) === 'timed-out') return;
}

/** Gates of threads that live. */
const guarded = new Set<NativeGate>();

function waitForAll(): void {
  for (const gate of guarded) shutAndWait(gate);
}

/** From now on `process.exit` waits for the work behind this gate. Threads are ended after the listeners of 'exit'. */
export function guardExit(gate: NativeGate): void {
  if (guarded.size === 0) process.on('exit', waitForAll);
  guarded.add(gate);
}

/** The thread has ended: there is nothing to wait for. */
export function unguardExit(gate: NativeGate): void {
  guarded.delete(gate);
  if (guarded.size === 0) process.off('exit', waitForAll);
}
