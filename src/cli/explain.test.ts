import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hitsOf, lzero, lzeroJson, Scratch } from '../../test/cli/index-commands.ts';
import { EMBEDDED_COLLECTION, openCollection } from '../data/index.ts';
import { createIndex, type Product } from '../engines/index.ts';
import { loadModel } from '../model/index.ts';

const QUERY = 'cat scratching the sofa';

let scratch: Scratch;
let index: string;
let bm25: string;
let pages: string;

beforeAll(async () => {
  scratch = new Scratch();
  [index, bm25, pages] = ['sparse', 'bm25', 'pages'].map((name) => scratch.path(name));
  const collection = await openCollection(EMBEDDED_COLLECTION);
  const part = (id: string, chunk: number, text: string) => ({ id: `${id}#${chunk}`, page: id, chunk, text });
  // The first page has the two best parts, so the second page is second and its part third.
  const parts = [part('a', 0, 'sofa cat'), part('a', 1, 'sofa cat'), part('b', 0, 'cat'), part('c', 0, 'nothing')];
  for (const made of [
    await createIndex(index, { model: await loadModel('bow') }),
    await createIndex(bm25, { kind: 'bm25' }),
  ]) {
    await made.add(collection.documents());
    await made.commit();
    await made.close();
  }
  const made = await createIndex(pages, { model: await loadModel('bow') });
  await made.add(parts);
  await made.commit();
  await made.close();
});
afterAll(() => scratch.remove());

const sum = (products: readonly Product[]): number => products.reduce((total, { product }) => total + product, 0);

describe('lzero explain', () => {
  it('gives the score and rank of search, with products that add up to it', async () => {
    const [, [id, score]] = await hitsOf(index, QUERY);
    const answer = await lzeroJson('explain', index, QUERY, id);
    expect(answer).toMatchObject({ schemaVersion: 1, query: QUERY, id, rank: 2, score });
    expect(sum(answer.explain)).toBeCloseTo(score, 9);
    const shared = answer.explain.map(({ token }: Product) => token);
    const missing = answer.missing.map(({ token }: Product) => token);
    expect([...shared, ...missing].sort()).toEqual(['cat', 'scratching', 'sofa', 'the']);
  });

  it('gives the rank under BM25 that a BM25 index gives', async () => {
    for (const [id, score] of await hitsOf(bm25, QUERY)) {
      const answer = await lzeroJson('explain', index, QUERY, id);
      const asBm25 = await lzeroJson('explain', bm25, QUERY, id);
      expect(answer.bm25).toEqual({ score, rank: asBm25.rank });
    }
  });

  it('says why a document is not among the best', async () => {
    const hits = await hitsOf(index, QUERY);
    const { stdout } = await lzero('explain', index, QUERY, hits[5][0], '-k', '3');
    const more = (hits[2][1] - hits[5][1]).toFixed(4);
    expect(stdout).toContain(`rank 6`);
    expect(stdout).toContain(`not among the best 3: the last of them has ${hits[2][1].toFixed(4)}, ${more} more`);
    expect(stdout).toMatch(/0\.0000 = +\d\.\d{4} × +0\.0000 {3}scratching \(not in the document\)/);
    expect(stdout).toMatch(/\nunder BM25: score \d+\.\d{4}, /);
  });

  it('knows documents that have no term of the query', async () => {
    const answer = await lzeroJson('explain', index, 'scratching', 'bike-chain-1');
    expect(answer).toMatchObject({ score: 0, rank: null, explain: [], bm25: { score: 0, rank: null } });
    expect((await lzero('explain', index, 'scratching', 'bike-chain-1')).stdout).toContain('no term of the query');
  });

  it('ranks a page among pages and a part among parts, here and under BM25', async () => {
    expect(await lzeroJson('explain', pages, 'cat sofa', 'b')).toMatchObject({ rank: 2, bm25: { rank: 2 } });
    expect(await lzeroJson('explain', pages, 'cat sofa', 'b#0')).toMatchObject({ rank: 3, bm25: { rank: 3 } });
    expect((await lzero('explain', pages, 'cat sofa', 'b', '-k', '2')).stdout).not.toContain('not among');
    expect((await lzero('explain', pages, 'cat sofa', 'b#0', '-k', '2')).stdout).toContain('not among the best 2');
  });

  it('leaves BM25 out where asked, and where there are no texts', async () => {
    expect(await lzeroJson('explain', index, QUERY, 'cat-1', '--no-bm25')).not.toHaveProperty('bm25');
    const vectors = scratch.writeLines('vectors.jsonl', [{ _id: 'x', vector: { cat: 1 } }]);
    await lzeroJson('index', '--vectors', vectors, '-o', scratch.path('vectors.index'));
    const answer = await lzeroJson('explain', scratch.path('vectors.index'), 'cat', 'x');
    expect([answer.rank, answer.bm25]).toEqual([1, null]);
    expect((await lzero('explain', scratch.path('vectors.index'), 'cat', 'x')).stdout).toMatch(
      /\nunder BM25: not known, the index keeps no texts .*--vectors/,
    );
  });

  it('takes what search shows: the address of a page or of its part, or its id', async () => {
    scratch.write(
      'docs/setup.md',
      `# Setup\n\n## First\n\n${'Some filler. '.repeat(60)}\n\n## Proxy\n\nSet the proxy.`,
    );
    const argv = ['--base-url', 'https://example.org/docs/', '--chunk', '64'];
    await lzeroJson('index', scratch.path('docs'), '-o', scratch.path('docs.index'), ...argv);
    const { stdout } = await lzero('search', scratch.path('docs.index'), 'proxy');
    const [, url, id] = /^ {5}(\S+) {2}\[(\S+)\]$/m.exec(stdout) ?? [];
    expect([url, id]).toEqual(['https://example.org/docs/setup.md#proxy', 'setup.md']);
    const expected = await lzeroJson('explain', scratch.path('docs.index'), 'proxy', id);
    expect(expected).toMatchObject({ id, rank: 1 });
    for (const name of [url, 'https://example.org/docs/setup.md'])
      expect(await lzeroJson('explain', scratch.path('docs.index'), 'proxy', name)).toEqual(expected);
  });

  it('refuses an address that several documents have, and names them', async () => {
    const url = 'https://example.org/';
    const twins = ['a', 'b'].map((_id) => ({ _id, text: 'cat', url }));
    const folder = scratch.path('twins.index');
    await lzeroJson('index', scratch.writeLines('twins.jsonl', twins), '-o', folder);
    expect(await lzero('explain', folder, 'cat', url)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/2 documents of .* have the address https:\/\/example\.org\/\nhint: .*"a", "b"/),
    });
  });

  it('refuses an unknown id with exit code 2', async () => {
    expect(await lzero('explain', index, QUERY, 'nobody')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('has no document "nobody"'),
    });
  });
});
