/**
 * The opcodes of a pickle that we run: those that make plain data, look up names of an allow-list and call what stands
 * there. All others are refused by name. The formats are described in Python's Lib/pickletools.py:
 * https://github.com/python/cpython/blob/v3.13.0/Lib/pickletools.py
 */
import { quoted } from '../../core/index.ts';
import type { PickleMachine } from './pickle-machine.ts';
import { PICKLE_LIMITS } from './pickle-machine.ts';
import { kindOf, PickleCallable, type PickleRun, PickleTuple, type PickleValue } from './pickle-values.ts';

/** What a pickle may name, and what its persistent ids stand for. */
export type PickleWorld = {
  /** The value behind a name such as "collections.OrderedDict"; undefined where it is not allowed. */
  readonly find: (name: string) => PickleValue | undefined;
  /** The value behind a persistent id. */
  readonly load: (id: PickleValue, run: PickleRun) => PickleValue;
};

type Run = (machine: PickleMachine, world: PickleWorld) => void;

/** Python's newest protocol. */
const MAX_PROTOCOL = 5;

/** By code: name and meaning. STOP is not here: it ends the run. */
export const OPCODES: ReadonlyMap<number, readonly [name: string, run: Run]> = new Map<number, readonly [string, Run]>([
  [0x80, ['PROTO', checkProtocol]],
  [0x95, ['FRAME', (m) => m.u64()]], // a hint to readers of streams

  [0x4e, ['NONE', (m) => m.push(null)]],
  [0x88, ['NEWTRUE', (m) => m.push(true)]],
  [0x89, ['NEWFALSE', (m) => m.push(false)]],
  [0x4b, ['BININT1', (m) => m.push(m.u8())]],
  [0x4d, ['BININT2', (m) => m.push(m.u16())]],
  [0x4a, ['BININT', (m) => m.push(m.i32())]],
  [0x8a, ['LONG1', (m) => m.push(integer(m, m.u8()))]],
  [0x8b, ['LONG4', (m) => m.push(integer(m, m.u32()))]],
  [0x47, ['BINFLOAT', (m) => m.push(m.f64())]],

  [0x8c, ['SHORT_BINUNICODE', (m) => m.push(text(m, m.stringBytes(m.u8())))]],
  [0x58, ['BINUNICODE', (m) => m.push(text(m, m.stringBytes(m.u32())))]],
  [0x8d, ['BINUNICODE8', (m) => m.push(text(m, m.stringBytes(m.u64())))]],
  [0x55, ['SHORT_BINSTRING', (m) => m.push(text(m, m.stringBytes(m.u8())))]], // str of Python 2
  [0x54, ['BINSTRING', (m) => m.push(text(m, m.stringBytes(m.u32())))]],
  [0x43, ['SHORT_BINBYTES', (m) => m.push(m.stringBytes(m.u8()))]],
  [0x42, ['BINBYTES', (m) => m.push(m.stringBytes(m.u32()))]],
  [0x8e, ['BINBYTES8', (m) => m.push(m.stringBytes(m.u64()))]],

  [0x28, ['MARK', (m) => m.mark()]],
  [0x29, ['EMPTY_TUPLE', (m) => m.push(tuple(m, []))]],
  [0x85, ['TUPLE1', (m) => m.push(tuple(m, popItems(m, 1)))]],
  [0x86, ['TUPLE2', (m) => m.push(tuple(m, popItems(m, 2)))]],
  [0x87, ['TUPLE3', (m) => m.push(tuple(m, popItems(m, 3)))]],
  [0x74, ['TUPLE', (m) => m.push(tuple(m, m.popToMark()))]],
  [0x5d, ['EMPTY_LIST', (m) => m.push(list(m, []))]],
  [0x6c, ['LIST', (m) => m.push(list(m, m.popToMark()))]],
  [0x61, ['APPEND', (m) => append(m, [m.pop()])]],
  [0x65, ['APPENDS', (m) => append(m, m.popToMark())]],
  [0x7d, ['EMPTY_DICT', (m) => pushDict(m, [])]],
  [0x64, ['DICT', (m) => pushDict(m, m.popToMark())]],
  [0x73, ['SETITEM', (m) => setItems(m, popItems(m, 2))]],
  [0x75, ['SETITEMS', (m) => setItems(m, m.popToMark())]],

  [0x71, ['BINPUT', (m) => m.remember(m.u8())]],
  [0x72, ['LONG_BINPUT', (m) => m.remember(m.u32())]],
  [0x94, ['MEMOIZE', (m) => m.remember()]],
  [0x68, ['BINGET', (m) => m.recall(m.u8())]],
  [0x6a, ['LONG_BINGET', (m) => m.recall(m.u32())]],

  [0x63, ['GLOBAL', pushGlobal]],
  [0x93, ['STACK_GLOBAL', pushStackGlobal]],
  [0x52, ['REDUCE', reduce]],
  [0x81, ['NEWOBJ', reduce]], // of the classes of the allow-list, cls.__new__(cls, *args) is cls(*args)
  [0x62, ['BUILD', build]],
  [0x51, ['BINPERSID', (m, world) => m.push(world.load(m.pop(), m))]],
]);

