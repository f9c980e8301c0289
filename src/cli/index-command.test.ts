import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hitsOf, lzero, lzeroJson, lzeroUntil, Scratch } from '../../test/cli/index-commands.ts';
import { goldenFolder } from '../../test/golden/model/fixtures.ts';
import { InterruptedError } from '../core/index.ts';
import { type Hit, openIndex } from '../engines/index.ts';
import { acquireLock } from '../files/index.ts';

const DOCUMENTS = [
  { _id: 'bread', title: 'Sourdough', text: 'Flour, water and salt become bread.', fields: { lang: 'en', year: 2019 } },
  { _id: 'chain', title: 'Bicycle chain', text: 'Oil the chain of a bicycle.', fields: { lang: 'en', year: 2021 } },
  { _id: 'kette', title: 'Fahrradkette', text: 'Die chain braucht Oil.', fields: { lang: 'de', year: 2022 } },
];

/** A model folder other than the embedded one, tiny. */
const OTHER_MODEL = ['--model', goldenFolder('tied'), '--idf', 'none'];

let scratch: Scratch;
let corpus: string;
let index: string;

beforeEach(() => {
  scratch = new Scratch();
  corpus = scratch.writeLines('corpus.jsonl', DOCUMENTS);
  index = scratch.path('my.index');
});
afterEach(() => scratch.remove());

const ids = async (query: string, ...argv: string[]): Promise<string[]> =>
  (await hitsOf(index, query, ...argv)).map(([id]) => id);

