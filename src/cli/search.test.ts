import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hitsOf, lzero, lzeroJson, Scratch } from '../../test/cli/index-commands.ts';
import { goldenFolder } from '../../test/golden/model/fixtures.ts';
import { EMBEDDED_COLLECTION, openCollection, type Query } from '../data/index.ts';
import { createIndex, type Hit, type Product } from '../engines/index.ts';
import { loadModel } from '../model/index.ts';
import type { QueryTerm } from '../text/index.ts';

let scratch: Scratch;
let index: string;
let bm25: string;

beforeAll(async () => {
  scratch = new Scratch();
  index = scratch.path('my.index');
  bm25 = scratch.path('bm25.index');
  const hostile = { _id: 'hostile\u001b[2J', text: 'gizmo \u001b[31m red \u0007 text\nsecond line' };
  const page = [
    { id: 'page#0', page: 'page', chunk: 0, title: 'Page', text: 'of an emperor' },
    { id: 'page#1', page: 'page', chunk: 1, title: 'Page', text: 'of an emperor and a dynasty' },
  ];
  const collection = await openCollection(EMBEDDED_COLLECTION);
  for (const [folder, kind] of [[index, 'sparse'] as const, [bm25, 'bm25'] as const]) {
    const made = await createIndex(folder, { kind, model: await loadModel('bow') });
    await made.add(collection.documents());
    await made.add([{ id: hostile._id, text: hostile.text }, ...page]);
    await made.commit();
    await made.close();
  }
});
afterAll(() => scratch.remove());

const QUERY = 'cat scratching the sofa';

describe('lzero search, of one query', () => {
  it('answers in the fields that are documented, and no others', async () => {
    const answer = await lzeroJson('search', index, QUERY, '-k', '2', '--explain');
    expect(Object.keys(answer)).toEqual(['schemaVersion', 'query', 'tookMs', 'terms', 'hits']);
    expect(answer).toMatchObject({ schemaVersion: 1, query: QUERY });
    expect(answer.terms.map(({ token }: { token: string }) => token)).toEqual(['cat', 'scratching', 'the', 'sofa']);
    expect(answer.hits).toHaveLength(2);
    const [best] = answer.hits;
    expect(Object.keys(best)).toEqual(['rank', 'id', 'score', 'title', 'text', 'explain']);
    expect(best).toMatchObject({ rank: 1, id: 'cat-1', title: 'Cats scratching furniture' });
    expect(Object.keys(best.explain[0])).toEqual(['token', 'queryWeight', 'docWeight', 'product']);
    const sum = best.explain.reduce((total: number, { product }: Product) => total + product, 0);
    expect(sum).toBeCloseTo(best.score, 9);
  });

  it('gives ten hits unless told, and no explanation unless asked', async () => {
    const { hits } = await lzeroJson('search', index, 'the best way');
    expect(hits).toHaveLength(10);
    expect(hits[0].explain).toBeUndefined();
  });

  it('shows rank, score, title, id and a passage with the words; with --explain products', async () => {
    const { stdout } = await lzero('search', index, QUERY, '-k', '1', '--explain');
    const [first, id, passage, product] = stdout.split('\n');
    expect(first).toMatch(/^ {2}1\. 15\.\d{3} {2}Cats scratching furniture$/);
    expect(id).toBe('     cat-1');
    expect(passage).toContain('sofa');
    expect(product).toMatch(/^ +7\.962 = 7\.962 × 1\.000 {2}scratching$/);
    expect(stdout).toMatch(/\n1 hit in \d+\.\d ms, with what was read from disk\n$/);
  });

  it('shows a passage with the words by which BM25 found a document', async () => {
    const { stdout } = await lzero('search', bm25, 'scratching sofas', '-k', '1');
    expect(stdout).toMatch(/Cats scratching furniture\n {5}cat-1\n {5}\S.*sofa.*\n/);
  });

  it.each([() => index, () => bm25])(
    'with --json --snippets gives passages and where their words are',
    async (folder) => {
      const { hits } = await lzeroJson('search', folder(), QUERY, '-k', '1', '--snippets');
      const { text, highlights, titleHighlights, isCut, expansion, ...others } = hits[0].snippet;
      expect([hits[0].text.includes(text), expansion, others]).toEqual([true, [], {}]);
      expect(highlights.map(([start, end]: number[]) => text.slice(start, end))).toContain('sofa');
      expect(titleHighlights.map(([start, end]: number[]) => hits[0].title.slice(start, end))).toContain('scratching');
      expect(isCut).toEqual({ before: expect.any(Boolean), after: expect.any(Boolean) });
      expect(hits[0].explain).toBeUndefined();
      expect(await lzero('search', folder(), QUERY, '--snippets')).toMatchObject({ exitCode: 2 });
    },
  );

  it.each([() => index, () => bm25])('lets no control character of a document reach the terminal', async (folder) => {
    const { stdout } = await lzero('search', folder(), 'gizmo');
    expect(stdout).toContain('red');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  it('says why there are no hits', async () => {
    expect((await lzero('search', index, 'parliament')).stdout).toBe('no hits for parliament\n');
    expect((await lzero('search', bm25, 'the')).stdout).toBe('no hits: the query has no terms that the index knows\n');
  });

  it('takes a vector instead of words', async () => {
    const { hits, query } = await lzeroJson('search', index, '--vector', '{"sofa": 2, "cat": 1}', '-k', '3');
    expect(query).toEqual({ sofa: 2, cat: 1 });
    expect(hits[0].score).toBeCloseTo(2, 1); // sofa, or two words of weight 1
    expect(await lzero('search', index, '--vector', '{"qzxw": 1}')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('qzxw'),
    });
    expect(await lzero('search', bm25, '--vector', '{"sofa": 1}')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('BM25'),
    });
  });

  it('finds a page once, by its best part, or with --parts its parts', async () => {
    expect((await hitsOf(index, 'emperor dynasty')).map(([id]) => id)).toEqual(['page']);
    expect((await hitsOf(index, 'emperor dynasty', '--parts')).map(([id]) => id)).toEqual(['page#1', 'page#0']);
  });

  it.each([['--lean'], ['--workers', '2'], ['--lean', '--workers', '2']])(
    'answers the same with %s %s',
    async (...argv) => {
      expect(await hitsOf(index, QUERY, ...argv)).toEqual(await hitsOf(index, QUERY));
      expect(await hitsOf(bm25, QUERY, ...argv)).toEqual(await hitsOf(bm25, QUERY));
    },
  );
});

