/**
 * Reads tensors out of a safetensors file by position, one at a time, so that a checkpoint never has to be in memory
 * as a whole. What a header may say is safetensors-header.ts; what the tensors mean is the caller's business.
 *
 * The reference implementation:
 * https://github.com/huggingface/safetensors/blob/000a16f45cff0d4169ca15b67ea002895234d671/safetensors/src/tensor.rs
 */
import { type FileHandle, open } from 'node:fs/promises';
import { CheckpointError, messageOf } from '../../core/index.ts';
import { bfloat16ToFloat32, halfToFloat32 } from './half.ts';
import {
  checkpointError,
  LENGTH_BYTES,
  parseHeader,
  parseHeaderLength,
  type SafetensorsHeader,
  type TensorEntry,
  tensorLabel,
} from './safetensors-header.ts';

/** Node refuses reads of 2 GiB and more. */
const MAX_READ_BYTES = 2 ** 30;

type Range = { readonly start: number; readonly sizeBytes: number };

/** An open file, as far as it is needed. Not Node's own type, so that users of `Model` need no types of Node. */
type OpenFile = { read(range: Range): Promise<ArrayBuffer>; close(): Promise<void> };

/** An open safetensors file. Close it when done. */
export class SafetensorsFile implements SafetensorsHeader {
  /** The file, as it was given. */
  readonly path: string;
  readonly tensors: ReadonlyMap<string, TensorEntry>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly dataStart: number;
  readonly #file: OpenFile;

  /** Use `openSafetensors`. */
  constructor(path: string, file: OpenFile, header: SafetensorsHeader) {
    this.path = path;
    this.tensors = header.tensors;
    this.metadata = header.metadata;
    this.dataStart = header.dataStart;
    this.#file = file;
  }

  /** The values of one tensor as float32; F16, BF16 and F64 are converted. Refuses NaN and Inf. */
  async readFloat32(name: string): Promise<Float32Array<ArrayBuffer>> {
    const entry = this.tensors.get(name);
    if (!entry)
      throw new CheckpointError(`${this.path}: no ${tensorLabel(name)} among ${this.tensors.size}`, {
        hint: 'the checkpoint is of another kind of model, or lacks a part',
      });
    const values = await this.#readAs32(name, entry);
    const bad = firstNonFinite(values);
    if (bad >= 0)
      throw new CheckpointError(
        `${this.path}: ${tensorLabel(name)} at byte ${this.dataStart + entry.begin}: value ${bad} is ${values[bad]}`,
        { hint: 'the checkpoint has diverged or is damaged; a sound one has only finite weights' },
      );
    return values;
  }

  /** Closes the file. */
  async close(): Promise<void> {
    await this.#file.close();
  }

  async #readAs32(name: string, entry: TensorEntry): Promise<Float32Array<ArrayBuffer>> {
    const { dtype } = entry;
    if (dtype === 'F32') return new Float32Array(await this.#readBytes(entry));
    if (dtype === 'F16') return halfToFloat32(new Uint16Array(await this.#readBytes(entry)));
    if (dtype === 'BF16') return bfloat16ToFloat32(new Uint16Array(await this.#readBytes(entry)));
    if (dtype === 'F64') return new Float32Array(new Float64Array(await this.#readBytes(entry)));
    throw new CheckpointError(
      `${this.path}: ${tensorLabel(name)} at byte ${this.dataStart + entry.begin}: ` +
        `expected F32, F16, BF16 or F64, got ${dtype}`,
      { hint: 'convert the checkpoint to one of these types first' },
    );
  }

  async #readBytes({ begin, end }: TensorEntry): Promise<ArrayBuffer> {
    return await this.#file.read({ start: this.dataStart + begin, sizeBytes: end - begin });
  }
}

/** Opens a safetensors file and checks its header. */
export async function openSafetensors(path: string): Promise<SafetensorsFile> {
  const handle = await openForReading(path);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw checkpointError(path, 'not a file');
    const header = await readHeader(path, handle, stats.size);
    const file: OpenFile = { read: (range) => readRange(path, handle, range), close: () => handle.close() };
    return new SafetensorsFile(path, file, header);
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

async function readHeader(path: string, handle: FileHandle, fileBytes: number): Promise<SafetensorsHeader> {
  const prefixBytes = Math.min(LENGTH_BYTES, fileBytes);
  const prefix = new Uint8Array(await readRange(path, handle, { start: 0, sizeBytes: prefixBytes }));
  const sizeBytes = parseHeaderLength(path, prefix, fileBytes);
  const header = new Uint8Array(await readRange(path, handle, { start: LENGTH_BYTES, sizeBytes }));
  return parseHeader(path, header, fileBytes);
}

/** Reads exactly the bytes of a range that the file had when it was opened. */
async function readRange(path: string, handle: FileHandle, { start, sizeBytes }: Range): Promise<ArrayBuffer> {
  const bytes = new Uint8Array(sizeBytes);
  for (let done = 0; done < sizeBytes; ) {
    const length = Math.min(MAX_READ_BYTES, sizeBytes - done);
    const bytesRead = await readPiece(path, handle, { bytes, offset: done, length, position: start + done });
    if (bytesRead === 0) throw checkpointError(path, `ended at byte ${start + done} while being read`);
    done += bytesRead;
  }
  return bytes.buffer;
}

type Piece = {
  readonly bytes: Uint8Array;
  readonly offset: number;
  readonly length: number;
  readonly position: number;
};

async function readPiece(path: string, handle: FileHandle, piece: Piece): Promise<number> {
  try {
    return (await handle.read(piece.bytes, piece.offset, piece.length, piece.position)).bytesRead;
  } catch (cause) {
    throw checkpointError(path, `cannot be read at byte ${piece.position}: ${messageOf(cause)}`, cause);
  }
}

/** Index of the first NaN or ±Inf, or −1. Only of these is x − x not 0. */
export function firstNonFinite(values: Float32Array): number {
  for (let i = 0; i < values.length; i++) if (values[i] - values[i] !== 0) return i;
  return -1;
}