describe('lzero index, of documents', () => {
  it('makes an index that finds them, and tells what it did', async () => {
    expect(await lzeroJson('index', corpus, '-o', index)).toMatchObject({
      schemaVersion: 1,
      index,
      documents: 3,
      added: 3,
      replaced: 0,
      clamped: 0,
      bad: 0,
    });
    expect(await ids('flour and water')).toEqual(['bread']);
  });

  it('with --bm25 --no-stop-words finds words such as "the", and is another index than one without', async () => {
    const texts = scratch.writeLines('the.jsonl', [{ _id: 'who', text: 'The Who' }]);
    await lzeroJson('index', texts, '-o', index, '--bm25', '--no-stop-words');
    expect(await hitsOf(index, 'the')).toHaveLength(1);
    expect((await lzeroJson('stats', index)).bm25).toEqual({ k1: 0.9, b: 0.4, stopWords: false });
    expect(await lzero('index', texts, '-o', index, '--bm25')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('made with another bm25'),
    });
    await lzeroJson('index', texts, '-o', index, '--bm25', '--force');
    expect(await hitsOf(index, 'the')).toEqual([]);
  });

  it('with --bm25 needs no model, and takes its parameters', async () => {
    await lzeroJson('index', corpus, '-o', index, '--bm25', '--k1', '1.2', '--b', '0.75');
    expect(await lzeroJson('stats', index)).toMatchObject({ kind: 'bm25', model: null, bm25: { k1: 1.2, b: 0.75 } });
    expect(await ids('bicycles')).toEqual(['chain']); // stemmed
  });

  it('filters by fields that were declared', async () => {
    await lzeroJson('index', corpus, '-o', index, '--fields', 'lang:keyword,year:number');
    expect(await ids('chain oil', '--filter', '{"lang": "de"}')).toEqual(['kette']);
    expect(await ids('chain oil', '--filter', '{"year": {"lt": 2022}}')).toEqual(['chain']);
    expect(await lzero('search', index, 'chain', '--filter', '{"colour": 1}')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/no field "colour"\nhint: declared fields: lang, year/),
    });
  });

  it('with --store-vectors scores by float weights, whose products add up', async () => {
    await lzeroJson('index', corpus, '-o', index, '--store-vectors', ...OTHER_MODEL);
    const { hits } = await lzeroJson('search', index, 'chain bicycle', '--exact', '--explain');
    expect(hits.length).toBeGreaterThan(0);
    for (const { explain, score } of hits)
      expect(explain.reduce((sum: number, { product }: { product: number }) => sum + product, 0)).toBeCloseTo(score, 5);
    const [[, coarse]] = await hitsOf(index, 'chain bicycle');
    expect(coarse).not.toBe(hits[0].score);
    expect(coarse / hits[0].score).toBeCloseTo(1, 1);
  });

  it('without float weights refuses --exact', async () => {
    await lzeroJson('index', corpus, '-o', index);
    expect(await lzero('search', index, 'chain', '--exact')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('keeps no float vectors'),
    });
  });

  it('--chunk cuts long documents into parts and finds the document', async () => {
    const paragraph = (word: string): string => `${'Some sentence of filler words. '.repeat(12)}${word}.`;
    scratch.writeLines('corpus.jsonl', [
      { _id: 'long', text: ['zebra', 'giraffe', 'lion'].map(paragraph).join('\n\n') },
    ]);
    expect((await lzeroJson('index', corpus, '-o', index, '--chunk', '100')).documents).toBeGreaterThan(2);
    expect(await ids('giraffe')).toEqual(['long']);
    expect((await ids('giraffe', '--parts'))[0]).toMatch(/^long#\d$/);
  });

  it('names the bad line; the same command with --skip-bad goes on', async () => {
    appendFileSync(corpus, 'not json\n');
    expect(await lzero('index', corpus, '-o', index)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`${corpus}:4:`),
    });
    expect(await lzeroJson('index', corpus, '-o', index, '--skip-bad')).toMatchObject({ documents: 3, bad: 1 });
  });

  it.each(['a line', 'a page'])('takes a declared field of a wrong type for %s that is bad', async (kind) => {
    const isPage = kind === 'a page';
    const bad = isPage
      ? scratch.write('docs/bad.md', '---\nyear: soon\n---\n# Soon\n')
      : scratch.writeLines('corpus.jsonl', [...DOCUMENTS, { _id: 'soon', text: 'soon', fields: { year: 'soon' } }]);
    if (isPage) scratch.write('docs/good.md', '---\nyear: 2020\n---\n# Flour and water\n');
    const argv = ['index', isPage ? scratch.path('docs') : corpus, '-o', index, '--fields', 'year:number'];
    const { exitCode, stderr } = await lzero(...argv);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/field "year": expected a number, got "soon"\nhint: .*--skip-bad/),
    ]);
    expect(stderr).toContain(isPage ? `${bad}: ` : `${bad}:4: `);
    expect(await lzeroJson(...argv, '--skip-bad')).toMatchObject({ documents: isPage ? 1 : 3, bad: 1 });
    expect(await ids('flour')).toEqual([isPage ? 'good.md' : 'bread']);
  });

  it('refuses a document that is called like a part of another, also when it is asked again', async () => {
    const long = 'Some sentence of filler words.\n\n'.repeat(60);
    scratch.writeLines('corpus.jsonl', [
      { _id: 'a', text: long },
      ...Array.from({ length: 600 }, (_, i) => ({ _id: `d${i}`, text: 'tide' })),
      { _id: 'a#0', text: 'moon' },
    ]);
    for (const _ of ['first', 'again'])
      expect(await lzero('index', corpus, '-o', index, '--chunk', '64')).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('"a#0" is the id of a part of "a" and of a document'),
      });
    expect(await ids('moon')).toEqual([]);
  });

  it('begins anew where the failed run before had added nothing', async () => {
    writeFileSync(corpus, 'not json\n');
    expect((await lzero('index', corpus, '-o', index)).exitCode).toBe(1);
    scratch.writeLines('corpus.jsonl', DOCUMENTS);
    expect((await lzeroJson('index', corpus, '-o', index)).documents).toBe(3);
  });
});