describe('lzero search, of many queries', () => {
  let queries: string;
  let texts: readonly Query[];

  beforeAll(async () => {
    texts = (await openCollection(EMBEDDED_COLLECTION)).queries.slice(0, 20);
    queries = scratch.writeLines(
      'queries.jsonl',
      texts.map(({ id, text }) => ({ _id: id, text })),
    );
  });

  it('knows JSON lines by the first of them, whatever the file is called', async () => {
    const records = [
      { _id: 'q-x', text: texts[0].text },
      { _id: 'q-y', vector: { cat: 1 } },
    ];
    const json = await lzero('search', index, '--queries', scratch.writeLines('queries.txt', records), '-k', '1');
    expect(json.stdout.match(/^\S+/gm)).toEqual(['q-x', 'q-y']);
    const text = await lzero('search', index, '--queries', scratch.write('plain.txt', 'cat\n{ sofa\n'), '-k', '1');
    expect(text.stdout.match(/^\S+/gm)).toEqual(['1', '2']);
  });

  it('writes a TREC run, the same on one thread and on two', async () => {
    const { exitCode, stdout, stderr } = await lzero('search', index, '--queries', queries, '-k', '5', '--tag', 'mine');
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('answered 20 queries')]);
    const [first] = await hitsOf(index, texts[0].text, '-k', '1');
    expect(stdout.split('\n')[0]).toBe(`${texts[0].id} Q0 ${first[0]} 1 ${first[1]} mine`);
    const many = await lzero('search', index, '--queries', queries, '-k', '5', '--tag', 'mine', '--workers', '2');
    expect(many.stdout).toBe(stdout);
  });

  it.each([[], ['--workers', '2']])('ends with exit code 2 at a query that cannot be asked %j', async (...argv) => {
    const bad = scratch.writeLines('bad.jsonl', [
      { _id: 'good', text: QUERY },
      { _id: 'bad', vector: { 'no such token': 1 } },
    ]);
    expect(await lzero('search', index, '--queries', bad, ...argv)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('error[USAGE]: the query has the token "no such token"'),
    });
  });

  it('writes the run to a file, once', async () => {
    const run = scratch.path('run.trec');
    const argv = ['search', index, '--queries', queries, '-o', run];
    expect((await lzero(...argv)).exitCode).toBe(0);
    const lines = readFileSync(run, 'utf8').trimEnd().split('\n');
    expect(new Set(lines.map((line) => line.split(' ')[0])).size).toBe(20);
    expect(lines.length).toBeGreaterThan(20 * 100); // -k is 1000 here
    expect(await lzero(...argv)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--force') });
    expect((await lzero(...argv, '--force')).exitCode).toBe(0);
  });

  it('with --json prints one answer a line, also from lines of text and from vectors', async () => {
    const lines = scratch.write('queries.txt', `${QUERY}\n\ntides\n`);
    const vectors = scratch.writeLines('vectors.jsonl', [{ _id: 'v', vector: { sofa: 2 } }]);
    const answers = async (file: string) =>
      (await lzero('search', index, '--queries', file, '--json', '-k', '1')).stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
    const [one, two] = await answers(lines);
    expect(one).toMatchObject({ schemaVersion: 1, id: '1', query: QUERY, hits: [{ rank: 1, id: 'cat-1' }] });
    expect(two).toMatchObject({ id: '3', query: 'tides' });
    const [vector] = await answers(vectors);
    expect(vector).toMatchObject({ id: 'v', query: { sofa: 2 }, terms: [{ token: 'sofa', weight: 2 }] });
    expect(vector.hits[0].text).toContain('sofa');
  });

  it('names a bad line, or counts it with --skip-bad', async () => {
    const bad = scratch.write('bad.jsonl', '{"_id": "a", "text": "sofa"}\nnot json\n');
    expect(await lzero('search', index, '--queries', bad)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`${bad}:2:`),
    });
    const { exitCode, stderr } = await lzero('search', index, '--queries', bad, '--skip-bad');
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('1 bad lines were left out')]);
  });
});

