/** A page as `npm run build` has made it, in memory: a few small files. A request can name only what is here. */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { errorCode, LzeroError } from '../core/index.ts';

/** A file of the page. */
export type PageFile = { readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> };

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The files by their paths on the server; the page itself is `/`. */
export async function readPageFiles(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return new Map(
      await Promise.all(
        files.map(async (file): Promise<[string, PageFile]> => {
          const path = `/${relative(folder, file).split(sep).join('/')}`;
          const type = TYPES[extname(file)] ?? 'application/octet-stream';
          return [path === '/index.html' ? '/' : path, { type, bytes: new Uint8Array(await readFile(file)) }];
        }),
      ),
    );
  } catch (cause) {
    if (errorCode(cause) !== 'ENOENT') throw cause;
    throw new LzeroError('PAGE', `the page is not built: there is no ${folder}`, { hint: 'npm run build', cause });
  }
}
