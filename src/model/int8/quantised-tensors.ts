/** The weights of a checkpoint as int8 keeps them: matrices in codes with scales, the rest as float32. */
import type { Checkpoint } from '../checkpoint.ts';
import type { TensorToWrite } from '../tensors/safetensors-writer.ts';
import { quantiseRows } from './codes.ts';
import { matrixNames } from './matrix-names.ts';
import { scaleName } from './stored-codes.ts';

/**
 * The tensors that encoding reads, one after the other, under BertForMaskedLM's names. They are the same for a checkpoint
 * and for the folder of codes that was made from it: s·c quantised once more is s and c again (codes.ts).
 */
export async function* quantisedTensors(checkpoint: Checkpoint): AsyncGenerator<TensorToWrite> {
  const matrices = matrixNames(checkpoint);
  for (const name of checkpoint.usedNames) {
    const { shape } = checkpoint.entry(name);
    const values = await checkpoint.read(name);
    if (!matrices.has(name)) {
      yield { name, dtype: 'F32', shape, values };
      continue;
    }
    const { codes, scales } = quantiseRows(values, shape[1]);
    yield { name, dtype: 'I8', shape, values: codes };
    yield { name: scaleName(name), dtype: 'F32', shape: [scales.length], values: scales };
  }
}
