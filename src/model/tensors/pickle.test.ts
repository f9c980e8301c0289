import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { encode, OP, opcodes, type Python, pickle } from '../../../test/lib/make-pickle.ts';
import { CheckpointError } from '../../core/index.ts';
import { unpickle } from './pickle.ts';
import { PICKLE_LIMITS } from './pickle-machine.ts';
import { OPCODES, REFUSED_OPCODES } from './pickle-opcodes.ts';
import { PickleTuple, type PickleValue } from './pickle-values.ts';
import { torchWorld } from './torch-globals.ts';

const world = torchWorld(new Map());

function read(bytes: Uint8Array, start = 0): PickleValue {
  const result = unpickle({ bytes, label: 'x.pkl', start, hasMore: false }, world);
  if (!result) throw new Error('there are no more bytes');
  return result.value;
}

const readValue = (value: Python, protocol?: number): PickleValue => read(pickle(value, protocol));
/** Opcodes of a pickle of protocol 2, from its third byte on. */
const run = (...parts: readonly (number | Buffer)[]): PickleValue => read(opcodes(0x80, 2, ...parts, OP.stop));
const repeat = (part: Buffer, count: number): Buffer => Buffer.alloc(part.length * count, part);
const text = (value: string): Buffer => encode(value);
const name = (value: string): Buffer => encode({ name: value });

describe('a pickle of plain values', () => {
  it.each<[Python, PickleValue]>([
    [null, null],
    [true, true],
    [7, 7],
    [300, 300],
    [-5, -5],
    [2 ** 31, 2 ** 31],
    [-(2 ** 40), -(2 ** 40)],
    [0x1950a86a20f9469cfc6cn, 0x1950a86a20f9469cfc6cn],
    [0.25, 0.25],
    ['é', 'é'],
    [
      [1, ['a']],
      [1, ['a']],
    ],
    [{ tuple: [1, null] }, new PickleTuple([1, null])],
    [{ dict: [['a', [1]]] }, new Map([['a', [1]]])],
  ])('is read back, row %#', (value, expected) => {
    expect(readValue(value)).toEqual(expected);
  });

  it.each([
    ['LONG1 of no bytes is 0', [0x8a, 0], 0],
    ['LONG1 is signed', [0x8a, 1, 0xff], -1],
    ['LONG4', [0x8b, 2, 0, 0, 0, 0, 1], 256],
    ['BINUNICODE8', [0x8d, 1, 0, 0, 0, 0, 0, 0, 0, 0x61], 'a'],
    ['SHORT_BINSTRING of Python 2', [0x55, 1, 0x61], 'a'],
    ['SHORT_BINBYTES', [0x43, 1, 0xff], Buffer.from([255])],
    ['TUPLE1', [0x4b, 1, 0x85], new PickleTuple([1])],
    ['DICT', [0x28, 0x4b, 1, 0x4b, 2, 0x64], new Map([[1, 2]])],
    ['LIST', [0x28, 0x4b, 1, 0x6c], [1]],
    [
      'a dict with a key twice: the last counts',
      [0x7d, 0x28, 0x4b, 1, 0x4b, 2, 0x4b, 1, 0x4b, 3, 0x75],
      new Map([[1, 3]]),
    ],
  ])('%s', (_, codes, expected) => {
    expect(run(Buffer.from(codes))).toEqual(expected);
  });

  it('reads frames and the short opcodes of protocol 4', () => {
    const inside = Buffer.from([0x8c, 1, 0x61, OP.memoize, OP.get, 0, OP.tuple2, OP.stop]);
    const frame = Buffer.from([0x80, 4, 0x95, inside.length, 0, 0, 0, 0, 0, 0, 0]);
    expect(read(Buffer.concat([frame, inside]))).toEqual(new PickleTuple(['a', 'a']));
  });

  it('gives what is kept in the memo again, not a copy of it; a list may hold itself', () => {
    const value = run(OP.emptyList, OP.put, 0, OP.get, 0, OP.append);
    expect(Array.isArray(value) && value[0] === value).toBe(true);
  });

  it('says how many bytes it has, and asks for more where there may be more', () => {
    const bytes = Buffer.concat([pickle([1, 2]), Buffer.from('rest')]);
    expect(unpickle({ bytes, label: 'x', start: 0, hasMore: false }, world)?.numBytes).toBe(bytes.length - 4);
    const first = bytes.subarray(0, 5);
    expect(unpickle({ bytes: first, label: 'x', start: 0, hasMore: true }, world)).toBeUndefined();
  });

  it('knows OrderedDict as Python 2 and 3 write it, and does without its attributes', () => {
    const dict = new Map([['a', 1]]);
    const call = (...args: Python[]): Python => ({ call: { name: 'collections.OrderedDict' }, args });
    expect(readValue(call([['a', 1]]))).toEqual(dict);
    expect(readValue(call([{ tuple: ['a', 1] }]))).toEqual(dict);
    const state = encode({ dict: [['_metadata', 1]] });
    expect(run(encode(call()), text('a'), encode(1), OP.setItem, state, OP.build)).toEqual(dict);
  });
});

