import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { afterAll, describe, expect, it } from 'vitest';
import { CheckpointError, LzeroError, messageOf, OutputError, ShapeError } from '../../core/index.ts';
import { ReusedMemory } from './reused-memory.ts';
import { openSafetensors } from './safetensors.ts';
import { type TensorToWrite, writeSafetensors } from './safetensors-writer.ts';

const folder = mkdtempSync(join(tmpdir(), 'lzero-safetensors-'));
const path = join(folder, 'model.safetensors');
afterAll(() => rmSync(folder, { recursive: true }));

/** A file with any header and data, sound or not. */
function rawFile(header: unknown, dataBytes: number | Buffer = 0): Buffer {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json, typeof dataBytes === 'number' ? Buffer.alloc(dataBytes) : dataBytes]);
}

async function readAll(bytes: Uint8Array): Promise<Map<string, Float32Array>> {
  writeFileSync(path, bytes);
  const file = await openSafetensors(path);
  try {
    const values = new Map<string, Float32Array>();
    for (const name of file.tensors.keys()) values.set(name, await file.readFloat32(name));
    return values;
  } finally {
    await file.close();
  }
}

const f32 = (shape: readonly number[], begin: number, end: number) => ({
  dtype: 'F32',
  shape,
  data_offsets: [begin, end],
});

