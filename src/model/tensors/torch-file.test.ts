import { readFileSync } from 'node:fs';
import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { type Python, pickle } from '../../../test/lib/make-pickle.ts';
import {
  floats,
  LEGACY_START,
  orderedDict,
  storage,
  type TensorToDescribe,
  tensor,
  torchLegacy,
  torchZip,
} from '../../../test/lib/make-torch.ts';
import { onlyA, six, torchTestFile } from '../../../test/lib/torch-files.ts';
import { LzeroError } from '../../core/index.ts';

const { path, withFile, readAll, readA, expectRefusal } = torchTestFile();

/** Both formats, of one storage "0" of values of four bytes. */
const formats: readonly (readonly [string, (object: Python, bytes?: Buffer) => Buffer])[] = [
  ['zip', (object, bytes = six) => torchZip(object, { 0: bytes })],
  [
    'legacy',
    (object, bytes = six) =>
      torchLegacy(object, pickle(object).includes('Storage') ? [['0', bytes.length / 4, bytes]] : []),
  ],
];

describe.each(formats)('a file of torch.save, %s', (_, write) => {
  it('gives types, shapes, places and values', async () => {
    await withFile(write(onlyA({ shape: [2, 3] })), async (file) => {
      const { dtype, shape, place } = file.tensors.get('a') ?? {};
      expect({ dtype, shape, length: place?.length }).toEqual({ dtype: 'F32', shape: [2, 3], length: 24 });
      expect(readFileSync(path).subarray(place?.offset, (place?.offset ?? 0) + 24)).toEqual(six);
      expect(Array.from(await file.readFloat32('a'))).toEqual([1, 2, 3, 4, 5, 6]);
      expect(Buffer.from(await file.readBytes('a'))).toEqual(six);
      await expect(file.readFloat32('b')).rejects.toThrow('no tensor "b" among 1');
    });
  });

  it('gathers offsets, strides and repeated values', async () => {
    expect(await readA(write(onlyA({ offset: 4, shape: [2] })))).toEqual([5, 6]);
    expect(await readA(write(onlyA({ shape: [3, 2], strides: [1, 3] })))).toEqual([1, 4, 2, 5, 3, 6]);
    expect(await readA(write(onlyA({ offset: 1, shape: [2, 2], strides: [2, 0] })))).toEqual([2, 2, 4, 4]);
    expect(await readA(write(onlyA({ offset: 5, shape: [], strides: [] })))).toEqual([6]);
    expect(await readA(write(onlyA({ shape: [2, 0, 3] })))).toEqual([]);
    expect(await readA(write(onlyA({ shape: [1, 6], strides: [77, 1] })))).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('has a place only for what lies row by row', async () => {
    await withFile(write(onlyA({ shape: [3, 2], strides: [1, 3] })), (file) => {
      expect(file.tensors.get('a')?.place).toBeUndefined();
    });
    await withFile(write(onlyA({ offset: 2, shape: [1, 2, 1], strides: [9, 1, 9] })), async (file) => {
      expect(file.tensors.get('a')?.place?.length).toBe(8);
      expect(Array.from(await file.readFloat32('a'))).toEqual([3, 4]);
    });
  });

  it('lets tensors share a storage', async () => {
    const object = orderedDict([
      ['embeddings', tensor({ numValues: 6, shape: [2, 3] })],
      ['decoder', tensor({ numValues: 6, shape: [2, 3] })],
      ['bias', tensor({ numValues: 6, shape: [3], offset: 3 })],
    ]);
    const values = await readAll(write(object));
    expect([...values.keys()]).toEqual(['embeddings', 'decoder', 'bias']);
    expect(values.get('decoder')).toEqual(values.get('embeddings'));
    expect(values.get('bias')).toEqual(Float32Array.of(4, 5, 6));
  });

  it.each([
    ['a plain dict', (a: Python): Python => ({ dict: [['a', a]] })],
    [
      '{"state_dict": …} among other things',
      (a: Python): Python => ({
        dict: [
          ['epoch', 3],
          ['state_dict', orderedDict([['a', a]])],
        ],
      }),
    ],
    [
      '{"model": …}',
      (a: Python): Python => ({
        dict: [
          ['model', orderedDict([['a', a]])],
          ['lr', 0.1],
        ],
      }),
    ],
    [
      '{"state_dict": …} beside a tensor of the training',
      (a: Python): Python => ({
        dict: [
          ['best_loss', tensor({ numValues: 6, shape: [1] })],
          ['state_dict', orderedDict([['a', a]])],
        ],
      }),
    ],
    [
      'a dict with numbers and lists beside',
      (a: Python): Python => ({
        dict: [
          ['n', 1],
          ['a', a],
          ['l', [a]],
          [1, a],
        ],
      }),
    ],
    [
      'a parameter',
      (a: Python): Python => ({
        dict: [['a', { call: { name: 'torch._utils._rebuild_parameter' }, args: [a, true, orderedDict([])] }]],
      }),
    ],
  ])('finds the tensors in %s', async (_name, wrap) => {
    const values = await readAll(write(wrap(tensor({ numValues: 6, shape: [6] }))));
    expect([...values]).toEqual([['a', Float32Array.of(1, 2, 3, 4, 5, 6)]]);
  });

  it('takes sizes from torch.Size, and the call of the first versions', async () => {
    const size: Python = { call: { name: 'torch.Size' }, args: [{ tuple: [6] }] };
    const args = [storage({ numValues: 6, shape: [] }), 0, size, { tuple: [1] }];
    const a: Python = { call: { name: 'torch._utils._rebuild_tensor' }, args };
    expect(await readA(write({ dict: [['a', a]] }))).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it.each<[string, Python, RegExp]>([
    ['a list', [1], /expected a dict of tensors, got a list/],
    ['a tensor alone', tensor({ numValues: 6, shape: [6] }), /expected a dict of tensors, got a tensor/],
    [
      'a dict without tensors',
      {
        dict: [
          ['x', 1],
          [2, 3],
        ],
      },
      /a dict without tensors, its keys are "x", a number/,
    ],
    [
      'a tensor that begins beyond its storage',
      onlyA({ offset: 6, shape: [1] }),
      /reaches to value 6 of a storage of 6/,
    ],
    ['a tensor that ends beyond its storage', onlyA({ shape: [2, 3], strides: [4, 1] }), /reaches to value 6 of/],
    ['strides that reach very far', onlyA({ shape: [2], strides: [2 ** 52] }), /reaches to value 4503599627370496/],
    [
      'a bomb of repeated values',
      onlyA({ shape: [2 ** 20, 2 ** 20], strides: [0, 0] }),
      /shape \[1048576, 1048576\] in a storage of 6/,
    ],
    [
      'sizes too large to multiply',
      onlyA({ shape: Array(30).fill(2 ** 50), strides: Array(30).fill(0) }),
      /in a storage of 6/,
    ],
    ['a size below 0', onlyA({ shape: [-1], strides: [1] }), /expected an integer of at least 0, got -1/],
    ['a size of 2^70', onlyA({ shape: [2n ** 70n], strides: [1] }), /got 1180591620717411303424/],
    ['a size that is no integer', onlyA({ shape: [0.5], strides: [1] }), /got 0\.5/],
    ['a size that is no number', onlyA({ shape: ['6'], strides: [1] }), /got a str/],
    ['fewer strides than sizes', onlyA({ shape: [2, 3], strides: [1] }), /a tensor of 2 sizes and 1 strides/],
    ['100 dimensions', onlyA({ shape: Array(100).fill(1) }), /a tensor of 100 sizes/],
    [
      'a storage larger than its bytes',
      onlyA({ numValues: 7 }),
      /storage "0" at byte \d+ has 24 bytes, its tensors speak of 28/,
    ],
    ['a storage that is not there', onlyA({ key: '1' }), /the storage "(0" belongs to no tensor|1" is missing)/],
    [
      'a storage of another type',
      onlyA({ type: 'Half' }),
      /has 24 bytes, its tensors speak of 12|last storage ends at byte/,
    ],
    [
      'a storage of two sizes',
      orderedDict([
        ['a', tensor({ numValues: 6, shape: [6] })],
        ['b', tensor({ numValues: 5, shape: [5] })],
      ]),
      /storage "0" has two types or sizes/,
    ],
    ['an unknown storage class', onlyA({ type: 'QInt8' }), /the name "torch\.QInt8Storage" is not allowed/],
    [
      'a tensor made of a number',
      { dict: [['a', { call: { name: 'torch._utils._rebuild_tensor_v2' }, args: [1] }]] },
      /expected a storage, got a number/,
    ],
    [
      'a tensor that counts as negated',
      {
        call: { name: 'torch._utils._rebuild_tensor_v2' },
        args: [
          storage({ numValues: 6, shape: [] }),
          0,
          { tuple: [6] },
          { tuple: [1] },
          false,
          null,
          { dict: [['neg', true]] },
        ],
      },
      /negated or conjugated/,
    ],
    [
      'a parameter made of a number',
      { call: { name: 'torch._utils._rebuild_parameter' }, args: [1] },
      /expected a tensor, got a number/,
    ],
    [
      'a whole model',
      { call: { name: 'transformers.BertModel' }, args: [] },
      /the name "transformers\.BertModel" is not allowed/,
    ],
  ])('refuses %s', async (_claim, object, message) => {
    await expectRefusal(write(object), message);
  });

  it('names file, byte and value of a NaN', async () => {
    await expect(readAll(write(onlyA({}), floats(1, 2, NaN, 4, 5, 6)))).rejects.toThrow(
      /pytorch_model\.bin: tensor "a" at byte \d+: value 2 is NaN/,
    );
    await expect(readAll(write(onlyA({ shape: [3, 2], strides: [1, 3] }), floats(1, 2, NaN, 4, 5, 6)))).rejects.toThrow(
      /tensor "a": value 4 is NaN/,
    );
  });

  test.prop([fc.array(fc.nat({ max: 4 }), { maxLength: 4 }), fc.nat({ max: 3 }), fc.infiniteStream(fc.nat())], {
    numRuns: 60,
  })('any permutation of dimensions is gathered as an index by index copy', async (sizes, offset, order) => {
    const numDims = sizes.length;
    const count = sizes.reduce((product, size) => product * size, 1);
    const values = floats(...Array.from({ length: offset + count }, (_, i) => i));
    const strides = sizes.map((_size, d) => sizes.slice(d + 1).reduce((product, size) => product * size, 1));
    const axes = sizes
      .map((_size, d) => ({ d, by: order.next().value }))
      .sort((a, b) => a.by - b.by)
      .map(({ d }) => d);
    const shape = axes.map((d) => sizes[d]);
    const moved = axes.map((d) => strides[d]);
    const expected = Array.from({ length: count }, (_, i) => {
      let at = offset;
      let rest = i;
      for (let d = numDims - 1; d >= 0; d--) {
        at += (rest % shape[d]) * moved[d];
        rest = Math.floor(rest / shape[d]);
      }
      return at;
    });
    const object = onlyA({ numValues: offset + count, offset, shape, strides: moved });
    expect(await readA(write(object, values))).toEqual(expected);
  });
});

describe('a file that stands for more than it holds', () => {
  const views = (count: number, described: Partial<TensorToDescribe>) =>
    orderedDict(
      Array.from({ length: count }, (_, i) => [`t${i}`, tensor({ numValues: 6, shape: [6], ...described })] as const),
    );
  const mib = Buffer.alloc(2 ** 20);
  const large = { numValues: 2 ** 18, shape: [2 ** 9, 2 ** 9] };
  it.each([
    ['views that repeat one value', torchZip(views(20, { shape: [2 ** 20], strides: [0] }), { 0: six })],
    ['views of the same values', torchZip(views(80, large), { 0: mib })],
    ['turned views of the same values', torchZip(views(80, { ...large, strides: [1, 2 ** 9] }), { 0: mib })],
    [
      'views of two values far apart',
      torchZip(views(80, { ...large, shape: [2], strides: [2 ** 18 - 1] }), { 0: mib }),
    ],
    ['views in an older file', torchLegacy(views(80, large), [['0', 2 ** 18, mib]])],
  ])('is refused before anything is read: %s', async (_, bytes) => {
    await expectRefusal(bytes, /a file of \d+ bytes whose tensors have 8388\d{4}, the limit is 67108864/);
  });

  it('is read where it stays small, or shares a few', async () => {
    expect((await readAll(torchZip(views(15, { shape: [2 ** 20], strides: [0] }), { 0: six }))).size).toBe(15);
    expect((await readAll(torchZip(views(60, large), { 0: mib }))).size).toBe(60);
  });
});

describe('types of values', () => {
  const bytesOf = (array: { buffer: ArrayBuffer }): Buffer => Buffer.from(array.buffer);
  const write = (type: string, bytes: Buffer, count: number): Buffer =>
    torchZip(onlyA({ type, numValues: count, shape: [count] }), { 0: bytes });

  it.each([
    ['Double', 'F64', bytesOf(Float64Array.of(0.5, -2)), [0.5, -2]],
    ['Half', 'F16', bytesOf(Uint16Array.of(0x3c00, 0xc000)), [1, -2]],
    ['BFloat16', 'BF16', bytesOf(Uint16Array.of(0x3f80, 0xc000)), [1, -2]],
  ])('%s is read as %s', async (type, dtype, bytes, expected) => {
    await withFile(write(type, bytes, 2), async (file) => {
      expect(file.tensors.get('a')?.dtype).toBe(dtype);
      expect(Array.from(await file.readFloat32('a'))).toEqual(expected);
    });
  });

  it.each([
    ['Long', 'I64', 8],
    ['Int', 'I32', 4],
    ['Short', 'I16', 2],
    ['Char', 'I8', 1],
    ['Byte', 'U8', 1],
    ['Bool', 'BOOL', 1],
    ['ComplexFloat', 'C64', 8],
  ])('%s is %s: its bytes can be read, floats cannot', async (type, dtype, width) => {
    const bytes = Buffer.alloc(2 * width, 255); // as a double this is a NaN
    await withFile(write(type, bytes, 2), async (file) => {
      expect(Buffer.from(await file.readBytes('a'))).toEqual(bytes);
      await expect(file.readFloat32('a')).rejects.toThrow(`expected F32, F16, BF16 or F64, got ${dtype}`);
    });
    const strided = onlyA({ type, numValues: 4, shape: [2], strides: [2] });
    await withFile(torchZip(strided, { 0: Buffer.concat([bytes, Buffer.alloc(2 * width)]) }), async (file) => {
      const first = Buffer.from(await file.readBytes('a'));
      expect(first).toEqual(Buffer.concat([bytes.subarray(width), Buffer.alloc(width)]));
    });
  });

  it('types without a storage class are named by the tensor', async () => {
    const typed = (type: string, shape: readonly Python[]): Python => ({
      call: { name: 'torch._utils._rebuild_tensor_v3' },
      args: [
        { persistent: { tuple: ['storage', { name: 'torch.storage.UntypedStorage' }, '0', 'cpu', 4] } },
        0,
        { tuple: shape },
        { tuple: shape.map(() => 1) },
        false,
        orderedDict([]),
        { name: type },
      ],
    });
    const file = (a: Python): Buffer => torchZip({ dict: [['a', a]] }, { 0: Buffer.from([1, 0, 2, 0]) });
    await withFile(file(typed('torch.uint16', [2])), async (open) => {
      expect(open.tensors.get('a')).toMatchObject({ dtype: 'U16', shape: [2] });
      expect(new Uint16Array(await open.readBytes('a'))).toEqual(Uint16Array.of(1, 2));
    });
    await expect(readAll(file(typed('torch.uint16', [3])))).rejects.toThrow(/reaches to value 2 of a storage of 2/);
    await expect(readAll(file(typed('torch.uint99', [1])))).rejects.toThrow(/"torch\.uint99" is not allowed/);
    await expect(readAll(file(typed('torch.Size', [1])))).rejects.toThrow(/expected a type such as torch.float32/);
  });
});

describe('hostile files of torch.save', () => {
  const object = orderedDict([
    ['a', tensor({ numValues: 6, shape: [3, 2], strides: [1, 3] })],
    ['b', tensor({ key: '1', type: 'Half', numValues: 2, shape: [2] })],
    ['n', 0.5],
  ]);
  const half = Buffer.from([0, 0x3c, 0, 0x3c]);
  const sound = [
    torchZip(object, { 0: six, 1: half }),
    torchZip(object, { 0: six, 1: half }, { isDeflated: true, isWide: true }),
    torchLegacy(object, [
      ['0', 6, six],
      ['1', 2, half],
    ]),
  ];

  const expectValueOrNamedError = async (bytes: Uint8Array): Promise<void> => {
    try {
      await readAll(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(LzeroError);
    }
  };

  test.prop(
    [
      fc.constantFrom(...sound),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.nat({ max: 255 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
    ],
    { numRuns: 400 },
  )(
    'a sound file with one byte changed and cut anywhere gives values or a named error',
    async (bytes, at, byte, cut) => {
      const changed = Buffer.from(bytes);
      changed[Math.floor(at * (bytes.length - 1))] = byte;
      await expectValueOrNamedError(changed);
      await expectValueOrNamedError(changed.subarray(0, Math.floor(cut * bytes.length)));
    },
  );

  test.prop([fc.uint8Array({ maxLength: 64 })])('any bytes behind either start give a named error', async (bytes) => {
    await expectValueOrNamedError(Buffer.concat([Buffer.from('PK\u0003\u0004'), bytes]));
    await expectValueOrNamedError(Buffer.concat([pickle(LEGACY_START[0]), bytes]));
  });
});
