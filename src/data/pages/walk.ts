/**
 * Files of a folder and all folders in it, in an order that depends on their names only. Hidden ones and those that
 * tools made are passed over; links are followed without walking in circles. Knows nothing of what files hold.
 */
import type { BigIntStats, Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { InterruptedError } from '../../core/index.ts';

/** A file, or a place that could not be looked at. */
export type Found = {
  /** Path in the folder, with `/`; of folders it ends in `/`. */
  readonly id: string;
  readonly path: string;
  /** Why it could not be looked at. */
  readonly failure?: unknown;
};

/** Folders that hold no pages: packages, and what Sphinx keeps beside its pages (their sources a second time). */
const PASSED_OVER: ReadonlySet<string> = new Set(['node_modules', '_sources', '_static', '__pycache__']);

/**
 * Walks a folder.
 *
 * A link to a place inside the folder is passed over, since that place is met under its own name; other links are
 * followed, into each folder once.
 */
export async function* walkFolder(folder: string, signal?: AbortSignal): AsyncGenerator<Found> {
  const walk: Walk = { root: await realpath(folder), visited: new Set(), signal };
  yield* walkInto({ id: '', path: folder }, walk);
}

type Walk = {
  readonly root: string;
  /** Folders by device and inode. */
  readonly visited: Set<string>;
  readonly signal: AbortSignal | undefined;
};

async function* walkInto(folder: Found, walk: Walk): AsyncGenerator<Found> {
  const entries = await visit(folder, walk);
  if (!Array.isArray(entries)) {
    yield { ...folder, failure: entries.failure };
    return;
  }
  for (const entry of entries) {
    if (walk.signal?.aborted) throw new InterruptedError();
    const at = { id: `${folder.id}${entry.name}`, path: join(folder.path, entry.name) };
    const target = entry.isSymbolicLink() ? await targetOf(at.path, walk) : { stats: entry };
    if (target === undefined) continue;
    if ('failure' in target) yield { ...at, failure: target.failure };
    else if (target.stats.isDirectory()) yield* walkInto({ ...at, id: `${at.id}/` }, walk);
    else if (target.stats.isFile()) yield at;
  }
}

/** The entries of a folder in order of their names; none of a folder met before. */
async function visit({ path }: Found, { visited }: Walk): Promise<Dirent[] | { readonly failure: unknown }> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    const key = `${dev}:${ino}`;
    if (visited.has(key)) return [];
    visited.add(key);
    const entries = await readdir(path, { withFileTypes: true });
    return entries.filter(({ name }) => !name.startsWith('.') && !PASSED_OVER.has(name)).sort(byName);
  } catch (failure) {
    return { failure };
  }
}

type Target = { readonly stats: BigIntStats } | { readonly failure: unknown };

/** What a link leads to; undefined where that is inside the folder. */
async function targetOf(path: string, { root }: Walk): Promise<Target | undefined> {
  try {
    const fromRoot = relative(root, await realpath(path));
    const isInside = fromRoot !== '..' && !fromRoot.startsWith(`..${sep}`) && !isAbsolute(fromRoot);
    return isInside ? undefined : { stats: await stat(path, { bigint: true }) };
  } catch (failure) {
    return { failure };
  }
}

/** By UTF-16 units: the same on every machine, whatever its language. */
function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
