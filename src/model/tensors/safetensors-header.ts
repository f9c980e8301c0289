/**
 * The header of a safetensors file: JSON that names each tensor's type, shape and bytes. Everything in it is checked
 * here, against itself and against the file's size, before anybody trusts an offset. Reads and writes no file.
 *
 *     ┌──────────┬───────────────────────────────────────────────┬──────────────────────────────────┐
 *     │ u64 N    │ N bytes: {"name":{dtype,shape,data_offsets}…}  │ tensors, back to back, no holes  │
 *     └──────────┴───────────────────────────────────────────────┴──────────────────────────────────┘
 */
import {
  type CheckpointError,
  hasRepeatedKeys,
  isJsonObject,
  type JsonObject,
  parseJson,
  printable,
  quoted,
  shownJson,
} from '../../core/index.ts';
import { DTYPE_BITS, type Dtype, isDtype, numValues } from './dtype.ts';
import type { Place, StoredTensor } from './tensor-file.ts';
import { checkpointError, tensorLabel } from './weights-file.ts';

/** A tensor of a safetensors file: always as it is, at one place. */
export type PlacedTensor = StoredTensor & { readonly place: Place };

/** What the header says of a tensor. */
type TensorEntry = {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  /** First byte and one past the last, counted from the start of the data. */
  readonly begin: number;
  readonly end: number;
};

/** A checked header. */
export type SafetensorsHeader = {
  /** Tensors in the order of their bytes. */
  readonly tensors: ReadonlyMap<string, PlacedTensor>;
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
  const placed = entries.map(([name, entry]): [string, PlacedTensor] => [name, placedTensor(entry, dataStart)]);
  return { tensors: new Map(placed), metadata, dataStart };
}

function placedTensor({ dtype, shape, begin, end }: TensorEntry, dataStart: number): PlacedTensor {
  return { dtype, shape, place: { offset: dataStart + begin, length: end - begin } };
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
      throw checkpointError(path, `${METADATA_KEY}: ${quoted(key)} is ${shownJson(value)}, expected a string`);
    return [key, value];
  });
  return Object.fromEntries(pairs);
}

function checkEntry(raw: unknown, fail: (problem: string) => CheckpointError): TensorEntry {
  if (!isJsonObject(raw)) throw fail('expected {dtype, shape, data_offsets}');
  const { dtype, shape, data_offsets: offsets } = raw;
  if (!isDtype(dtype)) throw fail(`unknown dtype ${shownJson(dtype)}`);
  if (!isSizes(shape)) throw fail('shape is not a list of non-negative integers');
  if (!isSizes(offsets) || offsets.length !== 2) throw fail('data_offsets is not a pair of non-negative integers');
  const [begin, end] = offsets;
  if (begin > end) throw fail(`data_offsets [${begin}, ${end}] run backwards`);
  const numBits = numValues(shape) * DTYPE_BITS[dtype];
  if (!Number.isSafeInteger(numBits)) throw fail(printable(`a shape that is too large: [${shape}]`));
  if (numBits !== (end - begin) * 8)
    throw fail(
      `${dtype} ${printable(`[${shape}]`)} needs ${numBits / 8} bytes, data_offsets [${begin}, ${end}] hold ${end - begin}`,
    );
  return { dtype, shape, begin, end };
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
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
