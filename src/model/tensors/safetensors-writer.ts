/**
 * Writes safetensors files: the same tensors give the same bytes, and a file has its name only once it is whole. Order
 * and padding are those of the reference implementation (`prepare` in its tensor.rs, linked in safetensors.ts):
 * tensors by descending type, then by the UTF-8 of their name; the header padded with spaces to 8 bytes.
 */
import { CheckpointError, ShapeError } from '../../core/index.ts';
import { writeFileAtomically } from '../../files/index.ts';
import { DTYPE_BITS, numValues } from './dtype.ts';
import { firstNonFinite } from './float-values.ts';
import { bfloat16ToFloat32, float32ToBfloat16, float32ToHalf, halfToFloat32 } from './half.ts';
import { LENGTH_BYTES, METADATA_KEY } from './safetensors-header.ts';
import { tensorLabel } from './weights-file.ts';

/** A tensor of numbers to write. */
export type FloatsToWrite = {
  readonly name: string;
  /** What the float32 values become in the file, to nearest even. */
  readonly dtype: WritableDtype;
  readonly shape: readonly number[];
  /** Finite values, row by row. */
  readonly values: Float32Array;
};

/** A tensor of codes to write, as they are. */
export type CodesToWrite = { readonly name: string; readonly shape: readonly number[] } & (
  | { readonly dtype: 'I8'; readonly values: Int8Array }
  | { readonly dtype: 'U8'; readonly values: Uint8Array }
);

/** A tensor to write. */
export type TensorToWrite = FloatsToWrite | CodesToWrite;

/** Types that float32 values can be written as. */
export type WritableDtype = 'F32' | 'BF16' | 'F16';

/** Types in the order of the file: the reference sorts by its enumeration, descending. */
const DTYPE_ORDER: readonly TensorToWrite['dtype'][] = ['F32', 'BF16', 'F16', 'I8', 'U8'];

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
    const end = begin + (values.length * DTYPE_BITS[dtype]) / 8;
    members.push(`${JSON.stringify(name)}:${JSON.stringify({ dtype, shape, data_offsets: [begin, end] })}`);
    begin = end;
  }
  const json = Buffer.from(`{${members.join(',')}}`);
  return Buffer.concat([json, Buffer.alloc(-json.length & 7, ' ')]);
}

function tensorBytes(path: string, tensor: TensorToWrite): Uint8Array {
  const isCodes = tensor.dtype === 'I8' || tensor.dtype === 'U8';
  const { buffer, byteOffset, byteLength } = isCodes ? tensor.values : convert(path, tensor);
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** The values in their stored type; what a reader would not find finite is refused. */
function convert(path: string, { name, dtype, values }: FloatsToWrite): Float32Array | Uint16Array {
  const array = dtype === 'F32' ? values : dtype === 'F16' ? float32ToHalf(values) : float32ToBfloat16(values);
  const bad = firstNonFinite(readBack(dtype, array));
  if (bad < 0) return array;
  throw new CheckpointError(
    `${path}: ${tensorLabel(name)}: value ${bad} is ${values[bad]}, which ${dtype} cannot hold as a finite number`,
    { hint: 'check that the weights are finite, or write them as F32' },
  );
}

function readBack(dtype: WritableDtype, array: Float32Array | Uint16Array): Float32Array {
  if (array instanceof Float32Array) return array;
  return dtype === 'F16' ? halfToFloat32(array) : bfloat16ToFloat32(array);
}
