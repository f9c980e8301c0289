/**
 * The names that a checkpoint of torch may use, and what each of them makes: this list is all that a pickle can do.
 * Python's own definitions:
 * https://github.com/pytorch/pytorch/blob/v2.5.0/torch/_utils.py and torch/serialization.py beside it
 */
import { quoted } from '../../core/index.ts';
import type { Dtype } from './dtype.ts';
import type { PickleWorld } from './pickle-opcodes.ts';
import {
  kindOf,
  PickleCallable,
  type PickleDict,
  type PickledObject,
  type PickleRun,
  PickleTuple,
  type PickleValue,
} from './pickle-values.ts';
import { makeTensor, TorchStorage, TorchTensor } from './torch-tensor.ts';

/** A type of values: torch.float32, or the class of a storage of such values. */
class TorchType implements PickledObject {
  readonly pickledAs: string;
  /** Undefined for plain bytes. */
  readonly dtype: Dtype | undefined;

  constructor(pickledAs: string, dtype: Dtype | undefined) {
    this.pickledAs = pickledAs;
    this.dtype = dtype;
  }
}

/** Storages of one file. Large language models have some thousand. */
export const MAX_STORAGES = 100_000;

/** Storage classes of torch, without "Storage". */
const STORAGES: Readonly<Record<string, Dtype>> = {
  Double: 'F64',
  Float: 'F32',
  Half: 'F16',
  BFloat16: 'BF16',
  Long: 'I64',
  Int: 'I32',
  Short: 'I16',
  Char: 'I8',
  Byte: 'U8',
  Bool: 'BOOL',
  ComplexFloat: 'C64',
};

/** Types of torch. */
const DTYPES: Readonly<Record<string, Dtype>> = {
  float64: 'F64',
  float32: 'F32',
  float16: 'F16',
  bfloat16: 'BF16',
  float8_e4m3fn: 'F8_E4M3',
  float8_e5m2: 'F8_E5M2',
  float8_e8m0fnu: 'F8_E8M0',
  int64: 'I64',
  int32: 'I32',
  int16: 'I16',
  int8: 'I8',
  uint64: 'U64',
  uint32: 'U32',
  uint16: 'U16',
  uint8: 'U8',
  bool: 'BOOL',
  complex64: 'C64',
};

const CALLABLES: readonly PickleCallable[] = [
  new PickleCallable('collections.OrderedDict', orderedDict),
  new PickleCallable('torch.Size', ([sizes], run) => new PickleTuple(integers(sizes, run))),
  new PickleCallable('torch.device', (args) => new PickleTuple(args)), // looked at by nobody
  new PickleCallable('torch._utils._rebuild_tensor', rebuildTensor),
  new PickleCallable('torch._utils._rebuild_tensor_v2', rebuildTensor),
  new PickleCallable('torch._utils._rebuild_tensor_v3', rebuildTypedTensor),
  new PickleCallable('torch._utils._rebuild_parameter', ([tensor], run) => asTensor(tensor, run)),
  new PickleCallable('torch._utils._rebuild_parameter_with_state', ([tensor], run) => asTensor(tensor, run)),
];

const ALLOWED: ReadonlyMap<string, PickleValue> = new Map<string, PickleValue>([
  ...CALLABLES.map((callable): [string, PickleValue] => [callable.name, callable]),
  ...Object.entries(STORAGES).map(([name, dtype]) => namedType(`torch.${name}Storage`, dtype)),
  ...Object.entries(DTYPES).map(([name, dtype]) => namedType(`torch.${name}`, dtype)),
  namedType('torch.storage.UntypedStorage', undefined),
  namedType('torch.UntypedStorage', undefined),
]);

function namedType(name: string, dtype: Dtype | undefined): [string, PickleValue] {
  return [name, new TorchType(name, dtype)];
}

/** What a checkpoint's pickle may name; its persistent ids are storages, which are put into `storages` by their keys. */
export function torchWorld(storages: Map<string, TorchStorage>): PickleWorld {
  const load: PickleWorld['load'] = (id, run) => {
    const storage = loadStorage(id, run);
    const first = storages.get(storage.key) ?? storage;
    if (first.dtype !== storage.dtype || first.numValues !== storage.numValues)
      throw run.fail(`the storage ${quoted(storage.key)} has two types or sizes`);
    storages.set(storage.key, first);
    if (storages.size > MAX_STORAGES) throw run.fail(`more than ${MAX_STORAGES} storages`);
    return storage;
  };
  return { find: (name) => ALLOWED.get(name), load };
}

/** For pickles that hold only plain values: nothing may be named. */
export const PLAIN_WORLD: PickleWorld = {
  find: () => undefined,
  load: (_, run) => {
    throw run.fail('a persistent id where none is expected');
  },
};

