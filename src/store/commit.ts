/**
 * How a writer replaces one manifest by the next. Files of the next are on disk before the manifest names them; files
 * that only the last one named go afterwards. Knows nothing of documents.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { IndexStateError, LzeroError, messageOf, OutputError } from '../core/index.ts';
import { syncFolder } from '../files/index.ts';
import { removeQuietly } from './byte-files.ts';
import { isLeftover, isSegmentFile, logPath, querySidePath, SEGMENTS, segmentPath } from './layout.ts';
import { type Manifest, readManifest, writeManifest } from './manifest.ts';
import { segmentFileNames } from './segment-files.ts';

/** A commit of which nobody knows whether it survives: the manifest is the new one, but the disk has failed. */
export class UncertainCommitError extends IndexStateError {
  constructor(folder: string, cause: unknown) {
    super(`${folder}: a commit is visible, but the disk could not confirm it: ${messageOf(cause)}`, {
      hint: 'this writer is of no more use: close it, and look at the disk before opening another',
      cause,
    });
  }
}

/**
 * Makes `next` the index. Where that fails, the index is as it was and files that only `next` names are removed; where
 * it is not certain, an UncertainCommitError says so.
 */
export async function publish(folder: string, last: Manifest, next: Manifest): Promise<void> {
  try {
    await forceFolder(join(folder, SEGMENTS));
    await writeManifest(folder, next);
  } catch (error) {
    if (isPublished(folder, next)) throw new UncertainCommitError(folder, error);
    removeTombstonesOf(folder, next, last);
    throw error;
  }
  removeFiles(folder, namesOnlyIn(last, next));
}

/** Forces the names in a folder to disk. */
export async function forceFolder(path: string): Promise<void> {
  try {
    await syncFolder(path);
  } catch (cause) {
    throw OutputError.writing(path, cause);
  }
}

/** Whether the failure came after the rename. What cannot be read is not certain either. */
function isPublished(folder: string, next: Manifest): boolean {
  try {
    return readManifest(folder).generation === next.generation;
  } catch (error) {
    return error instanceof LzeroError;
  }
}

function namesOnlyIn(one: Manifest, other: Manifest): string[] {
  const kept = new Set(other.segments.flatMap(segmentFileNames));
  return one.segments.flatMap(segmentFileNames).filter((name) => !kept.has(name));
}

/** Segments that were not committed stay: the writer has them, and commits them the next time. */
function removeTombstonesOf(folder: string, next: Manifest, last: Manifest): void {
  removeFiles(
    folder,
    namesOnlyIn(next, last).filter((name) => name.endsWith('.deleted')),
  );
}

function removeFiles(folder: string, names: readonly string[]): void {
  for (const name of names) removeQuietly(segmentPath(folder, name));
}

/**
 * Removes what killed writers left: files that the manifest does not name, all where there is none. For the holder of the
 * lock only.
 */
export function removeOrphans(folder: string, manifest: Manifest | undefined): void {
  const named = new Set(manifest ? namedPaths(folder, manifest) : []);
  const found = [
    ...readdirSync(join(folder, SEGMENTS)).flatMap((name) => (isSegmentFile(name) ? [segmentPath(folder, name)] : [])),
    ...readdirSync(folder).flatMap((name) => (isLeftover(name) ? [join(folder, name)] : [])),
  ];
  for (const path of found) if (!named.has(path)) removeQuietly(path);
}

function namedPaths(folder: string, { segments, log, querySide }: Manifest): string[] {
  const names = segments.flatMap(segmentFileNames);
  const paths = [...names.map((name) => segmentPath(folder, name)), logPath(folder, log)];
  return querySide ? [...paths, querySidePath(folder, querySide)] : paths;
}
