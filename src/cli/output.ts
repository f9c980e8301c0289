/**
 * stdout: results, and nothing but results. Waits where the reader is slow, and turns a reader who left
 * (`lzero … | head`) into an error of its own, which ends the command quietly.
 */
import type { Writable } from 'node:stream';
import { OutputError } from '../core/index.ts';

/** The version of every `--json` answer; it grows when a field changes its meaning or goes away. */
export const SCHEMA_VERSION = 1;

/** Nobody reads stdout any more. Not a failure: the command ends with exit code 0. */
export class OutputClosedError extends Error {
  override readonly name = 'OutputClosedError';
}

/** Where results go. */
export class Output {
  readonly #stream: Writable;
  readonly #beforeWrite: () => void;
  #failure: Error | undefined;

  /** @param beforeWrite called before each write, so that a status line on the same terminal can make room */
  constructor(stream: Writable, beforeWrite: () => void = () => {}) {
    this.#stream = stream;
    this.#beforeWrite = beforeWrite;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      const hasReader = error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED';
      this.#failure ??= hasReader
        ? OutputError.writing('standard output', error)
        : new OutputClosedError('stdout is closed', { cause: error });
    });
  }

  /** Writes text; resolves when it was handed over, so that memory does not fill up behind a slow reader. */
  async write(text: string): Promise<void> {
    if (this.#failure) throw this.#failure;
    this.#beforeWrite();
    await new Promise<void>((resolve) => this.#stream.write(text, () => resolve()));
    if (this.#failure) throw this.#failure;
  }

  /** Writes one line. */
  async writeLine(line: string): Promise<void> {
    await this.write(`${line}\n`);
  }

  /** Writes many lines at once. */
  async writeAll(lines: readonly string[]): Promise<void> {
    if (lines.length > 0) await this.writeLine(lines.join('\n'));
  }

  /** Writes one line of JSON: the fields, after the schema's version. */
  async writeJson(fields: Readonly<Record<string, unknown>>): Promise<void> {
    await this.writeLine(JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...fields }));
  }
}
