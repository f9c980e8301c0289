/** The weights of a checkpoint as int8 keeps them: matrices in codes with scales, the rest as float32. */
import type { Checkpoint } from '../checkpoint.ts';
import type { TensorToWrite } from '../tensors/safetensors-writer.ts';
import { quantiseRows } from './codes.ts';
import { type MatrixCodes, packRows } from './four-bits.ts';
import { feedForwardNames, matrixNames, packedGroupSize, tableNames } from './matrix-names.ts';
import { scaleName } from './stored-codes.ts';

/** Values in place of those of a checkpoint, in the same shape, by its names. */
export type ReplacedValues = ReadonlyMap<string, Float32Array>;

/**
 * The tensors that encoding reads, one after the other, under BertForMaskedLM's names. They are the same for a checkpoint
 * and for the folder of codes that was made from it: s·c quantised once more is s and c again (codes.ts). With all in
 * 8 bits they are also the same for a folder in 4 bits and for one in 8 that was made from it (four-bits.ts).
 */
export async function* quantisedTensors(
  checkpoint: Checkpoint,
  { tables, feedForward }: MatrixCodes,
  replaced: ReplacedValues = new Map(),
): AsyncGenerator<TensorToWrite> {
  const matrices = matrixNames(checkpoint);
  const inFourBits = new Set([
    ...(tables === '4bit' ? tableNames(checkpoint) : []),
    ...(feedForward === '4bit' ? feedForwardNames(checkpoint) : []),
  ]);
  for (const name of checkpoint.usedNames) {
    const { shape } = checkpoint.entry(name);
    const values = replaced.get(name) ?? (await checkpoint.read(name));
    if (inFourBits.has(name)) yield* packedMatrix(name, values, shape);
    else if (matrices.has(name)) yield* quantisedMatrix(name, values, shape);
    else yield { name, dtype: 'F32', shape, values };
  }
}

function* quantisedMatrix(name: string, values: Float32Array, shape: readonly number[]): Generator<TensorToWrite> {
  const { codes, scales } = quantiseRows(values, shape[1]);
  yield { name, dtype: 'I8', shape, values: codes };
  yield scalesOf(name, scales);
}

function* packedMatrix(name: string, values: Float32Array, shape: readonly number[]): Generator<TensorToWrite> {
  const [numRows, rowSize] = shape;
  const groupSize = packedGroupSize(name, rowSize);
  const { packed, scales } = packRows(values, groupSize);
  yield { name, dtype: 'U8', shape: [numRows, rowSize / 2], values: packed };
  yield { ...scalesOf(name, scales), shape: groupSize === rowSize ? [numRows] : [numRows, rowSize / groupSize] };
}

function scalesOf(matrix: string, scales: Float32Array): TensorToWrite {
  return { name: scaleName(matrix), dtype: 'F32', shape: [scales.length], values: scales };
}
