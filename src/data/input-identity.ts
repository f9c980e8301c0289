/** Whether an input of documents is still what it was. Looks at names, sizes and times; reads no document. */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { errorCode } from '../core/index.ts';
import { STDIN } from './byte-source.ts';
import { inputFile, isPageFolder } from './documents.ts';
import { pageFormat } from './pages/read-pages.ts';
import { type Found, walkFolder } from './pages/walk.ts';
import { type FileIdentity, fileIdentity } from './partial-file.ts';

/** What tells an input from what it becomes when somebody changes it; of standard input nothing is known. */
export async function inputIdentity(input: string): Promise<FileIdentity | typeof STDIN> {
  if (input === STDIN) return STDIN;
  return (await isPageFolder(input)) ? await pagesIdentity(input) : await fileIdentity(await inputFile(input));
}

/** A folder's own times tell nothing of a page that was edited in it, so each page counts. */
async function pagesIdentity(folder: string): Promise<FileIdentity> {
  const hash = createHash('sha256');
  let [sizeBytes, modifiedMs] = [0, 0];
  for await (const found of walkFolder(folder)) {
    if (!found.id.endsWith('/') && pageFormat(found.id) === undefined) continue;
    const page = await statPage(found);
    hash.update(`${JSON.stringify([found.id, page])}\n`);
    if ('failure' in page) continue;
    sizeBytes += page.sizeBytes;
    modifiedMs = Math.max(modifiedMs, page.modifiedMs);
  }
  return { file: folder, sizeBytes, modifiedMs, pages: hash.digest('hex') };
}

type PageStat = { readonly sizeBytes: number; readonly modifiedMs: number } | { readonly failure: string };

/** What cannot be looked at is the reader's to report. */
async function statPage({ path, failure }: Found): Promise<PageStat> {
  if (failure !== undefined) return { failure: errorCode(failure) };
  try {
    const { size, mtimeMs } = await stat(path);
    return { sizeBytes: size, modifiedMs: mtimeMs };
  } catch (error) {
    return { failure: errorCode(error) };
  }
}
