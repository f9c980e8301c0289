import { describe, expect, it } from 'vitest';
import { OP, opcodes, type Python, pickle } from '../../../test/lib/make-pickle.ts';
import { floats, LEGACY_START, orderedDict, tensor, torchLegacy } from '../../../test/lib/make-torch.ts';
import { onlyA, six, torchTestFile } from '../../../test/lib/torch-files.ts';

const { path, readAll, readA, expectRefusal } = torchTestFile();

describe('a legacy file of torch.save', () => {
  it('may name a part of a storage', async () => {
    const object = onlyA({ shape: [2], offset: 1, part: { tuple: ['0_1', 2, 3] } });
    expect(await readA(torchLegacy(object, [['0', 6, six]]))).toEqual([4, 5]);
    const beyond = onlyA({ shape: [2], part: { tuple: ['0_1', 4, 3] } });
    await expect(readA(torchLegacy(beyond, [['0', 6, six]]))).rejects.toThrow(/values 4 to 7 of a storage of 6/);
    const outside = onlyA({ shape: [2], offset: 2, part: { tuple: ['0_1', 2, 3] } });
    await expect(readA(torchLegacy(outside, [['0', 6, six]]))).rejects.toThrow(/reaches to value 3 of a storage of 3/);
  });

  it('finds storages in the order of the keys, whatever their sizes and types', async () => {
    const object = orderedDict([
      ['a', tensor({ key: 'x', type: 'Half', numValues: 1, shape: [1] })],
      ['b', tensor({ key: 'y', numValues: 2, shape: [2] })],
    ]);
    const bytes = torchLegacy(object, [
      ['y', 2, floats(7, 8)],
      ['x', 1, Buffer.from([0, 0x3c])],
    ]);
    const values = await readAll(bytes);
    expect(values).toEqual(
      new Map([
        ['a', Float32Array.of(1)],
        ['b', Float32Array.of(7, 8)],
      ]),
    );
  });

  it('reads an object that is larger than the first window', async () => {
    const many = Array.from({ length: 3000 }, (_, i): [Python, Python] => [`n${i}`, 'x'.repeat(100)]);
    const object: Python = { dict: [...many, ['a', tensor({ numValues: 6, shape: [6] })]] };
    expect(await readA(torchLegacy(object, [['0', 6, six]]))).toEqual([1, 2, 3, 4, 5, 6]);
  });

  const object = onlyA({});
  const whole = torchLegacy(object, [['0', 6, six]]);
  it.each<[string, Buffer, RegExp]>([
    ['another first pickle', pickle(1), /the first pickle is not the magic number, but 1/],
    ['another version', torchLegacy(object, [], [LEGACY_START[0], 1002]), /version 1002, known is 1001/],
    [
      'a name in the system part',
      torchLegacy(object, [], [LEGACY_START[0], 1001, { name: 'os.system' }]),
      /"os\.system" is not allowed/,
    ],
    [
      'a name in the keys',
      Buffer.concat([torchLegacy(object, []).subarray(0, -pickle([]).length), pickle([{ name: 'torch.float32' }])]),
      /is not allowed/,
    ],
    [
      'keys that are no list',
      Buffer.concat([torchLegacy(object, []).subarray(0, -pickle([]).length), pickle(3)]),
      /expected the list of storages, got a number/,
    ],
    [
      'a key twice',
      torchLegacy(object, [
        ['0', 6, six],
        ['0', 6, six],
      ]),
      /not different strings/,
    ],
    [
      'a key of no tensor',
      torchLegacy(object, [
        ['0', 6, six],
        ['9', 6, six],
      ]),
      /storage "9" belongs to no tensor/,
    ],
    ['fewer storages than it speaks of', torchLegacy(object, []), /the storage "0" is missing/],
    ['a storage of another size', torchLegacy(object, [['0', 5, six]]), /has 20 bytes, its tensors speak of 24/],
    ['a storage of -1 values', torchLegacy(object, [['0', -1, six]]), /a storage of -1 values/],
    [
      'a storage of 2^62 values',
      torchLegacy(object, [['0', 2n ** 62n, six]]),
      /ends at byte \d+, but the file has \d+: truncated/,
    ],
    ['a last byte that is missing', whole.subarray(0, -1), /but the file has \d+: truncated/],
    ['the size of a storage cut', whole.subarray(0, -26), /expected the size of a storage/],
    ['a pickle cut', whole.subarray(0, 60), /the pickle ends at byte 60, in the middle/],
    [
      'a pointer in its place',
      Buffer.from('version https://git-lfs.github.com/spec/v1\n'),
      /starts with "version https/,
    ],
  ])('is refused with %s', async (_, bytes, message) => {
    await expectRefusal(bytes, message);
  });

  it('counts bytes of later pickles from the start of the file', async () => {
    const evil = opcodes(0x80, 2, Buffer.from('cos\nsystem\n'), OP.stop);
    const start = torchLegacy(evil, []).indexOf(evil) + 2;
    await expect(readAll(torchLegacy(evil, []))).rejects.toThrow(
      `${path}: byte ${start}: GLOBAL: the name "os.system"`,
    );
  });
});
