/**
 * Values of a tensor as float32, out of the bytes of a file, and the search for those that are not finite. Knows no
 * format and reads no file.
 */
import { CheckpointError } from '../../core/index.ts';
import { type Dtype, numValues } from './dtype.ts';
import { bfloat16ToFloat32, halfToFloat32 } from './half.ts';
import type { StoredTensor } from './tensor-file.ts';
import { type PieceVisitor, tensorLabel } from './weights-file.ts';

/** How so many values of each type that can be read become float32, out of bytes that may be more. */
const CONVERSIONS: Partial<Record<Dtype, (bytes: ArrayBuffer, count: number) => Float32Array<ArrayBuffer>>> = {
  F32: (bytes, count) => new Float32Array(bytes, 0, count),
  F16: (bytes, count) => halfToFloat32(new Uint16Array(bytes, 0, count)),
  BF16: (bytes, count) => bfloat16ToFloat32(new Uint16Array(bytes, 0, count)),
  F64: (bytes, count) => new Float32Array(new Float64Array(bytes, 0, count)),
};

/** A tensor's bytes, and a look at them on their way. */
export type ByteReading = (visit?: PieceVisitor) => Promise<ArrayBuffer>;

/** Reads a tensor's values; refuses types that are not floating point, and NaN and Inf. `name` is for messages. */
export async function readFloats(
  name: string,
  { path, tensor }: { readonly path: string; readonly tensor: StoredTensor },
  read: ByteReading,
): Promise<Float32Array<ArrayBuffer>> {
  const { dtype, shape, place } = tensor;
  const label = `${path}: ${tensorLabel(name)}${place ? ` at byte ${place.offset}` : ''}`;
  const convert = CONVERSIONS[dtype];
  if (!convert)
    throw new CheckpointError(`${label}: expected F32, F16, BF16 or F64, got ${dtype}`, {
      hint: 'convert the checkpoint to one of these types first',
    });
  let isSound = true;
  const look: PieceVisitor = (buffer, from, to) => {
    isSound &&= isAllFinite(new Int32Array(buffer, from, (to - from) / 4));
  };
  // float32 is checked piece by piece while more is read, other types when they have become float32.
  const values = convert(await read(dtype === 'F32' ? look : undefined), numValues(shape));
  if (dtype !== 'F32') look(values.buffer, 0, values.byteLength);
  if (isSound) return values;
  const bad = firstNonFinite(values);
  throw new CheckpointError(`${label}: value ${bad} is ${values[bad]}`, {
    hint: 'the checkpoint has diverged or is damaged; a sound one has only finite weights',
  });
}

/** Values of which one look tells whether any needs a closer one. */
const BLOCK_VALUES = 4096;
/** The highest bit of the exponent: of float32, those of 2 and more have it, and NaN and ±Inf among them. */
const TWO_OR_MORE = 0x40000000;

/**
 * Whether no float32 among these bits is NaN or ±Inf. Weights are small: nearly all blocks of them have no value of 2 or
 * more, and then all is said by the OR of their bits, which takes half the time of looking at each.
 */
export function isAllFinite(bits: Int32Array): boolean {
  for (let from = 0; from < bits.length; from += BLOCK_VALUES) {
    const to = Math.min(from + BLOCK_VALUES, bits.length);
    if (orOf(bits, from, to) & TWO_OR_MORE && !isBlockFinite(bits, from, to)) return false;
  }
  return true;
}

/** Eight values at a time, in four chains that do not wait for each other. */
function orOf(bits: Int32Array, from: number, to: number): number {
  const whole = to - ((to - from) & 7);
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = from; i < whole; i += 8) {
    a |= bits[i] | bits[i + 1];
    b |= bits[i + 2] | bits[i + 3];
    c |= bits[i + 4] | bits[i + 5];
    d |= bits[i + 6] | bits[i + 7];
  }
  for (let i = whole; i < to; i++) a |= bits[i];
  return a | b | c | d;
}

/**
 * Only NaN and ±Inf have an exponent of all ones, and only then does adding one to it carry into the sign, which was
 * cleared.
 *
 *     s eeeeeeee mmm…   & 0x7fffffff →   0 eeeeeeee mmm…   + 1 << 23 →   1 00000000 mmm…   if e = 11111111
 */
function isBlockFinite(bits: Int32Array, from: number, to: number): boolean {
  let carried = 0;
  for (let i = from; i < to; i++) carried |= (bits[i] & 0x7fffffff) + 0x800000;
  return carried >= 0;
}

/** Index of the first NaN or ±Inf, or −1. Only of these is x − x not 0. */
export function firstNonFinite(values: Float32Array): number {
  for (let i = 0; i < values.length; i++) if (values[i] - values[i] !== 0) return i;
  return -1;
}