describe('lzero index, where something is in the way', () => {
  it('does not touch a finished index unless forced', async () => {
    await lzeroJson('index', corpus, '-o', index);
    expect(await lzero('index', corpus, '-o', index)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/is an index already\nhint: .*--force/),
    });
    scratch.writeLines('corpus.jsonl', DOCUMENTS.slice(0, 1));
    expect((await lzeroJson('index', corpus, '-o', index, '--force')).documents).toBe(1);
    expect((await lzeroJson('index', corpus, '-o', index, '--force', ...OTHER_MODEL)).documents).toBe(1);
  });

  it('forced, keeps the old index until the new one is whole, and a failure leaves it', async () => {
    await lzeroJson('index', corpus, '-o', index);
    const open = await openIndex(index);
    const found = async () => (await open.search('flour chain walrus')).hits.map(({ id }) => id);
    const old = await found();
    scratch.writeLines('corpus.jsonl', [{ _id: 'walrus', text: 'a walrus' }]);
    appendFileSync(corpus, 'not json\n');
    expect((await lzero('index', corpus, '-o', index, '--force')).exitCode).toBe(1);
    expect([await ids('flour'), await open.refresh(), await found()]).toEqual([['bread'], false, old]);
    expect((await lzeroJson('index', corpus, '-o', index, '--force', '--skip-bad')).documents).toBe(1);
    expect(await ids('flour chain walrus')).toEqual(['walrus']);
    expect(await found()).toEqual(old);
    expect([await open.refresh(), await found()]).toEqual([true, ['walrus']]);
    await open.close();
    expect(readdirSync(index)).not.toContain('replacement');
    expect(await lzeroJson('verify', index)).toMatchObject({ ok: true, numDocs: 1 });
  });

  it('forced, replaces a damaged index', async () => {
    await lzeroJson('index', corpus, '-o', index);
    writeFileSync(join(index, 'manifest.json'), '{"damaged');
    expect((await lzero('index', corpus, '-o', index)).stderr).toContain('error[INDEX_FORMAT]');
    expect((await lzeroJson('index', corpus, '-o', index, '--force')).documents).toBe(3);
  });

  it('never removes what is not an index, also if it has a manifest.json', async () => {
    const page = scratch.write('my.index/index.html', 'a web site');
    const manifest = scratch.write('my.index/manifest.json', '{"name": "a web site"}');
    for (const argv of [[], ['--force']]) expect((await lzero('index', corpus, '-o', index, ...argv)).exitCode).toBe(1);
    mkdirSync(join(index, 'segments'));
    expect((await lzero('index', corpus, '-o', index, '--force')).stderr).toContain('there is index.html');
    expect([readFileSync(page, 'utf8'), existsSync(manifest)]).toEqual(['a web site', true]);
  });

  it.each([[], ['--force']])('does not touch a file that has the name (%j)', async (...force) => {
    const file = scratch.write('my.index', 'mine');
    expect(await lzero('index', corpus, '-o', index, ...force)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/my\.index is a file; an index is a folder\nhint: name a folder/),
    });
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  it('leaves no trace in a folder that is not empty', async () => {
    scratch.write('my.index/notes.doc', 'mine');
    expect((await lzero('index', corpus, '-o', index)).stderr).toContain('is not empty: there is notes.doc');
    expect(existsSync(join(index, 'segments'))).toBe(false);
  });

  it.each([[], ['--force']])('a second writer is refused and told of the first (%j)', async (...force) => {
    await lzeroJson('index', corpus, '-o', index);
    const lock = acquireLock(join(index, 'lock'));
    const commands =
      force.length > 0
        ? [['index', corpus, '-o', index, ...force]]
        : [
            ['add', index, corpus],
            ['merge', index],
          ];
    for (const argv of commands)
      expect(await lzero(...argv)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(new RegExp(`being written by another.*\nhint: .*process ${process.pid}`)),
      });
    lock.release();
    expect((await lzeroJson('stats', index)).numDocs).toBe(3);
  });
});

