/** How an error crosses from one thread to another: as plain data, and as the same kind of error again. */
import {
  CheckpointError,
  ConfigError,
  DownloadError,
  EngineError,
  IdfError,
  IndexFormatError,
  IndexStateError,
  InputError,
  InterruptedError,
  LockedError,
  LzeroError,
  MissingDependencyError,
  messageOf,
  OutputError,
  ResumeError,
  type SettingPath,
  ShapeError,
  SiteError,
  TokenizerError,
  UsageError,
} from './errors.ts';

/** An error as plain data. */
export type ThreadFailure = {
  readonly kind: 'failure';
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly setting?: SettingPath | undefined;
  /** Where it came from, as text: an error's own fields need not be such that they can cross. */
  readonly stack?: string | undefined;
};

/** For the thread: what it threw. What is no error of ours gets `code`. */
export function failureOf(error: unknown, code: string): ThreadFailure {
  const stack = stackOf(error);
  if (error instanceof LzeroError) {
    const { code: own, message, hint, setting } = error;
    return { kind: 'failure', code: own, message, hint, setting, stack };
  }
  return { kind: 'failure', code, message: messageOf(error), stack };
}

/** With the errors underneath, each once: a cause may lead back to where it came from. */
function stackOf(error: unknown): string | undefined {
  const errors = new Set<Error>();
  for (let at = error; at instanceof Error && !errors.has(at); at = at.cause) errors.add(at);
  if (errors.size === 0) return undefined;
  return Array.from(errors, ({ stack, message }) => stack ?? message).join('\ncaused by: ');
}

const KINDS = [
  CheckpointError,
  ConfigError,
  DownloadError,
  EngineError,
  IdfError,
  IndexFormatError,
  IndexStateError,
  InputError,
  LockedError,
  MissingDependencyError,
  OutputError,
  ResumeError,
  ShapeError,
  SiteError,
  TokenizerError,
  UsageError,
] as const;

/** For its caller: an error of the same kind, with the thread's stack as its cause. */
export function errorFrom({ code, message, hint, setting, stack }: ThreadFailure): LzeroError {
  const cause = stack === undefined ? undefined : Object.assign(new Error(message), { stack });
  const details = { hint, cause, setting };
  if (code === new InterruptedError().code) return new InterruptedError(message, details);
  for (const Kind of KINDS) {
    const error = new Kind(message, details);
    if (error.code === code) return error;
  }
  return new LzeroError(code, message, details);
}
