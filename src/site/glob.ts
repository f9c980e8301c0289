/** Paths by pattern: `*` is anything within a folder, `**` anything, `?` one character. No other sign means anything. */

/** Whether a path, written with `/`, is meant by a pattern. */
export function matchesGlob(path: string, pattern: string): boolean {
  const source = pattern.replace(/\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g, (sign) => {
    if (sign === '**/') return '(?:.*/)?';
    if (sign === '**') return '.*';
    if (sign === '*') return '[^/]*';
    return sign === '?' ? '[^/]' : `\\${sign}`;
  });
  return new RegExp(`^${source}$`, 's').test(path);
}
