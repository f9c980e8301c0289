/** How a command ends: the exit code of whatever it threw, and the words on stderr. */
import { CommanderError } from 'commander';
import { ConfigError, errorCode, InterruptedError, LzeroError, messageOf, UsageError } from '../core/index.ts';
import { OutputClosedError } from './output.ts';

/** What the shell sees. A stop by a signal is 128 and the signal's number: 2 of SIGINT, 15 of SIGTERM. */
export const EXIT = { done: 0, failed: 1, usage: 2, interrupted: 130, terminated: 143 } as const;

/** The reason of a stop that was no Ctrl-C: SIGTERM, of kill and of whoever shuts services down. */
export class TerminatedError extends InterruptedError {}

/** Ends a command with an exit code and without a word: what there is to say was part of its result. */
export class CommandFailed extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit code ${exitCode}`);
    this.name = 'CommandFailed';
    this.exitCode = exitCode;
  }
}

/** The exit code that stands for an error; `signal` knows why work was stopped, where it was. */
export function exitCodeOf(error: unknown, signal?: AbortSignal): number {
  if (error instanceof CommandFailed) return error.exitCode;
  if (error instanceof OutputClosedError) return EXIT.done;
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  if (error instanceof UsageError || error instanceof ConfigError) return EXIT.usage;
  if (error instanceof InterruptedError || isAbort(error))
    return signal?.reason instanceof TerminatedError ? EXIT.terminated : EXIT.interrupted;
  return EXIT.failed;
}

/** What to print for an error: `error[CODE]: message`, then the hint; nothing where there is nothing to add. */
export function describeError(error: unknown, { verbose = false } = {}): string[] {
  if (error instanceof CommandFailed || exitCodeOf(error) === EXIT.done) return [];
  const { code, message, hint } = parts(error);
  const lines = [`error[${code}]: ${message}`];
  if (hint !== undefined) lines.push(`hint: ${hint}`);
  if (verbose) lines.push(...stacks(error));
  return lines;
}

type Parts = { readonly code: string; readonly message: string; readonly hint?: string | undefined };

function parts(error: unknown): Parts {
  if (error instanceof LzeroError) return error;
  if (error instanceof CommanderError) return usageParts(error.message);
  if (isAbort(error)) return new InterruptedError();
  const code = errorCode(error);
  if (code !== '' && isSystemCall(error)) return { code, message: messageOf(error) };
  return { code: 'INTERNAL', message: messageOf(error), hint: 'this is a bug in lzero; --verbose shows where' };
}

/** Commander writes "error: unknown option '--jsn'\n(Did you mean --json?)". */
function usageParts(text: string): Parts {
  const [first, ...rest] = text.replace(/^error: /, '').split('\n');
  const suggestion = rest.join(' ').match(/\(Did you mean (.*)\?\)/)?.[1];
  return { code: 'USAGE', message: first, hint: suggestion ? `did you mean ${suggestion}?` : 'see --help' };
}

function isSystemCall(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** The stack of an error and of each cause below it. */
function stacks(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const own = error.stack ?? error.message;
  return error.cause === undefined ? [own] : [own, 'caused by:', ...stacks(error.cause)];
}
