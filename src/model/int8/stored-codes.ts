/**
 * Codes in a file of weights: a matrix X as I8 codes [R, n] under its own name, and its scales, F32 [R], under X_scale.
 * Whoever wants float32 gets s·c.
 */
import { CheckpointError } from '../../core/index.ts';
import type { TensorFile } from '../tensors/tensor-file.ts';
import { dequantiseRows } from './codes.ts';

/** The name of the scales that belong to a matrix. */
export function scaleName(matrix: string): string {
  return `${matrix}_scale`;
}

/** Where a matrix and its scales are, by their names in the file. */
export type StoredCodes = { readonly codes: string; readonly scales: string | undefined };

/** A matrix in codes as float32 values. */
export async function readStoredCodes(file: TensorFile, stored: StoredCodes): Promise<Float32Array<ArrayBuffer>> {
  const shape = file.tensors.get(stored.codes)?.shape ?? [];
  if (stored.scales === undefined) throw withoutScales(`${file.path}: the tensor ${stored.codes}`);
  const scales = await file.readFloat32(stored.scales);
  const [numRows, rowSize] = shape;
  if (shape.length !== 2 || scales.length !== numRows) {
    throw new CheckpointError(
      `${file.path}: the tensor ${stored.codes} has shape [${shape.join(', ')}], which ${scales.length} scales do not fit`,
      { hint: 'codes have a scale for each row; make the folder again with lzero model quantize' },
    );
  }
  return dequantiseRows({ codes: new Int8Array(await file.readBytes(stored.codes)), scales, rowSize });
}

function withoutScales(what: string): CheckpointError {
  return new CheckpointError(`${what} holds I8 codes without scales`, {
    hint: 'lzero reads codes with a scale for each row, under the same name with _scale, as lzero model quantize writes them',
  });
}
