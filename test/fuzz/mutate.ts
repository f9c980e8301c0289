/** Damages bytes and JSON at random, in the ways that parsers stumble over. A seed gives the same damage everywhere. */
import { isJsonObject, type Random } from '../../src/core/index.ts';
import { encode, type Python } from '../lib/make-pickle.ts';

const MAX_CHANGES = 6;
const MAX_PIECE_BYTES = 64;

/** Numbers at which lengths, offsets and signs go wrong. */
const EDGES = [
  0n,
  1n,
  0x7fn,
  0x80n,
  0xffn,
  0x7fffn,
  0xffffn,
  0x7fffffffn,
  0x80000000n,
  0xffffffffn,
  2n ** 53n,
  2n ** 64n - 1n,
];

/** One to six random changes, more often few. `other` is a second sound input, of which pieces may come in. */
export function mutateBytes(random: Random, bytes: Uint8Array, other: Uint8Array): Buffer {
  let changed: Buffer = Buffer.from(bytes);
  const few = Math.min(random.below(MAX_CHANGES), random.below(MAX_CHANGES)) + 1;
  for (let i = 0; i < few; i++) changed = CHANGES[random.below(CHANGES.length)](random, changed, other);
  return changed;
}

type Change = (random: Random, bytes: Buffer, other: Uint8Array) => Buffer;

const CHANGES: readonly Change[] = [flipBit, setByte, setEdge, cut, removePiece, repeatPiece, insertFrom, swapPieces];

function flipBit(random: Random, bytes: Buffer): Buffer {
  if (bytes.length > 0) bytes[random.below(bytes.length)] ^= 1 << random.below(8);
  return bytes;
}

function setByte(random: Random, bytes: Buffer): Buffer {
  if (bytes.length > 0) bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
}

/** An edge number of 1, 2, 4 or 8 bytes, in either byte order. */
function setEdge(random: Random, bytes: Buffer): Buffer {
  const width = 1 << random.below(4);
  if (bytes.length < width) return bytes;
  const at = random.below(bytes.length - width + 1);
  const number = EDGES[random.below(EDGES.length)];
  const isLittle = random.below(4) > 0;
  for (let i = 0; i < width; i++)
    bytes[at + (isLittle ? i : width - 1 - i)] = Number((number >> BigInt(8 * i)) & 0xffn);
  return bytes;
}

function cut(random: Random, bytes: Buffer): Buffer {
  return bytes.subarray(0, random.below(bytes.length + 1));
}

type Piece = { readonly start: number; readonly end: number };

function piece(random: Random, { length }: Uint8Array): Piece {
  const start = random.below(length + 1);
  return { start, end: Math.min(length, start + random.below(MAX_PIECE_BYTES) + 1) };
}

function removePiece(random: Random, bytes: Buffer): Buffer {
  const { start, end } = piece(random, bytes);
  return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
}

function repeatPiece(random: Random, bytes: Buffer): Buffer {
  const { start, end } = piece(random, bytes);
  const times = random.below(20) === 0 ? 1000 : random.below(4) + 1;
  const repeated = Array.from({ length: times }, () => bytes.subarray(start, end));
  return Buffer.concat([bytes.subarray(0, end), ...repeated, bytes.subarray(end)]);
}

function insertFrom(random: Random, bytes: Buffer, other: Uint8Array): Buffer {
  const { start, end } = piece(random, other);
  const at = random.below(bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, at), other.subarray(start, end), bytes.subarray(at)]);
}

function swapPieces(random: Random, bytes: Buffer): Buffer {
  const [a, b] = [random.below(bytes.length + 1), random.below(bytes.length + 1)].sort((x, y) => x - y);
  return Buffer.concat([bytes.subarray(b), bytes.subarray(a, b), bytes.subarray(0, a)]);
}

