/**
 * Ctrl-C and kill: the first asks the command to stop cleanly, the second ends the process at once (after the batch that
 * the engine computes, see src/graph/native-gate.ts). SIGHUP is left to the system: nohup wants it ignored.
 */
import { InterruptedError } from '../core/index.ts';
import { EXIT, TerminatedError } from './errors.ts';

/** The part of `process` that is needed. */
export type Interruptible = {
  on(event: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  exit(code: number): void;
};

/** A signal that fires at the first SIGINT or SIGTERM, with an `InterruptedError` that tells which of the two. */
export function interruptSignal(host: Interruptible): AbortSignal {
  const controller = new AbortController();
  const stop = (reason: InterruptedError, exitCode: number) => (): void => {
    if (controller.signal.aborted) host.exit(exitCode);
    else controller.abort(reason);
  };
  host.on('SIGINT', stop(new InterruptedError(), EXIT.interrupted));
  host.on('SIGTERM', stop(new TerminatedError(), EXIT.terminated));
  return controller.signal;
}
