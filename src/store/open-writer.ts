/** Makes an index, opens one for writing, and removes one. One writer at a time: the second is told who the first is. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, IndexStateError, LockedError, OutputError } from '../core/index.ts';
import { acquireLock, exists, type Lock, syncFolder, writeFileAtomically } from '../files/index.ts';
import { removeOrphans } from './commit.ts';
import { isLeftover, isOurs, isSegmentFile, LOCK, MANIFEST, QUERY_SIDE, SEGMENTS, segmentPath } from './layout.ts';
import { FORMAT_VERSION, type Manifest, readManifest, type StoreSettings, writeManifest } from './manifest.ts';
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
  attempt(folder, () => mkdirSync(folder, { recursive: true }));
  const lock = lockFor(folder);
  try {
    refuseIfUsed(folder);
    attempt(folder, () => mkdirSync(join(folder, SEGMENTS), { recursive: true }));
    await writeNewStore(folder, settings);
    return await start(folder, lock, options);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Which index is meant. */
export type Expected = {
  /** The model whose vectors are to be added. */
  readonly model?: string | undefined;
};

/**
 * Opens an index for writing and brings back what an earlier writer logged and did not commit. IndexStateError where
 * another writer has it open, or where it belongs to another model.
 */
export async function openWriter(folder: string, options: WriterOptions & Expected = {}): Promise<StoreWriter> {
  if (!(await exists(join(folder, MANIFEST)))) readManifest(folder); // says what is wrong, before a lock is left there
  const lock = lockFor(folder);
  try {
    return await start(folder, lock, options);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function start(folder: string, lock: Lock, options: WriterOptions & Expected): Promise<StoreWriter> {
  const manifest = readManifest(folder);
  refuseOtherModel(folder, manifest, options);
  attempt(folder, () => removeOrphans(folder, manifest));
  return await StoreWriter.start({ folder, manifest, lock }, options);
}

function refuseOtherModel(folder: string, { model }: Manifest, expected: Expected): void {
  if (expected.model === undefined || expected.model === model?.identity) return;
  throw new IndexStateError(
    `${folder} holds ${model ? `vectors of the model ${model.name} (${model.identity})` : 'words'}, not of ${expected.model}`,
    { hint: 'vectors of different models cannot be compared: use the same model, or build another index' },
  );
}

function lockFor(folder: string): Lock {
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

function refuseOthers(folder: string, names: readonly string[]): void {
  const other = names.find((name) => !isOurs(name));
  if (other === undefined) return;
  throw new IndexStateError(`${folder} is not empty: there is ${other}`, { hint: 'choose another folder' });
}

/**
 * Removes an index, so that another can be made in its place. IndexStateError where another writer has it open, and where
 * the folder holds anything that is not an index's: a file called manifest.json may be somebody else's.
 */
export function removeStore(folder: string): void {
  const lock = lockFor(folder);
  try {
    const names = readdirSync(folder);
    if (!names.includes(SEGMENTS)) throw new IndexStateError(`${folder} is not an index: it has no ${SEGMENTS}`);
    refuseOthers(
      folder,
      names.filter((name) => name !== MANIFEST),
    );
    attempt(folder, () => removeFiles(folder, names));
  } finally {
    lock.release();
  }
}

/** The manifest goes first: without it the rest is what a killed `createStore` leaves. */
function removeFiles(folder: string, names: readonly string[]): void {
  rmSync(join(folder, MANIFEST), { force: true });
  for (const name of readdirSync(join(folder, SEGMENTS)))
    if (isSegmentFile(name)) rmSync(segmentPath(folder, name), { force: true });
  for (const name of names) if (name === QUERY_SIDE || isLeftover(name)) rmSync(join(folder, name), { force: true });
}

async function writeNewStore(folder: string, { querySide, ...settings }: NewStore): Promise<void> {
  if (querySide) await writeFileAtomically(join(folder, QUERY_SIDE), querySide);
  await syncFolder(join(folder, '..')).catch(() => {}); // who may not open the parent can live with it
  await writeManifest(folder, {
    formatVersion: FORMAT_VERSION,
    generation: 1,
    ...settings,
    querySide: querySide ? { sizeBytes: querySide.length, crc32: crc32(querySide) } : null,
    segments: [],
    nextSegment: 0,
    log: 0,
    userState: null,
  });
}

function attempt(path: string, call: () => void): void {
  try {
    call();
  } catch (cause) {
    throw OutputError.writing(path, cause);
  }
}
