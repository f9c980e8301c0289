/** Asking again: with growing pauses, as long as the server wants, and not for ever. */
import { type Logger, silentLogger } from '../core/index.ts';
import { isNameFailure, type Outcome } from './failures.ts';
import { pause } from './waiting.ts';

/** How often and when to ask again. */
export type RetryOptions = {
  /** Failures in a row, without a byte between them, that are tried again. */
  readonly retries?: number | undefined;
  /** Pause before the first retry; each further one doubles it. */
  readonly backoffMs?: number | undefined;
  /** Told of failures that are tried again. */
  readonly logger?: Logger | undefined;
  /** Stops with an InterruptedError, also in a pause. */
  readonly signal?: AbortSignal | undefined;
};

const DEFAULT_RETRIES = 5;
const DEFAULT_BACKOFF_MS = 1000;
/** Longest pause, whatever the server asks for. */
const MAX_PAUSE_MS = 120_000;

/**
 * Asks until it is done, or until there have been too many failures in a row.
 *
 * @param numBytes how many bytes are there; more than ever before earn all retries anew
 */
export async function askUntilDone(
  ask: () => Promise<Outcome>,
  numBytes: () => number,
  { retries = DEFAULT_RETRIES, backoffMs = DEFAULT_BACKOFF_MS, logger = silentLogger, signal }: RetryOptions,
): Promise<void> {
  let mostBytes = numBytes(); // ever: a server that breaks off and cannot resume makes no progress
  for (let numFailures = 0; ; ) {
    const outcome = await ask();
    if (outcome.kind === 'done') return;
    if (outcome.kind === 'restarted') continue;
    if (numBytes() > mostBytes) numFailures = 0;
    mostBytes = Math.max(mostBytes, numBytes());
    const allowed = isNameFailure(outcome.error) ? Math.min(1, retries) : retries;
    if (!outcome.canRetry || numFailures >= allowed) throw outcome.error;
    const waitMs = Math.min(MAX_PAUSE_MS, Math.max(outcome.waitMs ?? 0, backoffMs * 2 ** numFailures));
    numFailures++;
    logger.warn(`${outcome.error.message}; trying again in ${waitMs / 1000} s (${numFailures} of ${allowed})`);
    await pause(waitMs, signal);
  }
}
