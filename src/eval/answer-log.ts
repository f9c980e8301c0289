/**
 * Answers of an unfinished run, so that a killed evaluation goes on where it stopped. The first line says whose answers
 * they are, each further line is one query's:
 *
 *     {"system": …, "collection": …, "k": …}
 *     ["query", [["document", score], …]]
 *
 * A torn or foreign end is cut off; a log of another run is begun anew. Knows nothing of systems.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { OutputError } from '../core/index.ts';
import type { JobIdentity } from '../data/index.ts';
import { readIfExists } from '../files/index.ts';
import type { Answer } from './system.ts';

/** An open log. */
export class AnswerLog {
  /** Answers that were there already, in order. */
  readonly answers: readonly Answer[];
  readonly #path: string;
  readonly #handle: FileHandle;
  #position: number;

  private constructor(path: string, handle: FileHandle, found: Found) {
    this.#path = path;
    this.#handle = handle;
    this.answers = found.answers;
    this.#position = found.sizeBytes;
  }

  /** Opens the log at `path` and finds what can be kept of it. Close it in the end. */
  static async open(path: string, identity: JobIdentity): Promise<AnswerLog> {
    const head = `${JSON.stringify(identity)}\n`;
    const found = findAnswers((await readIfExists(path)) ?? '', head);
    const handle = await open(path, 'a+').catch((cause: unknown) => {
      throw OutputError.writing(path, cause);
    });
    const log = new AnswerLog(path, handle, found);
    await log.#writing(async () => await handle.truncate(found.sizeBytes));
    if (found.sizeBytes === 0) await log.#append(head);
    return log;
  }

  /** Adds answers. They survive a kill from here on. */
  async write(answers: readonly Answer[]): Promise<void> {
    await this.#append(answers.map((answer) => `${format(answer)}\n`).join(''));
  }

  /** Closes the file and leaves it. */
  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #append(text: string): Promise<void> {
    await this.#writing(async () => {
      await this.#handle.write(text);
      this.#position += Buffer.byteLength(text);
    });
  }

  /** A failed write may have left half a line: it is taken back, so that the log stays whole. */
  async #writing(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (cause) {
      await this.#handle.truncate(this.#position).catch(() => {});
      throw OutputError.writing(this.#path, cause);
    }
  }
}

type Found = { readonly answers: readonly Answer[]; readonly sizeBytes: number };

function findAnswers(text: string, head: string): Found {
  if (!text.startsWith(head)) return { answers: [], sizeBytes: 0 };
  const answers: Answer[] = [];
  let start = head.length;
  for (let end = text.indexOf('\n', start); end >= 0; end = text.indexOf('\n', start)) {
    const answer = parse(text.slice(start, end));
    if (answer === undefined) break;
    answers.push(answer);
    start = end + 1;
  }
  return { answers, sizeBytes: Buffer.byteLength(text.slice(0, start)) };
}

function format({ queryId, hits }: Answer): string {
  return JSON.stringify([queryId, hits.map(({ id, score }) => [id, score])]);
}

/** The answer of a line; undefined where a kill or a power cut has left something else. */
function parse(line: string): Answer | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!Array.isArray(value) || typeof value[0] !== 'string' || !Array.isArray(value[1])) return undefined;
  const hits = value[1].map((pair: unknown) => {
    const [id, score]: unknown[] = Array.isArray(pair) ? pair : [];
    return typeof id === 'string' && typeof score === 'number' ? { id, score } : undefined;
  });
  const whole = hits.filter((hit) => hit !== undefined);
  return whole.length === hits.length ? { queryId: value[0], hits: whole } : undefined;
}
