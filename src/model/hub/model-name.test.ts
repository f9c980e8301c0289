import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../core/index.ts';
import { modelFolder } from './model-cache.ts';
import { formatModelName, isCommit, readModelName, requireModelName } from './model-name.ts';

describe('a name of a model', () => {
  it.each([
    ['naver/splade-v3', { id: 'naver/splade-v3', revision: 'main' }],
    ['naver/splade-v3@v1.0', { id: 'naver/splade-v3', revision: 'v1.0' }],
    ['o/n@refs/pr/1', { id: 'o/n', revision: 'refs/pr/1' }],
    [`o/n@${'a'.repeat(40)}`, { id: 'o/n', revision: 'a'.repeat(40) }],
  ])('%s is read', (text, name) => {
    expect(readModelName(text)).toEqual(name);
    expect(formatModelName(name)).toBe(text);
  });

  it.each([
    '',
    'bert-base-uncased',
    './my/model',
    '../model',
    '/models/splade',
    'a/b/c',
    'C:\\models\\splade',
    'owner/..',
    'owner/.hidden',
    'owner/na--me',
    'owner/name@',
    'owner/name@..',
    'owner/name@a/../../b',
    'owner/name@-o',
    'owner/na me',
    `owner/${'n'.repeat(91)}`,
  ])('%j is none', (text) => {
    expect(readModelName(text)).toBeUndefined();
    expect(() => requireModelName(text)).toThrow(UsageError);
  });

  test.prop([fc.string({ unit: 'binary' }), fc.string(), fc.string()])(
    'never leads out of its folder, and two never share one',
    (a, b, revision) => {
      const name = readModelName(`${a}/${b}@${revision}`);
      if (!name) return;
      const folder = modelFolder('cache', name);
      expect(folder.split('/')).toHaveLength(3);
      expect(folder.split('/')[2].replace('--', '/')).toBe(name.id);
      expect(encodeURIComponent(name.revision)).not.toMatch(/^\.*$/);
    },
  );
});

describe('a commit', () => {
  it('has 40 lower-case hexadecimal digits', () => {
    expect([isCommit('0123456789abcdef0123456789abcdef01234567'), isCommit('main'), isCommit('A'.repeat(40))]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
