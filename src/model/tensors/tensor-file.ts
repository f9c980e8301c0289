/** What a file of weights is to its readers, whatever its format: named tensors, read one at a time. */
import type { Dtype } from './dtype.ts';
import type { ReusedMemory } from './reused-memory.ts';

/** Bytes of a file. */
export type Place = { readonly offset: number; readonly length: number };

/** What a file says of a tensor. */
export type StoredTensor = {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  /** Where its values lie, little-endian and row by row; undefined where they must be unpacked or gathered first. */
  readonly place: Place | undefined;
};

/** An open file of weights. Close it when done. */
export type TensorFile = {
  /** The file itself, links followed; its name may tell nothing: a hub's cache calls files by their checksums. */
  readonly path: string;
  readonly format: 'safetensors' | 'torch';
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  /**
   * The values of one tensor; F16, BF16 and F64 are converted. Refuses other types, NaN and Inf.
   *
   * @param memory for values that are not kept: the next read into it may overwrite them
   */
  readFloat32(name: string, memory?: ReusedMemory): Promise<Float32Array<ArrayBuffer>>;
  /** The bytes of one tensor, of any type, little-endian and row by row. */
  readBytes(name: string): Promise<ArrayBuffer>;
  /** Closes the file. */
  close(): Promise<void>;
};
