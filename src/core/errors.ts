/**
 * The errors of lzero. Each has a stable `code` for programs, a `message` that says what was expected, what came and
 * where, and a `hint` that says what to do. Knows nothing of how errors are printed.
 */

/** Keys and list positions from the root of a configuration to one of its values: ['data', 'train', 0, 'path']. */
export type SettingPath = readonly (string | number)[];

/** What every error carries besides its message. */
export type ErrorDetails = {
  /** What the reader can do about it, as one sentence or one command. */
  readonly hint?: string | undefined;
  /** The error underneath, if there is one. */
  readonly cause?: unknown;
  /** The setting of a configuration that is to blame, where it is known. */
  readonly setting?: SettingPath | undefined;
};

/** Base of all errors thrown on purpose. Anything else that escapes is a bug. */
export class LzeroError extends Error {
  /** Stable, in capitals: programs may compare it. */
  readonly code: string;
  /** What the reader can do about it. */
  readonly hint: string | undefined;
  /** The setting of a configuration that is to blame; `forSetting` notes it on the way up. */
  setting: SettingPath | undefined;

  constructor(code: string, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.code = code;
    this.hint = details.hint;
    this.setting = details.setting;
  }
}

/** A command called with words or options that do not fit. Exit code 2. */
export class UsageError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('USAGE', message, details);
  }
}

/** A configuration, settings file or option with a wrong value. Exit code 2. */
export class ConfigError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('CONFIG', message, details);
  }
}

/** Arrays whose shapes do not fit together. */
export class ShapeError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('SHAPE', message, details);
  }
}

/** A checkpoint that is damaged, of an unknown kind, or lacks a part. */
export class CheckpointError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('CHECKPOINT', message, details);
  }
}

/** A tokenizer or vocabulary file that cannot be used. */
export class TokenizerError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('TOKENIZER', message, details);
  }
}

/** An IDF table or compact query side that cannot be used. */
export class IdfError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('IDF', message, details);
  }
}

/** A document, query or vector line that cannot be read. Names file and line. */
export class InputError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('INPUT', message, details);
  }
}

/** An unfinished output that does not belong to what is being run now. */
export class ResumeError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('RESUME', message, details);
  }
}

/** Something that one process at a time may write, and another one does. */
export class LockedError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('LOCKED', message, details);
  }
}

/** A result that cannot be written: disk full, folder missing or read-only, or a file in the way. */
export class OutputError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('OUTPUT', message, details);
  }

  /** The failure of a file system call that was to write `path`, with a hint by its kind. */
  static writing(path: string, cause: unknown): OutputError {
    return new OutputError(`cannot write ${path}: ${messageOf(cause)}`, { cause, hint: WRITE_HINTS[errorCode(cause)] });
  }
}

/** What to do about a failed write, by the system's error code. */
const WRITE_HINTS: Readonly<Record<string, string | undefined>> = {
  ENOSPC: 'free some disk space, or choose another folder',
  EDQUOT: 'your disk quota is used up: free some space, or choose another folder',
  EACCES: 'choose a folder you may write to',
  EPERM: 'choose a folder you may write to',
  EROFS: 'the file system is read-only: choose another folder',
  ENOENT: 'the folder does not exist: create it first',
  EEXIST: 'there is a file of that name: choose another',
  ENOTDIR: 'part of the path is a file, not a folder',
  EISDIR: 'the path is a folder: name a file in it',
  EPIPE: 'the program that read the output has ended',
};

/** An index file that is damaged, of an unknown version, or not an index at all. Names file and byte. */
export class IndexFormatError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('INDEX_FORMAT', message, details);
  }
}

/** A call that does not fit the index as it is: another model's vectors, a second writer, an unknown field. */
export class IndexStateError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('INDEX_STATE', message, details);
  }
}

/** Something that could not be fetched, or that came damaged. */
export class DownloadError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('DOWNLOAD', message, details);
  }
}

/** A file of a static site's search that is missing, damaged, or of another version. Names the file. */
export class SiteError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('SITE', message, details);
  }
}

/** An optional package that this call needs is not installed. The hint is the install command. */
export class MissingDependencyError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('MISSING_DEPENDENCY', message, details);
  }
}

/** What was asked for could be made, but measured as no better than what is there, so it was not. */
export class NoGainError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('NO_GAIN', message, details);
  }
}

/** The compute engine refused or failed a graph. */
export class EngineError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('ENGINE', message, details);
  }
}

/** A figure that cannot be drawn: a point that is no number, or has no place on its axis. */
export class FigureError extends LzeroError {
  constructor(message: string, details?: ErrorDetails) {
    super('FIGURE', message, details);
  }
}

/** Work stopped on purpose, by Ctrl-C or an abort signal. Exit code 130; 143 by SIGTERM. */
export class InterruptedError extends LzeroError {
  constructor(message = 'interrupted', details?: ErrorDetails) {
    super('INTERRUPTED', message, details);
  }
}

/** Does what a setting asks for. What goes wrong is blamed on it, unless on a setting of something within already. */
export async function forSetting<T>(setting: SettingPath, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LzeroError && !(error instanceof InterruptedError)) error.setting ??= setting;
    throw error;
  }
}

/** Holds for our own invariants only; a failure is a bug of lzero, not of its user. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`bug: ${message}`);
}

/** The system's name for a failure, such as ENOENT; '' for anything else that was thrown. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
