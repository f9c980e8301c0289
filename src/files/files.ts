/**
 * What readers and writers of all kinds ask of the file system. A write is whole or has not happened, also when the
 * power fails. Knows nothing of what the files hold.
 */
import { existsSync, mkdirSync } from 'node:fs';
import {
  access,
  type FileHandle,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  statfs,
} from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { errorCode, LzeroError, OutputError, UsageError } from '../core/index.ts';

/** Whether there is something at `path` that we can see. */
export async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

/** As Node's `mkdirSync`. */
export type MakeFolder = (path: string, options?: { readonly recursive: true }) => unknown;

/**
 * Makes a folder and those above it; nothing where it is there. Throws what the system says: Node's recursive call says
 * ENOENT where a file system is read-only, so the first folder that is missing is then tried by itself.
 *
 * @param make for tests
 */
export function makeFolder(path: string, make: MakeFolder = mkdirSync): void {
  try {
    make(path, { recursive: true });
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    let missing = resolve(path);
    while (!existsSync(dirname(missing))) missing = dirname(missing);
    make(missing);
    make(path, { recursive: true });
  }
}

/** Removes a folder and those inside it, as far as they hold no file. */
export async function removeEmptyFolders(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeEmptyFolders(join(path, entry.name));
  await rmdir(path).catch(() => {}); // it holds something, or is gone already
}

/** Bytes that we may still write to the disk of a file or folder. */
export async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** Whether two paths lead to the same file or folder, by whatever links. */
async function isSame(a: string, b: string): Promise<boolean> {
  const [x, y] = await Promise.all([a, b].map((path) => stat(path, { bigint: true }).catch(() => undefined)));
  return x !== undefined && y !== undefined && x.dev === y.dev && x.ino === y.ino;
}

/** Whether something lies in a folder, at any depth, by whatever links. */
async function isInside(path: string, folder: string): Promise<boolean> {
  const [inner, outer] = await Promise.all([path, folder].map((one) => realpath(one).catch(() => undefined)));
  if (inner === undefined || outer === undefined) return false;
  const way = relative(outer, inner);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way); // of another drive on Windows
}

/** The links in a folder, but not those in `output`, which go with it anyway; none where the path is no folder. */
async function linksIn(folder: string, output: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const links = entries.filter((entry) => entry.isSymbolicLink()).map(({ parentPath, name }) => join(parentPath, name));
  return links.filter((link) => !resolve(link).startsWith(resolve(output) + sep));
}

/**
 * Refuses an output that is one of the inputs, or a folder that holds one, also by a link inside of an input: it would cost
 * the user what they have, and no option may ask for that. An output inside of an input is the caller's to allow.
 */
export async function refuseInputAsOutput(output: string, inputs: readonly string[]): Promise<void> {
  if (!(await exists(output))) return;
  const linked = await Promise.all(inputs.map((input) => linksIn(input, output)));
  for (const input of [...inputs, ...linked.flat()]) {
    if (await isInside(input, output))
      throw new UsageError(`${output} holds the input ${input}`, { hint: 'give the output another place' });
    if (!(await isSame(output, input))) continue;
    const other = output === input ? '' : `, by the name ${input}`;
    throw new UsageError(`${output} is the input itself${other}`, { hint: 'give the output another name' });
  }
}

/** The text of a file; undefined where there is none. Any other failure is thrown as it comes, for the caller to name. */
export async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** What a file is to hold: the whole, or pieces that are made when their turn comes. */
export type FileContent = string | Uint8Array | Iterable<Uint8Array>;

/** Tells writes of one process apart. */
let numWrites = 0;

/**
 * Writes a file under a temporary name in its folder, forces it to disk and gives it its name, in place of the file that
 * had it. Failures are OutputError, or what making a piece of the content has thrown on purpose; they leave the old file
 * as it was and nothing beside it.
 */
export async function writeFileAtomically(path: string, content: FileContent): Promise<void> {
  const temporary = `${path}.${process.pid}.${numWrites++}.tmp`;
  try {
    await writeAndSync(temporary, content);
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (cause) {
    // The first failure is the one to report, whatever becomes of the temporary file.
    await rm(temporary, { force: true }).catch(() => {});
    throw cause instanceof LzeroError ? cause : OutputError.writing(path, cause);
  }
}

async function writeAndSync(path: string, content: FileContent): Promise<void> {
  const handle = await open(path, 'w');
  try {
    if (typeof content === 'string' || content instanceof Uint8Array) await handle.writeFile(content);
    else for (const piece of content) await writeAll(handle, piece);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Node refuses writes of 2 GiB and more. */
const MAX_WRITE_BYTES = 2 ** 30;

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const length = Math.min(MAX_WRITE_BYTES, bytes.length - done);
    done += (await handle.write(bytes, done, length)).bytesWritten;
  }
}

/** Makes a rename survive a power cut. Windows cannot open folders, and needs no such thing. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
