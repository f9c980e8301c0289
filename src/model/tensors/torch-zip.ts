/**
 * Files of torch.save since torch 1.6: a zip archive with one folder.
 *
 *     NAME/data.pkl      the object, with storages named by their keys
 *     NAME/byteorder     "little" or "big"; not in old files, which are little-endian
 *     NAME/data/KEY      the values of a storage; not packed, though other programs may have packed them since
 *
 * Checksums of what is not packed are not compared: torch itself may leave them out, and safetensors has none.
 */
import { CheckpointError, quoted } from '../../core/index.ts';
import { findZipContent, readZipDirectory, type ZipEntry, type ZipSource } from '../../download/index.ts';
import { unpickle } from './pickle.ts';
import type { PickleValue } from './pickle-values.ts';
import {
  checkStorages,
  contentBytes,
  MAX_PICKLE_BYTES,
  readContent,
  type StoredBytes,
  type TorchArchive,
} from './torch-archive.ts';
import { MAX_STORAGES, torchWorld } from './torch-globals.ts';
import type { TorchStorage } from './torch-tensor.ts';
import { checkpointError, type WeightsFile } from './weights-file.ts';

/** Entries besides the storages: version, byteorder and the like. */
const MAX_OTHER_ENTRIES = 100;
const OBJECT_FILE = 'data.pkl';
const STORAGE_FOLDER = 'data/';
/** "little" and "big" have fewer. */
const MAX_BYTEORDER_BYTES = 16;
/** Small reads that are under way at once. */
const READS_AT_ONCE = 64;

/** Reads the object of a zip archive and finds its storages. */
export async function readTorchZip(file: WeightsFile): Promise<TorchArchive> {
  const files = await findFiles(file);
  const wanted = new Map<string, TorchStorage>();
  const object = await readObject(file, files, wanted);
  const isBigEndian = await readByteOrder(file, files);
  const storages = new Map<string, StoredBytes>();
  for (const [name, stored] of files)
    if (name.startsWith(STORAGE_FOLDER)) storages.set(name.slice(STORAGE_FOLDER.length), stored);
  checkStorages(file, wanted, storages);
  return { object, storages, isBigEndian };
}

/** Names in the archive's folder → their bytes. */
type Files = ReadonlyMap<string, StoredBytes>;

async function findFiles(file: WeightsFile): Promise<Files> {
  const source = zipSource(file);
  const entries = (await readZipDirectory(source)).filter(({ name }) => !name.endsWith('/'));
  if (entries.length > MAX_STORAGES + MAX_OTHER_ENTRIES)
    throw checkpointError(file.path, `an archive of ${entries.length} files, the limit is ${MAX_STORAGES}`);
  const folder = folderOf(file.path, entries);
  const stored = await findContents(source, entries);
  const files = new Map<string, StoredBytes>();
  entries.forEach(({ name }, i) => {
    if (name.startsWith(folder)) files.set(name.slice(folder.length), stored[i]);
  });
  return files;
}

function zipSource(file: WeightsFile): ZipSource {
  return {
    name: file.path,
    sizeBytes: file.sizeBytes,
    read: async (offset, length) => Buffer.from(await file.read({ offset, length })),
    makeError: (message, details) => new CheckpointError(message, details),
  };
}

/** The archive's folder, with its slash: where the object is. */
function folderOf(path: string, entries: readonly ZipEntry[]): string {
  const names = new Set(entries.map(({ name }) => name));
  if (names.size < entries.length) throw checkpointError(path, 'two files of the archive have the same name');
  const objects = [...names].filter((name) => /^[^/]+\/data\.pkl$/.test(name));
  if (objects.length === 1) return objects[0].slice(0, -OBJECT_FILE.length);
  throw new CheckpointError(`${path}: a zip archive with ${objects.length} files NAME/data.pkl, expected one`, {
    hint: 'this is not a file of torch.save: export the checkpoint again',
  });
}

/** Where the content of each entry is; entries that share bytes are refused. */
async function findContents(source: ZipSource, entries: readonly ZipEntry[]): Promise<StoredBytes[]> {
  const stored: StoredBytes[] = [];
  for (let at = 0; at < entries.length; at += READS_AT_ONCE) {
    const some = entries.slice(at, at + READS_AT_ONCE);
    stored.push(...(await Promise.all(some.map((entry) => storedBytes(source, entry)))));
  }
  const inOrder = entries.map((entry, i) => ({ entry, place: stored[i].place }));
  inOrder.sort((a, b) => a.entry.offset - b.entry.offset);
  inOrder.forEach(({ entry }, i) => {
    const before = inOrder[i - 1];
    if (before && before.place.offset + before.place.length > entry.offset)
      throw checkpointError(
        source.name,
        `${quoted(entry.name)} at byte ${entry.offset} overlaps ${quoted(before.entry.name)}`,
      );
  });
  return stored;
}

async function storedBytes(source: ZipSource, entry: ZipEntry): Promise<StoredBytes> {
  const place = { offset: await findZipContent(source, entry), length: entry.packedBytes };
  if (entry.method === 'deflated') return { place, deflated: { sizeBytes: entry.sizeBytes, crc32: entry.crc32 } };
  if (entry.packedBytes === entry.sizeBytes) return { place };
  throw checkpointError(
    source.name,
    `${quoted(entry.name)} at byte ${place.offset} is not packed, but has ${entry.packedBytes} bytes packed ` +
      `and ${entry.sizeBytes} unpacked`,
  );
}

async function readObject(file: WeightsFile, files: Files, wanted: Map<string, TorchStorage>): Promise<PickleValue> {
  const bytes = await readSmall(file, files, { name: OBJECT_FILE, maxBytes: MAX_PICKLE_BYTES });
  const source = { bytes, label: `${file.path}: ${OBJECT_FILE}`, start: 0, hasMore: false };
  const unpickled = unpickle(source, torchWorld(wanted));
  return unpickled ? unpickled.value : null; // undefined only where there is more
}

async function readByteOrder(file: WeightsFile, files: Files): Promise<boolean> {
  if (!files.has('byteorder')) return false;
  const bytes = await readSmall(file, files, { name: 'byteorder', maxBytes: MAX_BYTEORDER_BYTES });
  const order = Buffer.from(bytes).toString('latin1');
  if (order === 'big' || order === 'little') return order === 'big';
  throw checkpointError(file.path, `byteorder is ${quoted(order)}, expected "little" or "big"`);
}

type SmallFile = { readonly name: string; readonly maxBytes: number };

async function readSmall(file: WeightsFile, files: Files, { name, maxBytes }: SmallFile): Promise<Uint8Array> {
  const stored = files.get(name);
  if (!stored) throw checkpointError(file.path, `${name} is missing`);
  const sizeBytes = contentBytes(stored);
  if (sizeBytes > maxBytes)
    throw checkpointError(
      file.path,
      `${name} at byte ${stored.place.offset} has ${sizeBytes} bytes, the limit is ${maxBytes}`,
    );
  return new Uint8Array(await readContent(file, name, stored));
}
