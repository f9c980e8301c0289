/**
 * How a writer replaces one manifest by the next. Files of the next are on disk before the manifest names them; files
 * that only the last one named go afterwards. Knows nothing of documents.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { IndexStateError, LzeroError, messageOf, OutputError } from '../core/index.ts';
import { syncFolder } from '../files/index.ts';
import { removeQuietly } from './byte-files.ts';
import { isLeftover, isSegmentFile, logPath, SEGMENTS, segmentPath } from './layout.ts';
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
    await syncSegments(folder);
    await writeManifest(folder, next);
  } catch (error) {
    if (isPublished(folder, next)) throw new UncertainCommitError(folder, error);
    removeTombstonesOf(folder, next, last);
    throw error;
  }
  removeFiles(folder, namesOnlyIn(last, next));
}

async function syncSegments(folder: string): Promise<void> {
  const path = join(folder, SEGMENTS);
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

/** Removes what killed writers left: files that no manifest names. For the holder of the lock only. */
export function removeOrphans(folder: string, manifest: Manifest): void {
  const named = new Set(manifest.segments.flatMap(segmentFileNames));
  const log = logPath(folder, manifest.log);
  for (const name of readdirSync(join(folder, SEGMENTS)))
    if (isSegmentFile(name) && !named.has(name)) removeQuietly(segmentPath(folder, name));
  for (const name of readdirSync(folder))
    if (isLeftover(name) && join(folder, name) !== log) removeQuietly(join(folder, name));
}