/** OrderedDict(), or of a list of pairs, as Python 2 wrote it. */
function orderedDict(args: readonly PickleValue[], run: PickleRun): PickleDict {
  const [pairs = []] = args;
  if (!Array.isArray(pairs)) throw run.fail(`OrderedDict of ${kindOf(pairs)}, expected a list of pairs`);
  run.spend(2 * pairs.length);
  return new Map(pairs.map((pair) => twoOf(pair, run)));
}

function twoOf(pair: PickleValue, run: PickleRun): [PickleValue, PickleValue] {
  const items = pair instanceof PickleTuple ? pair.items : pair;
  if (!Array.isArray(items) || items.length !== 2) throw run.fail(`OrderedDict of ${kindOf(pair)}, expected a pair`);
  return [items[0], items[1]];
}

/** (storage, offset, size, stride, requires_grad, hooks, metadata); old versions end after the strides. */
function rebuildTensor(args: readonly PickleValue[], run: PickleRun): TorchTensor {
  const storage = asStorage(args[0], run);
  refuseMetadata(args[6], run);
  if (storage.dtype === undefined) throw run.fail('a tensor without a type, in a storage of plain bytes');
  return viewOf(args, storage.dtype, run);
}

/** The same with a type before the metadata: for types that have no storage class. */
function rebuildTypedTensor(args: readonly PickleValue[], run: PickleRun): TorchTensor {
  const type = args[6];
  refuseMetadata(args[7], run);
  const storage = asStorage(args[0], run);
  if (!(type instanceof TorchType) || type.dtype === undefined)
    throw run.fail(`expected a type such as torch.float32, got ${kindOf(type ?? null)}`);
  if (storage.dtype !== undefined && storage.dtype !== type.dtype)
    throw run.fail(`a tensor of ${type.dtype} in a storage of ${storage.dtype}`);
  return viewOf(args, type.dtype, run);
}

/** Metadata say that the values of the storage count as negated or conjugated. No model is saved like this. */
function refuseMetadata(metadata: PickleValue | undefined, run: PickleRun): void {
  if (metadata instanceof Map && metadata.size > 0) throw run.fail('a tensor whose values are negated or conjugated');
}

function viewOf(args: readonly PickleValue[], dtype: Dtype, run: PickleRun): TorchTensor {
  const [storage, offset, shape, strides] = args;
  const view = {
    dtype,
    offset: integer(offset, run),
    shape: integers(shape, run),
    strides: integers(strides, run),
  };
  return makeTensor(asStorage(storage, run), view, run);
}

/** A persistent id: ("storage", class, key, device, size), and in old files a part of it: None or (key, start, size). */
function loadStorage(id: PickleValue, run: PickleRun): TorchStorage {
  const items = id instanceof PickleTuple ? id.items : [];
  const [kind, type, key, device, size, part = null] = items;
  if (kind !== 'storage' || !(type instanceof TorchType) || typeof key !== 'string' || typeof device !== 'string')
    throw run.fail('a persistent id that is not ("storage", class, key, device, size)');
  const whole = { key, dtype: type.dtype, numValues: integer(size, run) };
  if (part === null) return new TorchStorage(whole);
  const [, start, length] = part instanceof PickleTuple ? part.items : [];
  const view = { start: integer(start, run), length: integer(length, run) };
  if (view.start + view.length > whole.numValues)
    throw run.fail(`values ${view.start} to ${view.start + view.length} of a storage of ${whole.numValues}`);
  return new TorchStorage(whole, view);
}

function asStorage(value: PickleValue | undefined, run: PickleRun): TorchStorage {
  if (value instanceof TorchStorage) return value;
  throw run.fail(`expected a storage, got ${kindOf(value ?? null)}`);
}

function asTensor(value: PickleValue | undefined, run: PickleRun): TorchTensor {
  if (value instanceof TorchTensor) return value;
  throw run.fail(`expected a tensor, got ${kindOf(value ?? null)}`);
}

/** A size, stride or offset. */
function integer(value: PickleValue | undefined, run: PickleRun): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  const got = typeof value === 'number' || typeof value === 'bigint' ? String(value) : kindOf(value ?? null);
  throw run.fail(`expected an integer of at least 0, got ${got}`);
}

function integers(value: PickleValue | undefined, run: PickleRun): number[] {
  const items = value instanceof PickleTuple ? value.items : value;
  if (!Array.isArray(items)) throw run.fail(`expected a tuple of integers, got ${kindOf(value ?? null)}`);
  run.spend(items.length);
  return items.map((item) => integer(item, run));
}
