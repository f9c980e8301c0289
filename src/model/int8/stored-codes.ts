/**
 * Codes in a file of weights: a matrix X as I8 codes [R, n] under its own name, and its scales, F32 [R], under X_scale. One
 * in 4-bit codes is U8 [R, n/2] there (four-bits.ts). Whoever wants float32 gets s·c.
 */
import { CheckpointError } from '../../core/index.ts';
import type { Dtype } from '../tensors/dtype.ts';
import type { StoredTensor, TensorFile } from '../tensors/tensor-file.ts';
import { namedTensor } from '../tensors/weights-file.ts';
import { dequantiseRows } from './codes.ts';
import { type Codes, unpackRows } from './four-bits.ts';

/** The name of the scales that belong to a matrix. */
export function scaleName(matrix: string): string {
  return `${matrix}_scale`;
}

/** The codes that a tensor is stored in; undefined for one in floats. */
export function codesOf({ dtype }: Pick<StoredTensor, 'dtype'>): Codes | undefined {
  if (dtype === 'I8') return '8bit';
  return dtype === 'U8' ? '4bit' : undefined;
}

/** The shape of a tensor's values: two 4-bit codes fill a byte. */
export function shapeOfValues({ dtype, shape }: Pick<StoredTensor, 'dtype' | 'shape'>): readonly number[] {
  return codesOf({ dtype }) === '4bit' && shape.length === 2 ? [shape[0], 2 * shape[1]] : shape;
}

/** Where a matrix and its scales are, by their names in the file. */
export type StoredCodes = { readonly codes: string; readonly scales: string | undefined };

/** A matrix in codes as float32 values. */
export async function readStoredCodes(file: TensorFile, stored: StoredCodes): Promise<Float32Array<ArrayBuffer>> {
  const tensor = namedTensor(file, stored.codes);
  const { dtype, shape } = tensor;
  if (stored.scales === undefined) throw withoutScales(`${file.path}: the tensor ${stored.codes}`, dtype);
  const scales = await file.readFloat32(stored.scales);
  const isPacked = codesOf(tensor) === '4bit';
  const rowSize = shapeOfValues(tensor)[1];
  const groupSize = (shape[0] * rowSize) / scales.length; // a row, or in 4 bits an even part of it
  if (shape.length !== 2 || !(isPacked ? Number.isInteger(rowSize / groupSize) : scales.length === shape[0])) {
    throw new CheckpointError(
      `${file.path}: the tensor ${stored.codes} has shape [${shape.join(', ')}], which ${scales.length} scales do not fit`,
      {
        hint: 'codes have a scale for each row, 4-bit ones for each row or group; make the folder again with lzero model quantize',
      },
    );
  }
  const rows = { scales, rowSize: groupSize };
  const bytes = await file.readBytes(stored.codes);
  return dequantiseRows(
    isPacked ? unpackRows({ packed: new Uint8Array(bytes), ...rows }) : { codes: new Int8Array(bytes), ...rows },
  );
}

function withoutScales(what: string, dtype: Dtype): CheckpointError {
  return new CheckpointError(`${what} holds ${dtype} codes without scales`, {
    hint: 'lzero reads codes with a scale for each row, under the same name with _scale, as lzero model quantize writes them',
  });
}
