import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fc, test } from '@fast-check/vitest';
import { afterAll, describe, expect, it } from 'vitest';
import { ShapeError } from '../core/index.ts';
import { BadLine } from './bad-line.ts';
import { formatFloat32, formatVector, parseVector, readVectors } from './vectors.ts';

const folder = mkdtempSync(join(tmpdir(), 'lzero-vectors-'));
const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => await Readable.from(items).toArray();
afterAll(() => rmSync(folder, { recursive: true }));

const weight = fc.float({ noNaN: true, noDefaultInfinity: true, min: Math.fround(2 ** -149) });
const entries = fc.uniqueArray(fc.tuple(fc.string({ unit: 'binary' }), weight), { selector: ([token]) => token });

describe('vector lines', () => {
  it('are written in the given order with short weights', () => {
    expect(formatVector('a"', ['b', '2024', 'c'], Float32Array.of(1.5, 0.1, 1e-7))).toBe(
      '{"_id":"a\\"","vector":{"b":1.5,"2024":0.1,"c":1e-7}}',
    );
    expect(() => formatVector('a', ['b'], [])).toThrow(ShapeError);
  });

  it('have the shortest weights', () => {
    const shortest: readonly (readonly [number, string])[] = [
      [0.1, '0.1'],
      [16777216, '16777216'],
      [1 / 3, '0.33333334'],
      [2 ** -149, '1e-45'],
      [3.4028234663852886e38, '3.4028235e+38'],
      [1.1754943508222875e-38, '1.1754944e-38'],
    ];
    for (const [value, text] of shortest) expect(formatFloat32(value)).toBe(text);
  });

  test.prop([weight])('have weights that read back as the same float32, and no shorter one does', (value) => {
    const text = formatFloat32(value);
    expect(Math.fround(Number(text))).toBe(value);
    const numDigits = text
      .replace(/e.*/, '')
      .replace('.', '')
      .replace(/^0+|0+$/g, '').length;
    if (numDigits > 1) expect(Math.fround(Number(value.toPrecision(numDigits - 1)))).not.toBe(value);
  });

  test.prop([fc.string({ minLength: 1 }), entries])('are read back', (id, list) => {
    const line = formatVector(
      id,
      list.map(([token]) => token),
      list.map(([, value]) => value),
    );
    const vector = parseVector(line);
    if (vector instanceof BadLine) return expect.fail(vector.message);
    expect(vector.id).toBe(id);
    expect(new Map(vector.tokens.map((token, i) => [token, vector.weights[i]]))).toEqual(new Map(list));
  });

  const bad: readonly (readonly [line: string, reason: string])[] = [
    ['{"_id":"a","vector":{"x":0}}', 'bad-weight'],
    ['{"_id":"a","vector":{"x":-1}}', 'bad-weight'],
    ['{"_id":"a","vector":{"x":1e39}}', 'bad-weight'],
    ['{"_id":"a","vector":{"x":1e-50}}', 'bad-weight'],
    ['{"_id":"a","vector":{"x":"1"}}', 'bad-weight'],
    ['{"_id":"a","vector":{"x":NaN}}', 'not-json'],
    ['{"_id":"a","vector":[1]}', 'wrong-type'],
    ['{"_id":"a"}', 'missing-field'],
    ['{"vector":{}}', 'missing-field'],
    ['{"_id":"a","vector":{"x":1,"y":2,"x":3}}', 'repeated-key'],
  ];
  for (const [line, reason] of bad)
    it(`like ${line} are bad: ${reason}`, () => expect(parseVector(line)).toMatchObject({ reason }));

  test.prop([fc.oneof(fc.string(), fc.json())])('of any text are a value or a bad line', (line) => {
    expect(parseVector(line)).toBeTypeOf('object');
  });

  it('are read from a file, with the line named that is bad', async () => {
    const path = join(folder, 'v.jsonl');
    writeFileSync(path, '{"_id":"a","vector":{"x":1}}\n{"_id":"b","vector":{}}\n{"_id":"a","vector":{"x":1}}\n');
    await expect(collect(readVectors(path))).rejects.toThrow(`${path}:3: id "a" was seen before`);
    expect(await collect(readVectors(path, { skipBad: true }))).toEqual([
      { id: 'a', tokens: ['x'], weights: Float32Array.of(1) },
      { id: 'b', tokens: [], weights: new Float32Array() },
    ]);
  });
});
