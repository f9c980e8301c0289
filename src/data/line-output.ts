/**
 * Lines written so that a killed job can go on where it stopped: no line missing, none twice. They collect in
 * OUT.partial, which becomes OUT when the last is safe on disk. Knows nothing of what the lines say.
 *
 *     open ─ write … write ─ finish      OUT
 *          └ killed, or close            OUT.partial, .partial.json, .partial.tally: found by the next open of the job
 *
 * OUT.lock keeps a second job off from opening to closing.
 */
import { access, constants, type FileHandle, open, realpath, rename, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { assert, InterruptedError, LzeroError, OutputError, UsageError } from '../core/index.ts';
import { acquireLock, exists, type Lock, refuseInputAsOutput, syncFolder } from '../files/index.ts';
import {
  addTally,
  beginTally,
  type Counts,
  type FoundLines,
  findLines,
  type JobIdentity,
  NO_LINES,
  openPartial,
  partialNames,
  removeNotes,
  removePartial,
  writeIdentity,
} from './partial-file.ts';

/** Receives lines. */
export type LineSink = {
  /** Whole lines that were there already: the job goes on after them. */
  readonly numLines: number;
  /** How many of them were marked. */
  readonly numMarked: number;
  /** What the job had counted when it wrote the last of them; undefined where it said nothing. */
  readonly counts: Counts | undefined;
  /** The last of them. */
  readonly lastLine: string | undefined;
  /**
   * Adds a line, given without its newline. Marked ones are counted, across runs, and the job's own counts up to this line
   * are kept for the next run. Wait for one before the next.
   */
  write(line: string, options?: { readonly marked?: boolean; readonly counts?: Counts }): Promise<void>;
  /** Adds many lines, none of them marked: a promise for each would cost more than the line. */
  writeAll(lines: readonly string[]): Promise<void>;
};

/** Receives lines for a file. */
export type LineOutput = LineSink & {
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
  /** Files that the job reads: refused as its output, whatever else is asked for. */
  readonly inputs?: readonly string[] | undefined;
  /** Drop the lines of an unfinished job instead of going on with them. */
  readonly restart?: boolean | undefined;
  /** Replace a finished file. */
  readonly force?: boolean | undefined;
  /** Lines collect in memory up to this size before they are written; a kill loses at most twice as much. */
  readonly bufferBytes?: number | undefined;
};

const DEFAULT_BUFFER_BYTES = 64 * 1024;
/** A power cut loses at most this much more than a kill does: about five seconds of encoding. */
const SYNC_BYTES = 4 * 1024 * 1024;

/** Does a job that writes lines. One that fails keeps them; one that is interrupted says that it can go on. */
export async function writeLines<T>(options: LineOutputOptions, job: (output: LineSink) => Promise<T>): Promise<T> {
  const output = await openLineOutput(options);
  try {
    const result = await job(output);
    await output.finish();
    return result;
  } catch (error) {
    await output.close().catch(() => {}); // the first failure is the one to report
    if (!(error instanceof InterruptedError)) throw error;
    throw new InterruptedError(error.message, { hint: 'run the same command again to go on', cause: error });
  }
}

/**
 * Opens an output of lines and finds what an earlier run of the same job has left. Fails with LockedError where another
 * process has it open. `writeLines` closes it too.
 */
export async function openLineOutput(options: LineOutputOptions): Promise<LineOutput> {
  return await reportingFailures(options.path, async () => {
    await refuseInputs(options);
    const lock = acquireLock(`${await placeOf(options)}.lock`);
    try {
      const place = { ...options, path: await placeOf(options) }; // again: who had the lock may have finished
      if (options.restart) await removePartial(place.path);
      return new ResumableLines(place, lock, (await resume(place)) ?? (await begin(place)));
    } catch (error) {
      lock.release();
      throw error;
    }
  });
}

/**
 * Refuses an output that could not be opened as it is asked for. For jobs that take long to get to their first line:
 * `openLineOutput` checks the same.
 */
export async function checkLineOutput(output: OutputPlace): Promise<void> {
  await reportingFailures(output.path, async () => {
    await refuseInputs(output);
    await placeOf(output);
  });
}

/** Where lines are to go, and what they must not replace. */
export type OutputPlace = Pick<LineOutputOptions, 'path' | 'inputs' | 'force'>;

async function refuseInputs({ path, inputs = [] }: OutputPlace): Promise<void> {
  for (const written of [path, ...Object.values(partialNames(path))]) await refuseInputAsOutput(written, inputs);
}

/** Where the lines go: links are followed, and only a regular file is ever replaced. */
async function placeOf({ path, force = false }: OutputPlace): Promise<string> {
  checkName(path);
  if (!(await exists(path))) {
    await checkFolder(path);
    return path;
  }
  const place = await realpath(path);
  if (!(await stat(place)).isFile()) throw new OutputError(`${path} is not a file`, { hint: 'name a file' });
  if (force) return place;
  throw new OutputError(`${path} exists already`, { hint: 'replace it with --force' });
}

/** Our own reader takes a file for compressed by its name; `-` is what commands call standard output. */
function checkName(path: string): void {
  if (path === '-')
    throw new UsageError('lines go to a file here, not to standard output', {
      hint: 'name a file: a job that writes one goes on where it was stopped',
    });
  if (path.endsWith('.gz'))
    throw new UsageError(`${path} would be written uncompressed, and read as if it were not`, {
      hint: `write ${basename(path, '.gz')}, and compress it afterwards with gzip`,
    });
}

/** Lines and notes are new files there: a folder that takes none is told by the name of the output, not by theirs. */
async function checkFolder(path: string): Promise<void> {
  const folder = dirname(path);
  if (!(await exists(folder)))
    throw new OutputError(`cannot write ${path}: there is no folder ${folder}`, { hint: 'create it first' });
  await access(folder, constants.W_OK);
}

type OpenLines = { readonly handle: FileHandle; readonly notes: FileHandle; readonly found: FoundLines };

/** What can be gone on with; undefined where there is nothing. A job that wrote no line binds nobody. */
async function resume({ path, identity }: LineOutputOptions): Promise<OpenLines | undefined> {
  const handle = await openPartial(path);
  if (!handle) return undefined;
  try {
    const found = await findLines(path, identity, handle);
    if (found) {
      await handle.truncate(found.sizeBytes);
      return { handle, notes: await beginTally(path, found), found };
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
  const notes = await beginTally(path, NO_LINES);
  try {
    const handle = await open(partialNames(path).lines, 'wx');
    await syncFolder(dirname(path)); // the file's name must survive a power cut too
    return { handle, notes, found: NO_LINES };
  } catch (error) {
    await notes.close();
    throw error;
  }
}

class ResumableLines implements LineOutput {
  readonly numLines: number;
  readonly numMarked: number;
  readonly counts: Counts | undefined;
  readonly lastLine: string | undefined;
  readonly #path: string;
  readonly #lock: Lock;
  readonly #handle: FileHandle;
  readonly #notes: FileHandle;
  readonly #bufferBytes: number;
  #buffer = '';
  #position: number;
  #marked: number;
  #counts: Counts | undefined;
  #syncedAt: number;
  #isOpen = true;

  constructor(options: LineOutputOptions, lock: Lock, { handle, notes, found }: OpenLines) {
    this.numLines = found.numLines;
    this.numMarked = found.numMarked;
    this.counts = found.counts;
    this.lastLine = found.lastLine;
    this.#path = options.path;
    this.#lock = lock;
    this.#handle = handle;
    this.#notes = notes;
    this.#bufferBytes = options.bufferBytes ?? DEFAULT_BUFFER_BYTES;
    this.#position = found.sizeBytes;
    this.#marked = found.numMarked;
    this.#counts = found.counts;
    this.#syncedAt = found.sizeBytes;
  }

  async write(line: string, { marked = false, counts }: { marked?: boolean; counts?: Counts } = {}): Promise<void> {
    if (marked) this.#marked++;
    if (counts) this.#counts = { ...counts }; // the job counts on
    await this.writeAll([line]);
  }

  async writeAll(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    this.#buffer += `${joinLines(lines)}\n`;
    if (this.#buffer.length < this.#bufferBytes) return;
    await reportingFailures(this.#path, async () => await this.#flush());
  }

  async finish(): Promise<void> {
    await reportingFailures(this.#path, async () => {
      await this.#flush();
      await this.#handle.sync();
      await this.#closeFiles();
      await rename(partialNames(this.#path).lines, this.#path);
      await removeNotes(this.#path);
      await syncFolder(dirname(this.#path));
      this.#lock.release();
    });
  }

  async close(): Promise<void> {
    await reportingFailures(this.#path, async () => {
      try {
        if (this.#isOpen) await this.#flush();
      } finally {
        if (this.#isOpen) await this.#closeFiles();
        this.#lock.release();
      }
    });
  }

  async #closeFiles(): Promise<void> {
    this.#isOpen = false;
    await Promise.all([this.#handle.close(), this.#notes.close()]);
  }

  /**
   * Writes what has collected, then how far that goes. After a failure it is still there, and written again at the same
   * place.
   */
  async #flush(): Promise<void> {
    if (this.#buffer === '') return;
    const bytes = Buffer.from(this.#buffer);
    for (let done = 0; done < bytes.length; ) {
      const written = await this.#handle.write(bytes, done, bytes.length - done, this.#position + done);
      done += written.bytesWritten;
    }
    const sizeBytes = this.#position + bytes.length;
    await addTally(this.#notes, { sizeBytes, numMarked: this.#marked, counts: this.#counts });
    this.#position += bytes.length;
    this.#buffer = '';
    if (this.#position - this.#syncedAt < SYNC_BYTES) return;
    await this.#handle.datasync();
    await this.#notes.datasync(); // lines that no note covers are dropped
    this.#syncedAt = this.#position;
  }
}

/** Looked at when they are one text: one by one would take longer than writing them. */
function joinLines(lines: readonly string[]): string {
  const text = lines.join('\n');
  let numLines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) numLines++;
  assert(numLines === lines.length && !text.includes('\0'), 'a line of output holds a newline or a NUL');
  return text;
}

/** Runs `work`; whatever the file system refuses comes out as an OutputError that names the file. */
async function reportingFailures<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof LzeroError ? error : OutputError.writing(path, error);
  }
}
