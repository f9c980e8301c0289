/**
 * A model from a hub into the cache: listed, chosen, fetched file by file, and there under its name when it is whole. May
 * be stopped at any time and goes on where it was. Of several processes that want the same model one fetches it.
 */
import { mkdir, readFile, rename, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DownloadError, InterruptedError, type LzeroError, OutputError } from '../../core/index.ts';
import { type DownloadOptions, download, isNetworkFailure, waitForLock } from '../../download/index.ts';
import { exists, syncFolder } from '../../files/index.ts';
import { chooseFiles, namedFiles } from './choose-files.ts';
import { type HubSettings, hubHeaders } from './hub-settings.ts';
import { fetchListing, type HubFile, type Listing } from './listing.ts';
import {
  type CachedModel,
  damageOf,
  findPulled,
  modelFolder,
  type PulledFile,
  placesOf,
  writeRecord,
  writeRef,
} from './model-cache.ts';
import { formatModelName, isCommit, type ModelName, requireModelName } from './model-name.ts';
import { orRefused } from './refusals.ts';
import { TotalProgress } from './total-progress.ts';

/** How to pull. */
export type PullOptions = Omit<DownloadOptions, 'checksum' | 'sizeBytes' | 'headers' | 'explainStatus'> & {
  /** Folder of the cache, as `cacheFolder` gives it. */
  readonly cache: string;
  /** Which hub, and as whom: `hubSettings` reads it from the environment. */
  readonly hub: HubSettings;
  /** Reads every file of a model that is there, and fetches again those that are not as the hub has them. */
  readonly force?: boolean | undefined;
};

/** A model that is in the cache now. */
export type PulledModel = CachedModel & {
  /** As it was asked for. */
  readonly revision: string;
  /** Whether it was there before, and nothing was fetched. */
  readonly wasThere: boolean;
};

/** Gives a model of the cache, which is fetched first where it is not there, or where its revision has moved on. */
export async function pullModel(text: string, options: PullOptions): Promise<PulledModel> {
  const name = requireModelName(text);
  const { cache, hub, force = false } = options;
  const there = await findPulled(cache, name);
  const isFinal = hub.isOffline || (isCommit(name.revision) && !force);
  if (there && isFinal && (await damageOf(there)) === undefined)
    return { ...there, revision: name.revision, wasThere: true };
  if (hub.isOffline) throw offline(name, options, there);
  const listing = await listed(name, options, there);
  return await pullListed(name, listing, options);
}

async function listed(name: ModelName, options: PullOptions, there: CachedModel | undefined): Promise<Listing> {
  try {
    return await fetchListing(name, options.hub, options);
  } catch (error) {
    throw isNetworkFailure(error) ? closed(name, options, { error, there }) : error;
  }
}

/** Pulls the commit that a listing names. */
async function pullListed(name: ModelName, listing: Listing, options: PullOptions): Promise<PulledModel> {
  const { cache, force = false } = options;
  const { commit } = listing;
  const exact = { ...name, revision: commit };
  const there = force ? undefined : await findSound(cache, exact);
  try {
    const pulled = there ? { ...there, wasThere: true } : await pullOnce(exact, listing, options);
    await writeRef(cache, name, commit);
    return { ...pulled, revision: name.revision };
  } catch (error) {
    throw withWayOn(error, name);
  }
}

async function findSound(cache: string, name: ModelName): Promise<CachedModel | undefined> {
  const there = await findPulled(cache, name);
  return there && (await damageOf(there)) === undefined ? there : undefined;
}

/** Fetches a commit, unless another process just did. */
async function pullOnce(name: ModelName, listing: Listing, options: PullOptions): Promise<PulledModel> {
  const { cache, force = false } = options;
  const { folder, lock: lockFile } = placesOf(cache, name, listing.commit);
  const lock = await waitForLock(lockFile, options);
  try {
    const wasThere = !force && (await findSound(cache, name)) !== undefined;
    if (!wasThere) await fetchModel(name, listing, options);
    const pulled = await findPulled(cache, name);
    if (!pulled) throw new OutputError(`${folder} has gone while it was being written`);
    return { ...pulled, revision: name.revision, wasThere };
  } finally {
    lock.release();
  }
}

/** An interrupt costs nothing that was fetched. */
function withWayOn(error: unknown, name: ModelName): unknown {
  if (!(error instanceof InterruptedError)) return error;
  const hint = `what was fetched is kept; go on with: lzero model pull ${formatModelName(name)}`;
  return new InterruptedError(error.message, { hint, cause: error });
}

