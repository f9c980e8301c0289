import { describe, expect, it } from 'vitest';
import { choicesOf, siteConfigSchema } from './config.ts';
import { matchesGlob } from './glob.ts';

describe('paths by pattern', () => {
  it('* stays within a folder, ** does not, and other signs mean themselves', () => {
    expect(matchesGlob('genindex-A.html', 'genindex*.html')).toBe(true);
    expect(matchesGlob('old/genindex-A.html', 'genindex*.html')).toBe(false);
    expect(matchesGlob('old/a/b.html', 'old/**')).toBe(true);
    expect(matchesGlob('b.html', '**/b.html')).toBe(true);
    expect(matchesGlob('a/c/b.html', '**/b.html')).toBe(true);
    expect(matchesGlob('axhtml', 'a.html')).toBe(false);
    expect(matchesGlob('a1.html', 'a?.html')).toBe(true);
  });
});

describe('the configuration of a site', () => {
  it('labels pages by the first path that fits, and leaves out what it excludes', () => {
    const { labels, isExcluded } = choicesOf(
      siteConfigSchema.parse({
        pages: { exclude: ['old/**'] },
        labels: [
          { name: 'part', value: 'Guide', pages: ['guide/**'] },
          { name: 'part', value: 'Rest', pages: ['**'] },
        ],
      }),
    );
    expect(labels?.({ id: 'guide/a.html', url: '' })).toEqual({ part: 'Guide' });
    expect(labels?.({ id: 'b.html', url: '' })).toEqual({ part: 'Rest' });
    expect([isExcluded?.('old/x.html'), isExcluded?.('new/x.html')]).toEqual([true, false]);
  });

  it('refuses unknown keys and selectors of several steps', () => {
    expect(() => siteConfigSchema.parse({ exclud: [] })).toThrow('exclud');
    expect(() => choicesOf(siteConfigSchema.parse({ exclude: ['main > nav'] }))).toThrow('not a selector of one step');
  });
});
