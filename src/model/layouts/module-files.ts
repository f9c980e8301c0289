/**
 * The small files by which a layout describes itself: read whole, checked by a schema, and never outside the folder of
 * the model. Knows no layout.
 */
import { lstat, readFile, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { z } from 'zod';
import {
  CheckpointError,
  describeIssues,
  errorCode,
  messageOf,
  parseJson,
  printable,
  quoted,
} from '../../core/index.ts';

/** More than any layout needs: the largest of them list the added tokens of a vocabulary. */
export const MAX_SMALL_BYTES = 2 ** 23;
/** More than a vocabulary of a million tokens takes, with its rules or its weights. */
export const MAX_TEXT_BYTES = 2 ** 27;

const DAMAGED = 'the folder is damaged or of a layout that lzero does not know: fetch or save the model again';

/** The text of a file; undefined where there is none. A link that leads nowhere is an error, not an absence. */
export async function readTextFile(path: string, maxBytes = MAX_TEXT_BYTES): Promise<string | undefined> {
  try {
    const stats = await stat(path);
    if (!stats.isFile()) throw new CheckpointError(`${path} is not a file`, { hint: DAMAGED });
    if (stats.size > maxBytes)
      throw new CheckpointError(`${path} has ${stats.size} bytes, expected at most ${maxBytes}`, { hint: DAMAGED });
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (cause instanceof CheckpointError) throw cause;
    if (errorCode(cause) === 'ENOENT' && !(await isLink(path))) return undefined;
    throw new CheckpointError(`cannot read ${path}: ${messageOf(cause)}`, { cause, hint: DAMAGED });
  }
}

/** The same for files that describe something and are never large. */
export async function readSmallFile(path: string): Promise<string | undefined> {
  return await readTextFile(path, MAX_SMALL_BYTES);
}

/** Whether there is something at a path, if only a link. */
async function isLink(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}

/** A JSON file that may be missing. */
export async function readJsonIfThere<T>(
  path: string,
  schema: z.ZodType<T>,
  maxBytes = MAX_SMALL_BYTES,
): Promise<T | undefined> {
  const text = await readTextFile(path, maxBytes);
  return text === undefined ? undefined : parseChecked(text, path, schema);
}

/** A JSON file that must be there. */
export async function readJsonFile<T>(path: string, schema: z.ZodType<T>): Promise<T> {
  const value = await readJsonIfThere(path, schema);
  if (value !== undefined) return value;
  throw new CheckpointError(`${path} is missing`, { hint: 'the folder is not whole: fetch or save the model again' });
}

/** Checks the text of a JSON file; `path` names it in errors. */
export function parseChecked<T>(text: string, path: string, schema: z.ZodType<T>): T {
  const fail = (problem: string, cause?: unknown) =>
    new CheckpointError(`${printable(path)}: ${problem}`, { cause, hint: DAMAGED });
  const parsed = schema.safeParse(parseJson(text, fail));
  if (parsed.success) return parsed.data;
  throw fail(describeIssues(parsed.error.issues));
}

/** A value that lzero cannot follow; `where` is the file and the key. */
export function unsupported(where: string, problem: string, hint?: string): CheckpointError {
  return new CheckpointError(`${printable(where)}: ${printable(problem)}`, {
    hint: hint ?? 'lzero reads inference-free and SPLADE models: an MLM head, max pooling, and a table for queries',
  });
}

/**
 * The folder that `path` names inside a model's folder. Neither ".." nor a link may lead out of it, so that a model that
 * was fetched reads nothing else of the machine.
 *
 * @param where file and key that name it, for errors
 */
export async function folderInside(root: string, path: string, where: string): Promise<string> {
  const leaves = (problem: string, cause?: unknown) =>
    new CheckpointError(`${printable(where)}: ${quoted(path)} ${printable(problem)}`, { hint: DAMAGED, cause });
  const parts = path.split(/[/\\]/);
  if (/^[/\\]|^[a-z]:|\0/i.test(path) || parts.includes('..')) throw leaves('is not a folder inside the model’s');
  const folder = join(root, ...parts);
  try {
    const [outer, inner] = await Promise.all([realpath(root), realpath(folder)]);
    const way = relative(outer, inner);
    if (way === '..' || way.startsWith(`..${sep}`)) throw leaves('is a link out of the model’s folder');
    if (!(await stat(inner)).isDirectory()) throw leaves('is not a folder');
  } catch (cause) {
    if (cause instanceof CheckpointError) throw cause;
    throw leaves(`cannot be opened: ${messageOf(cause)}`, cause);
  }
  return folder;
}
