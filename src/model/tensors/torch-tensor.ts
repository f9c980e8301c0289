/**
 * Tensors as torch describes them: a storage (a flat run of values of one type, kept under a key) and a view of it by
 * offset, sizes and strides. Several tensors may share a storage. Everything is checked against the storage's size here;
 * where its bytes are is the business of the file's format.
 *
 *     value [i, j, …] of the tensor  =  value (offset + i·stride₀ + j·stride₁ + …) of the storage
 */
import { DTYPE_BITS, type Dtype, numValues } from './dtype.ts';
import type { PickledObject, PickleRun } from './pickle-values.ts';

/** A storage, or a part of one, named by a persistent id. */
export class TorchStorage implements PickledObject {
  readonly pickledAs = 'a storage';
  readonly key: string;
  /** Undefined in a storage of plain bytes, whose tensors say their type themselves. */
  readonly dtype: Dtype | undefined;
  /** Values of the whole; bytes where there is no type. */
  readonly numValues: number;
  /** Where the part begins, in values. */
  readonly start: number;
  /** Values of the part. */
  readonly length: number;

  constructor(whole: Pick<TorchStorage, 'key' | 'dtype' | 'numValues'>, part = { start: 0, length: whole.numValues }) {
    this.key = whole.key;
    this.dtype = whole.dtype;
    this.numValues = whole.numValues;
    this.start = part.start;
    this.length = part.length;
  }

  /** Bytes of one value. */
  get valueBytes(): number {
    return this.dtype === undefined ? 1 : valueBytes(this.dtype);
  }
}

/** A tensor: a view of a storage, checked to lie within it. */
export class TorchTensor implements PickledObject {
  readonly pickledAs = 'a tensor';
  readonly storage: TorchStorage;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  /** First value, counted in values of the tensor's type from the start of the whole storage. */
  readonly offset: number;

  constructor(storage: TorchStorage, view: TensorView) {
    this.storage = storage;
    this.dtype = view.dtype;
    this.shape = view.shape;
    this.strides = view.strides;
    this.offset = view.offset;
  }
}

/** What a tensor says of itself. */
export type TensorView = Pick<TorchTensor, 'dtype' | 'shape' | 'strides' | 'offset'>;

/** Torch's own limit. */
const MAX_DIMENSIONS = 64;
/**
 * Strides of 0 repeat values, so that a few bytes can stand for a tensor of any size. Tensors that were expanded in this
 * way are small in practice; larger ones must have a value in the storage for each of their own.
 */
const MAX_REPEATED_VALUES = 2 ** 20;

/** Bytes of one value. All types that torch writes fill whole bytes. */
export function valueBytes(dtype: Dtype): number {
  return DTYPE_BITS[dtype] / 8;
}

/** A view of a storage; one that does not lie within it is refused. `view.offset` counts from the storage's part. */
export function makeTensor(storage: TorchStorage, view: TensorView, run: PickleRun): TorchTensor {
  const { dtype, shape, strides, offset } = view;
  const scale = valueBytes(dtype) / storage.valueBytes; // 1, but for storages of plain bytes
  const available = Math.floor(storage.length / scale);
  if (shape.length !== strides.length || shape.length > MAX_DIMENSIONS)
    throw run.fail(`a tensor of ${shape.length} sizes and ${strides.length} strides`);
  const count = numValues(shape);
  if (!Number.isSafeInteger(count) || count > Math.max(available, MAX_REPEATED_VALUES))
    throw run.fail(`a tensor of shape [${shape.join(', ')}] in a storage of ${available} values`);
  const last = shape.reduce((sum, size, d) => sum + (size - 1) * strides[d], offset);
  if (count > 0 && !(last < available))
    throw run.fail(`a tensor that reaches to value ${last} of a storage of ${available} values`);
  return new TorchTensor(storage, { ...view, offset: (count > 0 ? offset : 0) + storage.start / scale });
}

/** Whether the values lie in the storage as they are wanted: row by row, without holes. */
export function isRowByRow({ shape, strides }: TorchTensor): boolean {
  let step = 1;
  for (let d = shape.length - 1; d >= 0; d--) {
    if (shape[d] !== 1 && strides[d] !== step) return numValues(shape) === 0;
    step *= shape[d];
  }
  return true;
}

/** The values between a tensor's first and last, both included: how many there are. */
export function spanOf({ shape, strides }: TorchTensor): number {
  if (numValues(shape) === 0) return 0;
  return shape.reduce((sum, size, d) => sum + (size - 1) * strides[d], 1);
}

/**
 * The values of a tensor row by row, out of the bytes from its first value to its last.
 *
 * Values of 8 bytes are moved as two of 4, which are one more dimension: as doubles, integers that look like NaN could
 * change.
 */
export function gather(tensor: TorchTensor, span: ArrayBuffer): ArrayBuffer {
  const bytes = valueBytes(tensor.dtype);
  const halves = bytes === 8 ? 2 : 1;
  const shape = [...tensor.shape, halves];
  const strides = [...tensor.strides.map((stride) => stride * halves), 1];
  const ArrayType = bytes === 1 ? Uint8Array : bytes === 2 ? Uint16Array : Uint32Array;
  const values = new ArrayType(numValues(shape));
  copyStrided(new ArrayType(span), values, { shape, strides });
  return values.buffer;
}

type Steps = { readonly shape: readonly number[]; readonly strides: readonly number[] };

/** Walks through all positions in order, the last dimension fastest, like the wheels of a counter. */
function copyStrided(
  from: Uint8Array | Uint16Array | Uint32Array,
  to: Uint8Array | Uint16Array | Uint32Array,
  { shape, strides }: Steps,
): void {
  const index = new Float64Array(shape.length);
  let at = 0;
  for (let i = 0; i < to.length; i++) {
    to[i] = from[at];
    for (let d = shape.length - 1; d >= 0; d--) {
      at += strides[d];
      if (++index[d] < shape[d]) break;
      at -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}
