import { truncateSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pickle } from '../../../test/lib/make-pickle.ts';
import { orderedDict, tensor, torchZip } from '../../../test/lib/make-torch.ts';
import { onlyA, six, torchTestFile } from '../../../test/lib/torch-files.ts';

const { path, withFile, readAll, expectRefusal } = torchTestFile();

describe('a zip archive of torch.save', () => {
  it.each([
    ['deflated', { isDeflated: true }],
    ['zip64 throughout', { isWide: true }],
    ['without its byte order', { byteorder: '' }],
  ])('is read when %s', async (_, options) => {
    const object = orderedDict([
      ['a', tensor({ numValues: 6, shape: [3, 2], strides: [1, 3] })],
      ['b', tensor({ numValues: 6, shape: [2], offset: 4 })],
    ]);
    const values = await readAll(torchZip(object, { 0: six }, options));
    expect([...values.values()].map((array) => Array.from(array))).toEqual([
      [1, 4, 2, 5, 3, 6],
      [5, 6],
    ]);
  });

  it('is turned around when it is big-endian', async () => {
    const swapped = Buffer.from(six).swap32();
    await withFile(torchZip(onlyA({}), { 0: swapped }, { byteorder: 'big' }), async (file) => {
      expect(file.tensors.get('a')?.place).toBeUndefined();
      expect(Array.from(await file.readFloat32('a'))).toEqual([1, 2, 3, 4, 5, 6]);
    });
  });

  const bomb = Buffer.alloc(1_000_000);
  it.each<[string, Buffer, RegExp]>([
    [
      'no object',
      torchZip(onlyA({}), {}, { files: [{ name: 'b/data.pkl', text: 'x' }] }),
      /2 files NAME\/data\.pkl, expected one/,
    ],
    [
      'two files of one name',
      torchZip(onlyA({}), { 0: six }, { files: [{ name: 'archive/version', text: '3' }] }),
      /same name/,
    ],
    ['an unknown byte order', torchZip(onlyA({}), { 0: six }, { byteorder: 'middle' }), /byteorder is "middle"/],
    [
      'a byte order that is a bomb',
      torchZip(onlyA({}), { 0: six }, { byteorder: 'x'.repeat(1000) }),
      /byteorder at byte \d+ has 1000 bytes/,
    ],
    [
      'a storage that claims to be larger than it is',
      torchZip(
        onlyA({ numValues: 7 }),
        {},
        { files: [{ name: 'archive/data/0', text: six, isStored: true, sizeBytes: 28 }] },
      ),
      /is not packed, but has 24 bytes packed and 28 unpacked/,
    ],
    [
      'a deflated storage that claims more than it gives',
      torchZip(onlyA({ numValues: 7 }), {}, { files: [{ name: 'archive/data/0', text: six, sizeBytes: 28 }] }),
      /size or checksum is wrong: expected 28 bytes, got 24/,
    ],
    [
      'a deflated storage that gives more than it claims',
      torchZip(onlyA({ numValues: 6 }), {}, { files: [{ name: 'archive/data/0', text: bomb, sizeBytes: 24 }] }),
      /cannot be inflated to 24 bytes/,
    ],
    [
      'a deflated storage that would become 100 GB',
      torchZip(
        onlyA({ numValues: 25e9 }),
        {},
        { files: [{ name: 'archive/data/0', text: bomb, sizeBytes: 100e9, isWide: true }] },
      ),
      /whose storages have 100000000000, the limit is 67108864/,
    ],
    [
      'a deflated storage with a wrong checksum',
      torchZip(onlyA({}), {}, { files: [{ name: 'archive/data/0', text: six, crc: 1 }] }),
      /checksum is wrong/,
    ],
    [
      'bytes that are not deflated',
      torchZip(onlyA({}), {}, { files: [{ name: 'archive/data/0', text: six, isStored: true, method: 8 }] }),
      /cannot be inflated/,
    ],
    [
      'a storage that is encrypted',
      torchZip(onlyA({}), {}, { files: [{ name: 'archive/data/0', text: six, flags: 1 }] }),
      /is encrypted/,
    ],
    ['nothing in it', Buffer.alloc(0), /neither format of torch\.save; it starts with ""/],
  ])('is refused with %s', async (_, bytes, message) => {
    await expectRefusal(bytes, message);
  });

  it('is refused with a pickle of 33 MB in a few bytes', async () => {
    const bytes = torchZip(Buffer.alloc(33 * 1024 * 1024), { 0: six }, { isDeflated: true });
    expect(bytes.length).toBeLessThan(100_000);
    await expect(readAll(bytes)).rejects.toThrow(/data\.pkl at byte \d+ has 34603008 bytes, the limit is/);
  });

  it('is refused with many deflated storages of which each is small', async () => {
    const text = Buffer.alloc(2 ** 22);
    const keys = Array.from({ length: 20 }, (_, i) => String(i));
    const object = orderedDict(
      keys.map((key) => [`t${key}`, tensor({ key, numValues: 2 ** 20, shape: [1] })] as const),
    );
    const bytes = torchZip(object, Object.fromEntries(keys.map((key) => [key, text])), { isDeflated: true });
    expect(bytes.length).toBeLessThan(200_000);
    await expectRefusal(bytes, /whose storages have 83886080, the limit is 67108864/);
  });

  it('inflates a storage of several tensors once, in whatever order they are asked for', async () => {
    const object = orderedDict(
      ['0', '1', '0', '1'].map((key, i) => [`t${i}`, tensor({ key, numValues: 6, shape: [2], offset: i })] as const),
    );
    await withFile(torchZip(object, { 0: six, 1: six }, { isDeflated: true }), async (file) => {
      await file.readFloat32('t0');
      await file.readFloat32('t1');
      truncateSync(path); // what was inflated needs the file no more
      expect(Array.from(await file.readFloat32('t2'))).toEqual([3, 4]);
      expect(Array.from(await file.readFloat32('t3'))).toEqual([4, 5]);
    });
  });

  it('is refused where entries share their bytes', async () => {
    const header = 30 + 'archive/data.pkl'.length + 4 + pickle(onlyA({})).length;
    const files = [
      { name: 'archive/data/0', text: six, isStored: true, offset: header + 30 + 'archive/byteorder'.length - 40 },
    ];
    await expect(readAll(torchZip(onlyA({}), {}, { files }))).rejects.toThrow(/no header of|overlaps/);
    const twice = [
      { name: 'archive/data/0', text: six, isStored: true },
      { name: 'archive/data/1', text: six, isStored: true, offset: 0 },
    ];
    await expect(readAll(torchZip(onlyA({}), {}, { files: twice }))).rejects.toThrow(/overlaps/);
  });

  it('refuses what it would run, with the byte in data.pkl', async () => {
    const evil = pickle({ call: { name: 'posix.system' }, args: ['touch /tmp/harm'] });
    await expect(readAll(torchZip(evil, {}))).rejects.toThrow(
      `${path}: data.pkl: byte 2: GLOBAL: the name "posix.system" is not allowed`,
    );
  });
});
