/**
 * Folders that are written whole or not at all: filled under a temporary name, forced to disk, and only then given
 * their name. A folder that is no model's is never replaced. Knows nothing of what goes into the folder.
 */
import { randomUUID } from 'node:crypto';
import { chmod, copyFile, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { InterruptedError, messageOf, OutputError } from '../core/index.ts';
import { exists, refuseInputAsOutput, syncFolder } from '../files/index.ts';

/** How a folder is made. */
export type FolderOutput = {
  /** Files and folders that are read, none of which may be the output, or lie in it. */
  readonly inputs: readonly string[];
  /** Replace a model folder that is there. */
  readonly force?: boolean | undefined;
  /** Stops the work with `InterruptedError`; nothing has happened then. */
  readonly signal?: AbortSignal | undefined;
};

/** Makes `output` by `fill`, which gets the folder to write into. What `fill` gives is given back. */
export async function makeFolder<T>(
  output: string,
  { inputs, force, signal }: FolderOutput,
  fill: (folder: string) => Promise<T>,
): Promise<T> {
  const path = resolve(output);
  if (signal?.aborted) throw new InterruptedError();
  await checkFolderOutput(output, { inputs, force });
  // A name that nothing has: what a killed run has left must not get into the model. mkdtemp's folders are closed to others.
  const temporary = join(dirname(path), `.${basename(path)}.${randomUUID()}.partial`);
  try {
    await mkdir(dirname(path), { recursive: true });
    await mkdir(temporary);
    await sweep(temporary, path);
    const made = await fill(temporary);
    if (signal?.aborted) throw new InterruptedError();
    await putInPlace(temporary, path);
    return made;
  } catch (cause) {
    await rm(temporary, { recursive: true, force: true });
    throw cause instanceof Error && 'syscall' in cause ? OutputError.writing(output, cause) : cause;
  }
}

/** Refuses an output that `makeFolder` would refuse: for work that takes long before it comes to that. */
export async function checkFolderOutput(
  output: string,
  { inputs, force }: Omit<FolderOutput, 'signal'>,
): Promise<void> {
  const path = resolve(output);
  await refuseInputAsOutput(path, inputs);
  await refuseExisting(path, force);
}

/** Nobody takes that long to write a model: what is older has been left by a kill. */
const ABANDONED_MS = 24 * 60 * 60 * 1000;

/**
 * Removes what killed runs for the same output have left beside it. The folder of this run tells what time it is, by the
 * clock that its neighbours have their times from. A model that stepped aside is kept as long as nothing is in its place.
 */
async function sweep(temporary: string, output: string): Promise<void> {
  const [folder, own, start] = [dirname(temporary), basename(temporary), `.${basename(output)}.`];
  const { mtimeMs: now } = await stat(temporary);
  for (const name of await readdir(folder)) {
    const [, aside] = (name.startsWith(start) && LEFT.exec(name.slice(start.length))) || [];
    if (aside === undefined || name === own || (aside !== '' && !(await exists(output)))) continue;
    const { mtimeMs } = await stat(join(folder, name)).catch(() => ({ mtimeMs: now })); // another run was faster
    if (now - mtimeMs > ABANDONED_MS) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** The end of the names that folders have while they are made, and of those that step aside for them. */
const LEFT = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.partial((?:\.old)?)$/;

/** Files of which each shows that a folder is a model that we may have written: no other program has them for other ends. */
const MODEL_FILES = ['lzero.json', 'config_sentence_transformers.json'];

/** A folder that is not a model's is never replaced: `-o .` must not cost anybody their files. */
async function refuseExisting(output: string, force = false): Promise<void> {
  if (!(await exists(output))) return;
  if (!force) throw new OutputError(`${output} exists already`, { hint: 'replace it with --force' });
  for (const name of MODEL_FILES) if (await exists(join(output, name))) return;
  throw new OutputError(`${output} is not a model folder, so it is not replaced`, { hint: 'name another folder' });
}

/** The old folder steps aside until the new one has its name, and steps back where that fails. */
export async function putInPlace(temporary: string, output: string): Promise<void> {
  await syncFolder(temporary);
  const aside = `${temporary}.old`;
  const replaces = await exists(output);
  if (replaces) await rename(output, aside);
  try {
    await rename(temporary, output);
  } catch (cause) {
    if (replaces) await stepBack(aside, output);
    throw cause;
  }
  await syncFolder(dirname(output));
  if (replaces) await rm(aside, { recursive: true, force: true });
}

async function stepBack(aside: string, output: string): Promise<void> {
  await rename(aside, output).catch((cause: unknown) => {
    const hint = `the model that was to be replaced is in ${aside}: move it back`;
    throw new OutputError(`cannot write ${output}: ${messageOf(cause)}`, { cause, hint });
  });
}

/** Copies those of the files that `source` has. */
export async function copyFiles(source: string, folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const from = join(source, name);
    if (await exists(from)) await copyContent(from, join(folder, name));
  }
}

/** Copies a file and forces it to disk, but not who may read it: that is as for any new file, also where the source was read-only or private. */
export async function copyContent(from: string, to: string): Promise<void> {
  await writeFile(to, '');
  const { mode } = await stat(to);
  await copyFile(from, to);
  await chmod(to, mode);
  const handle = await open(to, 'r+'); // Windows syncs only what may be written
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
