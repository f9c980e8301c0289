/**
 * Pulled models on disk. A commit never changes, so its folder does not either; a revision is a name for one.
 *
 *     CACHE/models/OWNER--NAME/refs/REVISION         the commit that a branch or tag was at when it was pulled
 *     CACHE/models/OWNER--NAME/COMMIT/…              the files of the model, all of them
 *     CACHE/models/OWNER--NAME/COMMIT.json           what was fetched: sizes and SHA-256
 *     CACHE/models/OWNER--NAME/COMMIT.unfinished/…   the same while it is fetched; can be resumed
 *     CACHE/models/OWNER--NAME/COMMIT.lock           held meanwhile
 *
 * A model that lies here was checked when it came. Whoever looks it up compares sizes, and no more.
 */
import { mkdir, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { CheckpointError, OutputError } from '../../core/index.ts';
import { exists, readIfExists, writeFileAtomically } from '../../files/index.ts';
import { DEFAULT_REVISION, formatModelName, isCommit, type ModelName } from './model-name.ts';

/** A file of a pulled model. */
export type PulledFile = { readonly path: string; readonly sizeBytes: number; readonly sha256: string };

/** A model in the cache. */
export type CachedModel = {
  readonly id: string;
  readonly commit: string;
  readonly folder: string;
  /** Empty where nobody kept record, as of files brought by hand. */
  readonly files: readonly PulledFile[];
};

/** Where a model has its things. */
export type ModelPlaces = {
  readonly folder: string;
  readonly unfinished: string;
  readonly record: string;
  readonly lock: string;
};

/** The folder of all that the cache has of a model. */
export function modelFolder(cache: string, { id }: Pick<ModelName, 'id'>): string {
  return join(cache, 'models', id.replace('/', '--'));
}

/** The places of one commit of a model. */
export function placesOf(cache: string, name: Pick<ModelName, 'id'>, commit: string): ModelPlaces {
  const folder = join(modelFolder(cache, name), commit);
  return { folder, unfinished: `${folder}.unfinished`, record: `${folder}.json`, lock: `${folder}.lock` };
}

const recordSchema = z.object({
  schemaVersion: z.literal(1),
  files: z.array(z.object({ path: z.string(), sizeBytes: z.int().nonnegative(), sha256: z.string() })),
});

/** The model in the cache that a name stands for; undefined where it was not pulled. */
export async function findPulled(cache: string, name: ModelName): Promise<CachedModel | undefined> {
  const commit = await commitOf(cache, name);
  if (commit === undefined) return undefined;
  const { folder, record } = placesOf(cache, name, commit);
  if (!(await exists(folder))) return undefined;
  return { id: name.id, commit, folder, files: await readRecord(record) };
}

/** The commit that a revision was at when it was pulled. */
async function commitOf(cache: string, name: ModelName): Promise<string | undefined> {
  if (isCommit(name.revision)) return name.revision;
  const commit = (await readIfExists(refPath(cache, name)))?.trim();
  return commit !== undefined && isCommit(commit) ? commit : undefined;
}

function refPath(cache: string, name: ModelName): string {
  return join(modelFolder(cache, name), 'refs', encodeURIComponent(name.revision)); // "refs/pr/1" is one file
}

/** Notes which commit a revision is at. A commit is its own name. */
export async function writeRef(cache: string, name: ModelName, commit: string): Promise<void> {
  if (isCommit(name.revision)) return;
  const path = refPath(cache, name);
  if ((await readIfExists(path))?.trim() === commit) return;
  await mkdir(dirname(path), { recursive: true }).catch((cause: unknown) => {
    throw OutputError.writing(dirname(path), cause);
  });
  await writeFileAtomically(path, `${commit}\n`);
}

/** Notes what was fetched. */
export async function writeRecord(path: string, facts: Omit<CachedModel, 'folder'>): Promise<void> {
  await writeFileAtomically(path, `${JSON.stringify({ schemaVersion: 1, ...facts }, undefined, 2)}\n`);
}

async function readRecord(path: string): Promise<readonly PulledFile[]> {
  const text = await readIfExists(path);
  if (text === undefined) return [];
  try {
    return recordSchema.safeParse(JSON.parse(text)).data?.files ?? [];
  } catch {
    return []; // it only describes; the files speak for themselves
  }
}

/** What is wrong with a cached model, as far as sizes tell. */
export async function damageOf({ folder, files }: CachedModel): Promise<string | undefined> {
  for (const { path, sizeBytes } of files) {
    const found = await stat(join(folder, path)).catch(() => undefined);
    if (!found) return `${path} is missing`;
    if (found.size !== sizeBytes) return `${path} has ${found.size} bytes, expected ${sizeBytes}`;
  }
  return undefined;
}

/** Ids and revisions of all models in the cache. */
export async function pulledNames(cache: string): Promise<ModelName[]> {
  const names: ModelName[] = [];
  for (const folder of await entriesOf(join(cache, 'models'))) {
    const id = folder.replace('--', '/');
    const refs = await entriesOf(join(cache, 'models', folder, 'refs'));
    const commits = (await entriesOf(join(cache, 'models', folder))).filter(isCommit);
    if (commits.length === 0) continue;
    const revisions = refs.flatMap(revisionOf);
    names.push(...(revisions.length > 0 ? revisions : commits).map((revision) => ({ id, revision })));
  }
  return names;
}

/** The revision of a file in refs/; none for a file that is not ours. */
function revisionOf(file: string): string[] {
  try {
    return [decodeURIComponent(file)];
  } catch {
    return [];
  }
}

async function entriesOf(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => !name.startsWith('.')).sort();
}

/** The error for a name that is not in the cache, with the command that would put it there. */
export async function notPulled(cache: string, name: ModelName): Promise<CheckpointError> {
  const others = (await pulledNames(cache)).filter(({ id }) => id === name.id).map(formatModelName);
  const has = others.length > 0 ? `; the cache has ${others.join(', ')}` : '';
  const typed = formatModelName(name);
  const wanted = name.revision === DEFAULT_REVISION ? typed : `${name.id} at ${name.revision}`;
  return new CheckpointError(`there is no folder ${typed}, and ${wanted} was not pulled into ${cache}${has}`, {
    hint: `fetch it first: lzero model pull ${typed}`,
  });
}
