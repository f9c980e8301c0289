/** `--replace`: a filled index takes the place of what a name stood for. What it would delete is asked for, and is ours. */
import { IndexStateError, InputError, type Logger, UsageError } from '../core/index.ts';
import {
  copiesMade,
  deleteIndex,
  describeIndex,
  type OpenSearchAddReport,
  pointAlias,
  putSettings,
  resolveName,
  type Server,
  servingSettings,
} from '../opensearch/index.ts';
import { formatCounted } from './format.ts';

/** A name, and whether what it stood for is deleted when another index stands behind it. */
export type Replacing = { readonly server: Server; readonly name: string; readonly deleteOld: boolean };

/** The indexes behind a name. Refuses, before hours are spent on filling, to delete what nobody asked for or is not ours. */
export async function checkReplaceable({ server, name, deleteOld }: Replacing): Promise<readonly string[]> {
  const named = await resolveName(server, name);
  if (named.kind === 'none') return [];
  if (named.kind === 'index' && !deleteOld)
    throw new UsageError(`${name} is an index, and an alias of that name can only take its place if it is deleted`, {
      hint: 'say so: --delete-old; or fill another name',
    });
  const old = named.kind === 'alias' ? named.indexes : [name];
  if (deleteOld) for (const index of old) await describeIndex(server, index); // IndexStateError where it is not ours
  return old;
}

/** An index behind a name that lzero made, after whose likeness a new one is made; undefined where there is none. */
export async function ourIndexBehind(server: Server, name: string): Promise<string | undefined> {
  const named = await resolveName(server, name);
  const indexes = named.kind === 'alias' ? named.indexes : named.kind === 'index' ? [name] : [];
  for (const index of indexes) {
    const description = await describeIndex(server, index).catch((error: unknown) => {
      if (!(error instanceof IndexStateError)) throw error;
    });
    if (description) return index;
  }
  return undefined;
}

/** What a filled index gets before it takes the place of another. */
export type Gifts = {
  /** The index whose copies and refreshes it gets; undefined where there is none. */
  readonly old: string | undefined;
  /** Copies that were asked for, instead of those of the old one. */
  readonly replicas: number | undefined;
  readonly logger: Logger;
};

/** Gives a filled index what it was filled without: copies and refreshes, as the old one has them, or as was asked for. */
export async function giveSettings(server: Server, built: string, { old, replicas, logger }: Gifts): Promise<void> {
  const like = old === undefined ? {} : await servingSettings(server, old);
  const asked = replicas === undefined ? {} : { number_of_replicas: String(replicas), auto_expand_replicas: null };
  const settings = { ...like, ...asked };
  if (Object.keys(settings).length === 0) return;
  await putSettings(server, built, settings);
  if (!(await copiesMade(server, built)))
    logger.warn(`copies of ${built} are still being made: it answers from those that are there`);
}

/** Puts a filled index behind the name. Gives what stood there, and what of it was deleted. */
export async function takePlace(
  replacing: Replacing,
  built: string,
): Promise<{ readonly replaced: readonly string[]; readonly deleted: readonly string[] }> {
  const { server, name, deleteOld } = replacing;
  await checkReplaceable(replacing); // others may have changed what the name stands for while we filled
  const replaced = await pointAlias(server, name, built);
  if (!deleteOld) return { replaced, deleted: [] };
  for (const old of replaced) if (old !== name) await deleteIndex(server, old);
  return { replaced, deleted: replaced };
}

/** What an ingest left out. */
export type Omissions = Pick<OpenSearchAddReport, 'numAdded' | 'numThere' | 'numRejected'> & {
  /** Lines or pages that could not be read, with --skip-bad. */
  readonly numBad: number;
};

/** Refuses to go on to what would lose documents: the input had none, or not all of them are in the index. */
export function requireWhole({ numAdded, numThere, numRejected, numBad }: Omissions, consequence: string): void {
  if (numAdded + numThere === 0)
    throw new InputError(`the input has no documents: ${consequence}`, { hint: 'is it the right file?' });
  if (numRejected > 0)
    throw new IndexStateError(`${formatCounted(numRejected, 'document')} refused: ${consequence}`, {
      hint: 'mend them, as the dead letters say, and run it again',
    });
  if (numBad > 0)
    throw new IndexStateError(`${formatCounted(numBad, 'line')} unreadable: ${consequence}`, {
      hint: 'mend the input and run it again',
    });
}
