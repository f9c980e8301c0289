/** What both formats of torch.save come down to: an object, and the bytes of the storages that it speaks of. */
import { promisify } from 'node:util';
import { crc32, inflateRaw } from 'node:zlib';
import { messageOf, quoted } from '../../core/index.ts';
import type { PickleValue } from './pickle-values.ts';
import type { Place } from './tensor-file.ts';
import type { TorchStorage } from './torch-tensor.ts';
import { checkpointError, type WeightsFile } from './weights-file.ts';

/** An archive whose object has been read. */
export type TorchArchive = {
  readonly object: PickleValue;
  /** By key; every storage that the object speaks of is here, with the size it speaks of. */
  readonly storages: ReadonlyMap<string, StoredBytes>;
  /** Whether values of more than a byte have their high byte first. */
  readonly isBigEndian: boolean;
};

/** Bytes in a file: as they are, or deflated. */
export type StoredBytes = {
  readonly place: Place;
  readonly deflated?: { readonly sizeBytes: number; readonly crc32: number } | undefined;
};

/** Bytes of the pickle that describes the tensors. Of 100,000 tensors it has about 15 MB. */
export const MAX_PICKLE_BYTES = 32 * 1024 * 1024;
/**
 * A file may become so many times its size in memory: weights hardly become smaller by deflating, and few tensors share
 * their values. Whatever would grow more is a bomb, unless it stays small.
 */
const MAX_GROWTH = 8;
const SMALL_BYTES = 64 * 1024 * 1024;

const inflate = promisify(inflateRaw);

/** Bytes that come out. */
export function contentBytes({ place, deflated }: StoredBytes): number {
  return deflated ? deflated.sizeBytes : place.length;
}

/** Reads bytes as a whole, and inflates them where need be; whoever asks has looked at their size. `name` is for messages. */
export async function readContent(file: WeightsFile, name: string, stored: StoredBytes): Promise<ArrayBuffer> {
  const { place, deflated } = stored;
  if (!deflated) return await file.read(place);
  const fail = (problem: string, cause?: unknown) =>
    checkpointError(file.path, `${quoted(name)} at byte ${place.offset}: ${problem}`, cause);
  const { sizeBytes } = deflated;
  const packed = new Uint8Array(await file.read(place));
  // One byte more than expected is enough to see that there are too many.
  const content = await inflate(packed, { maxOutputLength: sizeBytes + 1 }).catch((cause: unknown) => {
    throw fail(`cannot be inflated to ${sizeBytes} bytes: ${messageOf(cause)}`, cause);
  });
  if (content.length !== sizeBytes || crc32(content) !== deflated.crc32)
    throw fail(`size or checksum is wrong: expected ${sizeBytes} bytes, got ${content.length}`);
  return new Uint8Array(content).buffer;
}

/** Refuses a file of which all of something together would have more bytes in memory than the file can stand for. */
export function refuseGrowth({ path, sizeBytes }: WeightsFile, what: string, grownBytes: number): void {
  const most = Math.max(SMALL_BYTES, MAX_GROWTH * sizeBytes);
  if (grownBytes > most)
    throw checkpointError(path, `a file of ${sizeBytes} bytes whose ${what} have ${grownBytes}, the limit is ${most}`);
}

/** Holds the storages that an object speaks of against those that are there. */
export function checkStorages(
  file: WeightsFile,
  wanted: ReadonlyMap<string, TorchStorage>,
  found: ReadonlyMap<string, StoredBytes>,
): void {
  const { path } = file;
  let totalBytes = 0;
  for (const [key, storage] of wanted) {
    const stored = found.get(key);
    if (!stored) throw checkpointError(path, `the storage ${quoted(key)} is missing`);
    const sizeBytes = storage.numValues * storage.valueBytes;
    if (contentBytes(stored) !== sizeBytes)
      throw checkpointError(
        path,
        `the storage ${quoted(key)} at byte ${stored.place.offset} has ${contentBytes(stored)} bytes, ` +
          `its tensors speak of ${sizeBytes}`,
      );
    totalBytes += sizeBytes;
  }
  refuseGrowth(file, 'storages', totalBytes);
}
