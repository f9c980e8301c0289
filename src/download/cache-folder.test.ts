import { describe, expect, it } from 'vitest';
import { cacheFolder } from './cache-folder.ts';

describe('cacheFolder', () => {
  it.each([
    [{ LZERO_CACHE: '/c', XDG_CACHE_HOME: '/x' }, '/c'],
    [{ XDG_CACHE_HOME: '/x' }, '/x/lzero'],
    [{ XDG_CACHE_HOME: 'relative' }, '/home/ada/.cache/lzero'],
    [{ LZERO_CACHE: '', XDG_CACHE_HOME: '' }, '/home/ada/.cache/lzero'],
    [{}, '/home/ada/.cache/lzero'],
  ])('of %j is %s', (env, folder) => {
    expect(cacheFolder(env, '/home/ada')).toBe(folder);
  });
});
