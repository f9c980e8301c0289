/** The scripts that a site gets beside its files: built of src/browser into dist/web/site, with all that they need inside. */
import { readFile } from 'node:fs/promises';
import { MissingDependencyError } from '../core/index.ts';
import type { SiteScripts } from './site-files.ts';

/** What pages load. */
export const SCRIPT_NAME = 'lzero.js';
/** Keeps a whole site in the browser's cache, for who registers it. */
const OFFLINE_NAME = 'lzero-offline.js';

/** Where `npm run build` leaves them, seen from src/site and from dist/site. */
const PLACES = ['../web/site/', '../../dist/web/site/'];

/** Reads the built scripts. */
export async function readScripts(): Promise<SiteScripts> {
  const [script, offline, engine] = await Promise.all([SCRIPT_NAME, OFFLINE_NAME, 'lzero-engine.js'].map(readScript));
  return { fixed: new Map([[SCRIPT_NAME, script] as const, [OFFLINE_NAME, offline] as const]), engine };
}

async function readScript(name: string): Promise<Uint8Array> {
  for (const place of PLACES) {
    const bytes = await readFile(new URL(`${place}${name}`, import.meta.url)).catch(() => undefined);
    if (bytes) return bytes;
  }
  throw new MissingDependencyError(`the script ${name} was not built`, { hint: 'npm run build' });
}