/** Fetches all files of a commit. A folder that is there already is mended, file by file; it is never gone meanwhile. */
async function fetchModel(name: ModelName, listing: Listing, options: PullOptions): Promise<void> {
  const { folder, unfinished, record } = placesOf(options.cache, name, listing.commit);
  const isNew = !(await exists(folder));
  const target = isNew ? unfinished : folder;
  const files = await fetchFiles(target, { name, listing, options });
  await writeRecord(record, { id: name.id, commit: listing.commit, files });
  if (!isNew) return;
  await writing(folder, async () => {
    await syncFolder(unfinished);
    await rename(unfinished, folder);
    await syncFolder(dirname(folder));
  });
}

type Fetching = { readonly name: ModelName; readonly listing: Listing; readonly options: PullOptions };

async function fetchFiles(target: string, fetching: Fetching): Promise<PulledFile[]> {
  const { listing, options } = fetching;
  const fetch = fetcher(target, fetching);
  const named = await namedFiles(async (path) => {
    const file = listing.files.get(path);
    return file && (await readFile((await fetch(file)).path, 'utf8'));
  });
  const chosen = chooseFiles(listing.files.keys(), named).flatMap((path) => listing.files.get(path) ?? []);
  const totalBytes = chosen.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const missingBytes = await checkSpace(target, chosen);
  const label = `downloading ${fetching.name.id}`;
  const progress = new TotalProgress(options.progress, { label, totalBytes, startBytes: totalBytes - missingBytes });
  try {
    const files: PulledFile[] = [];
    for (const file of chosen) {
      const { sizeBytes, sha256 } = await fetch(file, progress.ofFile());
      progress.finishFile(sizeBytes);
      files.push({ path: file.path, sizeBytes, sha256 });
    }
    return files;
  } finally {
    progress.stop();
  }
}

/** A function that fetches one file to its place, unless it is there and as the hub has it. */
function fetcher(target: string, { name, listing, options }: Fetching) {
  const { hub } = options;
  const base = `${hub.endpoint}/${name.id}/resolve/${listing.commit}`;
  return async (file: HubFile, progress?: DownloadOptions['progress']) => {
    const { path, sizeBytes, checksum } = file;
    if (!checksum)
      throw new DownloadError(`${name.id}: the hub gives no checksum of ${path}, so nobody could tell what came`, {
        hint: 'is HF_ENDPOINT a hub? Fetch the files by other means, and give their folder in place of the name',
      });
    const url = `${base}/${path.split('/').map(encodeURIComponent).join('/')}`;
    const headers = hubHeaders(hub);
    return await orRefused({ name, hub, request: options }, (explainStatus) =>
      download(url, join(target, path), { ...options, progress, headers, explainStatus, checksum, sizeBytes }),
    );
  };
}

/** How many bytes are missing, for which there must be room: better now than after an hour. */
async function checkSpace(target: string, files: readonly HubFile[]): Promise<number> {
  await writing(target, async () => void (await mkdir(target, { recursive: true })));
  let neededBytes = 0;
  for (const { path, sizeBytes } of files) {
    const sizes = await Promise.all([path, `${path}.part`].map((name) => sizeOf(join(target, name))));
    neededBytes += Math.max(0, sizeBytes - Math.max(...sizes));
  }
  const { bavail, bsize } = await statfs(target);
  if (neededBytes > bavail * bsize)
    throw new DownloadError(`${target} needs ${neededBytes} more bytes, the disk has ${bavail * bsize}`, {
      hint: 'free some disk space, or choose another cache with --cache or LZERO_CACHE',
    });
  return neededBytes;
}

async function sizeOf(path: string): Promise<number> {
  return await stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

async function writing(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw OutputError.writing(path, error);
  }
}

// ---- without a network

/** How a model comes to a machine without a network. */
function byHand(name: ModelName, { cache, hub }: PullOptions): string {
  const page = `${hub.endpoint}/${name.id}/tree/${name.revision}`;
  return (
    `pull it on a machine with a network and copy ${modelFolder(cache, name)} to the same place here; ` +
    `or put the files of ${page} into a folder, and give that folder in place of the name`
  );
}

function offline(name: ModelName, options: PullOptions, there: CachedModel | undefined): DownloadError {
  const typed = formatModelName(name);
  const what = there ? `damaged in the cache (${there.folder})` : `not in the cache ${options.cache}`;
  return new DownloadError(`${typed} is ${what}, and offline nothing is fetched`, {
    hint: `leave out --offline, LZERO_OFFLINE and HF_HUB_OFFLINE; without a network: ${byHand(name, options)}`,
  });
}

type Closed = { readonly error: LzeroError; readonly there: CachedModel | undefined };

function closed(name: ModelName, options: PullOptions, { error, there }: Closed): DownloadError {
  const hint = there
    ? `the cache has commit ${there.commit}: take it with --offline; ${error.hint}`
    : `${error.hint}; without a network: ${byHand(name, options)}`;
  return new DownloadError(error.message, { hint, cause: error });
}
