import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ConfigError } from './errors.ts';
import { describeIssues, hasRepeatedKeys, parseJson } from './json.ts';

const fail = (problem: string, cause: unknown): Error => new ConfigError(`f: ${problem}`, { cause });

describe('parseJson', () => {
  test.prop([fc.json()])('gives what JSON.parse gives', (text) => {
    expect(parseJson(text, fail)).toEqual(JSON.parse(text));
  });

  it('throws the error of the caller, with the cause', () => {
    for (const text of ['', '{"a":1', '{"a":NaN}']) {
      expect(() => parseJson(text, fail)).toThrow(ConfigError);
      expect(() => parseJson(text, fail)).toThrow(
        expect.objectContaining({ message: expect.stringMatching(/^f: not JSON: /), cause: expect.any(SyntaxError) }),
      );
    }
  });
});

describe('describeIssues', () => {
  it('names each place; the place of the whole is the file', () => {
    const issues = [
      { path: ['a', 0, 'b'], message: 'too small' },
      { path: [], message: 'expected an object' },
      { path: [Symbol('c')], message: 'unknown' },
    ];
    expect(describeIssues(issues)).toBe('a.0.b: too small; file: expected an object; Symbol(c): unknown');
    expect(describeIssues([])).toBe('');
  });
});

describe('hasRepeatedKeys', () => {
  const repeats = (text: string): boolean => hasRepeatedKeys(text, JSON.parse(text));

  it.each([
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '{"a":{"b":1,"b":1}}',
    '[{"a":[{"":1,"":2}]}]',
    '{"__proto__":1,"__proto__":2}',
    '{ "a:\\"" : 1 , "a:\\"" : 1 }',
  ])('finds the one of %s', (text) => expect(repeats(text)).toBe(true));

  it.each(['1', 'null', '":"', '[]', '{"a":{"a":{"a":1}}}', '[{"a":1},{"a":1}]', '{"a:":"\\\\","b":"\\":"}'])(
    'finds none in %s',
    (text) => expect(repeats(text)).toBe(false),
  );

  test.prop([fc.jsonValue()])('finds none in what JSON.stringify wrote', (value) => {
    expect(repeats(JSON.stringify(value))).toBe(false);
    expect(repeats(JSON.stringify(value, undefined, 2))).toBe(false);
  });

  test.prop([fc.string(), fc.jsonValue(), fc.jsonValue()])('finds any key that is there twice', (key, a, b) => {
    const [name, first, second] = [key, a, b].map((part) => JSON.stringify(part));
    expect(repeats(`{"x":[{${name}:${first},${name}:${second}}]}`)).toBe(true);
  });

  it('does not exhaust the stack of values nested 100,000 deep', () => {
    expect(repeats(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)).toBe(false);
  });
});
