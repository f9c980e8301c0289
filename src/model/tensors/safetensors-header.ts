/**
 * The header of a safetensors file: JSON that names each tensor's type, shape and bytes. Everything in it is checked
 * here, against itself and against the file's size, before anybody trusts an offset. Reads and writes no file.
 *
 *     ┌──────────┬───────────────────────────────────────────────┬──────────────────────────────────┐
 *     │ u64 N    │ N bytes: {"name":{dtype,shape,data_offsets}…}  │ tensors, back to back, no holes  │
 *     └──────────┴───────────────────────────────────────────────┴──────────────────────────────────┘
 */
import { CheckpointError, hasRepeatedKeys, isJsonObject, type JsonObject, parseJson } from '../../core/index.ts';

/** Bits of one value, by type. Sub-byte types are legal as long as a tensor fills whole bytes. */
const DTYPE_BITS = {
  BOOL: 8,
  F4: 4,
  F6_E2M3: 6,
  F6_E3M2: 6,
  U8: 8,
  I8: 8,
  F8_E5M2: 8,
  F8_E4M3: 8,
  F8_E8M0: 8,
  I16: 16,
  U16: 16,
  F16: 16,
  BF16: 16,
  I32: 32,
  U32: 32,
  F32: 32,
  C64: 64,
  F64: 64,
  I64: 64,
  U64: 64,
} as const;

/** Type of a tensor's values, as safetensors spells it. */
export type Dtype = keyof typeof DTYPE_BITS;

/** Where a tensor lies and how to read it. */
export type TensorEntry = {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  /** First byte, counted from the start of the data (add `dataStart` for the position in the file). */
  readonly begin: number;
  /** One past the last byte, counted in the same way. */
  readonly end: number;
};

/** A checked header. */
export type SafetensorsHeader = {
  /** Tensors in the order of their bytes. */
  readonly tensors: ReadonlyMap<string, TensorEntry>;
  /** Free text of the writer, such as {"format":"pt"}. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Position in the file of the first byte of data. */
  readonly dataStart: number;
};

/** Length of the field before the header. */
export const LENGTH_BYTES = 8;
/** The largest header the reference implementation reads. */
const MAX_HEADER_BYTES = 100_000_000;
/** The one key that is not a tensor. */
export const METADATA_KEY = '__metadata__';

const DAMAGED = 'the file is damaged or was not written as safetensors: fetch or export it again';

/** An error about `path`, with what to do if the caller knows nothing better. */
export function checkpointError(path: string, problem: string, cause?: unknown): CheckpointError {
  return new CheckpointError(`${path}: ${problem}`, { hint: DAMAGED, cause });
}

/** A tensor's name for a message, cut where a hostile file would flood the terminal. */
export function tensorLabel(name: string): string {
  return `tensor ${JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name)}`;
}

/** Length of the header, from the first eight bytes of a file of `fileBytes` bytes. */
export function parseHeaderLength(path: string, bytes: Uint8Array, fileBytes: number): number {
  if (bytes.length < LENGTH_BYTES)
    throw checkpointError(path, `truncated at byte ${bytes.length}: a safetensors file starts with 8 bytes of length`);
  const length = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  if (length > MAX_HEADER_BYTES)
    throw checkpointError(path, `the header length at byte 0 is ${length}, the limit is ${MAX_HEADER_BYTES}`);
  if (Number(length) > fileBytes - LENGTH_BYTES)
    throw checkpointError(
      path,
      `truncated: the header should end at byte ${LENGTH_BYTES + Number(length)} of ${fileBytes}`,
    );
  return Number(length);
}

/** Parses and checks a header against a file of `fileBytes` bytes. */
export function parseHeader(path: string, bytes: Uint8Array, fileBytes: number): SafetensorsHeader {
  const text = decodeHeader(path, bytes);
  const { [METADATA_KEY]: rawMetadata = {}, ...rawTensors } = parseObject(path, text);
  const metadata = checkMetadata(path, rawMetadata);
  const dataStart = LENGTH_BYTES + bytes.length;
  const entries = Object.entries(rawTensors).map(([name, raw]): [string, TensorEntry] => [
    name,
    checkEntry(raw, (problem) => checkpointError(path, `${tensorLabel(name)}: ${problem}`)),
  ]);
  entries.sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end);
  checkCoverage(path, entries, { dataStart, fileBytes });
  return { tensors: new Map(entries), metadata, dataStart };
}