describe('reading safetensors', () => {
  it('finds shapes, places, metadata and the start of the data', async () => {
    const header = { __metadata__: { format: 'pt' }, b: f32([1], 8, 12), a: f32([2, 1], 0, 8) };
    writeFileSync(path, rawFile(header, Buffer.from(Float32Array.of(1, 2, 3).buffer)));
    const file = await openSafetensors(path);
    expect([...file.tensors.keys()]).toEqual(['a', 'b']);
    const place = { offset: file.dataStart, length: 8 };
    expect(file.tensors.get('a')).toEqual({ dtype: 'F32', shape: [2, 1], place });
    expect(file.metadata).toEqual({ format: 'pt' });
    expect(readFileSync(path).readFloatLE(file.dataStart + 8)).toBe(3);
    expect(new Float32Array(await file.readBytes('b'))).toEqual(Float32Array.of(3));
    expect(await file.readFloat32('a')).toEqual(Float32Array.of(1, 2));
    await expect(file.readFloat32('c')).rejects.toThrow('no tensor "c" among 2');
    await file.close();
  });

  it('reads into memory that is used again, whatever its size', async () => {
    const values = Float32Array.of(1, 2, 3);
    await writeSafetensors(path, [
      { name: 'a', dtype: 'F32', shape: [3], values },
      { name: 'b', dtype: 'F16', shape: [2], values: values.subarray(1) },
      { name: 'c', dtype: 'F32', shape: [1], values: values.subarray(2) },
    ]);
    const file = await openSafetensors(path);
    const memory = new ReusedMemory();
    const a = await file.readFloat32('a', memory);
    expect(a).toEqual(values);
    expect(await file.readFloat32('b', memory)).toEqual(Float32Array.of(2, 3));
    const c = await file.readFloat32('c', memory);
    expect(c).toEqual(Float32Array.of(3));
    expect(a.buffer).toBe(c.buffer);
    expect(await file.readFloat32('a')).toEqual(values);
    await file.close();
  });

  it('converts F64, and reads scalars and empty tensors', async () => {
    const header = { x: { dtype: 'F64', shape: [], data_offsets: [0, 8] }, none: f32([0, 3], 8, 8) };
    const values = await readAll(rawFile(header, Buffer.from(Float64Array.of(0.1).buffer)));
    expect(values.get('x')).toEqual(Float32Array.of(0.1));
    expect(values.get('none')?.length).toBe(0);
  });

  const bad: readonly (readonly [claim: string, bytes: Buffer, message: RegExp])[] = [
    ['an empty file', Buffer.alloc(0), /truncated at byte 0/],
    [
      'a header longer than the file',
      rawFile({}).fill(200, 0, 1),
      /truncated: the header should end at byte 208 of 10/,
    ],
    ['a header over the limit', rawFile({}).fill(255, 0, 8), /header length at byte 0 is 18446744073709551615/],
    ['a header that is no object', rawFile('[1]'), /does not start with "\{"/],
    ['a header that is not JSON', rawFile('{"a":NaN}'), /not JSON/],
    ['a header that is not UTF-8', rawFile('{"a":1}').fill(0xff, 10, 11), /not UTF-8/],
    ['metadata that is not text', rawFile({ __metadata__: { a: 1 } }), /__metadata__: "a" is 1, expected a string/],
    ['an entry without fields', rawFile({ a: [] }), /tensor "a": expected \{dtype/],
    ['an unknown type', rawFile({ a: { dtype: 'F17', shape: [], data_offsets: [0, 0] } }), /unknown dtype "F17"/],
    ['a type of the prototype', rawFile({ a: { dtype: 'toString', shape: [] } }), /unknown dtype "toString"/],
    ['a negative size', rawFile({ a: f32([-1], 0, 4) }, 4), /shape is not a list/],
    ['a fractional size', rawFile({ a: f32([0.5], 0, 2) }, 2), /shape is not a list/],
    ['a negative offset', rawFile({ a: f32([1], -4, 0) }, 4), /data_offsets is not a pair/],
    ['offsets that run backwards', rawFile({ a: f32([1], 4, 0) }, 4), /run backwards/],
    ['a shape too large to multiply', rawFile({ a: f32([2 ** 40, 2 ** 40], 0, 4) }, 4), /too large/],
    ['a shape that does not fit', rawFile({ a: f32([3], 0, 8) }, 8), /needs 12 bytes, data_offsets \[0, 8\] hold 8/],
    ['tensors that overlap', rawFile({ a: f32([2], 0, 8), b: f32([1], 4, 8) }, 8), /"b" at byte \d+ overlaps .* by 4/],
    ['a hole between tensors', rawFile({ a: f32([1], 0, 4), b: f32([1], 8, 12) }, 12), /"b" .* hole of 4 bytes/],
    ['a truncated file', rawFile({ a: f32([2], 0, 8) }, 7), /"a" at byte \d+ ends at byte .*: truncated/],
    ['bytes after the last tensor', rawFile({ a: f32([1], 0, 4) }, 5), /last tensor ends at byte/],
    [
      'a name used twice',
      rawFile(`{"a":${JSON.stringify(f32([1], 0, 4))},"a":${JSON.stringify(f32([1, 1], 0, 4))}}`, 4),
      /header at byte 8 has a key twice/,
    ],
    ['a type read as float', rawFile({ a: { dtype: 'I32', shape: [1], data_offsets: [0, 4] } }, 4), /got I32/],
    [
      'NaN among the values',
      rawFile({ a: f32([2], 0, 8) }, Buffer.from(Float32Array.of(1, Number.NaN).buffer)),
      /tensor "a" at byte \d+: value 1 is NaN/,
    ],
  ];
  for (const [claim, bytes, message] of bad)
    it(`refuses ${claim}`, async () => {
      const failure = readAll(bytes);
      await expect(failure).rejects.toThrow(CheckpointError);
      await expect(failure).rejects.toThrow(message);
      await expect(failure).rejects.toMatchObject({ message: expect.stringContaining(path), hint: expect.any(String) });
    });

  it('refuses a missing file and a folder', async () => {
    await expect(openSafetensors(join(folder, 'none'))).rejects.toThrow(CheckpointError);
    await expect(openSafetensors(folder)).rejects.toThrow(CheckpointError);
  });

  it('accepts tensors named like the fields of an entry', async () => {
    const values = await readAll(rawFile({ dtype: f32([1], 0, 4), __metadata__: { shape: 'data_offsets' } }, 4));
    expect([...values.keys()]).toEqual(['dtype']);
  });
});

const tensor = fc
  .record({
    name: fc.string({ unit: 'grapheme' }).filter((name) => name !== '__metadata__'),
    dtype: fc.constantFrom('F32' as const, 'F16' as const, 'BF16' as const),
    shape: fc.array(fc.nat({ max: 3 }), { maxLength: 3 }),
  })
  .map(({ name, dtype, shape }): TensorToWrite => {
    const size = shape.reduce((product, n) => product * n, 1);
    return { name, dtype, shape, values: Float32Array.from({ length: size }, (_, i) => i / 4 - 2) };
  });
const tensors = fc.uniqueArray(tensor, { selector: ({ name }) => name, maxLength: 6 });

async function written(list: readonly TensorToWrite[], metadata?: Record<string, string>): Promise<Buffer> {
  await writeSafetensors(path, list, metadata);
  return readFileSync(path);
}

/**
 * Made on 2026-11-16 with safetensors 0.8.0 and numpy:
 *
 *     v = (np.arange(6) / 3).astype(np.float32); h = v.astype(np.float16)
 *     save_file({'z.é': h.reshape(2, 3), 'b': v, 'a': v.reshape(3, 2), '0': h}, path, metadata={'format': 'pt'})
 */
const REFERENCE_FILE =
  'CAEAAAAAAAB7Il9fbWV0YWRhdGFfXyI6eyJmb3JtYXQiOiJwdCJ9LCJhIjp7ImR0eXBlIjoiRjMyIiwic2hhcGUiOlszLDJdLCJkYXRhX29mZnNl' +
  'dHMiOlswLDI0XX0sImIiOnsiZHR5cGUiOiJGMzIiLCJzaGFwZSI6WzZdLCJkYXRhX29mZnNldHMiOlsyNCw0OF19LCIwIjp7ImR0eXBlIjoiRjE2' +
  'Iiwic2hhcGUiOls2XSwiZGF0YV9vZmZzZXRzIjpbNDgsNjBdfSwiei7DqSI6eyJkdHlwZSI6IkYxNiIsInNoYXBlIjpbMiwzXSwiZGF0YV9vZmZz' +
  'ZXRzIjpbNjAsNzJdfX0gICAgICAAAAAAq6qqPquqKj8AAIA/q6qqP1VV1T8AAAAAq6qqPquqKj8AAIA/q6qqP1VV1T8AAFU1VTkAPFU9qz4AAFU1' +
  'VTkAPFU9qz4=';

describe('writing safetensors', () => {
  it('orders by type, then by name, and pads the header to 8 bytes, as the reference does', async () => {
    const values = Float32Array.of(1);
    const bytes = await written(
      [
        { name: '0', dtype: 'F16', shape: [1], values },
        { name: 'z', dtype: 'F32', shape: [], values },
        { name: 'y', dtype: 'BF16', shape: [1, 1], values },
        { name: 'b', dtype: 'F32', shape: [1], values },
      ],
      { format: 'pt' },
    );
    const headerBytes = Number(bytes.readBigUInt64LE(0));
    expect(headerBytes % 8).toBe(0);
    expect(bytes.toString('utf8', 8, 8 + headerBytes).trimEnd()).toBe(
      '{"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},' +
        '"z":{"dtype":"F32","shape":[],"data_offsets":[4,8]},"y":{"dtype":"BF16","shape":[1,1],"data_offsets":[8,10]},' +
        '"0":{"dtype":"F16","shape":[1],"data_offsets":[10,12]}}',
    );
    expect(bytes.subarray(8 + headerBytes).toString('hex')).toBe('0000803f0000803f803f003c');
  });

  it('writes the very bytes of the reference implementation', async () => {
    const values = Float32Array.from({ length: 6 }, (_, i) => i / 3);
    const bytes = await written(
      [
        { name: 'z.é', dtype: 'F16', shape: [2, 3], values },
        { name: 'b', dtype: 'F32', shape: [6], values },
        { name: 'a', dtype: 'F32', shape: [3, 2], values },
        { name: '0', dtype: 'F16', shape: [6], values },
      ],
      { format: 'pt' },
    );
    expect(bytes.toString('base64')).toBe(REFERENCE_FILE);
  });

  test.prop([tensors], { numRuns: 40 })('what is written is read back', async (list) => {
    const values = await readAll(await written(list));
    expect(values).toEqual(new Map(list.map((item) => [item.name, item.values])));
  });

  it('writes codes as they are, after all floats, as the reference does', async () => {
    const codes: TensorToWrite = { name: 'b', dtype: 'I8', shape: [3], values: Int8Array.of(-64, 0, 64) };
    const packed: TensorToWrite = { name: 'a', dtype: 'U8', shape: [2], values: Uint8Array.of(0x1f, 255) };
    const floats: TensorToWrite = { name: 'c', dtype: 'F16', shape: [1], values: Float32Array.of(1) };
    const bytes = await written([packed, codes, floats]);
    expect(bytes.subarray(-7)).toEqual(Buffer.from([0, 0x3c, 192, 0, 64, 0x1f, 255]));
    const file = await openSafetensors(path);
    expect(['b', 'a'].map((name) => file.tensors.get(name)?.dtype)).toEqual(['I8', 'U8']);
    expect(new Int8Array(await file.readBytes('b'))).toEqual(codes.values);
    expect(new Uint8Array(await file.readBytes('a'))).toEqual(packed.values);
    await file.close();
  });

  it('gives the same bytes for the same tensors in any order', async () => {
    const list = fc.sample(fc.array(tensor, { minLength: 5, maxLength: 5 }), { numRuns: 1, seed: 7 })[0];
    const named = list.map((item, i) => ({ ...item, name: `t${i}` }));
    const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
    const first = hash(await written(named, { a: '1', b: '2' }));
    expect(hash(await written(named.toReversed(), { b: '2', a: '1' }))).toBe(first);
  });

  it('refuses wrong shapes, taken names and values that would not be finite, and leaves no file behind', async () => {
    const good: TensorToWrite = { name: 'a', dtype: 'F16', shape: [2], values: Float32Array.of(1, 2) };
    const target = join(folder, 'refused.safetensors');
    await expect(writeSafetensors(target, [{ ...good, shape: [3] }])).rejects.toThrow(ShapeError);
    await expect(writeSafetensors(target, [good, good])).rejects.toThrow('name is taken');
    await expect(writeSafetensors(target, [{ ...good, name: '__metadata__' }])).rejects.toThrow('name is taken');
    const large = { ...good, values: Float32Array.of(1, 70_000) };
    await expect(writeSafetensors(target, [large])).rejects.toThrow('tensor "a": value 1 is 70000, which F16 cannot');
    expect(readdirSync(folder).filter((name) => name.startsWith('refused'))).toEqual([]);
  });

  it('names the file when its folder is missing', async () => {
    await expect(writeSafetensors(join(folder, 'no', 'x.safetensors'), [])).rejects.toThrow(OutputError);
  });
});

describe('what a hostile header holds', () => {
  const long = `\u001b[31m${'x'.repeat(100_000)}`;
  const entry = f32([3], 0, 12);
  const deep = `{"a":{"dtype":${'['.repeat(20_000)}${']'.repeat(20_000)},"shape":[3],"data_offsets":[0,12]}}`;
  it.each([
    ['a name', { [long]: { ...entry, dtype: 'F17' } }],
    ['a type', { a: { ...entry, dtype: long } }],
    ['a type that is no text', deep],
    ['a shape that does not fit', { a: { ...entry, shape: new Array(50_000).fill(1) } }],
    ['a shape that is too large', { a: { ...entry, shape: new Array(50_000).fill(2 ** 40) } }],
    ['a key of the metadata', { __metadata__: { [long]: 1 }, a: entry }],
    ['what is no JSON', `{${long}`],
  ])('%s, is named in a short message without control characters', async (_, header) => {
    writeFileSync(path, rawFile(header, 12));
    const error = await openSafetensors(path).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CheckpointError);
    expect(messageOf(error).length).toBeLessThan(2000);
    expect(messageOf(error)).not.toMatch(/\p{Cc}/u);
  });
});

describe('hostile safetensors', () => {
  const expectValueOrNamedError = async (bytes: Uint8Array): Promise<void> => {
    try {
      await readAll(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(LzeroError);
    }
  };

  test.prop([fc.uint8Array({ maxLength: 64 })])('any bytes give a value or a named error', expectValueOrNamedError);

  test.prop([fc.json({ maxDepth: 4 }), fc.nat({ max: 16 })])(
    'any JSON header gives a value or a named error',
    async (json, dataBytes) => await expectValueOrNamedError(rawFile(json, dataBytes)),
  );

  const sound = rawFile({ __metadata__: { f: 'pt' }, a: f32([2], 0, 8), b: f32([1, 2], 8, 16) }, 16);
  test.prop([fc.nat({ max: sound.length - 1 }), fc.nat({ max: 255 }), fc.nat({ max: sound.length })])(
    'a sound file with one byte changed and cut anywhere gives a value or a named error',
    async (at, byte, cut) => {
      const changed = Buffer.from(sound);
      changed[at] = byte;
      await expectValueOrNamedError(changed);
      await expectValueOrNamedError(changed.subarray(0, cut));
    },
  );
});