function refusal(action: () => unknown): CheckpointError {
  try {
    action();
  } catch (error) {
    if (error instanceof CheckpointError) return error;
    throw error;
  }
  throw new Error('not refused');
}

describe('a pickle that wants to do more is refused', () => {
  const shell = [name('os.system'), text('echo harm'), OP.tuple1, OP.reduce];

  it('by the name of what it asks for, and its byte', () => {
    const error = refusal(() => run(...shell));
    expect(error.message).toBe('x.pkl: byte 2: GLOBAL: the name "os.system" is not allowed');
    expect(error.hint).toContain('harm');
    expect(refusal(() => read(pickle({ name: 'os.system' }), 1000)).message).toContain('byte 1002');
  });

  it.each([
    'os.system',
    'posix.system',
    'builtins.eval',
    '__builtin__.exec',
    'builtins.getattr',
    'subprocess.Popen',
    'torch.storage._load_from_bytes',
    'torch.load',
    'torch.hub.load',
    'torch._utils._rebuild_tensor_v2.__globals__',
    'collections.OrderedDict.__init__',
    'numpy.core.multiarray._reconstruct',
    'constructor',
    '__proto__',
    'transformers.models.bert.modeling_bert.BertForMaskedLM',
  ])('%s, by GLOBAL and by STACK_GLOBAL', (forbidden) => {
    expect(refusal(() => readValue({ name: `${forbidden}` })).message).toContain(`${forbidden}" is not allowed`);
    const dot = forbidden.lastIndexOf('.');
    const parts = [text(forbidden.slice(0, Math.max(0, dot))), text(forbidden.slice(dot + 1))];
    expect(refusal(() => run(...parts, OP.stackGlobal)).message).toMatch(/STACK_GLOBAL: the name .* is not allowed/);
  });

  it.each([...REFUSED_OPCODES])('opcode 0x%s, %s', (code, opcode) => {
    const error = refusal(() => run(OP.none, code, Buffer.from('x\ny\n')));
    expect(error.message).toBe(`x.pkl: byte 3: ${opcode}: this opcode is not allowed`);
  });

  it('inside a call, in the state of an object, and as an argument', () => {
    const harm: Python = { opcodes: opcodes(...shell) };
    const dict: Python = { name: 'collections.OrderedDict' };
    const places: Python[] = [{ call: dict, args: [harm] }, [harm], { dict: [['a', harm]] }, { persistent: harm }];
    for (const value of places) expect(refusal(() => readValue(value)).message).toContain('os.system');
    expect(refusal(() => run(OP.emptyDict, ...shell, OP.build)).message).toContain('os.system');
  });

  it.each([
    ['a string', text('os.system')],
    ['what a call has made', encode({ call: { name: 'collections.OrderedDict' }, args: [] })],
    ['a type', name('torch.float32')],
    ['a dict', encode({ dict: [] })],
  ])('calling %s', (_, callable) => {
    for (const opcode of [OP.reduce, OP.newObject])
      expect(refusal(() => run(callable, OP.emptyTuple, opcode)).message).toMatch(/cannot be called/);
  });

  it('setting the state of anything but a dict', () => {
    expect(refusal(() => run(OP.emptyList, OP.emptyDict, OP.build)).message).toContain('a dict as the state of a list');
    expect(refusal(() => run(OP.emptyDict, text('a'), OP.build)).message).toContain('a str as the state of a dict');
  });
});

