/**
 * The file of refused documents, one JSON line each, for whoever mends them. It is added to: several ingests may share it. A
 * job that goes on meets what was refused before again, so a line that is there is not written twice.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { OutputError } from '../core/index.ts';
import type { Rejection } from '../opensearch/index.ts';

/** Refused documents on their way to a file. Close it. */
export class DeadLetters {
  readonly #handle: FileHandle;
  readonly #path: string;
  /** Hashes of the lines that are there: documents may be large. */
  readonly #written = new Set<string>();

  private constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  /** Opens a file, and reads what it has. */
  static async open(path: string): Promise<DeadLetters> {
    try {
      const letters = new DeadLetters(await open(path, 'a+'), path);
      await letters.#readWritten();
      return letters;
    } catch (cause) {
      throw OutputError.writing(path, cause);
    }
  }

  /** Adds a document, unless the same was refused for the same reason before. */
  async add({ id, status, type, reason, source }: Rejection): Promise<void> {
    const document: unknown = source === undefined ? null : JSON.parse(source);
    const line = JSON.stringify({ _id: id, status, type, reason, document });
    const hash = hashOf(line);
    if (this.#written.has(hash)) return;
    this.#written.add(hash);
    await this.#write(`${line}\n`);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #readWritten(): Promise<void> {
    for await (const line of this.#handle.readLines({ start: 0, autoClose: false })) this.#written.add(hashOf(line));
    const { size } = await this.#handle.stat();
    if (size === 0) return;
    const { buffer } = await this.#handle.read({ buffer: Buffer.alloc(1), position: size - 1 });
    if (buffer.toString() !== '\n') await this.#write('\n'); // somebody was killed in the middle of a line
  }

  async #write(text: string): Promise<void> {
    try {
      await this.#handle.appendFile(text);
    } catch (cause) {
      throw OutputError.writing(this.#path, cause);
    }
  }
}

function hashOf(line: string): string {
  return createHash('sha256').update(line).digest('base64');
}