describe('lzero index, interrupted', () => {
  /** More than two groups that are encoded together. */
  const NUM_DOCS = 1100;
  const words = ['ocean', 'moon', 'tide', 'bread', 'yeast', 'chain'];
  const documentOf = (i: number) => ({ _id: `d${i}`, text: `${words[i % 6]} ${words[(i * 5 + 1) % 6]} number ${i}` });

  /** Stops the command when it has taken in so many groups: the model asks the signal before each. */
  function stopAfter(numGroups: number): AbortSignal {
    const controller = new AbortController();
    const { signal } = controller;
    let numAsked = 0;
    const check = signal.throwIfAborted.bind(signal);
    signal.throwIfAborted = () => {
      if (numAsked++ === numGroups) controller.abort(new InterruptedError());
      check();
    };
    return signal;
  }

  it.each([[[]], [['--bm25']]])(
    'goes on where it stopped, to the hits of a run that was not stopped (%j)',
    async (argv) => {
      scratch.writeLines(
        'corpus.jsonl',
        Array.from({ length: NUM_DOCS }, (_, i) => documentOf(i)),
      );
      const stopped = await lzeroUntil(stopAfter(2), 'index', corpus, '-o', index, ...argv, '--quiet');
      expect(stopped).toMatchObject({ exitCode: 130, stderr: expect.stringContaining('run the same command again') });
      const { numDocs: before, unfinished } = await lzeroJson('stats', index);
      expect([unfinished, (await lzeroJson('verify', index)).unfinished]).toEqual([true, true]);
      for (const asked of [['stats'], ['verify'], ['search', 'ocean'], ['explain', 'ocean', 'd0']])
        expect(await lzero(asked[0], index, ...asked.slice(1))).toMatchObject({
          exitCode: 0,
          stderr: expect.stringMatching(/is unfinished: .*\n.*run the same `lzero index` command again/),
        });
      expect(before).toBeGreaterThan(0);
      expect(before).toBeLessThan(NUM_DOCS);
      const again = await lzeroJson('index', corpus, '-o', index, ...argv);
      expect(again).toMatchObject({ documents: NUM_DOCS, added: NUM_DOCS - before });
      expect([await lzeroJson('stats', index), await lzeroJson('verify', index)]).toMatchObject([
        { unfinished: false },
        { unfinished: false },
      ]);
      expect((await lzero('search', index, 'ocean')).stderr).not.toContain('unfinished');
      const whole = scratch.path('whole.index');
      await lzeroJson('index', corpus, '-o', whole, ...argv);
      for (const query of ['ocean tide', 'bread number 7', 'moon'])
        expect(await hitsOf(index, query, '-k', '500')).toEqual(await hitsOf(whole, query, '-k', '500'));
    },
  );

  it('goes on also with --force, which the stopped command may have had', async () => {
    await lzeroJson('index', scratch.writeLines('old.jsonl', DOCUMENTS), '-o', index);
    scratch.writeLines(
      'corpus.jsonl',
      Array.from({ length: NUM_DOCS }, (_, i) => documentOf(i)),
    );
    await lzeroUntil(stopAfter(2), 'index', corpus, '-o', index, '--force');
    expect(await ids('flour')).toEqual(['bread']); // the old one is still there
    const again = await lzeroJson('index', corpus, '-o', index, '--force');
    expect(again.added).toBeLessThan(NUM_DOCS);
    expect(again.documents).toBe(NUM_DOCS);
  });
});