describe('a pickle that wants too much is refused', () => {
  const { steps, containers, memo, stack, marks } = PICKLE_LIMITS;

  it.each([
    ['steps', [OP.none, repeat(Buffer.from([0x80, 2]), steps)], `more than ${steps} steps`],
    [
      'containers',
      [OP.emptyList, repeat(Buffer.from([OP.emptyDict, OP.append]), containers)],
      'lists, tuples and dicts',
    ],
    ['stack', [repeat(Buffer.from([OP.none]), stack + 1)], 'values on the stack'],
    ['marks', [repeat(Buffer.from([OP.mark]), marks + 1)], 'open marks'],
    ['integer bytes', [0x8a, 200, Buffer.alloc(200)], 'an integer of 200 bytes'],
    ['string bytes', [Buffer.from([0x58, 255, 255, 255, 255])], 'a string of 4294967295 bytes'],
    ['bytes of 2^64', [0x8e, Buffer.alloc(8, 255)], 'a string of 18446744073709552000 bytes'],
    ['line', [Buffer.alloc(70_000, 'c')], 'a line without an end'],
  ] as const)('%s', (_, parts, message) => {
    expect(refusal(() => run(...parts)).message).toContain(message);
  });

  it('memo', () => {
    const put = Buffer.alloc(5 * (memo + 1), 0x72);
    for (let i = 0; i <= memo; i++) put.writeUInt32LE(i, 5 * i + 1);
    expect(refusal(() => run(OP.none, put)).message).toContain('values in the memo');
  });

  it('doubling by the memo (the billion laughs): lists are shared, and 40 levels cost 40 lists', () => {
    const level = (i: number): Buffer =>
      opcodes(OP.emptyList, OP.put, i, OP.mark, OP.get, i - 1, OP.get, i - 1, OP.appends);
    const levels = Array.from({ length: 40 }, (_, i) => level(i + 1));
    expect(run(OP.emptyList, OP.put, 0, ...levels)).toHaveLength(2);
  });

  it('copying one long list again and again', () => {
    const pairs = repeat(opcodes(OP.none, OP.none, OP.tuple2), 30_000);
    const list = opcodes(OP.emptyList, OP.mark, pairs, OP.appends, OP.put, 0);
    const copy = opcodes(name('collections.OrderedDict'), OP.get, 0, OP.tuple1, OP.reduce);
    expect(refusal(() => run(list, repeat(copy, 1000))).message).toContain(`more than ${steps} steps`);
  });
});

describe('a damaged pickle is refused', () => {
  it.each([
    ['no opcode', [0xff], /0xff: this is no opcode/],
    ['a protocol from the future', [0x80, 6], /PROTO: protocol 6/],
    ['an empty stack', [OP.append], /APPEND: the stack is empty/],
    ['a stack that is empty above a mark', [OP.none, OP.mark, OP.append], /the stack is empty/],
    ['no mark', [OP.appends], /APPENDS: there is no mark/],
    ['nothing in the memo', [OP.get, 3], /BINGET: nothing is kept under 3/],
    ['appending to a dict', [OP.emptyDict, OP.none, OP.append], /APPEND: expected a list, got a dict/],
    ['appending to a tuple', [OP.emptyTuple, OP.none, OP.append], /expected a list, got a tuple/],
    ['items of a list', [OP.emptyList, OP.none, OP.none, OP.setItem], /SETITEM: expected a dict, got a list/],
    ['a key alone', [OP.emptyDict, OP.mark, OP.none, OP.setItems], /a key without a value/],
    ['arguments that are no tuple', [OP.none, OP.none, OP.reduce], /REDUCE: expected a tuple, got None/],
    ['a string that is not UTF-8', [0x55, 1, 0xff], /not UTF-8/],
    ['a name that is no string', [OP.none, OP.none, OP.stackGlobal], /two strings/],
    ['a persistent id that is none', [OP.none, OP.persistent], /BINPERSID: a persistent id that is not/],
    ['nothing at all', [], /STOP: the stack is empty/],
  ])('%s', (_, codes, message) => {
    expect(refusal(() => run(Buffer.from(codes))).message).toMatch(message);
  });

  it('at whichever byte it is cut', () => {
    const whole = pickle({ dict: [['name', { tuple: [1, 2 ** 40, { name: 'torch.float32' }] }]] });
    for (let length = 0; length < whole.length; length++)
      expect(refusal(() => read(whole.subarray(0, length))).message).toMatch(/ends at byte \d+, in the middle/);
  });
});

describe('any pickle', () => {
  const expectValueOrRefusal = (bytes: Uint8Array): void => {
    try {
      read(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(CheckpointError);
    }
  };
  const opcode = fc.oneof(
    fc.constantFrom(...OPCODES.keys()).map((code) => Buffer.from([code])),
    fc.constantFrom('torch.float32', 'collections.OrderedDict', 'torch._utils._rebuild_tensor_v2', 'a.b').map(name),
    fc.constantFrom<Python>(0, 1, -1, 'storage', '0', null, { tuple: [] }, []).map(encode),
    fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes)),
  );

  test.prop([fc.uint8Array({ maxLength: 60 })])('of random bytes is a value or refused', expectValueOrRefusal);

  test.prop([fc.array(opcode, { maxLength: 40 })], { numRuns: 500 })(
    'of random opcodes is a value or refused',
    (parts) => {
      expectValueOrRefusal(opcodes(...parts, OP.stop));
    },
  );

  const plain = fc.letrec<{ value: Python }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, true, false),
      fc.integer(),
      fc.bigInt({ min: -(2n ** 100n), max: 2n ** 100n }).filter((n) => !Number.isSafeInteger(Number(n))),
      fc.double({ noNaN: true }).filter((n) => !Number.isInteger(n) && Number.isFinite(n)),
      fc.string({ unit: 'grapheme' }),
      fc.array(tie('value'), { maxLength: 4 }),
    ),
  })).value;

  test.prop([plain])('of plain values gives them back', (value) => {
    expect(readValue(value)).toEqual(value);
  });
});
