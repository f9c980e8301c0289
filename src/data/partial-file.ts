/**
 * What an unfinished output leaves on disk: OUT.partial, the lines so far, and OUT.partial.json, the identity of the job
 * that writes them. Finds out how much of it can be kept. The writing itself is line-output.ts.
 */
import { type FileHandle, open, readFile, rm } from 'node:fs/promises';
import { errorCode, messageOf, ResumeError } from '../core/index.ts';
import { writeFileAtomically } from '../files/index.ts';
import { isObject, type JsonObject } from './json-line.ts';

/** What must be equal for a job to go on with another's lines: any JSON values, by name. */
export type JobIdentity = JsonObject;

/** The whole lines of an unfinished file. */
export type WholeLines = {
  readonly numLines: number;
  readonly sizeBytes: number;
  /** Without its newline; undefined if there is none. */
  readonly lastLine: string | undefined;
};

/** Names of an output's unfinished files. */
export function partialNames(path: string): { readonly lines: string; readonly identity: string } {
  return { lines: `${path}.partial`, identity: `${path}.partial.json` };
}

const LF = 0x0a;
const SCAN_BYTES = 1024 * 1024;
const RESTART = 'run the same job as before to go on with it, or drop it with --restart';

/** Removes what an unfinished job left. Lines first: an identity without lines means that nothing was written. */
export async function removePartial(path: string): Promise<void> {
  const names = partialNames(path);
  await rm(names.lines, { force: true });
  await rm(names.identity, { force: true });
}

/** Stores the identity so that it is either whole or not there. */
export async function writeIdentity(path: string, identity: JobIdentity): Promise<void> {
  await writeFileAtomically(partialNames(path).identity, `${canonical(identity)}\n`);
}

/** Refuses to go on with the lines of another job. */
export async function checkIdentity(path: string, identity: JobIdentity): Promise<void> {
  const names = partialNames(path);
  const stored = await readIdentity(names.identity);
  const keys = new Set([...Object.keys(stored), ...Object.keys(identity)]);
  const changes = [...keys]
    .filter((key) => canonical(stored[key]) !== canonical(identity[key]))
    .map((key) => `${key} was ${canonical(stored[key])}, now is ${canonical(identity[key])}`);
  if (changes.length > 0)
    throw new ResumeError(`${names.lines} belongs to another job: ${changes.join('; ')}`, { hint: RESTART });
}

async function readIdentity(name: string): Promise<JobIdentity> {
  try {
    const stored: unknown = JSON.parse(await readFile(name, 'utf8'));
    if (isObject(stored)) return stored;
  } catch (cause) {
    throw new ResumeError(`${name} cannot be read: ${messageOf(cause)}`, { hint: RESTART, cause });
  }
  throw new ResumeError(`${name} is not a JSON object`, { hint: RESTART });
}

/** JSON with sorted keys: equal values give equal text. */
function canonical(value: unknown): string {
  const sorted = (_: string, item: unknown): unknown =>
    isObject(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item;
  return JSON.stringify(value, sorted) ?? 'missing';
}

/**
 * Counts the whole lines of a file: those that end in a newline, up to the first NUL. A kill tears the last line; a
 * power cut may leave blocks that were never written and read as zeros, and no line of text has a zero in it.
 */
export async function findWholeLines(handle: FileHandle): Promise<WholeLines> {
  const chunk = Buffer.alloc(SCAN_BYTES);
  let numLines = 0;
  let lineStart = 0; // of the last whole line
  let sizeBytes = 0; // of all whole lines
  for (let position = 0, isOver = false; !isOver; ) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
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
