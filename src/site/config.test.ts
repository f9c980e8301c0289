import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { countingOf } from '../data/index.ts';
import { loadModel } from '../model/index.ts';
import { rowAt, SegmentReader } from '../search/index.ts';
import { openScorer } from '../teach/index.ts';
import { choicesOf, siteConfigSchema } from './config.ts';
import { encodeSite } from './encode-site.ts';
import { matchesGlob } from './glob.ts';
import { readSite } from './read-site.ts';

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

  it.each([0.5, 2, 10])('weighs what it selects: %s of the weight is as much of every weight', async (factor) => {
    const folder = mkdtempSync(join(tmpdir(), 'lzero-weights-'));
    writeFileSync(join(folder, 'a.html'), '<title>Boats</title><main><p class="summary">Ropes and tides.</p></main>');
    const model = await loadModel('bow');
    const encoder = await openScorer({ model: model.folder, kind: 'sparse' }, { folder: join(folder, 'cache') });
    const weights = async (given: object): Promise<number[]> => {
      const chunk = { ...countingOf(model.tokenizer), maxTokens: 64 };
      const { pages } = await readSite(folder, { ...choicesOf(siteConfigSchema.parse(given)), chunk });
      const { segment, scale } = await encodeSite(pages, encoder, { maxWeight: model.maxWeight });
      const reader = new SegmentReader(segment);
      const rows = Array.from({ length: reader.directory.numTerms }, (_, i) => rowAt(reader.directory, i));
      return rows.sort((a, b) => a.term - b.term).map((row) => (reader.postings(row)[0] & 255) * scale);
    };
    const once = await weights({});
    const weighed = await weights({ weights: [{ select: '.summary', weight: factor }] });
    expect(once.length).toBeGreaterThan(2);
    const step = (Math.max(1, factor) * model.maxWeight) / 255;
    for (const [i, weight] of weighed.entries())
      expect(Math.abs(weight - once[i] * factor)).toBeLessThanOrEqual(step / 2);
    await encoder.close();
    await model.close();
    rmSync(folder, { recursive: true });
  });

  it('refuses to weigh headings, which are encoded with their text', () => {
    const weights = [{ select: 'h1.title', weight: 2 }];
    expect(() => choicesOf(siteConfigSchema.parse({ weights }))).toThrow('counts as the text below it does');
  });

  it('refuses unknown keys and selectors of several steps', () => {
    expect(() => siteConfigSchema.parse({ exclud: [] })).toThrow('exclud');
    expect(() => choicesOf(siteConfigSchema.parse({ exclude: ['main > nav'] }))).toThrow('not a selector of one step');
  });
});
