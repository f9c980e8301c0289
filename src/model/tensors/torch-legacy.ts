/**
 * Files of torch.save before torch 1.6, and of later ones on request: five pickles, then the storages one after another.
 *
 *     magic number │ version │ system │ object │ keys of the storages │ for each key: i64 count, values │ …
 *
 * Values are little-endian, whatever the system.
 */
import { quoted } from '../../core/index.ts';
import { type Unpickled, unpickle } from './pickle.ts';
import type { PickleWorld } from './pickle-opcodes.ts';
import { kindOf, type PickleValue } from './pickle-values.ts';
import { checkStorages, MAX_PICKLE_BYTES, type StoredBytes, type TorchArchive } from './torch-archive.ts';
import { PLAIN_WORLD, torchWorld } from './torch-globals.ts';
import type { TorchStorage } from './torch-tensor.ts';
import { checkpointError, type WeightsFile } from './weights-file.ts';

const MAGIC_NUMBER = 0x1950a86a20f9469cfc6cn;
const VERSION = 1001;
/** The object of a model of 300 tensors fits. */
const FIRST_WINDOW_BYTES = 64 * 1024;
const WINDOW_GROWTH = 4;
const COUNT_BYTES = 8;

/** Reads the object of an old file and finds its storages. */
export async function readTorchLegacy(file: WeightsFile): Promise<TorchArchive> {
  const reader = new PickleSequence(file);
  const magic = await reader.next(PLAIN_WORLD);
  if (magic !== MAGIC_NUMBER) throw notTorch(file.path, `the first pickle is not the magic number, but ${told(magic)}`);
  const version = await reader.next(PLAIN_WORLD);
  if (version !== VERSION) throw notTorch(file.path, `version ${told(version)}, known is ${VERSION}`);
  await reader.next(PLAIN_WORLD); // byte order and sizes of C types: nothing depends on them
  const wanted = new Map<string, TorchStorage>();
  const object = await reader.next(torchWorld(wanted));
  const keys = await reader.next(PLAIN_WORLD);
  const { storages, end } = await findStorages(file, {
    start: reader.position,
    keys: keyList(file.path, keys),
    wanted,
  });
  checkStorages(file, wanted, storages);
  if (end < file.sizeBytes)
    throw checkpointError(file.path, `the last storage ends at byte ${end}, but the file has ${file.sizeBytes}`);
  return { object, storages, isBigEndian: false };
}

function told(value: PickleValue): string {
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : kindOf(value);
}

function notTorch(path: string, problem: string): Error {
  return checkpointError(path, `not a file of torch.save: ${problem}`);
}

/** Pickles one after another in a file. */
class PickleSequence {
  readonly #file: WeightsFile;
  #at = 0;

  constructor(file: WeightsFile) {
    this.#file = file;
  }

  /** Where the next one begins. */
  get position(): number {
    return this.#at;
  }

  /** Reads one. Nothing says how long it is, so it is run with more and more bytes until its end is among them. */
  async next(world: PickleWorld): Promise<PickleValue> {
    const most = Math.min(MAX_PICKLE_BYTES, this.#file.sizeBytes - this.#at);
    for (let length = FIRST_WINDOW_BYTES; ; length *= WINDOW_GROWTH) {
      const unpickled = await this.#run(world, Math.min(length, most), length < most);
      if (!unpickled) continue;
      this.#at += unpickled.numBytes;
      return unpickled.value;
    }
  }

  async #run(world: PickleWorld, length: number, hasMore: boolean): Promise<Unpickled | undefined> {
    const bytes = new Uint8Array(await this.#file.read({ offset: this.#at, length }));
    return unpickle({ bytes, label: this.#file.path, start: this.#at, hasMore }, world);
  }
}

function keyList(path: string, keys: PickleValue): string[] {
  if (!Array.isArray(keys)) throw notTorch(path, `expected the list of storages, got ${kindOf(keys)}`);
  const names = keys.filter((key) => typeof key === 'string');
  if (names.length < keys.length || new Set(names).size < names.length)
    throw notTorch(path, 'the keys of the storages are not different strings');
  return names;
}

type StorageList = {
  /** Where the first begins. */
  readonly start: number;
  readonly keys: readonly string[];
  /** What the object says of them. */
  readonly wanted: ReadonlyMap<string, TorchStorage>;
};

async function findStorages(
  file: WeightsFile,
  { start, keys, wanted }: StorageList,
): Promise<{ storages: Map<string, StoredBytes>; end: number }> {
  const found = new Map<string, StoredBytes>();
  let at = start;
  for (const key of keys) {
    const storage = wanted.get(key);
    if (!storage) throw checkpointError(file.path, `byte ${at}: the storage ${quoted(key)} belongs to no tensor`);
    const place = { offset: at + COUNT_BYTES, length: (await readCount(file, at)) * storage.valueBytes };
    at = place.offset + place.length;
    if (!(at <= file.sizeBytes))
      throw checkpointError(
        file.path,
        `byte ${place.offset}: the storage ${quoted(key)} ends at byte ${at}, but the file has ${file.sizeBytes}: truncated`,
      );
    found.set(key, { place });
  }
  return { storages: found, end: at };
}

async function readCount(file: WeightsFile, offset: number): Promise<number> {
  if (offset + COUNT_BYTES > file.sizeBytes)
    throw checkpointError(
      file.path,
      `byte ${offset}: expected the size of a storage, the file has ${file.sizeBytes} bytes`,
    );
  const count = new DataView(await file.read({ offset, length: COUNT_BYTES })).getBigInt64(0, true);
  if (count < 0n) throw checkpointError(file.path, `byte ${offset}: a storage of ${count} values`);
  return Number(count);
}
