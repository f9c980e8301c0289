import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FetchingHost, SiteEngine } from '../browser/index.ts';
import { countingOf } from '../data/index.ts';
import { loadModel } from '../model/index.ts';
import { openScorer } from '../teach/index.ts';
import { encodeSite } from './encode-site.ts';
import { readSite } from './read-site.ts';
import { readScripts } from './scripts.ts';
import { type SiteFiles, siteFiles } from './site-files.ts';

const PAGE = `<title>Harbour</title><main><h1>Harbour</h1><p>Where boats lie.</p>
  <h2 id="knots">Knots</h2><p>Tie a bowline and let it dry.</p>
  <h2 id="sails">Sails</h2><h3 id="jib">Jib</h3><p>Hoist it before the wind turns.</p>
  <h2 id="oars">Oars</h2><p>Sails are better, but oars work without wind.</p></main>`;

describe('short sections that are one part', { timeout: 60_000 }, () => {
  let folder: string;
  let site: SiteFiles;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lzero-places-'));
    writeFileSync(join(folder, 'a.html'), PAGE);
    const model = await loadModel('bow');
    const encoder = await openScorer({ model: model.folder, kind: 'sparse' }, { folder: join(folder, 'cache') });
    const { pages } = await readSite(folder, { chunk: { ...countingOf(model.tokenizer), maxTokens: 256 } });
    const { segment, scale } = await encodeSite(pages, encoder, { maxWeight: model.maxWeight });
    site = siteFiles({ pages, segment, side: model, scale }, await readScripts());
    await encoder.close();
    await model.close();
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  const sectionsFor = async (text: string) => {
    const host = new FetchingHost(async (name) => ({
      bytes: site.files.get(name) ?? new Uint8Array(0),
      isWhole: true,
    }));
    const engine = await SiteEngine.open(host, site.manifest, { count: () => {} });
    const [{ sections }] = (await engine.search(text, {})).hits;
    return sections.map(({ title, url, snippet }) => ({ title, url, text: snippet.text }));
  };

  it('are led to each by its own heading and anchor, with a passage of its own', async () => {
    expect(site.manifest.numSections).toBe(1);
    expect(await sectionsFor('bowline')).toEqual([
      { title: 'Knots', url: '/a.html#knots', text: 'Tie a bowline and let it dry.' },
    ]);
    expect(await sectionsFor('hoist a jib')).toEqual([
      { title: 'Sails › Jib', url: '/a.html#jib', text: 'Hoist it before the wind turns.' },
    ]);
    const oars = { title: 'Oars', url: '/a.html#oars', text: 'Sails are better, but oars work without wind.' };
    expect(await sectionsFor('oars')).toEqual([oars]);
  });

  it('show no heading where what fits stands before the first', async () => {
    expect(await sectionsFor('boats')).toEqual([]);
  });
});
