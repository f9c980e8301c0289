/** Writes pickles for tests, from values or opcode by opcode: sound ones, and others that no Python would write. */

/** A value of Python, or opcodes as they are. */
export type Python =
  | null
  | boolean
  | number
  | bigint
  | string
  | Python[]
  | { readonly tuple: readonly Python[] }
  | { readonly dict: readonly (readonly [Python, Python])[] }
  | { readonly name: string }
  | { readonly call: Python; readonly args: readonly Python[] }
  | { readonly persistent: Python }
  | { readonly opcodes: Uint8Array };

/** Opcodes that tests write by hand. */
export const OP = {
  mark: 0x28,
  stop: 0x2e,
  emptyDict: 0x7d,
  emptyList: 0x5d,
  emptyTuple: 0x29,
  none: 0x4e,
  append: 0x61,
  appends: 0x65,
  tuple: 0x74,
  tuple1: 0x85,
  tuple2: 0x86,
  setItem: 0x73,
  setItems: 0x75,
  reduce: 0x52,
  newObject: 0x81,
  build: 0x62,
  persistent: 0x51,
  stackGlobal: 0x93,
  memoize: 0x94,
  put: 0x71,
  get: 0x68,
} as const;

/** A pickle of protocol 2 of a value. */
export function pickle(value: Python, protocol = 2): Buffer {
  return Buffer.concat([Buffer.from([0x80, protocol]), encode(value), Buffer.from([OP.stop])]);
}

/** Bytes of opcodes: numbers as they are, values encoded. */
export function opcodes(...parts: readonly (number | Buffer)[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.from([part]) : part)));
}

/** The opcodes that push a value. */
export function encode(value: Python): Buffer {
  if (value === null) return Buffer.from([OP.none]);
  if (typeof value === 'boolean') return Buffer.from([value ? 0x88 : 0x89]);
  if (typeof value === 'number') return encodeNumber(value);
  if (typeof value === 'bigint') return encodeLong(value);
  if (typeof value === 'string') return encodeString(value);
  if (Array.isArray(value)) return opcodes(OP.emptyList, OP.mark, ...value.map(encode), OP.appends);
  return encodeObject(value);
}

function encodeObject(value: Exclude<Extract<Python, object>, Python[]>): Buffer {
  if ('opcodes' in value) return Buffer.from(value.opcodes);
  if ('tuple' in value) return opcodes(OP.mark, ...value.tuple.map(encode), OP.tuple);
  if ('dict' in value) return opcodes(OP.emptyDict, OP.mark, ...value.dict.flat().map(encode), OP.setItems);
  if ('persistent' in value) return opcodes(encode(value.persistent), OP.persistent);
  if ('call' in value) return opcodes(encode(value.call), encode({ tuple: value.args }), OP.reduce);
  const dot = value.name.lastIndexOf('.');
  return Buffer.from(`c${value.name.slice(0, dot)}\n${value.name.slice(dot + 1)}\n`);
}

function encodeNumber(value: number): Buffer {
  if (!Number.isInteger(value)) {
    const bytes = Buffer.alloc(9, 0x47);
    bytes.writeDoubleBE(value, 1);
    return bytes;
  }
  if (value < -(2 ** 31) || value >= 2 ** 31) return encodeLong(BigInt(value));
  if (value >= 0 && value < 256) return Buffer.from([0x4b, value]);
  if (value >= 0 && value < 65_536) return Buffer.from([0x4d, value & 255, value >> 8]);
  const bytes = Buffer.alloc(5, 0x4a);
  bytes.writeInt32LE(value, 1);
  return bytes;
}

/** LONG1 of 16 bytes at most. */
function encodeLong(value: bigint): Buffer {
  let length = 1;
  while (BigInt.asIntN(8 * length, value) !== value) length++;
  const bytes = Array.from({ length }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
  return Buffer.from([0x8a, length, ...bytes]);
}

function encodeString(text: string): Buffer {
  const length = Buffer.alloc(5, 0x58);
  length.writeUInt32LE(Buffer.byteLength(text), 1);
  return Buffer.concat([length, Buffer.from(text)]);
}
