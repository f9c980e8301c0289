/** What a file of weights is to its readers, whatever its format: named tensors, read one at a time. */
import type { Dtype } from './safetensors-header.ts';

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
  /** The file itself, links followed. */
  readonly path: string;
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  /** The values of one tensor; F16, BF16 and F64 are converted. Refuses NaN and Inf. */
  readFloat32(name: string): Promise<Float32Array<ArrayBuffer>>;
  close(): Promise<void>;
};
