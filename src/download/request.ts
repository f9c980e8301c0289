/** One HTTP request: given up when its server is silent for too long, its failure told as an outcome. */
import { InterruptedError, LzeroError } from '../core/index.ts';
import { networkOutcome, type Outcome } from './failures.ts';

/** Longest silence of a server, where the caller does not say. */
export const DEFAULT_STALL_MS = 30_000;

/** What ends a request from outside. */
export type RequestLimits = {
  /** Longest silence, of the connection and between two pieces. */
  readonly stallMs: number;
  readonly signal: AbortSignal | undefined;
};

/**
 * Makes a request under a guard. What goes wrong on the way is an outcome; failures of this side (a full disk, an
 * interrupt) are thrown.
 */
export async function guarded(
  url: string,
  { stallMs, signal }: RequestLimits,
  work: (guard: StallGuard) => Promise<Outcome>,
): Promise<Outcome> {
  if (signal?.aborted) throw new InterruptedError();
  const guard = new StallGuard(stallMs, signal);
  try {
    return await work(guard);
  } catch (error) {
    if (signal?.aborted) throw new InterruptedError();
    if (error instanceof LzeroError) throw error;
    return networkOutcome(url, guard.hasStalled ? new Error(`no data for ${stallMs / 1000} s`) : error);
  } finally {
    guard.stop();
  }
}

/** Aborts when nothing was heard for too long; also when the caller aborts. */
export class StallGuard {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #stallMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(stallMs: number, signal: AbortSignal | undefined) {
    this.#stallMs = stallMs;
    this.signal = signal ? AbortSignal.any([signal, this.#controller.signal]) : this.#controller.signal;
    this.touch();
  }

  /** Whether it was this guard that aborted. */
  get hasStalled(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Something was heard. */
  touch(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(), this.#stallMs);
  }

  /** Nothing is expected for now. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}
