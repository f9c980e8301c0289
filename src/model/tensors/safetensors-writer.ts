/**
 * Writes safetensors files: the same tensors give the same bytes, and a file has its name only once it is whole. Order
 * and padding are those of the reference implementation (`prepare` in its tensor.rs, linked in safetensors.ts):
 * tensors by descending type, then by the UTF-8 of their name; the header padded with spaces to 8 bytes.
 */
import { CheckpointError, ShapeError } from '../../core/index.ts';
import { writeFileAtomically } from '../../files/index.ts';
import { bfloat16ToFloat32, float32ToBfloat16, float32ToHalf, halfToFloat32 } from './half.ts';
import { firstNonFinite } from './safetensors.ts';
import { LENGTH_BYTES, METADATA_KEY, numValues, tensorLabel } from './safetensors-header.ts';

/** A tensor to write. */
export type TensorToWrite = {
  readonly name: string;
  /** What the float32 values become in the file, to nearest even. */
  readonly dtype: WritableDtype;
  readonly shape: readonly number[];
  /** Finite values, row by row. */
  readonly values: Float32Array;
};

/** Types that can be written. */
export type WritableDtype = 'F32' | 'BF16' | 'F16';

/** Types in the order of the file: the reference sorts by its enumeration, descending. */
const DTYPE_ORDER: readonly WritableDtype[] = ['F32', 'BF16', 'F16'];
const VALUE_BYTES: Readonly<Record<WritableDtype, number>> = { F32: 4, BF16: 2, F16: 2 };

/**
 * Writes a safetensors file under a temporary name, forces it to disk and gives it its name.
 *
 * @param metadata free text for other programs, such as {format: 'pt'}; written by ascending key
 */
export async function writeSafetensors(
  path: string,
  tensors: Iterable<TensorToWrite>,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  const sorted = [...tensors].sort(byTypeThenName);
  checkTensors(path, sorted);
  await writeFileAtomically(path, pieces(path, sorted, metadata));
}

function byTypeThenName(a: TensorToWrite, b: TensorToWrite): number {
  const byType = DTYPE_ORDER.indexOf(a.dtype) - DTYPE_ORDER.indexOf(b.dtype);
  return byType || Buffer.compare(Buffer.from(a.name), Buffer.from(b.name));
}

function checkTensors(path: string, tensors: readonly TensorToWrite[]): void {
  const names = new Set([METADATA_KEY]);
  for (const { name, shape, values } of tensors) {
    const label = `${path}: ${tensorLabel(name)}`;
    if (names.has(name)) throw new CheckpointError(`${label}: the name is taken`, { hint: 'give each tensor its own' });
    names.add(name);
    if (numValues(shape) !== values.length)
      throw new ShapeError(`${label}: shape [${shape}] has ${numValues(shape)} values, got ${values.length}`);
  }
}

/** The file, piece by piece; each tensor is converted only when its turn comes. */
function* pieces(
  path: string,
  tensors: readonly TensorToWrite[],
  metadata: Readonly<Record<string, string>>,
): Generator<Uint8Array> {
  const header = headerBytes(tensors, metadata);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeBigUInt64LE(BigInt(header.length));
  yield length;
  yield header;
  for (const tensor of tensors) yield tensorBytes(path, tensor);
}

/** Written by hand, because a JavaScript object would move names such as "0" to the front. */
function headerBytes(tensors: readonly TensorToWrite[], metadata: Readonly<Record<string, string>>): Buffer {
  const members: string[] = [];
  const keys = Object.keys(metadata).sort();
  if (keys.length > 0) {
    const pairs = keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(metadata[key])}`);
    members.push(`"${METADATA_KEY}":{${pairs.join(',')}}`);
  }
  let begin = 0;
  for (const { name, dtype, shape, values } of tensors) {
    const end = begin + values.length * VALUE_BYTES[dtype];
    members.push(`${JSON.stringify(name)}:${JSON.stringify({ dtype, shape, data_offsets: [begin, end] })}`);
    begin = end;
  }
  const json = Buffer.from(`{${members.join(',')}}`);
  return Buffer.concat([json, Buffer.alloc(-json.length & 7, ' ')]);
}

function tensorBytes(path: string, tensor: TensorToWrite): Uint8Array {
  const stored = convert(tensor);
  const bad = firstNonFinite(stored.readBack);
  if (bad >= 0)
    throw new CheckpointError(
      `${path}: ${tensorLabel(tensor.name)}: value ${bad} is ${tensor.values[bad]}, which ${tensor.dtype} cannot hold as a finite number`,
      { hint: 'check that the weights are finite, or write them as F32' },
    );
  return new Uint8Array(stored.array.buffer, stored.array.byteOffset, stored.array.byteLength);
}

/** The values in their stored type, and what a reader will make of them. */
function convert({ dtype, values }: TensorToWrite): { array: Float32Array | Uint16Array; readBack: Float32Array } {
  if (dtype === 'F32') return { array: values, readBack: values };
  const array = dtype === 'F16' ? float32ToHalf(values) : float32ToBfloat16(values);
  return { array, readBack: dtype === 'F16' ? halfToFloat32(array) : bfloat16ToFloat32(array) };
}
