/** A model by folder or by name: where its files are. Fetches nothing: what a command loads is what somebody pulled. */
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { CheckpointError } from '../../core/index.ts';
import { cacheFolder } from '../../download/index.ts';
import { embeddedFolder } from '../embedded-model.ts';
import { damageOf, findPulled, notPulled } from './model-cache.ts';
import { formatModelName, readModelName } from './model-name.ts';

/** Where a model is, and what to call it. */
export type ResolvedModel = {
  readonly folder: string;
  /** What means the same on every machine: an embedded model's name, OWNER/NAME@COMMIT of a pulled one; else undefined. */
  readonly name: string | undefined;
};

/**
 * Finds the folder of a model: `default` and `bow` are embedded, a folder that exists is meant as such, OWNER/NAME[@REVISION]
 * is looked up in the cache, and whatever is neither is taken for a folder, for its reader to complain about.
 *
 * @param cache where pulled models are; that of the environment where left out
 */
export async function resolveModel(
  folderOrName: string,
  cache: string = cacheFolder(process.env, homedir()),
): Promise<ResolvedModel> {
  const embedded = embeddedFolder(folderOrName);
  if (embedded !== undefined) return { folder: embedded, name: folderOrName };
  const name = readModelName(folderOrName);
  const isThere = await stat(folderOrName).then(
    () => true,
    () => false,
  );
  if (!name || isThere) return { folder: folderOrName, name: undefined };
  const found = await findPulled(cache, name);
  if (!found) throw await notPulled(cache, name);
  const damage = await damageOf(found);
  if (damage !== undefined)
    throw new CheckpointError(`${found.folder} is damaged: ${damage}`, {
      hint: `fetch what is missing: lzero model pull ${formatModelName(name)}`,
    });
  return { folder: found.folder, name: `${name.id}@${found.commit}` };
}
