/**
 * Ctrl-C: the first asks the command to stop cleanly, the second ends the process at once (after the batch that the
 * engine computes, see src/graph/native-gate.ts).
 */
import { InterruptedError } from '../core/index.ts';
import { EXIT } from './errors.ts';

/** The part of `process` that is needed. */
export type Interruptible = {
  on(event: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  exit(code: number): void;
};

/** A signal that fires, with an `InterruptedError`, at the first SIGINT or SIGTERM. */
export function interruptSignal(host: Interruptible): AbortSignal {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) host.exit(EXIT.interrupted);
    else controller.abort(new InterruptedError());
  };
  host.on('SIGINT', interrupt);
  host.on('SIGTERM', interrupt);
  return controller.signal;
}
