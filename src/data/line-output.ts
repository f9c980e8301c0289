/**
 * Lines written so that a killed job can go on where it stopped: no line missing, none twice. They collect in
 * OUT.partial, which becomes OUT when the last is safe on disk. Knows nothing of what the lines say.
 *
 *     open ─ write … write ─ finish      OUT
 *          └ killed, or close            OUT.partial + OUT.partial.json, found by the next open of the same job
 */
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { assert, LzeroError, OutputError } from '../core/index.ts';
import { exists, syncFolder } from '../files/index.ts';
import {
  checkIdentity,
  findWholeLines,
  type JobIdentity,
  openPartial,
  partialNames,
  removePartial,
  type WholeLines,
  writeIdentity,
} from './partial-file.ts';

/** Receives lines. */
export type LineOutput = {
  /** Whole lines that were there already: the job goes on after them. */
  readonly numLines: number;
  /** The last of them. */
  readonly lastLine: string | undefined;
  /** Adds a line, given without its newline. Wait for one before the next. */
  write(line: string): Promise<void>;
  /** All lines are written: the output gets its name. */
  finish(): Promise<void>;
  /** Stops before the end and keeps what is there for the next time. Does nothing after `finish`. */
  close(): Promise<void>;
};

/** Where to write, and what to do with what is there. */
export type LineOutputOptions = {
  /** The finished file. */
  readonly path: string;
  /** What must be equal for the job to go on with unfinished lines: input, model, settings. */
  readonly identity: JobIdentity;
  /** Drop the lines of an unfinished job instead of going on with them. */
  readonly restart?: boolean | undefined;
  /** Replace a finished file. */
  readonly force?: boolean | undefined;
  /** Lines collect in memory up to this size before they are written; a kill loses at most so much. */
  readonly bufferBytes?: number | undefined;
};

const DEFAULT_BUFFER_BYTES = 64 * 1024;
/** A power cut loses at most this much: about five seconds of encoding. */
const SYNC_BYTES = 4 * 1024 * 1024;

/** Opens an output of lines and finds what an earlier run of the same job has left. */
export async function openLineOutput(options: LineOutputOptions): Promise<LineOutput> {
  return await reportingFailures(options.path, async () => {
    const place = { ...options, path: await placeOf(options) };
    if (options.restart) await removePartial(place.path);
    const { handle, found } = (await resume(place)) ?? (await begin(place));
    return new ResumableLines(place, handle, found);
  });
}

/** Where the lines go: links are followed, and only a regular file is ever replaced. */
async function placeOf({ path, force = false }: LineOutputOptions): Promise<string> {
  if (!(await exists(path))) return path;
  const place = await realpath(path);
  if (!(await stat(place)).isFile())
    throw new OutputError(`${path} is not a file`, { hint: 'name a file, or write to standard output with -o -' });
  if (force) return place;
  throw new OutputError(`${path} exists already`, { hint: 'replace it with --force' });
}

type OpenLines = { readonly handle: FileHandle; readonly found: WholeLines };

/** What can be gone on with; undefined where there is nothing. A job that wrote no line binds nobody. */
async function resume({ path, identity }: LineOutputOptions): Promise<OpenLines | undefined> {
  const handle = await openPartial(path);
  if (!handle) return undefined;
  try {
    const found = await findWholeLines(handle);
    if (found.numLines > 0) {
      await checkIdentity(path, identity);
      await handle.truncate(found.sizeBytes);
      return { handle, found };
    }
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  await removePartial(path);
  return undefined;
}

async function begin({ path, identity }: LineOutputOptions): Promise<OpenLines> {
  await writeIdentity(path, identity);
  const handle = await open(partialNames(path).lines, 'wx');
  return { handle, found: { numLines: 0, sizeBytes: 0, lastLine: undefined } };
}

class ResumableLines implements LineOutput {
  readonly numLines: number;
  readonly lastLine: string | undefined;
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #bufferBytes: number;
  #buffer = '';
  #position: number;
  #syncedAt: number;
  #isOpen = true;

  constructor({ path, bufferBytes = DEFAULT_BUFFER_BYTES }: LineOutputOptions, handle: FileHandle, found: WholeLines) {
    this.numLines = found.numLines;
    this.lastLine = found.lastLine;
    this.#path = path;
    this.#handle = handle;
    this.#bufferBytes = bufferBytes;
    this.#position = found.sizeBytes;
    this.#syncedAt = found.sizeBytes;
  }

  async write(line: string): Promise<void> {
    assertLine(line);
    this.#buffer += `${line}\n`;
    if (this.#buffer.length < this.#bufferBytes) return;
    await reportingFailures(this.#path, async () => await this.#flush());
  }

  async finish(): Promise<void> {
    await reportingFailures(this.#path, async () => {
      await this.#flush();
      await this.#handle.sync();
      await this.#closeHandle();
      const names = partialNames(this.#path);
      await rename(names.lines, this.#path);
      await rm(names.identity, { force: true });
      await syncFolder(dirname(this.#path));
    });
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    await reportingFailures(this.#path, async () => {
      try {
        await this.#flush();
      } finally {
        await this.#closeHandle();
      }
    });
  }

  async #closeHandle(): Promise<void> {
    this.#isOpen = false;
    await this.#handle.close();
  }

  /** Writes what has collected. After a failure it is still there, and written again at the same place. */
  async #flush(): Promise<void> {
    const bytes = Buffer.from(this.#buffer);
    for (let done = 0; done < bytes.length; ) {
      const written = await this.#handle.write(bytes, done, bytes.length - done, this.#position + done);
      done += written.bytesWritten;
    }
    this.#position += bytes.length;
    this.#buffer = '';
    if (this.#position - this.#syncedAt < SYNC_BYTES) return;
    await this.#handle.datasync();
    this.#syncedAt = this.#position;
  }
}

function assertLine(line: string): void {
  assert(!line.includes('\n') && !line.includes('\0'), 'a line of output holds a newline or a NUL');
}

/** Runs `work`; whatever the file system refuses comes out as an OutputError that names the file. */
async function reportingFailures<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof LzeroError ? error : OutputError.writing(path, error);
  }
}