/** Names of opcodes that exist but are refused: for messages. */
export const REFUSED_OPCODES: ReadonlyMap<number, string> = new Map([
  [0x30, 'POP'],
  [0x31, 'POP_MARK'],
  [0x32, 'DUP'],
  [0x46, 'FLOAT'],
  [0x49, 'INT'],
  [0x4c, 'LONG'],
  [0x50, 'PERSID'],
  [0x53, 'STRING'],
  [0x56, 'UNICODE'],
  [0x67, 'GET'],
  [0x69, 'INST'],
  [0x6f, 'OBJ'],
  [0x70, 'PUT'],
  [0x82, 'EXT1'],
  [0x83, 'EXT2'],
  [0x84, 'EXT4'],
  [0x8f, 'EMPTY_SET'],
  [0x90, 'ADDITEMS'],
  [0x91, 'FROZENSET'],
  [0x92, 'NEWOBJ_EX'],
  [0x96, 'BYTEARRAY8'],
  [0x97, 'NEXT_BUFFER'],
  [0x98, 'READONLY_BUFFER'],
]);

function checkProtocol(m: PickleMachine): void {
  const version = m.u8();
  if (version > MAX_PROTOCOL) throw m.fail(`protocol ${version}, known are those up to ${MAX_PROTOCOL}`);
}

/** Two's complement, little-endian; a bigint only where a number is not exact. */
function integer(m: PickleMachine, length: number): number | bigint {
  if (length > PICKLE_LIMITS.integerBytes)
    throw m.refuse(`an integer of ${length} bytes, the limit is ${PICKLE_LIMITS.integerBytes}`);
  const bytes = m.bytes(length);
  let value = 0n;
  for (const byte of bytes.toReversed()) value = (value << 8n) | BigInt(byte);
  const signed = BigInt.asIntN(8 * length, value);
  const asNumber = Number(signed);
  return Number.isSafeInteger(asNumber) ? asNumber : signed;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function text(m: PickleMachine, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw m.fail('the string is not UTF-8');
  }
}

function tuple(m: PickleMachine, items: readonly PickleValue[]): PickleTuple {
  m.spendContainer(items.length);
  return new PickleTuple(items);
}

function list(m: PickleMachine, items: PickleValue[]): PickleValue[] {
  m.spendContainer(items.length);
  return items;
}

/** So many values from the stack, the deepest first. */
function popItems(m: PickleMachine, count: number): PickleValue[] {
  return Array.from({ length: count }, () => m.pop()).reverse();
}

function append(m: PickleMachine, items: readonly PickleValue[]): void {
  m.spend(items.length);
  const target = m.topList();
  for (const item of items) target.push(item);
}

function pushDict(m: PickleMachine, items: readonly PickleValue[]): void {
  m.spendContainer();
  m.push(new Map());
  setItems(m, items);
}

/** Keys and values by turns. A key that comes twice has the last value, as in Python. */
function setItems(m: PickleMachine, items: readonly PickleValue[]): void {
  if (items.length % 2 === 1) throw m.fail('a key without a value');
  m.spend(items.length);
  const target = m.topDict();
  for (let i = 0; i < items.length; i += 2) target.set(items[i], items[i + 1]);
}

function pushGlobal(m: PickleMachine, world: PickleWorld): void {
  const module = text(m, m.line());
  pushNamed(m, world, `${module}.${text(m, m.line())}`);
}

function pushStackGlobal(m: PickleMachine, world: PickleWorld): void {
  const [module, name] = popItems(m, 2);
  if (typeof module !== 'string' || typeof name !== 'string') throw m.fail('the name is not made of two strings');
  pushNamed(m, world, `${module}.${name}`);
}

/** Looks a name up in the allow-list, and nowhere else. */
function pushNamed(m: PickleMachine, world: PickleWorld, name: string): void {
  const value = world.find(name);
  if (value === undefined) throw m.refuse(`the name ${quoted(name)} is not allowed`);
  m.push(value);
}

/** "Calls" what is below the arguments: only what an allow-list put there can be called. */
function reduce(m: PickleMachine): void {
  const args = m.popTuple();
  const callable = m.pop();
  if (!(callable instanceof PickleCallable)) throw m.refuse(`${kindOf(callable)} cannot be called`);
  m.spendContainer();
  m.push(callable.call(args.items, m));
}

/** The state of an object: OrderedDicts have attributes (torch's _metadata), which nobody here needs. */
function build(m: PickleMachine): void {
  const state = m.pop();
  if (!(m.top() instanceof Map) || !(state instanceof Map || state instanceof PickleTuple))
    throw m.refuse(`${kindOf(state)} as the state of ${kindOf(m.top())}`);
}
