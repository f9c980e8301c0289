/**
 * The file of refused documents, one JSON line each, for whoever mends them. It is added to: several ingests may share it. A
 * job that goes on meets what was refused before again, so a line that is there is not written twice.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { OutputError } from '../core/index.ts';
import { IdSet } from '../data/index.ts';
import type { Rejection } from '../opensearch/index.ts';

/** Refused documents on their way to a file. Close it. */
export class DeadLetters {
  readonly #handle: FileHandle;
  readonly #path: string;
  /** The lines that are there, 64 bits of each: documents may be large, and of a large corpus many. Its memory is bounded. */
  readonly #written = new IdSet();

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
    if (this.#written.add(line)) await this.#write(`${line}\n`);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #readWritten(): Promise<void> {
    for await (const line of this.#handle.readLines({ start: 0, autoClose: false })) this.#written.add(line);
    const { size } = await this.#handle.stat();
    if (size === 0) return;
    const { buffer } = await this.#handle.read({ buffer: Buffer.alloc(1), position: size - 1 });
    if (buffer.toString() !== '\n') await this.#write('\n'); // somebody was killed in the middle of a line
  }

  /** A line is one write, which the system adds as a whole: appendFile makes several of a large one, and others come between. */
  async #write(text: string): Promise<void> {
    const line = Buffer.from(text);
    try {
      for (let at = 0; at < line.length; ) at += (await this.#handle.write(line, at)).bytesWritten;
    } catch (cause) {
      throw OutputError.writing(this.#path, cause);
    }
  }
}