describe('lzero index, of vectors', () => {
  const vectors = [
    { _id: 'bread', vector: { flour: 2.5, bread: 1 } },
    { _id: 'chain', vector: { chain: 1.5, bicycle: 0.5 } },
  ];

  it('takes vectors alone, with steps by their largest weight', async () => {
    const file = scratch.writeLines('vectors.jsonl', vectors);
    const { clamped, documents } = await lzeroJson('index', '--vectors', file, '-o', index);
    expect({ clamped, documents }).toEqual({ clamped: 0, documents: 2 });
    const { hits } = await lzeroJson('search', index, '--vector', '{"flour": 1}', '--explain');
    expect(hits[0].explain[0].docWeight).toBeCloseTo(2.5, 5);
  });

  it('takes what encode wrote beside the documents, and then finds what it would have encoded itself', async () => {
    const file = scratch.path('vectors.jsonl');
    await lzero('encode', corpus, '-o', file);
    await lzeroJson('index', corpus, '--vectors', file, '-o', index, '--max-weight', '1');
    const { hits } = await lzeroJson('search', index, 'bicycle chain');
    expect(hits[0]).toMatchObject({ id: 'chain', title: 'Bicycle chain' });
    const encoded = scratch.path('encoded.index');
    await lzeroJson('index', corpus, '-o', encoded, '--max-weight', '1');
    expect(await hitsOf(index, 'oil chain')).toEqual(await hitsOf(encoded, 'oil chain'));
  });

  it.each([
    ['too few', DOCUMENTS.slice(1), 'has the vector of chain where bread stands'],
    ['in another order', [...DOCUMENTS].reverse(), 'has the vector of kette where bread stands'],
    ['too many', [...DOCUMENTS, { _id: 'more', text: 'more' }], 'has the vector of more where the input has ended'],
  ])('refuses vectors that are %s', async (_, encoded, words) => {
    const file = scratch.path('vectors.jsonl');
    await lzero('encode', scratch.writeLines('other.jsonl', encoded), '-o', file);
    const { exitCode, stderr } = await lzero('index', corpus, '--vectors', file, '-o', index);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(words)]);
  });

  it('names vector and token that the model does not know', async () => {
    const file = scratch.writeLines('vectors.jsonl', [{ _id: 'x', vector: { flour: 1, qzxw: 2 } }]);
    const { exitCode, stderr } = await lzero('index', '--vectors', file, '-o', index);
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/"x" has the token "qzxw"[\s\S]*--model/)]);
  });

  it('makes an empty index of an empty file', async () => {
    const file = scratch.write('vectors.jsonl', '');
    expect((await lzeroJson('index', '--vectors', file, '-o', index)).documents).toBe(0);
  });

  it('lowers weights above --max-weight, and says so', async () => {
    const file = scratch.writeLines('vectors.jsonl', vectors);
    const { stderr } = await lzero('index', '--vectors', file, '-o', index, '--max-weight', '1');
    expect(stderr).toContain('2 weights were above what 8 bits hold');
  });
});

