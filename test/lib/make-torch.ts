/** Files as torch.save writes them, for tests: a zip archive, or the older sequence of pickles. */
import { makeZip, type ZipFile } from '../http/make-zip.ts';
import { type Python, pickle } from './make-pickle.ts';

/** A tensor to describe; what is left out is as torch would have it. */
export type TensorToDescribe = {
  /** Class of the storage, without "torch." and "Storage". */
  readonly type?: string;
  readonly key?: string;
  readonly numValues: number;
  readonly offset?: number;
  readonly shape: readonly Python[];
  readonly strides?: readonly Python[];
  /** Part of the storage: (key, start, size). */
  readonly part?: Python;
};

/** The call that makes a tensor again. */
export function tensor(described: TensorToDescribe): Python {
  const { offset = 0, shape, strides = rowByRow(shape) } = described;
  return {
    call: { name: 'torch._utils._rebuild_tensor_v2' },
    args: [storage(described), offset, { tuple: shape }, { tuple: strides }, false, orderedDict([])],
  };
}

/** The persistent id of a storage. */
export function storage({ type = 'Float', key = '0', numValues, part }: TensorToDescribe): Python {
  const id: Python[] = ['storage', { name: `torch.${type}Storage` }, key, 'cpu', numValues];
  return { persistent: { tuple: part === undefined ? id : [...id, part] } };
}

/** An OrderedDict, filled after it was made, as Python 3 does it. */
export function orderedDict(items: readonly (readonly [Python, Python])[]): Python {
  const empty: Python = { call: { name: 'collections.OrderedDict' }, args: [] };
  if (items.length === 0) return empty;
  const inside = pickle({ dict: items }).subarray(3, -1); // without PROTO, EMPTY_DICT and STOP
  return { opcodes: Buffer.concat([pickle(empty).subarray(2, -1), inside]) };
}

function rowByRow(shape: readonly Python[]): number[] {
  const strides: number[] = [];
  let step = 1;
  for (const size of shape.toReversed()) {
    strides.unshift(step);
    step *= Number(size);
  }
  return strides;
}

/** Bytes of float32 values. */
export function floats(...values: readonly number[]): Buffer {
  return Buffer.from(Float32Array.from(values).buffer);
}

/** How to write a zip archive; `files` come last and may lie. */
export type TorchZipOptions = {
  readonly isDeflated?: boolean;
  readonly byteorder?: string | undefined;
  readonly isWide?: boolean;
  readonly files?: readonly ZipFile[];
};

/** A zip archive of an object, or of a pickle as it is, and its storages by key. */
export function torchZip(
  object: Python | Buffer,
  storages: Readonly<Record<string, Uint8Array>>,
  { isDeflated = false, byteorder = 'little', isWide = false, files = [] }: TorchZipOptions = {},
): Buffer {
  const common = { isStored: !isDeflated, isWide };
  return makeZip(
    [
      { name: 'archive/data.pkl', text: Buffer.isBuffer(object) ? object : pickle(object), ...common },
      ...(byteorder === '' ? [] : [{ name: 'archive/byteorder', text: byteorder, ...common }]),
      ...Object.entries(storages).map(([key, text]) => ({ name: `archive/data/${key}`, text, ...common })),
      { name: 'archive/version', text: '3\n', ...common },
      ...files,
    ],
    { isWide },
  );
}

/** A storage of an older file: key, number of values, bytes. */
export type LegacyStorage = readonly [key: string, count: number | bigint, bytes: Uint8Array];

/** What stands before the object of an older file. */
export const LEGACY_START: readonly Python[] = [0x1950a86a20f9469cfc6cn, 1001, { dict: [['little_endian', true]] }];

/** An older file of an object, or of a pickle as it is, and its storages. */
export function torchLegacy(
  object: Python | Buffer,
  storages: readonly LegacyStorage[],
  start: readonly Python[] = LEGACY_START,
): Buffer {
  const keys = pickle(storages.map(([key]) => key));
  const bodies = storages.map(([, count, bytes]) => {
    const size = Buffer.alloc(8);
    size.writeBigInt64LE(BigInt(count));
    return Buffer.concat([size, bytes]);
  });
  const pickled = Buffer.isBuffer(object) ? object : pickle(object);
  return Buffer.concat([...start.map((value) => pickle(value)), pickled, keys, ...bodies]);
}
