import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fc, test } from '@fast-check/vitest';
import { afterAll, describe, expect, it } from 'vitest';
import { ShapeError } from '../core/index.ts';
import { BadLine } from './bad-line.ts';
import { formatVector, parseVector, readVectors } from './vectors.ts';

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

  it('of tokens that are not text are a bug: a term id outside of the vocabulary gives undefined', () => {
    const tokens: string[] = ['b'];
    tokens.length = 2;
    expect(() => formatVector('a', Array.from(tokens), [1, 1])).toThrow('bug: token 1 of vector "a" is undefined');
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
