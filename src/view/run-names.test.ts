/** What runs are called: by hand, and against what a name must be, over paths that share many parts. */
import { resolve, sep } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { runNames } from './run-names.ts';

const isTail = (path: string, tail: string): boolean => path === tail || path.endsWith(sep + tail);

describe('runs are called', () => {
  it.each([
    [['train.run'], ['train.run']],
    [
      ['x/a.run/', './b.run'],
      ['a.run', 'b.run'],
    ],
    [
      ['exp1/train.run', 'exp2/train.run', 'exp1/other.run'],
      ['exp1/train.run', 'exp2/train.run', 'other.run'],
    ],
    [
      ['/1/exp/train.run', '/2/exp/train.run', '/2/new/train.run'],
      ['1/exp/train.run', '2/exp/train.run', 'new/train.run'],
    ],
    [
      ['/train.run', '/x/train.run'],
      ['/train.run', 'x/train.run'],
    ],
    [
      ['/x/a.run', '/x/./a.run', '/y/a.run'], // one folder twice is one run
      ['x/a.run', 'x/a.run', 'y/a.run'],
    ],
    [['/'], ['/']],
  ])('%j: %j', (folders, names) => {
    expect(runNames(folders)).toEqual(names);
  });

  const folders = fc.array(fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 12,
  });

  test.prop([folders])('by a tail of their path that no other path has, and the shortest such', (all) => {
    const paths = all.map((parts) => resolve(sep, ...parts));
    const names = runNames(paths);
    names.forEach((name, i) => {
      const others = paths.filter((path) => path !== paths[i]);
      const isShared = (tail: string): boolean => others.some((path) => isTail(path, tail));
      expect([isTail(paths[i], name), isShared(name)]).toEqual([true, false]);
      const shorter = name.split(sep).slice(1).join(sep);
      if (shorter !== '') expect(isShared(shorter)).toBe(true);
    });
  });
});
