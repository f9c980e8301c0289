/**
 * What an unfinished output leaves on disk. Finds out how much of it can be kept. The writing itself is line-output.ts.
 *
 *     OUT.partial         the lines so far
 *     OUT.partial.json    the identity of the job that writes them
 *     OUT.partial.tally   how far the lines were counted: "sizeBytes numMarked;", added after each write of lines, or
 *                         "sizeBytes numMarked {"numDone":7};" with what the job counts itself
 *
 * Lines beyond the last tally that fits are dropped: they are few, and how many of them were marked is not known. A tally
 * of no lines stands there before the first line does; lines without any tally are somebody's, and are left alone.
 */
import { type FileHandle, open, readFile, rm, stat } from 'node:fs/promises';
import { errorCode, isJsonObject, type JsonObject, messageOf, ResumeError } from '../core/index.ts';
import { readIfExists, writeFileAtomically } from '../files/index.ts';

/** What must be equal for a job to go on with another's lines: any JSON values, by name. */
export type JobIdentity = JsonObject;

/** A file or folder that a job reads, as it is now; part of the job's identity. */
export type FileIdentity = {
  readonly file: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  /** Of a folder of pages: sha256 of the names, sizes and times of all. */
  readonly pages?: string;
};

/** What tells a file from what it becomes when somebody changes it. */
export async function fileIdentity(file: string): Promise<FileIdentity> {
  const { size, mtimeMs } = await stat(file);
  return { file, sizeBytes: size, modifiedMs: mtimeMs };
}

function isFileIdentity(value: unknown): value is FileIdentity {
  return isJsonObject(value) && typeof value.file === 'string' && 'modifiedMs' in value;
}

/** The whole lines of an unfinished file. */
type WholeLines = {
  readonly numLines: number;
  readonly sizeBytes: number;
  /** Without its newline; undefined if there is none. */
  readonly lastLine: string | undefined;
};

/** What a job counts, by names of its own: letters only. */
export type Counts = Readonly<Record<string, number>>;

/** How many lines were marked, and what else was counted, up to a size of the file. */
type Tally = { readonly sizeBytes: number; readonly numMarked: number; readonly counts: Counts | undefined };

/** The lines of an unfinished file that can be kept. */
export type FoundLines = WholeLines & Tally;

/** Where a job begins. */
export const NO_LINES: FoundLines = {
  numLines: 0,
  numMarked: 0,
  counts: undefined,
  sizeBytes: 0,
  lastLine: undefined,
};

type PartialNames = { readonly lines: string; readonly identity: string; readonly tally: string };

/** Names of an output's unfinished files. */
export function partialNames(path: string): PartialNames {
  return { lines: `${path}.partial`, identity: `${path}.partial.json`, tally: `${path}.partial.tally` };
}

const LF = 0x0a;
const SCAN_BYTES = 1024 * 1024;
const RESTART = 'run the same job as before to go on with it, or drop it with --restart';
const RESTART_CHANGED =
  'begin again with --restart; what was done before is of the file as it was, and only goes on with that';

/** Removes what an unfinished job left. Lines first: an identity without lines means that nothing was written. */
export async function removePartial(path: string): Promise<void> {
  await rm(partialNames(path).lines, { force: true });
  await removeNotes(path);
}

/** Removes what was noted about the lines of a job. */
export async function removeNotes(path: string): Promise<void> {
  const { identity, tally } = partialNames(path);
  await rm(identity, { force: true });
  await rm(tally, { force: true });
}

/** Notes how far the lines go now. An entry brings the newline before it too, so that a torn one spoils no other. */
export async function addTally(notes: FileHandle, tally: Tally): Promise<void> {
  await notes.appendFile(formatTally(tally));
}

/** Opens the notes for more. Forgets all but this one: those beyond it would be believed again once the file has grown. */
export async function beginTally(path: string, tally: Tally): Promise<FileHandle> {
  const name = partialNames(path).tally;
  await writeFileAtomically(name, formatTally(tally));
  return await open(name, 'a');
}

/** The semicolon tells a whole entry from a torn one that the newline of the next has closed. */
function formatTally({ sizeBytes, numMarked, counts }: Tally): string {
  return `\n${sizeBytes} ${numMarked}${counts ? ` ${JSON.stringify(counts)}` : ''};\n`;
}

function parseCounts(text: string | undefined): Counts | undefined {
  return text === undefined ? undefined : JSON.parse(text);
}

