/** Makes an index, and opens one for writing. One writer at a time: the second is told who the first is. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, IndexStateError, LockedError, OutputError } from '../core/index.ts';
import { acquireLock, exists, type Lock, makeFolder, syncFolder, writeFileAtomically } from '../files/index.ts';
import { removeOrphans } from './commit.ts';
import { isOurs, LOCK, MANIFEST, QUERY_SIDE, SEGMENTS } from './layout.ts';
import { FORMAT_VERSION, readManifest, type StoreSettings, writeManifest } from './manifest.ts';
import { StoreWriter, type WriterOptions } from './writer.ts';

/** What a new index is to be. */
export type NewStore = StoreSettings & {
  /** The compact query side, so that searching needs no model. */
  readonly querySide?: Uint8Array | undefined;
};

/** Makes an index in a folder that is not there or empty, and opens it for writing. */
export async function createStore(
  folder: string,
  settings: NewStore,
  options: WriterOptions = {},
): Promise<StoreWriter> {
  attempt(folder, () => makeFolder(folder));
  const lock = lockFor(folder);
  try {
    refuseIfUsed(folder);
    attempt(folder, () => {
      mkdirSync(join(folder, SEGMENTS), { recursive: true });
      removeOrphans(folder, undefined); // before there is a manifest: it would name the log of a dead index
    });
    await writeNewStore(folder, settings);
    return await start(folder, lock, options);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Opens an index for writing and brings back what an earlier writer logged and did not commit. IndexStateError where
 * another writer has it open.
 */
export async function openWriter(folder: string, options: WriterOptions = {}): Promise<StoreWriter> {
  if (!(await exists(join(folder, MANIFEST)))) readManifest(folder); // says what is wrong, before a lock is left there
  const lock = lockFor(folder);
  try {
    return await start(folder, lock, options);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function start(folder: string, lock: Lock, options: WriterOptions): Promise<StoreWriter> {
  const manifest = readManifest(folder);
  attempt(folder, () => removeOrphans(folder, manifest));
  return await StoreWriter.start({ folder, manifest, lock }, options);
}

/** Takes the writer's lock of an index, or says who has it. */
export function lockFor(folder: string): Lock {
  try {
    return acquireLock(join(folder, LOCK));
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    throw new IndexStateError(`${folder} is being written by another: ${error.message}`, {
      hint: error.hint,
      cause: error,
    });
  }
}

function refuseIfUsed(folder: string): void {
  const names = readdirSync(folder);
  if (names.includes(MANIFEST))
    throw new IndexStateError(`${folder} is an index already`, {
      hint: 'add to it, or choose another folder',
    });
  refuseOthers(folder, names);
}

/** Refuses a folder in which there is anything that no index has. */
export function refuseOthers(folder: string, names: readonly string[]): void {
  const other = names.find((name) => !isOurs(name));
  if (other === undefined) return;
  throw new IndexStateError(`${folder} is not empty: there is ${other}`, { hint: 'choose another folder' });
}

async function writeNewStore(folder: string, { querySide, ...settings }: NewStore): Promise<void> {
  if (querySide) await writeFileAtomically(join(folder, QUERY_SIDE), querySide);
  await syncFolder(join(folder, '..')).catch(() => {}); // who may not open the parent can live with it
  await writeManifest(folder, {
    formatVersion: FORMAT_VERSION,
    id: randomUUID(),
    generation: 1,
    ...settings,
    querySide: querySide ? { sizeBytes: querySide.length, crc32: crc32(querySide) } : null,
    segments: [],
    nextSegment: 0,
    log: 0,
    userState: null,
  });
}

/** Does what may fail for want of space or rights, and names the path if it does. */
export function attempt(path: string, call: () => void): void {
  try {
    call();
  } catch (cause) {
    throw OutputError.writing(path, cause);
  }
}
