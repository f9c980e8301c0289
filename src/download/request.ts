/** One HTTP request: given up when its server is silent for too long, its failure told as an outcome that names the address. */
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
  work: (guard: RequestGuard) => Promise<Outcome>,
): Promise<Outcome> {
  if (signal?.aborted) throw new InterruptedError();
  const guard = new RequestGuard(url, stallMs, signal);
  try {
    return await work(guard);
  } catch (error) {
    if (signal?.aborted) throw new InterruptedError();
    if (error instanceof LzeroError) throw error;
    return networkOutcome(guard.where, guard.hasStalled ? new Error(`no data for ${stallMs / 1000} s`) : error);
  } finally {
    guard.stop();
  }
}

/** Watches a request: where it is, and whether anybody is heard. Aborts after too long a silence; also when the caller does. */
export class RequestGuard {
  /** The address that is asked now: another one after each redirect. */
  url: string;
  readonly signal: AbortSignal;
  readonly #asked: string;
  readonly #controller = new AbortController();
  readonly #stallMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(url: string, stallMs: number, signal: AbortSignal | undefined) {
    this.url = url;
    this.#asked = url;
    this.#stallMs = stallMs;
    this.signal = signal ? AbortSignal.any([signal, this.#controller.signal]) : this.#controller.signal;
    this.touch();
  }

  /** The address for people. What follows `?` in those that servers send on to may be a signature, and nobody's to read. */
  get where(): string {
    return this.url === this.#asked ? this.url : `${this.url.replace(/\?.*/s, '?…')} (redirected from ${this.#asked})`;
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
