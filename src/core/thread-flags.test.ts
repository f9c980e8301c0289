import { describe, expect, it } from 'vitest';
import { threadFlags } from './thread-flags.ts';

describe('flags of threads', () => {
  it.each([
    [['--input-type=module', '--eval', 'code'], []],
    [
      ['--input-type', 'module', '--import', 'tsx', '-e', 'code'],
      ['--import', 'tsx'],
    ],
    [
      ['--max-old-space-size=100', '--eval=code', '--no-warnings'],
      ['--max-old-space-size=100', '--no-warnings'],
    ],
    [[], []],
  ])('of %j are %j', (flags, expected) => expect(threadFlags(flags)).toEqual(expected));
});
