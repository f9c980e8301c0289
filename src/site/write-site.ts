/** Puts the files of a site into a folder: new ones first, the manifest last, then what no manifest names goes. */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MANIFEST_NAME } from '../browser/index.ts';
import { errorCode, isJsonObject, OutputError, parseJson } from '../core/index.ts';
import { exists, writeFileAtomically } from '../files/index.ts';
import type { SiteFiles } from './site-files.ts';

/** What was done. */
export type WrittenSite = { readonly numWritten: number; readonly numKept: number; readonly numRemoved: number };

/** Names that this command writes; nothing else in the folder is touched. */
const OURS = /^(?:[pt]\/[0-9a-f]{10}\.bin|(?:start|pages)-[0-9a-f]{10}\.bin|lzero-engine-[0-9a-f]{10}\.js)$/;

/** Writes a site. Files that are there with the same bytes are left as they are. */
export async function writeSite(folder: string, { files }: Pick<SiteFiles, 'files'>): Promise<WrittenSite> {
  await refuseOthers(folder);
  for (const part of ['p', 't']) await makeFolder(join(folder, part));
  let numWritten = 0;
  const inOrder = [...files].sort(([a], [b]) => Number(a === MANIFEST_NAME) - Number(b === MANIFEST_NAME));
  for (const [name, bytes] of inOrder) {
    const path = join(folder, name);
    if (await isSame(path, bytes)) continue;
    await writeFileAtomically(path, bytes);
    numWritten++;
  }
  return { numWritten, numKept: files.size - numWritten, numRemoved: await removeOld(folder, files) };
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (cause) {
    throw OutputError.writing(path, cause);
  }
}

/** An index has a manifest.json, too, and so have web apps: theirs says how they are installed, and must not be lost. */
async function refuseOthers(folder: string): Promise<void> {
  if (await exists(join(folder, 'segments')))
    throw new OutputError(`${folder} is an index`, { hint: 'name another folder for the files of the site' });
  const path = join(folder, MANIFEST_NAME);
  const refusal = (): OutputError =>
    new OutputError(`${path} is there, and is not the manifest of a site's search`, {
      hint: `name a folder of its own for the files of the site: -o ${join(folder, 'search')}`,
    });
  const text = (await readIfThere(path))?.toString('utf8');
  const manifest = text === undefined ? undefined : parseJson(text, refusal);
  if (text !== undefined && !(isJsonObject(manifest) && typeof manifest.format === 'number')) throw refusal();
}

async function isSame(path: string, bytes: Uint8Array): Promise<boolean> {
  return (await readIfThere(path))?.equals(bytes) ?? false;
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  return await readFile(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw OutputError.writing(path, error);
  });
}

async function removeOld(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<number> {
  const names = [
    ...(await readdir(folder)),
    ...(await readdir(join(folder, 'p'))).map((name) => `p/${name}`),
    ...(await readdir(join(folder, 't'))).map((name) => `t/${name}`),
  ];
  const old = names.filter((name) => OURS.test(name) && !files.has(name));
  for (const name of old) await rm(join(folder, name));
  return old.length;
}
