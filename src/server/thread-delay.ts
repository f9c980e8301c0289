/**
 * How far the thread that speaks HTTP is behind. Where it has more to do than it can, requests wait unseen in sockets and no
 * counter of running ones grows; but what the thread wants to do every few milliseconds then comes late.
 */

const TICK_MS = 20;

/** Measures it. Stop it when done. */
export class ThreadDelay {
  #lastTick = performance.now();
  readonly #timer = setInterval(() => {
    this.#lastTick = performance.now();
  }, TICK_MS);

  constructor() {
    this.#timer.unref();
  }

  /** For how long the thread has not come round. */
  get ms(): number {
    return Math.max(0, performance.now() - this.#lastTick - TICK_MS);
  }

  /** Stops measuring. */
  stop(): void {
    clearInterval(this.#timer);
  }
}
