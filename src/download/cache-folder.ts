/** Where downloads are kept between runs. Knows the conventions, reads no environment: that comes in from outside. */
import { isAbsolute, join } from 'node:path';

/**
 * The folder of everything that was fetched and can be fetched again:
 *
 *     $LZERO_CACHE                where it is set
 *     $XDG_CACHE_HOME/lzero       where that is an absolute path; the XDG specification says to ignore others
 *     ~/.cache/lzero              otherwise
 */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>, home: string): string {
  if (env.LZERO_CACHE) return env.LZERO_CACHE;
  const xdg = env.XDG_CACHE_HOME;
  return join(xdg && isAbsolute(xdg) ? xdg : join(home, '.cache'), 'lzero');
}
