/**
 * A new index in the place of one that is there. It is built beside the old one, in a folder inside of it, as any index
 * is; readers keep the old one, and a build that fails or is killed leaves it as it was. At the end one rename of the
 * manifest makes the new one the index. Knows nothing of what is built.
 *
 *     FOLDER/manifest.json, segments/, …     the old index, until the end
 *     FOLDER/replacement/manifest.json, …    the new one while it is built, removed at the end
 */
import { closeSync, copyFileSync, existsSync, fsyncSync, linkSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { assert, IndexFormatError, IndexStateError } from '../core/index.ts';
import type { Lock } from '../files/index.ts';
import { forceFolder, publish, removeOrphans } from './commit.ts';
import {
  logPath,
  MANIFEST,
  partName,
  querySideName,
  querySidePath,
  REPLACEMENT,
  SEGMENTS,
  segmentPath,
  tombstonesName,
} from './layout.ts';
import { type Manifest, readManifest, type SegmentEntry } from './manifest.ts';
import { attempt, lockFor, refuseOthers } from './open-writer.ts';
import { partsOf } from './segment-files.ts';

/**
 * Begins to replace the index in a folder, damaged ones too. IndexStateError where another writer has it open, and where
 * the folder holds anything that is not an index's: a file called manifest.json may be somebody else's.
 */
export function beginReplacement(folder: string): Replacement {
  const lock = lockFor(folder);
  try {
    refuseStrangers(folder);
    const replacement = new Replacement(folder, lock);
    replacement.discardIfDone();
    return replacement;
  } catch (error) {
    lock.release();
    throw error;
  }
}

function refuseStrangers(folder: string): void {
  const names = readdirSync(folder);
  if (!names.includes(SEGMENTS)) throw new IndexStateError(`${folder} is not an index: it has no ${SEGMENTS}`);
  const inside = join(folder, REPLACEMENT);
  const isOther = (name: string): boolean => name !== MANIFEST;
  refuseOthers(folder, names.filter(isOther));
  if (names.includes(REPLACEMENT)) refuseOthers(inside, readdirSync(inside).filter(isOther));
}

/** An index on its way into the place of another. Close it: it holds the lock of the old one. */
export class Replacement {
  /** Where the new index is made. One that an earlier attempt left unfinished is still there. */
  readonly folder: string;
  readonly #target: string;
  readonly #lock: Lock;

  /** For `beginReplacement`. */
  constructor(target: string, lock: Lock) {
    this.folder = join(target, REPLACEMENT);
    this.#target = target;
    this.#lock = lock;
  }

  /** Removes what an earlier attempt left, so that the new index can be begun anew. */
  discard(): void {
    attempt(this.folder, () => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** Removes an index that has come into its place already: who put it there was killed before he could. */
  discardIfDone(): void {
    const next = manifestIfSound(this.folder);
    if (next?.id !== undefined && next.id === manifestIfSound(this.#target)?.id) this.discard();
  }

  /** Puts the new index, whose writer is closed, into the place of the old. From the rename of its manifest on it is there. */
  async finish(): Promise<void> {
    const lock = lockFor(this.folder);
    try {
      const next = readManifest(this.folder);
      if (existsSync(logPath(this.folder, next.log)))
        throw new IndexStateError(`${this.folder} has changes that are not committed`);
      await this.#takePlace(next);
    } finally {
      lock.release();
    }
    this.discard();
  }

  /** Frees the lock. An index that is not finished stays for the next attempt. */
  close(): void {
    this.#lock.release();
  }

  async #takePlace(next: Manifest): Promise<void> {
    const last = manifestIfSound(this.#target);
    if (last) attempt(this.#target, () => removeOrphans(this.#target, last));
    const { generation, nextSegment, log } = numbersAfter(this.#target, last);
    const segments = next.segments.map((entry, i) => this.#bring(entry, String(nextSegment + i), generation));
    const querySide = this.#bringQuerySide(next);
    await forceFolder(this.#target); // the query side has its name before a manifest gives it
    const manifest = { ...next, generation, nextSegment: nextSegment + segments.length, log, segments, querySide };
    await publish(this.#target, last ?? { ...manifest, segments: [] }, manifest);
    attempt(this.#target, () => removeOrphans(this.#target, manifest));
  }

  /** Gives the files of a segment a second name, among those of the old index, that no segment there has ever had. */
  #bring(entry: SegmentEntry, name: string, generation: number): SegmentEntry {
    const path = (file: string): string => segmentPath(this.folder, file);
    for (const part of partsOf(entry))
      linkOrCopy(path(partName(entry.name, part)), segmentPath(this.#target, partName(name, part)));
    if (!entry.tombstones) return { ...entry, name };
    const tombstones = { ...entry.tombstones, name: tombstonesName(name, generation) };
    linkOrCopy(path(entry.tombstones.name), segmentPath(this.#target, tombstones.name));
    return { ...entry, name, tombstones };
  }

  #bringQuerySide({ id, querySide }: Manifest): Manifest['querySide'] {
    if (!querySide) return null;
    assert(id !== undefined, 'a new index without an id');
    const named = { ...querySide, name: querySideName(id) };
    linkOrCopy(querySidePath(this.folder, querySide), querySidePath(this.#target, named));
    return named;
  }
}

/** The manifest of a folder; undefined where there is none, or a damaged one. */
function manifestIfSound(folder: string): Manifest | undefined {
  try {
    return readManifest(folder);
  } catch (error) {
    if (error instanceof IndexFormatError || error instanceof IndexStateError) return undefined;
    throw error;
  }
}

/** Numbers that go on after those of an index: no reader of it takes a file of the new one for one that it knows. */
function numbersAfter(
  folder: string,
  last: Manifest | undefined,
): Pick<Manifest, 'generation' | 'nextSegment' | 'log'> {
  if (last) return { generation: last.generation + 1, nextSegment: last.nextSegment, log: last.log + 1 };
  const after = (names: readonly string[], pattern: RegExp): number =>
    1 + Math.max(-1, ...names.flatMap((name) => pattern.exec(name)?.slice(1).map(Number) ?? []));
  const segmentFiles = readdirSync(join(folder, SEGMENTS));
  return {
    generation: Math.max(1, after(segmentFiles, /^\d+\.(\d+)\.deleted$/)),
    nextSegment: after(segmentFiles, /^(\d+)\./),
    log: after(readdirSync(folder), /^log-(\d+)$/),
  };
}

/** A second name for a file, or, on a file system that knows no such thing, a second file, forced to disk. */
function linkOrCopy(from: string, to: string): void {
  attempt(to, () => {
    rmSync(to, { force: true }); // of an attempt that was killed
    try {
      linkSync(from, to);
    } catch {
      copyFileSync(from, to);
      const file = openSync(to, 'r+');
      try {
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
    }
  });
}
