/** What a hybrid does beyond the contract of engines (test/contract). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadModel } from '../model/index.ts';
import { createIndex } from './embedded-index.ts';
import type { Engine, EngineDocument } from './engine.ts';
import { type HybridOptions, hybridEngine } from './hybrid.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lzero-hybrid-'));
});
afterEach(() => rmSync(root, { recursive: true }));

async function made(documents: readonly EngineDocument[], options: HybridOptions): Promise<Engine> {
  const engines = [
    await createIndex(join(root, 'terms'), { model: await loadModel('bow') }),
    await createIndex(join(root, 'words'), { kind: 'bm25' }),
  ];
  const hybrid = hybridEngine(engines, options);
  await hybrid.add(documents);
  await hybrid.commit();
  return hybrid;
}

/** The first has the word in the shortest text, and so on. */
const RANKED = [1, 2, 3].map((length) => ({ id: `d${length}`, text: `bread ${'tide '.repeat(length)}` }));

describe('a hybrid', () => {
  it('explains a document behind its depth by longer lists, not as one without a term of the query', async () => {
    const hybrid = await made(RANKED, { depth: 1 });
    const explanation = await hybrid.explain('bread', 'd3');
    // Reciprocal ranks: third for BM25, which marks long texts down, and third by order of addition for equal weights.
    expect(explanation).toMatchObject({ rank: 3, score: expect.closeTo(2 / 63, 12) });
    expect(explanation?.products.map(({ product }) => product)).toEqual([1 / 63, 1 / 63]);
    const [terms, words] = explanation?.engines ?? [];
    expect([terms, words]).toMatchObject([
      { name: `index:${join(root, 'terms')}`, rank: 3, products: [{ token: 'bread' }] },
      { name: `index:${join(root, 'words')}`, rank: 3, products: [{ token: 'bread' }] },
    ]);
    expect(words.products[0].product).toBeCloseTo(words.score, 6);
    expect((await hybrid.explain('bread', 'd3', { rank: false }))?.engines).toMatchObject([
      { rank: undefined },
      { rank: undefined },
    ]);
    await hybrid.close();
  });

  it('explains the part of a page among parts', async () => {
    const parts = RANKED.map(({ text }, chunk) => ({ id: `p#${chunk}`, page: 'p', chunk, text }));
    const hybrid = await made(parts, {});
    expect(await hybrid.explain('bread', 'p')).toMatchObject({ rank: 1 });
    expect(await hybrid.explain('bread', 'p#2')).toMatchObject({ rank: 3, score: expect.closeTo(2 / 63, 12) });
    await hybrid.close();
  });

  it('shows what is stored also of a document that only the second engine finds', async () => {
    const shared = { text: 'we run', title: 'both' };
    const hybrid = await made([{ id: 'a', ...shared }], {});
    const [{ title, text, score }] = (await hybrid.search('running')).hits; // stemmed: a word for BM25, no token of ours
    expect({ title, text }).toEqual({ title: 'both', text: 'we run' });
    expect(score).toBeCloseTo(1 / 61, 12);
    const ids = await hybrid.search('run', { idsOnly: true });
    expect(ids.hits).toEqual([{ rank: 1, id: 'a', score: expect.closeTo(2 / 61, 12) }]);
    await hybrid.close();
  });

  it('refuses a depth that no engine reaches', async () => {
    const hybrid = await made([], {});
    expect(() => hybridEngine([hybrid], { depth: 10_001 })).toThrow('depth is a whole number from 1 to 10000');
    await hybrid.close();
  });
});
