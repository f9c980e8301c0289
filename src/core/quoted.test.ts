import { describe, expect, it } from 'vitest';
import { describeIssues, parseJson } from './json.ts';
import { printable, quoted, shownJson } from './quoted.ts';

/** Colours, the one-byte form of the same order, a bell, an end of line, and writing from right to left. */
const ORDERS = '\u001b[31m\u009b31m\u0007\n\u202e';

describe('a text of a file in a message', () => {
  it('is quoted as JSON has it', () => {
    expect(quoted('a "b" c')).toBe('"a \\"b\\" c"');
  });

  it.each([
    ['quoted', quoted],
    ['as a sentence', printable],
  ])('gives a terminal no orders, %s', (_, show) => {
    expect(show(`a${ORDERS}b`)).toMatch(/^"?a(?:\\u00[0-9a-f]{2}\[31m)\\u009b31m\\u0007(?:\\n|\\u000a)\\u202eb"?$/);
  });

  it('is shown with its value where it is JSON, but lists and objects only by their kind', () => {
    expect(['a\n', 1.5, null, true, [[]], { a: [] }].map(shownJson)).toEqual([
      '"a\\n"',
      '1.5',
      'null',
      'true',
      'a list',
      'an object',
    ]);
  });

  it('is cut: quoted at 200 characters, as a sentence at 1000', () => {
    expect(quoted('x'.repeat(10_000))).toHaveLength(203);
    expect(printable('x'.repeat(10_000))).toHaveLength(1001);
    expect(printable('x'.repeat(1000))).toHaveLength(1000);
  });

  it('is cut and harmless in what JSON and schemas complain of', () => {
    const long = ORDERS + 'x'.repeat(10_000);
    const problem = describeIssues([{ path: [long], message: long }]);
    expect(problem).toBe(printable(problem));
    const said: string[] = [];
    const fail = (words: string) => new Error(String(said.push(words)));
    expect(() => parseJson(`{${ORDERS}`, fail)).toThrow();
    expect(said).toEqual([printable(said[0])]);
  });
});