describe('lzero search --query-model', () => {
  const network = ['--query-model', goldenFolder('tied')];
  const query = 'the old bridge';
  let encoded: string;

  beforeAll(async () => {
    encoded = scratch.path('encoded.index');
    const documents = scratch.writeLines('birds.jsonl', [
      { _id: 'cold', text: 'the river was cold' },
      { _id: 'bird', text: 'A quick bird sings on the old bridge' },
    ]);
    await lzeroJson('index', documents, '-o', encoded, '--model', goldenFolder('tied'), '--idf', 'none');
  });

  it('asks what the network makes of the query', async () => {
    const answer = await lzeroJson('search', encoded, query, ...network, '--explain');
    expect(answer.query).toBe(query);
    const vector = Object.fromEntries(answer.terms.map(({ token, weight }: QueryTerm) => [token, weight]));
    expect(Object.keys(vector).length).toBeGreaterThan(3); // more than its words
    const weights = answer.terms.map(({ weight }: QueryTerm) => weight);
    expect(weights).toEqual(weights.toSorted((a: number, b: number) => b - a));
    const byVector = await lzeroJson('search', encoded, '--vector', JSON.stringify(vector), '--explain');
    expect(answer.hits).toEqual(byVector.hits);
    expect(answer.hits).not.toEqual((await lzeroJson('search', encoded, query, '--explain')).hits);
  });

  it('asks so for a file of queries too, in their order, but keeps the vectors of those that have one', async () => {
    const file = scratch.writeLines('mixed.jsonl', [
      { _id: 'v', vector: { river: 2 } },
      { _id: 'a', text: query },
      { _id: 'w', vector: { bird: 1 } },
    ]);
    const { stdout } = await lzero('search', encoded, '--queries', file, ...network, '--json');
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.map(({ id }) => id)).toEqual(['v', 'a', 'w']);
    expect(answers.map((answer) => answer.query)).toEqual([{ river: 2 }, query, { bird: 1 }]);
    const alone = await lzeroJson('search', encoded, query, ...network);
    expect(answers[1].hits.map(({ id }: Hit) => id)).toEqual(alone.hits.map(({ id }: Hit) => id));
    const run = await lzero('search', encoded, '--queries', file, ...network);
    expect(run.stdout.split('\n').filter((line) => line.startsWith('a Q0 '))).toHaveLength(alone.hits.length);
  });

  it('is refused for an index of another vocabulary, of words, and beside --vector', async () => {
    const other = await lzero('search', index, query, ...network);
    expect(other).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('277 tokens against 30522') });
    const words = await lzero('search', bm25, query, ...network);
    expect(words).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is searched with words') });
    const both = await lzero('search', encoded, '--vector', '{"river": 1}', ...network);
    expect(both).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('do not go together') });
  });
});

describe('lzero search refuses', () => {
  it.each([
    [[], 'give a query, --vector or --queries'],
    [['words', '--vector', '{}'], 'give a query, --vector or --queries'],
    [['words', '-o', 'run.trec'], '-o is for the run of --queries'],
    [['--queries', 'q.txt', '--explain'], 'add --json'],
    [['words', '-k', '10001'], 'k is a whole number from 1 to 10000'],
    [['words', '--filter', '[]'], 'expected an object'],
    [['--vector', '{"a": "b"}'], 'expected an object of weights'],
  ])('%j with exit code 2', async (argv, words) => {
    const { exitCode, stderr } = await lzero('search', index, ...argv);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(words)]);
  });

  it.each([
    ['folder', () => scratch.folder],
    ['file', () => import.meta.filename],
  ])('a %s that is not an index', async (_, path) => {
    expect(await lzero('search', path(), 'words')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('is not an index'),
    });
  });
});
