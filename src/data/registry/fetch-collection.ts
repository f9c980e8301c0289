/**
 * A public collection as a BEIR folder in the cache: fetched once, checked, and there as a whole or not at all.
 *
 *     CACHE/downloads/beir/scifact/…         archives while they are fetched; they can be resumed
 *     CACHE/collections/beir/scifact.json    what was fetched: addresses, sizes, SHA-256
 *     CACHE/collections/beir/scifact/        corpus.jsonl, queries.jsonl, qrels/test.tsv
 */
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { DownloadError, OutputError, parseJson } from '../../core/index.ts';
import {
  type Checksum,
  type Downloaded,
  type DownloadOptions,
  download,
  unzip,
  waitForLock,
} from '../../download/index.ts';
import { exists, readIfExists, syncFolder, writeFileAtomically } from '../../files/index.ts';
import { loadParquetReader, type ReadParquet, writeBeirFolder } from './parquet.ts';
import type { RegisteredCollection, SourceFile } from './types.ts';
import { verifyCollection } from './verify-collection.ts';

/** How to fetch a collection. */
export type FetchOptions = Omit<DownloadOptions, 'checksum' | 'sizeBytes'> & {
  /** Folder of the cache, as `cacheFolder` gives it. */
  readonly cache: string;
  /** A server that has the files of all collections under their paths, in place of their own servers. */
  readonly mirrorUrl?: string | undefined;
  /** In place of the optional package hyparquet. */
  readonly readParquet?: ReadParquet | undefined;
};

/** A collection on disk. */
export type FetchedCollection = {
  readonly folder: string;
  /** Whether it was there before. */
  readonly wasThere: boolean;
};

/** A file that was fetched, and the path it has on its server. */
type Fetched = Downloaded & { readonly source: string };

/** Where a collection has its things. */
type Places = { readonly folder: string; readonly record: string; readonly downloads: string };

/** Gives the folder of a collection, which is fetched and unpacked first where it is not in the cache. */
export async function fetchCollection(
  collection: RegisteredCollection,
  options: FetchOptions,
): Promise<FetchedCollection> {
  const folder = join(options.cache, 'collections', ...collection.name.split('/'));
  if (await exists(folder)) return { folder, wasThere: true };
  const downloads = join(options.cache, 'downloads', ...collection.name.split('/'));
  const lock = await waitForLock(`${folder}.lock`, options);
  try {
    if (await exists(folder)) return { folder, wasThere: true };
    await make(collection, { folder, record: `${folder}.json`, downloads }, options);
    return { folder, wasThere: false };
  } finally {
    lock.release();
  }
}

async function make(collection: RegisteredCollection, places: Places, options: FetchOptions): Promise<void> {
  const { folder, record, downloads } = places;
  const unfinished = `${folder}.unfinished`;
  await writing(unfinished, async () => {
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(join(unfinished, 'qrels'), { recursive: true });
  });
  const fetched = await fill(collection, { ...places, folder: unfinished }, options);
  await verifyCollection(unfinished, collection, options.signal);
  await writeRecord(record, collection, fetched);
  await writing(folder, async () => {
    await syncFolder(unfinished);
    await rename(unfinished, folder);
    await syncFolder(dirname(folder));
  });
  await rm(downloads, { recursive: true, force: true });
}

/** Fetches the files of a collection and makes a BEIR folder of them. */
async function fill(collection: RegisteredCollection, places: Places, options: FetchOptions): Promise<Fetched[]> {
  const { source, split } = collection;
  const known = await readRecord(places.record);
  const fetch = async (file: SourceFile, name: string): Promise<Fetched> => {
    const url = `${(options.mirrorUrl ?? file.base).replace(/\/$/, '')}/${file.path}`;
    const checksum = file.checksum ?? known.get(file.path);
    const path = join(places.downloads, name);
    return { source: file.path, ...(await download(url, path, { ...options, checksum, sizeBytes: file.sizeBytes })) };
  };
  if (source.kind === 'zip') {
    const archive = await fetch(source.archive, basename(source.archive.path));
    const { signal, progress } = options;
    await unzip(archive.path, places.folder, { place: placeBeirFile, signal, progress });
    return [archive];
  }
  const readParquet = options.readParquet ?? (await loadParquetReader()); // first: its lack should cost no download
  const corpus = await fetch(source.corpus, 'corpus.parquet');
  const queries = await fetch(source.queries, 'queries.parquet');
  const qrels = await fetch(source.qrels, 'qrels.parquet');
  const files = { corpus: corpus.path, queries: queries.path, qrels: qrels.path };
  await writeBeirFolder(files, places.folder, { split, readParquet });
  return [corpus, queries, qrels];
}

/** Archives hold one folder with the collection; whatever else is in it, such as notes of macOS, stays out. */
function placeBeirFile(name: string): string | undefined {
  const [, inside] = /^[^/]+\/(corpus\.jsonl|queries\.jsonl|qrels\/[^/]+\.tsv)$/.exec(name) ?? [];
  return inside;
}

const recordSchema = z.object({
  schemaVersion: z.literal(1),
  files: z.array(z.object({ path: z.string(), sizeBytes: z.int(), sha256: z.string() })),
});

/** Checksums of an earlier download, by path: what a file without a published one must still have. */
async function readRecord(path: string): Promise<ReadonlyMap<string, Checksum>> {
  const text = await readIfExists(path);
  if (text === undefined) return new Map();
  const fail = (cause?: unknown): DownloadError =>
    new DownloadError(`${path} is not a record of a download`, { hint: 'delete it to trust the next download', cause });
  const record = recordSchema.safeParse(parseJson(text, (_, cause) => fail(cause))).data;
  if (!record) throw fail();
  return new Map(record.files.map((file) => [file.path, { kind: 'sha256', hex: file.sha256 }]));
}

async function writeRecord(
  path: string,
  { name, numDocs, numQueries }: RegisteredCollection,
  fetched: Fetched[],
): Promise<void> {
  const files = fetched.map(({ source, sizeBytes, sha256 }) => ({ path: source, sizeBytes, sha256 }));
  const record = { schemaVersion: 1, name, numDocs, numQueries, files };
  await writeFileAtomically(path, `${JSON.stringify(record, null, 2)}\n`);
}

async function writing(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw OutputError.writing(path, error);
  }
}
