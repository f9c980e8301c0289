/**
 * Reads tensors out of a safetensors file by position, one at a time, so that a checkpoint never has to be in memory
 * as a whole. What a header may say is safetensors-header.ts; what the tensors mean is the caller's business.
 *
 * The reference implementation:
 * https://github.com/huggingface/safetensors/blob/000a16f45cff0d4169ca15b67ea002895234d671/safetensors/src/tensor.rs
 */
import { type ByteReading, readFloats } from './float-values.ts';
import type { ReusedMemory } from './reused-memory.ts';
import {
  LENGTH_BYTES,
  type PlacedTensor,
  parseHeader,
  parseHeaderLength,
  type SafetensorsHeader,
} from './safetensors-header.ts';
import type { TensorFile } from './tensor-file.ts';
import { namedTensor, openWeights, type WeightsFile } from './weights-file.ts';

/** An open safetensors file. Close it when done. */
export class SafetensorsFile implements SafetensorsHeader, TensorFile {
  /** The file, as it was given. */
  readonly path: string;
  readonly format = 'safetensors';
  readonly tensors: ReadonlyMap<string, PlacedTensor>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly dataStart: number;
  readonly #file: WeightsFile;

  /** Use `openSafetensors`. */
  constructor(file: WeightsFile, header: SafetensorsHeader) {
    this.path = file.path;
    this.tensors = header.tensors;
    this.metadata = header.metadata;
    this.dataStart = header.dataStart;
    this.#file = file;
  }

  /** The values of one tensor as float32; F16, BF16 and F64 are converted. Refuses NaN and Inf. */
  async readFloat32(name: string, memory?: ReusedMemory): Promise<Float32Array<ArrayBuffer>> {
    const tensor = namedTensor(this, name);
    const read: ByteReading = (visit) => this.#file.read(tensor.place, { visit, memory });
    return await readFloats(name, { path: this.path, tensor }, read);
  }

  /** The bytes of one tensor, of any type. */
  async readBytes(name: string): Promise<ArrayBuffer> {
    return await this.#file.read(namedTensor(this, name).place);
  }

  /** Closes the file. */
  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** Opens a safetensors file and checks its header. */
export async function openSafetensors(path: string): Promise<SafetensorsFile> {
  return await openWeights(path, async (file) => new SafetensorsFile(file, await readHeader(file)));
}

async function readHeader(file: WeightsFile): Promise<SafetensorsHeader> {
  const { path, sizeBytes } = file;
  const prefix = await file.read({ offset: 0, length: Math.min(LENGTH_BYTES, sizeBytes) });
  const length = parseHeaderLength(path, new Uint8Array(prefix), sizeBytes);
  return parseHeader(path, new Uint8Array(await file.read({ offset: LENGTH_BYTES, length })), sizeBytes);
}
