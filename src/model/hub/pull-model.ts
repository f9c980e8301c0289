/**
 * A model from a hub into the cache: listed, chosen, fetched file by file, and there under its name when it is whole. May
 * be stopped at any time and goes on where it was. Of several processes that want the same model one fetches it.
 */
import { mkdir, rename, rmdir, stat } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import {
  CheckpointError,
  DownloadError,
  InterruptedError,
  type LzeroError,
  OutputError,
  quoted,
} from '../../core/index.ts';
import {
  type Downloaded,
  type DownloadOptions,
  download,
  isNetworkFailure,
  waitForLock,
} from '../../download/index.ts';
import { exists, freeBytes, removeEmptyFolders, syncFolder } from '../../files/index.ts';
import { MAX_SMALL_BYTES, readSmallFile } from '../layouts/module-files.ts';
import { externalLocations } from '../onnx/graph-files.ts';
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
  const { folder, unfinished, lock: lockFile } = placesOf(cache, name, listing.commit);
  const lock = await waitForLock(lockFile, options);
  try {
    const wasThere = !force && (await findSound(cache, name)) !== undefined;
    if (!wasThere) await fetchModel(name, listing, options);
    const pulled = await findPulled(cache, name);
    if (!pulled) throw new OutputError(`${folder} has gone while it was being written`);
    return { ...pulled, revision: name.revision, wasThere };
  } catch (error) {
    await removeEmptyFolders(unfinished);
    throw error;
  } finally {
    lock.release();
    await rmdir(dirname(folder)).catch(() => {}); // goes only where nothing has come
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

/** Fetches what the model needs; the files that an ONNX file has weights in are known when that one is there. */
async function fetchFiles(target: string, fetching: Fetching): Promise<PulledFile[]> {
  const { listing } = fetching;
  const named = await namedFiles(async (path) => {
    const file = listing.files.get(path);
    return file && (await readSmallFile((await fetchSmall(target, file, fetching)).path));
  });
  const chosen = chooseFiles(listing.files.keys(), named).flatMap((path) => listing.files.get(path) ?? []);
  const files = await fetchAll(target, chosen, fetching);
  const data = await externalFiles(target, chosen, listing);
  if (data.length > 0) files.push(...(await fetchAll(target, data, fetching)));
  return files;
}

/** A file that describes a model is never large, whatever the hub has under its name. */
async function fetchSmall(target: string, file: HubFile, fetching: Fetching): Promise<Downloaded> {
  const { path, sizeBytes } = file;
  if (sizeBytes <= MAX_SMALL_BYTES) return await fetcher(target, fetching)(file);
  throw new DownloadError(
    `${fetching.name.id}: ${path} has ${sizeBytes} bytes, at most ${MAX_SMALL_BYTES} are expected`,
    { hint: 'it is something else under this name: the repository is not one of a model' },
  );
}

/** The files beside ONNX files that these name, and that are not among the chosen. */
async function externalFiles(target: string, chosen: readonly HubFile[], { files }: Listing): Promise<HubFile[]> {
  const found = new Set<HubFile>();
  for (const { path } of chosen.filter((file) => file.path.endsWith('.onnx')))
    for (const location of await externalLocations(join(target, path))) {
      const file = files.get(posix.join(posix.dirname(path), location));
      if (!file)
        throw new CheckpointError(`${path} has weights in ${quoted(location)}, which the repository does not have`, {
          hint: 'its publisher left a part out: choose another revision or model',
        });
      found.add(file);
    }
  return [...found].filter((file) => !chosen.includes(file));
}

async function fetchAll(target: string, chosen: readonly HubFile[], fetching: Fetching): Promise<PulledFile[]> {
  const fetch = fetcher(target, fetching);
  const totalBytes = chosen.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const startBytes = totalBytes - (await checkSpace(target, chosen));
  const label = `downloading ${fetching.name.id}`;
  const progress = new TotalProgress(fetching.options.progress, { label, totalBytes, startBytes });
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
  return async (file: HubFile, progress?: DownloadOptions['progress']): Promise<Downloaded> => {
    const { path, sizeBytes, checksum } = file;
    if (!checksum)
      throw new DownloadError(`${name.id}: the hub gives no checksum of ${path}, so nobody could tell what came`, {
        hint: 'is HF_ENDPOINT a hub? Fetch the files by other means, and give their folder in place of the name',
      });
    const url = `${base}/${path.split('/').map(encodeURIComponent).join('/')}`;
    const headers = hubHeaders(hub);
    return await orRefused({ name, hub, request: options, isListed: true }, (explainStatus) =>
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
  const free = await freeBytes(target);
  if (neededBytes > free)
    throw new DownloadError(`${target} needs ${neededBytes} more bytes, the disk has ${free}`, {
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