describe('lzero index, of pages', () => {
  const run = (...argv: string[]) => lzeroJson('index', scratch.path('docs'), '-o', index, ...argv);

  beforeEach(() => {
    scratch.write('docs/setup.md', '# Setting up\n\nInstall the program first.\n');
    scratch.write('docs/guide/use.html', '<title>Using</title><main><p>Type a question about zebras.</p></main>');
    scratch.write('docs/notes.txt', 'Notes about a giraffe.');
  });

  it('encodes only what has changed, and forgets what is gone', async () => {
    expect((await run()).pages).toEqual({ changed: 3, unchanged: 0 });
    expect(await run()).toMatchObject({ added: 0, removed: 0, pages: { changed: 0, unchanged: 3 } });
    scratch.write('docs/notes.txt', 'Notes about an elephant.');
    rmSync(scratch.path('docs/setup.md'));
    expect(await run()).toMatchObject({ added: 1, removed: 1, documents: 2, pages: { changed: 1, unchanged: 1 } });
    expect(await ids('giraffe')).toEqual([]);
    expect(await ids('elephant')).toEqual(['notes.txt']);
    expect(await ids('install program')).toEqual([]);
  });

  it('forgets only pages that were its own: another folder that was added stays', async () => {
    await run();
    scratch.write('blog/monday.md', '# A walrus on Monday');
    await lzeroJson('add', index, scratch.path('blog'));
    rmSync(scratch.path('docs/setup.md'));
    expect(await run()).toMatchObject({ removed: 1, documents: 3 });
    expect([await ids('walrus'), await ids('install')]).toEqual([['monday.md'], []]);
    expect((await lzeroJson('add', index, scratch.path('blog'))).pages).toEqual({ changed: 0, unchanged: 1 });
  });

  it('says so where a page takes the place of one of the same path from another folder', async () => {
    await run();
    scratch.write('blog/notes.txt', 'Notes about a walrus.');
    const { stderr } = await lzero('add', index, scratch.path('blog'));
    expect(stderr).toContain('1 took the place of pages of the same path that came from another folder');
    expect([await ids('walrus'), await ids('giraffe')]).toEqual([['notes.txt'], []]);
    expect((await run()).pages).toEqual({ changed: 1, unchanged: 2 }); // the last one called has it
    expect([await ids('walrus'), await ids('giraffe')]).toEqual([[], ['notes.txt']]);
  });

  it('keeps pages whole where it is stopped by a bad one', async () => {
    const paragraphs = (word: string) =>
      Array.from({ length: 6 }, (_, i) => `Paragraph ${i} ${`${word} words `.repeat(30)}`).join('\n\n');
    scratch.write('docs/a.txt', paragraphs('walrus'));
    await run('--chunk', '64');
    const before = await hitsOf(index, 'walrus', '--parts');
    expect(before.length).toBeGreaterThan(3);
    scratch.write('docs/a.txt', 'A short page about a narwhal.');
    scratch.write('docs/b.txt', 'not text: \0');
    expect((await lzero('index', scratch.path('docs'), '-o', index, '--chunk', '64')).exitCode).toBe(1);
    expect(await hitsOf(index, 'walrus', '--parts')).toEqual(before);
    await run('--chunk', '64', '--skip-bad');
    expect([await ids('walrus'), await ids('narwhal')]).toEqual([[], ['a.txt']]);
  });

  it('shows the fields of a page as it has them, and none of our own', async () => {
    scratch.write('docs/setup.md', '---\nlang: en\n---\n# Setting up\n');
    await run();
    const { hits } = await lzeroJson('search', index, 'setting giraffe');
    const fields = new Map(hits.map(({ id, fields }: Hit) => [id, fields]));
    expect([fields.get('setup.md'), fields.get('notes.txt')]).toEqual([{ lang: 'en' }, undefined]);
  });

  it('drops the parts that a shorter page does not have any more', async () => {
    const long = Array.from({ length: 9 }, (_, i) => `Paragraph ${i} ${'with many words '.repeat(20)}`).join('\n\n');
    scratch.write('docs/notes.txt', long);
    const { documents } = await run('--chunk', '64');
    expect(documents).toBeGreaterThan(5);
    scratch.write('docs/notes.txt', 'Short.');
    expect((await run('--chunk', '64')).documents).toBe(3);
  });

  it('--no-chunk keeps pages whole', async () => {
    scratch.write('docs/notes.txt', 'A paragraph with some words.\n\n'.repeat(200));
    expect((await run('--no-chunk')).documents).toBe(3);
  });

  it('shows title, address and the passage that was found', async () => {
    await run('--base-url', 'https://example.org/');
    const { stdout } = await lzero('search', index, 'zebras');
    expect(stdout).toMatch(
      /1\. \d+\.\d{3} {2}Using\n {5}https:\/\/example\.org\/guide\/use\.html {2}\[guide\/use\.html\]\n {5}.*zebras/,
    );
  });

  it('refuses to bring an index up to date with other settings', async () => {
    await run();
    const { exitCode, stderr } = await lzero(
      'index',
      scratch.path('docs'),
      '-o',
      index,
      '--base-url',
      'https://a.org/',
    );
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('made with another base-url')]);
  });
});

describe('lzero index refuses with exit code 2', () => {
  it.each([
    [[], 'give an input or --vectors'],
    [['CORPUS', '--bm25', '--model', 'm'], '--bm25 and --model do not go together'],
    [['CORPUS', '--k1', '1'], '--k1, --b and --no-stop-words are for --bm25'],
    [['CORPUS', '--no-stop-words'], '--k1, --b and --no-stop-words are for --bm25'],
    [['CORPUS', '--bm25', '--b', '2'], 'from 0 to 1'],
    [['CORPUS', '--overlap', '3'], '--overlap needs --chunk'],
    [['CORPUS', '--base-url', 'https://a.org'], '--base-url is for folders of pages'],
    [['CORPUS', '--fields', 'lang'], 'expected name:type'],
    [['CORPUS', '--vectors', 'CORPUS', '--chunk'], '--chunk and --vectors do not go together'],
    [['FOLDER', '--vectors', 'CORPUS'], '--vectors goes with documents'],
    [['--vectors', '-'], 'need --max-weight'],
  ])('%j', async (argv, words) => {
    scratch.write('pages/a.txt', 'A page.');
    const places: Record<string, string> = { CORPUS: corpus, FOLDER: scratch.path('pages') };
    const { exitCode, stderr } = await lzero('index', ...argv.map((word) => places[word] ?? word), '-o', index);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(words)]);
    expect(existsSync(index)).toBe(false);
  });
});