function decodeHeader(path: string, bytes: Uint8Array): string {
  if (bytes[0] !== 0x7b) throw checkpointError(path, `the header at byte ${LENGTH_BYTES} does not start with "{"`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw checkpointError(path, `the header at byte ${LENGTH_BYTES} is not UTF-8`, cause);
  }
}

function parseObject(path: string, text: string): JsonObject {
  const header = `the header at byte ${LENGTH_BYTES}`;
  const value = parseJson(text, (problem, cause) => checkpointError(path, `${header} is ${problem}`, cause));
  if (!isJsonObject(value)) throw checkpointError(path, `${header} is not a JSON object`);
  if (hasRepeatedKeys(text, value)) throw checkpointError(path, `${header} has a key twice in one object`);
  return value;
}

function checkMetadata(path: string, raw: unknown): Record<string, string> {
  if (!isJsonObject(raw)) throw checkpointError(path, `${METADATA_KEY} is not an object of strings`);
  const pairs = Object.entries(raw).map(([key, value]): [string, string] => {
    if (typeof value !== 'string')
      throw checkpointError(path, `${METADATA_KEY}.${key} is ${typeof value}, expected a string`);
    return [key, value];
  });
  return Object.fromEntries(pairs);
}

function checkEntry(raw: unknown, fail: (problem: string) => CheckpointError): TensorEntry {
  if (!isJsonObject(raw)) throw fail('expected {dtype, shape, data_offsets}');
  const { dtype, shape, data_offsets: offsets } = raw;
  if (!isDtype(dtype)) throw fail(`unknown dtype ${JSON.stringify(dtype)}`);
  if (!isSizes(shape)) throw fail('shape is not a list of non-negative integers');
  if (!isSizes(offsets) || offsets.length !== 2) throw fail('data_offsets is not a pair of non-negative integers');
  const [begin, end] = offsets;
  if (begin > end) throw fail(`data_offsets [${begin}, ${end}] run backwards`);
  const numBits = numValues(shape) * DTYPE_BITS[dtype];
  if (!Number.isSafeInteger(numBits)) throw fail(`shape [${shape}] is too large`);
  if (numBits !== (end - begin) * 8)
    throw fail(
      `shape [${shape}] of ${dtype} needs ${numBits / 8} bytes, data_offsets [${begin}, ${end}] hold ${end - begin}`,
    );
  return { dtype, shape, begin, end };
}

function isDtype(value: unknown): value is Dtype {
  return typeof value === 'string' && Object.hasOwn(DTYPE_BITS, value);
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}

/** Values of a tensor: the product of its shape. */
export function numValues(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** The tensors, sorted by position, must cover the data from its first byte to the end of the file. */
function checkCoverage(
  path: string,
  entries: readonly (readonly [string, TensorEntry])[],
  { dataStart, fileBytes }: { readonly dataStart: number; readonly fileBytes: number },
): void {
  let covered = 0;
  for (const [name, { begin, end }] of entries) {
    const where = `${tensorLabel(name)} at byte ${dataStart + begin}`;
    if (begin < covered)
      throw checkpointError(path, `${where} overlaps the tensor before it by ${covered - begin} bytes`);
    if (begin > covered) throw checkpointError(path, `${where} leaves a hole of ${begin - covered} bytes before it`);
    if (dataStart + end > fileBytes)
      throw checkpointError(
        path,
        `${where} ends at byte ${dataStart + end}, but the file has only ${fileBytes}: truncated`,
      );
    covered = end;
  }
  if (dataStart + covered < fileBytes)
    throw checkpointError(path, `the last tensor ends at byte ${dataStart + covered}, but the file has ${fileBytes}`);
}