/** The last tally of lines that are all there. */
async function readTally(path: string, sizeBytes: number): Promise<Tally> {
  const name = partialNames(path).tally;
  const text = (await readIfExists(name)) ?? '';
  const entries = Array.from(text.matchAll(/^(\d+) (\d+)(?: (\{[\w":,.+-]*\}))?;$/gm), ([, size, marked, counts]) => ({
    sizeBytes: Number(size),
    numMarked: Number(marked),
    counts: parseCounts(counts),
  }));
  const last = entries.findLast((entry) => entry.sizeBytes <= sizeBytes);
  if (last) return last;
  throw new ResumeError(`${name} is missing or damaged, so nobody knows how far ${partialNames(path).lines} goes`, {
    hint: 'put it back, or begin again with --restart: the lines that are there are dropped then',
  });
}

/**
 * Finds the lines of this job that can be kept; undefined where there is no whole line. Those of another job, or without
 * a tally, are a ResumeError. Changes nothing.
 */
export async function findLines(
  path: string,
  identity: JobIdentity,
  handle: FileHandle,
): Promise<FoundLines | undefined> {
  const whole = await findWholeLines(handle);
  if (whole.numLines === 0) return undefined;
  await checkIdentity(path, identity);
  const { sizeBytes, ...counted } = await readTally(path, whole.sizeBytes);
  return { ...(sizeBytes === whole.sizeBytes ? whole : await findWholeLines(handle, sizeBytes)), ...counted };
}

/** Stores the identity so that it is either whole or not there. */
export async function writeIdentity(path: string, identity: JobIdentity): Promise<void> {
  await writeFileAtomically(partialNames(path).identity, `${canonical(identity)}\n`);
}

/** Refuses to go on with the lines of another job. */
async function checkIdentity(path: string, identity: JobIdentity): Promise<void> {
  const names = partialNames(path);
  const stored = await readIdentity(names.identity);
  const keys = new Set([...Object.keys(stored), ...Object.keys(identity)]);
  const changed = [...keys].filter((key) => canonical(stored[key]) !== canonical(identity[key]));
  if (changed.length === 0) return;
  const changes = changed.map((key) => describeChange(key, stored[key], identity[key]));
  if (changed.every((key) => isSameFile(stored[key], identity[key])))
    throw new ResumeError(`${changes.join('; ')} since the run that left ${names.lines}`, { hint: RESTART_CHANGED });
  throw new ResumeError(`${names.lines} belongs to another job: ${changes.join('; ')}`, { hint: RESTART });
}

/** Whether both are the same file by name, whatever is in it. */
function isSameFile(before: unknown, now: unknown): now is FileIdentity {
  return isFileIdentity(before) && isFileIdentity(now) && before.file === now.file;
}

function describeChange(key: string, before: unknown, now: unknown): string {
  if (isSameFile(before, now)) return `the ${key} ${now.pages ? 'folder' : 'file'} ${now.file} has changed`;
  const show = (value: unknown): string => canonical(isFileIdentity(value) ? value.file : value);
  return `${key} was ${show(before)}, now is ${show(now)}`;
}

async function readIdentity(name: string): Promise<JobIdentity> {
  try {
    const stored: unknown = JSON.parse(await readFile(name, 'utf8'));
    if (isJsonObject(stored)) return stored;
  } catch (cause) {
    throw new ResumeError(`${name} cannot be read: ${messageOf(cause)}`, { hint: RESTART, cause });
  }
  throw new ResumeError(`${name} is not a JSON object`, { hint: RESTART });
}

/** JSON with sorted keys: equal values give equal text. */
function canonical(value: unknown): string {
  const sorted = (_: string, item: unknown): unknown =>
    isJsonObject(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item;
  return JSON.stringify(value, sorted) ?? 'missing';
}

/**
 * Counts the whole lines of a file's first `limit` bytes: those that end in a newline, up to the first NUL. A kill tears
 * the last line; a power cut may leave blocks that were never written and read as zeros, and no line of text has a zero
 * in it.
 */
async function findWholeLines(handle: FileHandle, limit = Number.POSITIVE_INFINITY): Promise<WholeLines> {
  const chunk = Buffer.alloc(SCAN_BYTES);
  let numLines = 0;
  let lineStart = 0; // of the last whole line
  let sizeBytes = 0; // of all whole lines
  for (let position = 0, isOver = false; !isOver; ) {
    const { bytesRead } = await handle.read(chunk, 0, Math.min(chunk.length, limit - position), position);
    const nul = chunk.subarray(0, bytesRead).indexOf(0);
    const sound = chunk.subarray(0, nul < 0 ? bytesRead : nul);
    for (let at = sound.indexOf(LF); at >= 0; at = sound.indexOf(LF, at + 1)) {
      numLines++;
      lineStart = sizeBytes;
      sizeBytes = position + at + 1;
    }
    position += bytesRead;
    isOver = bytesRead === 0 || nul >= 0;
  }
  if (numLines === 0) return { numLines, sizeBytes, lastLine: undefined };
  const last = Buffer.alloc(sizeBytes - lineStart - 1);
  await handle.read(last, 0, last.length, lineStart);
  return { numLines, sizeBytes, lastLine: last.toString('utf8') };
}

/** Opens the lines of an unfinished job for reading and writing; undefined if there are none. */
export async function openPartial(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(partialNames(path).lines, 'r+');
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return undefined;
    throw cause;
  }
}
