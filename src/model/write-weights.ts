/**
 * How the weights of a checkpoint get into a model folder: copied as they are, written anew as floats, or as codes.
 * What else a folder holds is import.ts's.
 */

import { type Checkpoint, TIED, TOPIC, WORD_EMBEDDINGS } from './checkpoint.ts';
import { copyContent } from './folder-output.ts';
import type { AskedCodes, MatrixCodes } from './int8/four-bits.ts';
import { isFeedForward } from './int8/matrix-names.ts';
import type { Precision } from './int8/precision.ts';
import { quantisedTensors, type ReplacedValues } from './int8/quantised-tensors.ts';
import { codesOf } from './int8/stored-codes.ts';
import { nameForOthers } from './tensor-names.ts';
import type { TensorToWrite, WritableDtype } from './tensors/safetensors-writer.ts';
import { writeSafetensors } from './tensors/safetensors-writer.ts';

/** What became of them. */
export type WrittenWeights = {
  /** That of the source, floats, or codes. */
  readonly form: 'copied' | 'floats' | 'codes';
  /** What matrices are stored in; undefined for floats. */
  readonly codes: MatrixCodes | undefined;
};

/** What is to be different from the source. */
export type WeightChanges = AskedCodes & {
  /** Tensors that the source does not have, or has in another way. */
  readonly added: readonly TensorToWrite[];
  /** Values of tensors that the source has with others, in the same shape; they are stored as those were. */
  readonly replaced?: ReplacedValues | undefined;
  /** Type of floats; as in the source if not given. */
  readonly dtype?: WritableDtype | undefined;
  /** The arithmetic that they are for: codes for int8, floats for fp32; as in the source if not given. */
  readonly precision?: Precision | undefined;
};

/** Writes the file. A safetensors file of which nothing changes is copied, to the byte, unless others could not read it. */
export async function writeWeights(
  path: string,
  checkpoint: Checkpoint,
  changes: WeightChanges,
): Promise<WrittenWeights> {
  const form = formOf(checkpoint, changes);
  if (form === 'copied') {
    await copyContent(checkpoint.weightsPath, path);
    return { form, codes: matrixCodesOf(checkpoint) };
  }
  const codes = form === 'codes' ? codesToWrite(checkpoint, changes) : undefined;
  const source = codes ? quantisedTensors(checkpoint, codes, changes.replaced) : floatTensors(checkpoint, changes);
  await writeSafetensors(path, await withAdded(source, changes.added), { format: 'pt' });
  return { form, codes };
}

function formOf(checkpoint: Checkpoint, { added, replaced, dtype, precision }: WeightChanges): WrittenWeights['form'] {
  if (precision === 'int8') return 'codes';
  if (replaced !== undefined) return precision === undefined && hasCodes(checkpoint) ? 'codes' : 'floats';
  const { weightsFormat, unusualNames } = checkpoint;
  const isOther = added.length > 0 || dtype !== undefined || weightsFormat !== 'safetensors' || unusualNames.size > 0;
  return isOther || (precision === 'fp32' && hasCodes(checkpoint)) ? 'floats' : 'copied';
}

/** Whether any tensor of a checkpoint is stored in codes. */
export function hasCodes(checkpoint: Checkpoint): boolean {
  return checkpoint.usedNames.some((name) => codesOf(checkpoint.entry(name)) !== undefined);
}

/** What the matrices of a checkpoint are stored in: tables as its word embeddings are; undefined for floats. */
export function matrixCodesOf(checkpoint: Checkpoint): MatrixCodes | undefined {
  const tables = codesOf(checkpoint.entry(WORD_EMBEDDINGS));
  const layer = checkpoint.usedNames.find(isFeedForward);
  const feedForward = layer === undefined ? tables : codesOf(checkpoint.entry(layer));
  return tables && feedForward && { tables, feedForward };
}

/** What is asked for; if nothing is, what the source has, or 8 bits. */
function codesToWrite(checkpoint: Checkpoint, { tables, feedForward }: AskedCodes): MatrixCodes {
  const own = matrixCodesOf(checkpoint) ?? { tables: '8bit', feedForward: '8bit' };
  return { tables: tables ?? own.tables, feedForward: feedForward ?? own.feedForward };
}

const SOURCE_DTYPES: readonly string[] = ['F32', 'F16', 'BF16'] satisfies WritableDtype[];

async function* floatTensors(
  checkpoint: Checkpoint,
  { dtype, replaced }: Pick<WeightChanges, 'dtype' | 'replaced'>,
): AsyncGenerator<TensorToWrite> {
  for (const name of checkpoint.usedNames) {
    const entry = checkpoint.entry(name);
    const own = isWritable(entry.dtype) ? entry.dtype : 'F32';
    const values = replaced?.get(name) ?? (await checkpoint.read(name));
    yield { name: nameForOthers(name, checkpoint.config), dtype: dtype ?? own, shape: entry.shape, values };
  }
}

function isWritable(dtype: string): dtype is WritableDtype {
  return SOURCE_DTYPES.includes(dtype);
}

async function withAdded(
  tensors: AsyncIterable<TensorToWrite>,
  added: readonly TensorToWrite[],
): Promise<TensorToWrite[]> {
  const replaced = new Set(added.map(({ name }) => name));
  const heads: readonly string[] = [...Object.values(TIED), ...Object.values(TOPIC)];
  if (heads.some((name) => replaced.has(name))) for (const name of heads) replaced.add(name); // one head in place of the other
  const all = [...added];
  for await (const tensor of tensors) if (!replaced.has(tensor.name)) all.push(tensor);
  return all;
}