/** What is put into pickles: values, names that are allowed or not, and any opcode. */
const ODD_PYTHON: readonly Python[] = [
  0,
  -1,
  2 ** 31 - 1,
  2n ** 63n,
  0.5,
  null,
  'storage',
  '0',
  [],
  { tuple: [] },
  { dict: [] },
  { tuple: [2 ** 30, 2 ** 30] },
  { name: 'os.system' },
  { name: 'torch.FloatStorage' },
  { name: 'torch.float64' },
  { name: 'torch.Size' },
  { name: 'collections.OrderedDict' },
  { name: 'torch._utils._rebuild_tensor_v2' },
  { call: { name: 'builtins.eval' }, args: ['1'] },
];

/** Puts opcodes and values in, besides damaging bytes. */
export function mutatePickle(random: Random, bytes: Uint8Array, other: Uint8Array): Buffer {
  if (random.below(2) === 0) return mutateBytes(random, bytes, other);
  const at = random.below(bytes.length + 1);
  const opcode = Buffer.from([random.below(256), random.below(4)]).subarray(0, 1 + random.below(2));
  const piece = random.below(2) === 0 ? opcode : encode(ODD_PYTHON[random.below(ODD_PYTHON.length)]);
  const numRemoved = random.below(2) * random.below(8);
  return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + numRemoved)]);
}

/** What values of a JSON file are replaced by, besides each other. */
const ODD_VALUES: readonly string[] = [
  'null',
  'true',
  '[]',
  '{}',
  '""',
  '"__proto__"',
  '"\\u0000"',
  '"../../etc/passwd"',
  '0',
  '-1',
  '0.5',
  '-0',
  '1e308',
  '1e999',
  '9007199254740993',
  '4294967296',
  JSON.stringify('x'.repeat(100_000)),
  '['.repeat(2000) + ']'.repeat(2000),
  `${'{"a":'.repeat(2000)}0${'}'.repeat(2000)}`,
  '{"__proto__":{"a":1},"constructor":null,"toString":1}',
];

/** Replaces, removes, copies or renames some values of a JSON text; now and then the bytes are damaged instead. */
export function mutateJson(random: Random, bytes: Uint8Array, other: Uint8Array): Buffer {
  if (random.below(4) === 0) return mutateBytes(random, bytes, other);
  const root: unknown = JSON.parse(Buffer.from(bytes).toString());
  const holder = { root };
  const odd = new Map<string, string>();
  for (let i = random.below(3) + 1; i > 0; i--) changeValue(random, holder, odd);
  let text = JSON.stringify(holder.root) ?? 'null';
  for (const [mark, value] of odd) text = text.replace(JSON.stringify(mark), () => value);
  return Buffer.from(text);
}

/** Changes one member of one object or list; odd values are put in as text at the end, by a mark. */
function changeValue(random: Random, holder: object, odd: Map<string, string>): void {
  const containers = containersIn(holder);
  const container = containers[random.below(containers.length)];
  const keys = Object.keys(container);
  if (keys.length === 0) return;
  const key = keys[random.below(keys.length)];
  const others = containers[random.below(containers.length)];
  const values = Object.values(others);
  const kind = random.below(5);
  if (kind === 0 && !Array.isArray(container)) Reflect.deleteProperty(container, key);
  else if (kind === 1 && values.length > 0)
    Reflect.set(container, key, structuredClone(values[random.below(values.length)]));
  else if (kind === 2 && !Array.isArray(container)) Reflect.set(container, `${key}x`, Reflect.get(container, key));
  else {
    const mark = `odd value ${odd.size} ${random.uint32()}`;
    odd.set(mark, ODD_VALUES[random.below(ODD_VALUES.length)]);
    Reflect.set(container, key, mark);
  }
}

/** All objects and lists of a value, itself included, up to some thousand. */
function containersIn(value: object): object[] {
  const found: object[] = [value];
  for (let at = 0; at < found.length && found.length < 5000; at++)
    for (const child of Object.values(found[at])) if (isJsonObject(child) || Array.isArray(child)) found.push(child);
  return found;
}
