/** The scripts that a site gets beside its files: built of src/browser into dist/web/site, with all that they need inside. */
import { readFile } from 'node:fs/promises';
import { MissingDependencyError } from '../core/index.ts';
import type { SiteScripts } from './site-files.ts';

/** What pages load. */
export const SCRIPT_NAME = 'lzero.js';
/** Keeps a whole site in the browser's cache, for who registers it. */
const OFFLINE_NAME = 'lzero-offline.js';
/** The search box, for pages that want one. */
const BOX_NAME = 'lzero-search.js';
const FIXED_NAMES = [SCRIPT_NAME, OFFLINE_NAME, BOX_NAME];

/** Where `npm run build` leaves them, seen from src/site and from dist/site. */
const PLACES = ['../web/site/', '../../dist/web/site/'];

/** Reads the built scripts. */
export async function readScripts(): Promise<SiteScripts> {
  const [engine, ...fixed] = await Promise.all(['lzero-engine.js', ...FIXED_NAMES].map(readScript));
  return { fixed: new Map(FIXED_NAMES.map((name, i) => [name, fixed[i]])), engine };
}

async function readScript(name: string): Promise<Uint8Array> {
  for (const place of PLACES) {
    const bytes = await readFile(new URL(`${place}${name}`, import.meta.url)).catch(() => undefined);
    if (bytes) return bytes;
  }
  throw new MissingDependencyError(`the script ${name} was not built`, { hint: 'npm run build' });
}
