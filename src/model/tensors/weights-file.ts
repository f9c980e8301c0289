/**
 * A file of weights as ranges of bytes, with errors that name the file and the byte. Knows no format.
 *
 * A range is read in pieces, and whoever wants to look at the values sees a piece while the next one is on its way:
 * checking for NaN then costs almost no time of its own.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { CheckpointError, messageOf, quoted } from '../../core/index.ts';
import { ReusedMemory } from './reused-memory.ts';
import type { Place } from './tensor-file.ts';

/** Sees a range as it comes: bytes `from` to `to` of the buffer, both multiples of 8 but for the end. Must not throw. */
export type PieceVisitor = (buffer: ArrayBuffer, from: number, to: number) => void;

/** How a range is read. */
export type ReadOptions = {
  readonly visit?: PieceVisitor | undefined;
  /** Where to put it, from the first byte on; else into new memory of its size. */
  readonly memory?: ReusedMemory | undefined;
};

/** An open file. Not Node's own type, so that users of `Model` need no types of Node. */
export type WeightsFile = {
  readonly path: string;
  /** When it was opened. */
  readonly sizeBytes: number;
  /** Reads exactly these bytes. */
  read(place: Place, options?: ReadOptions): Promise<ArrayBuffer>;
  close(): Promise<void>;
};

/** Large enough that the calls cost nothing, small enough that the last piece of a tensor is soon looked through. */
const PIECE_BYTES = 1024 * 1024;

const DAMAGED = 'the file is damaged or of another kind: fetch or export it again';

/** An error about `path`, with what to do if the caller knows nothing better. */
export function checkpointError(path: string, problem: string, cause?: unknown): CheckpointError {
  return new CheckpointError(`${path}: ${problem}`, { hint: DAMAGED, cause });
}

/** A tensor's name for a message, cut where a hostile file would flood the terminal. */
export function tensorLabel(name: string): string {
  return `tensor ${quoted(name)}`;
}

/** What a file says of one tensor; one that it does not have is an error. */
export function namedTensor<T>(
  { path, tensors }: { readonly path: string; readonly tensors: ReadonlyMap<string, T> },
  name: string,
): T {
  const tensor = tensors.get(name);
  if (tensor) return tensor;
  throw new CheckpointError(`${path}: no ${tensorLabel(name)} among ${tensors.size}`, {
    hint: 'the checkpoint is of another kind of model, or lacks a part',
  });
}

/** Opens a file for reading, and lets `use` make something of it; closes it where that fails. */
export async function openWeights<T>(path: string, use: (file: WeightsFile) => Promise<T>): Promise<T> {
  const handle = await openForReading(path);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw checkpointError(path, 'not a file');
    return await use({
      path,
      sizeBytes: stats.size,
      read: (place, options) => readRange(path, handle, { place, ...options }),
      close: () => handle.close(),
    });
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openForReading(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (cause) {
    throw new CheckpointError(`cannot open ${path}: ${messageOf(cause)}`, {
      hint: 'check the path, and that you may read the file',
      cause,
    });
  }
}

type RangeToRead = ReadOptions & { readonly place: Place };

async function readRange(path: string, handle: FileHandle, range: RangeToRead): Promise<ArrayBuffer> {
  const { visit, place } = range;
  const { offset, length } = place;
  const buffer = allocate(path, range);
  let seen = 0;
  for (let done = 0; done < length; ) {
    const to = Math.min(done + PIECE_BYTES, length);
    const reading = readPiece(path, handle, {
      bytes: new Uint8Array(buffer, done, to - done),
      position: offset + done,
    });
    if (done > seen) visit?.(buffer, seen, done);
    seen = done;
    await reading;
    done = to;
  }
  if (length > seen) visit?.(buffer, seen, length);
  return buffer;
}

/** Memory for a range. Every byte of it is written before anybody sees it, so it need not be cleared first. */
function allocate(path: string, { place: { offset, length }, memory = new ReusedMemory() }: RangeToRead): ArrayBuffer {
  try {
    return memory.take(length);
  } catch (cause) {
    throw new CheckpointError(`${path}: no memory for the ${length} bytes at byte ${offset}: ${messageOf(cause)}`, {
      hint: 'use a machine with more memory, or a smaller checkpoint',
      cause,
    });
  }
}

type Piece = { readonly bytes: Uint8Array; readonly position: number };

/** Fills a piece, in as many reads as the system needs. */
async function readPiece(path: string, handle: FileHandle, { bytes, position }: Piece): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const bytesRead = await readSome(path, handle, { bytes: bytes.subarray(done), position: position + done });
    if (bytesRead === 0) throw checkpointError(path, `ended at byte ${position + done} while being read`);
    done += bytesRead;
  }
}

async function readSome(path: string, handle: FileHandle, { bytes, position }: Piece): Promise<number> {
  try {
    return (await handle.read(bytes, 0, bytes.length, position)).bytesRead;
  } catch (cause) {
    throw checkpointError(path, `cannot be read at byte ${position}: ${messageOf(cause)}`, cause);
  }
}
