import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Outcome, runCommands } from '../../test/cli/fake-host.ts';
import { Scratch } from '../../test/cli/index-commands.ts';
import { goldenFolder } from '../../test/golden/model/fixtures.ts';
import { firesAt } from '../../test/lib/abort.ts';
import { EMBEDDED_COLLECTION } from '../data/index.ts';
import { TrainingData } from '../train/batches/training-data.ts';
import { indexCommand } from './index-command.ts';
import { mineCommand } from './mine.ts';
import { teachCommand } from './teach.ts';

const DENSE = join(import.meta.dirname, '../../test/golden/dense/mean');

const TIED = goldenFolder('tied');
const SPARSE = join(import.meta.dirname, '../../test/golden/models/st-plain');
const COMMANDS = [mineCommand, teachCommand, indexCommand];

let scratch: Scratch;
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => scratch.remove());

function lzero(...argv: string[]): Promise<Outcome> {
  return runCommands(COMMANDS, argv, { env: { LZERO_CACHE: scratch.path('cache') } });
}

/** What a command says with --json, without what depends on the clock and the output's name. */
async function figuresOf(...argv: string[]): Promise<Record<string, unknown>> {
  const { exitCode, stdout, stderr } = await lzero('--json', ...argv);
  expect(exitCode, stderr).toBe(0);
  const { seconds: _seconds, output: _output, ...figures } = JSON.parse(stdout);
  return figures;
}

async function done(...argv: string[]): Promise<string> {
  const { exitCode, stderr } = await lzero(...argv);
  expect(exitCode, stderr).toBe(0);
  return stderr;
}

/** Stops a command shortly before its end; what it said. */
async function stopLate(argv: readonly string[]): Promise<string> {
  const whole = firesAt(Number.POSITIVE_INFINITY);
  await runCommands(COMMANDS, [...argv, '-o', scratch.path('elsewhere')], {
    env: { LZERO_CACHE: scratch.path('cache-1') },
    signal: whole.signal,
  });
  const { signal } = firesAt(whole.numAsked());
  const env = { LZERO_CACHE: scratch.path('cache-2') };
  const { exitCode, stderr } = await runCommands(COMMANDS, argv, { env, signal });
  expect(exitCode).toBe(130);
  return stderr;
}

type Line = {
  readonly id: string;
  readonly query: string;
  readonly positive: readonly string[];
  readonly negatives: readonly string[];
  readonly docs: readonly string[];
  readonly scores: readonly number[];
};

function linesOf(name: string): Line[] {
  return readFileSync(scratch.path(name), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** A run with one document for each of the first queries. */
function runOf(numQueries: number, score = 2.5): string {
  const ids = Array.from({ length: numQueries }, (_, i) => `q${String(i + 1).padStart(3, '0')}`);
  return ids.map((id) => `${id} Q0 bike-chain-3 1 ${score} x\n`).join('');
}

const MINE = ['mine', EMBEDDED_COLLECTION, '--split', 'test'];

describe('lzero mine', () => {
  it('writes triples of every judged query, by texts and by ids', async () => {
    const told = await done(...MINE, '-o', scratch.path('t.jsonl'), '--negatives', '4');
    expect(told).toContain('156 queries');
    await done(...MINE, '-o', scratch.path('ids.jsonl'), '--negatives', '4', '--ids');
    const [texts, ids] = [linesOf('t.jsonl'), linesOf('ids.jsonl')];
    expect(texts.length).toBe(156);
    expect(texts.map(({ id }) => id)).toEqual(ids.map(({ query }) => query));
    for (const [i, { negatives, positive }] of texts.entries()) {
      expect(negatives.length).toBe(4);
      expect(new Set([...negatives, ...positive]).size).toBe(negatives.length + positive.length);
      expect(ids[i].negatives.length).toBe(4);
    }
  });

  it('gives the same bytes again, and goes on after a stop', async () => {
    const options = ['--negatives', '3', '--random-share', '0.5'];
    await done(...MINE, '-o', scratch.path('whole.jsonl'), ...options);
    const whole = readFileSync(scratch.path('whole.jsonl'), 'utf8');
    await done(...MINE, '-o', scratch.path('whole.jsonl'), ...options, '--force');
    expect(readFileSync(scratch.path('whole.jsonl'), 'utf8')).toBe(whole);

    const name = scratch.path('cut.jsonl');
    const told = await stopLate([...MINE, '-o', name, ...options]);
    expect(readFileSync(`${name}.partial`, 'utf8').split('\n').length).toBeGreaterThan(30);
    expect(told).toContain('run the same command again to go on');
    expect(await done(...MINE, '-o', name, ...options)).toContain('going on after');
    expect(readFileSync(name, 'utf8')).toBe(whole);
  });

  it('counts after a stop what was done before it, too', async () => {
    const run = scratch.write('a.trec', runOf(40));
    const argv = [...MINE, '--negatives', '3', '--random-share', '0.4', '--system', `run:${run}`, '--teacher', DENSE];
    const dropping = [...argv, '--agreement', '1', '--relative-margin', '0.01'];
    const whole = await figuresOf(...dropping, '-o', scratch.path('whole.jsonl'));
    for (const name of ['numHard', 'numFilled', 'numFiltered', 'numDropped'])
      expect(Number(whole[name]), name).toBeGreaterThan(0);
    const name = scratch.path('cut.jsonl');
    await stopLate([...dropping, '-o', name]);
    const { stderr, stdout } = await lzero('--json', ...dropping, '-o', name);
    expect(stderr).toContain('going on after');
    expect(stderr).toMatch(/warn.* % of the negatives/);
    expect(JSON.parse(stdout)).toMatchObject(whole);
  });

  it('does not warn of negatives that were to be drawn', async () => {
    const options = ['--negatives', '2', '--random-share', '0.25']; // one of two
    const told = await done(...MINE, '-o', scratch.path('t.jsonl'), ...options);
    expect(told).not.toContain('of the negatives are drawn');
  });

  it('makes queries of pages, and leaves out those whose answer the teacher does not find', async () => {
    const filler = 'The boat was slow, and it was cold on the water in the morning. '.repeat(2);
    scratch.write('site/north.md', `# Water\n\n## Rivers of the north\n\n${filler}\n`);
    scratch.write(
      'site/winter.md',
      `# Winter\n\n## Winter in the city\n\n${filler}Winter came to the city from the rivers of the north.\n`,
    );
    const make = ['mine', scratch.path('site'), '--pseudo-queries', 'headings', '--negatives', '1'];
    await done(...make, '-o', scratch.path('all.jsonl'));
    expect(linesOf('all.jsonl').map(({ id, query }) => [id, query])).toEqual([
      ['north.md#0#headings0', 'Rivers of the north'],
      ['winter.md#0#headings0', 'Winter in the city'],
    ]);
    // Counts words of the query: those of the first stand in the other page, those of the second in its own.
    const told = await done(...make, '-o', scratch.path('agreed.jsonl'), '--teacher', 'sparse:bow', '--agreement', '1');
    expect(linesOf('agreed.jsonl').map(({ id }) => id)).toEqual(['winter.md#0#headings0']);
    expect(told).toContain('1 query dropped, its answer was not found');
  });

  it('warns where most negatives are drawn, and refuses to write over what it reads', async () => {
    const run = scratch.write('elsewhere.trec', runOf(20));
    const told = await done(...MINE, '-o', scratch.path('t.jsonl'), '--system', `run:${run}`);
    expect(told).toContain('98 % of the negatives are drawn from all documents');
    const over = await lzero(...MINE, '-o', run, '--system', `run:${run}`, '--force');
    expect(over.exitCode).toBeGreaterThan(0);
    expect(readFileSync(run, 'utf8')).toContain('bike-chain-3');
    const taught = ['teach', EMBEDDED_COLLECTION, '--teacher', DENSE, '--run', run];
    expect((await lzero(...taught)).stderr).toContain('--force');
  });

  it('finds candidates with a dense encoder that is the teacher, too', async () => {
    const both = ['--system', `dense:${DENSE}`, '--teacher', DENSE];
    const told = await done(...MINE, '-o', scratch.path('dense.jsonl'), '--negatives', '2', ...both);
    const lines = linesOf('dense.jsonl'); // an encoder without training takes all documents for answers of some queries
    expect(told).toContain(`${156 - lines.length} queries left out, without two documents to tell apart`);
    expect(lines.filter(({ negatives }) => negatives.length > 0).length).toBeGreaterThan(100);
    expect(told).toContain('is in use');
  });

  it('holds negatives to both margins: one of 0 takes nothing from the relative one', async () => {
    const teach = ['--negatives', '2', '--teacher', DENSE];
    await done(...MINE, '-o', scratch.path('relative.jsonl'), ...teach);
    await done(...MINE, '-o', scratch.path('both.jsonl'), ...teach, '--margin', '0');
    await done(...MINE, '-o', scratch.path('neither.jsonl'), ...teach, '--relative-margin', '0');
    const relative = readFileSync(scratch.path('relative.jsonl'), 'utf8');
    expect(readFileSync(scratch.path('both.jsonl'), 'utf8')).toBe(relative);
    expect(readFileSync(scratch.path('neither.jsonl'), 'utf8')).not.toBe(relative); // so the relative one decides
  });

  it('does not go on with other queries or another run', async () => {
    const run = scratch.write('a.trec', runOf(156));
    const argv = [...MINE, '-o', scratch.path('cut.jsonl'), '--system', `run:${run}`];
    await stopLate(argv);
    scratch.write('a.trec', runOf(156, 3.5));
    const { exitCode, stderr } = await lzero(...argv);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('belongs to another job')]);
  });

  it.each(['', 'siamese:', 'rrf:bm25+', 'sum:0.5*bm25+0.5*'])(
    'does not go on with a changed model: %sMODEL',
    async (prefix) => {
      const model = scratch.path('model');
      cpSync(SPARSE, model, { recursive: true });
      const argv = [...MINE, '-o', scratch.path('cut.jsonl'), '--system', `${prefix}${model}`, '--negatives', '2'];
      await stopLate(argv);
      const weights = readFileSync(join(model, 'model.safetensors'));
      weights.writeFloatLE(0.5, weights.length - 4);
      writeFileSync(join(model, 'model.safetensors'), weights);
      const { exitCode, stderr } = await lzero(...argv);
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('belongs to another job')]);
    },
  );

  it('goes on with a model whose index has to be built again', async () => {
    const argv = [...MINE, '-o', scratch.path('cut.jsonl'), '--system', `rrf:bm25+${SPARSE}`, '--negatives', '2'];
    await stopLate(argv);
    expect(await done(...argv)).toContain('going on after');
    expect(readFileSync(scratch.path('cut.jsonl'))).toEqual(readFileSync(scratch.path('elsewhere')));
  });

  it('keeps the index of a model in the cache, also after a stop, and none where nothing is encoded', async () => {
    const argv = [...MINE, '-o', scratch.path('a.jsonl'), '--system', SPARSE, '--negatives', '2'];
    expect(await stopLate(argv)).toContain('indexing: 241 documents');
    const indexes = scratch.path('cache-2/indexes');
    expect(readdirSync(indexes)).toEqual([expect.stringMatching(/^everyday-[0-9a-f]{16}$/)]);

    const env = { LZERO_CACHE: scratch.path('cache-2') };
    const { exitCode, stderr } = await runCommands(COMMANDS, argv, { env });
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('going on after')]);
    expect(stderr).not.toContain('indexing');
    await runCommands(COMMANDS, [...MINE, '-o', scratch.path('b.jsonl')], { env }); // BM25
    expect(readdirSync(indexes).length).toBe(1);
  });

  it.each(['rrf:bm25+run:', 'sum:0.7*run:'])('does not write over a run that it joins: %sFILE', async (prefix) => {
    const run = scratch.write('a.trec', 'q001 Q0 bike-chain-3 1 2.5 x\n');
    const system = `${prefix}${run}${prefix.startsWith('sum') ? '+bm25' : ''}`;
    const { exitCode, stderr } = await lzero(...MINE, '-o', run, '--system', system, '--force');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('is the input itself')]);
    expect(readFileSync(run, 'utf8')).toContain('bike-chain-3');
  });

  it('writes candidates of queries that nobody judged as lists, and a teacher scores them', async () => {
    const queries = scratch.write('queries.txt', 'a bicycle chain\nsomething to eat\n');
    await done(
      'mine',
      EMBEDDED_COLLECTION,
      '--queries',
      queries,
      '-o',
      scratch.path('lists.jsonl'),
      '--negatives',
      '5',
    );
    expect(linesOf('lists.jsonl').map(({ docs }) => docs.length)).toEqual([5, 5]);
    await done('teach', scratch.path('lists.jsonl'), '-o', scratch.path('train.jsonl'), '--teacher', DENSE);
    for (const { docs, scores } of linesOf('train.jsonl')) {
      expect([docs.length, scores.length]).toEqual([5, 5]);
      expect(Math.max(...scores)).toBeCloseTo(30, 2);
      expect(Math.min(...scores)).toBe(0);
    }
  });

  it('leaves out queries that fewer than two documents are found for, and says how many', async () => {
    const queries = scratch.write('queries.txt', 'a bicycle chain\nxqzvw xqzvw\nsomething to eat\n');
    const argv = ['mine', EMBEDDED_COLLECTION, '--queries', queries, '-o', scratch.path('lists.jsonl')];
    const told = await done(...argv);
    expect(told).toContain('1 query left out, without two documents to tell apart');
    expect(linesOf('lists.jsonl').map(({ query }) => query)).toEqual(['a bicycle chain', 'something to eat']);
    const { exitCode, stderr } = await lzero(...argv, '--force', '--negatives', '1');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('a list has two documents at least')]);
  });

  it('leaves out judged queries without a negative, so that training takes every line', async () => {
    const judgements = ['q1\ta\t1', 'q2\tc\t1'];
    scratch.write('small/qrels/train.tsv', ['query-id\tcorpus-id\tscore', ...judgements, ''].join('\n'));
    scratch.writeLines('small/queries.jsonl', [
      { _id: 'q1', text: 'river' }, // in every document: for a teacher that counts words, all answer it
      { _id: 'q2', text: 'winter' },
    ]);
    scratch.writeLines('small/corpus.jsonl', [
      { _id: 'a', text: 'the river was cold' },
      { _id: 'b', text: 'a boat on the river' },
      { _id: 'c', text: 'the river in winter' },
    ]);
    const train = scratch.path('t.jsonl');
    const argv = ['mine', scratch.path('small'), '-o', train, '--teacher', 'sparse:bow'];
    const { exitCode, stdout, stderr } = await lzero('--json', ...argv);
    expect(exitCode, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ numQueries: 1, numShort: 1, numDropped: 0 });
    expect(stderr).toContain('1 query left out, without two documents to tell apart');
    const takes = { docsPerQuery: 2, wantsScores: false };
    const data = { train, format: 'triples' as const, docsPerQuery: 2, shuffleBuffer: 10, maxBadLines: 0 };
    const { sources } = await TrainingData.open(data, { takes, batchSize: 1, seed: 1 });
    expect(sources).toMatchObject([{ numExamples: 1, numSamples: 2, numBad: 0 }]); // c with a, c with b
  });

  it('does not take an index of pages for one of their pieces', async () => {
    for (const name of ['north', 'south'])
      scratch.write(`site/${name}.md`, `# ${name}\n\nThe river of the ${name}. ${'The river was cold. '.repeat(9)}\n`);
    await done('index', scratch.path('site'), '-o', scratch.path('site.index'), '--bm25');
    const argv = ['mine', scratch.path('site'), '--pseudo-queries', 'sentences', '-o', scratch.path('t.jsonl')];
    const { exitCode, stderr } = await lzero(...argv, '--system', `index:${scratch.path('site.index')}`);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('are no documents of the input, such as')]);
    expect(stderr).toContain('hint: ');
  });

  it.each([
    [['--queries', 'x', '--pseudo-queries'], 'do not go together'],
    [['--margin', '1'], '--margin compares scores of a teacher'],
    [['--relative-margin', '0.1'], '--relative-margin compares'],
    [['--pseudo-queries', '--ids'], '--ids are those of a collection'],
    [['--pseudo-queries', 'poems'], 'expected titles'],
    [['--pseudo-queries'], '--split chooses judgements'],
    [['--per-document', '2'], 'add --pseudo-queries'],
    [['--skip', '100'], 'passes over all'],
    [['--random-share', '2'], 'expected a number from 0 to 1'],
    [['--system', 'nowhere'], 'there is no system'],
    [['--teacher', 'm,pooling=max'], 'pooling'],
    [['--teacher', 'a', '--teacher', 'b'], 'hint: name one; `lzero teach` takes several'],
  ])('refuses %j', async (options, message) => {
    const { exitCode, stderr } = await lzero(...MINE, '-o', scratch.path('x.jsonl'), ...options);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('an error of lzero mine', () => {
  it('names what makes queries of documents that nobody judged', async () => {
    const file = scratch.writeLines('docs.jsonl', [{ _id: 'a', text: 'the river was cold' }]);
    const { exitCode, stderr } = await lzero('mine', file, '-o', scratch.path('x.jsonl'));
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('docs.jsonl has no judgements')]);
    expect(stderr).toMatch(/hint: .*--queries.*--pseudo-queries/);
  });

  it('says whose ids judgements hold, where no query has an answer among the documents', async () => {
    scratch.write('clicks/qrels/train.tsv', 'query-id\tcorpus-id\tscore\nq1\tguide/proxy.md\t1\n');
    scratch.writeLines('clicks/queries.jsonl', [{ _id: 'q1', text: 'river' }]);
    scratch.writeLines('clicks/corpus.jsonl', [{ _id: 'proxy', text: 'the river was cold' }]);
    const { exitCode, stderr } = await lzero('mine', scratch.path('clicks'), '-o', scratch.path('x.jsonl'));
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('has no query of split train with an answer')]);
    expect(stderr).toMatch(
      /hint: qrels\/train\.tsv judges by the ids of queries\.jsonl and corpus\.jsonl; it names "guide\/proxy\.md", .* "proxy"/,
    );
  });

  it('says where the input stands, where it was taken for kinds of pseudo-queries', async () => {
    const folder = scratch.path('.');
    const { exitCode, stderr } = await lzero('mine', '--pseudo-queries', folder, '-o', scratch.path('x.jsonl'));
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('expected titles')]);
    expect(stderr).toContain(`hint: put the input first: lzero mine ${folder} --pseudo-queries`);
    const typo = await lzero('mine', '--pseudo-queries', 'title', scratch.path('.'), '-o', scratch.path('x.jsonl'));
    expect(typo.stderr).not.toContain('put the input first');
  });
});

describe('a run that lzero mine takes candidates from', () => {
  it.each([
    ['none', 'other Q0 bike-chain-3 1 2.5 x\n', 'has none of the 156 queries of split test'],
    ['nearly none', runOf(15), 'has only 15 of the 156 queries of split test'],
  ])('has to be of the split that is mined: %s of its queries', async (_, lines, message) => {
    const run = scratch.write('train.trec', lines);
    const argv = [...MINE, '-o', scratch.path('t.jsonl'), '--system', `run:${run}`];
    const { exitCode, stderr } = await lzero(...argv);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`run:${run} ${message}`)]);
    expect(stderr).toMatch(/hint: .*lzero teach .* --run \S+ --split test/);
  });

  it('has to be of the queries that nobody judged', async () => {
    const queries = scratch.write('queries.txt', 'a bicycle chain\nsomething to eat\n');
    const run = scratch.write('a.trec', runOf(156));
    const argv = ['mine', EMBEDDED_COLLECTION, '--queries', queries, '-o', scratch.path('t.jsonl')];
    const { exitCode, stderr } = await lzero(...argv, '--system', `run:${run}`);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`has none of the 2 queries of ${queries}`)]);
  });
});

describe('lzero teach', () => {
  it('scores triples of ids with the texts of their collection, and keeps the ids', async () => {
    await done(...MINE, '-o', scratch.path('ids.jsonl'), '--negatives', '2', '--ids');
    await done(...MINE, '-o', scratch.path('texts.jsonl'), '--negatives', '2');
    const teach = ['--teacher', DENSE, '--normalise', 'none', '--scale', '1'];
    const collection = ['--collection', EMBEDDED_COLLECTION];
    await done('teach', scratch.path('ids.jsonl'), '-o', scratch.path('a.jsonl'), ...teach, ...collection);
    await done('teach', scratch.path('texts.jsonl'), '-o', scratch.path('b.jsonl'), ...teach);
    const [ids, texts] = [linesOf('a.jsonl'), linesOf('b.jsonl')];
    expect(ids.map(({ scores }) => scores)).toEqual(texts.map(({ scores }) => scores));
    const [first] = linesOf('ids.jsonl');
    expect(ids[0].docs).toEqual([...first.positive, ...first.negatives]);
  });

  it('does not take ids for texts, neither those that were mined nor those that it has scored', async () => {
    await done(...MINE, '-o', scratch.path('ids.jsonl'), '--negatives', '2', '--ids');
    const scored = scratch.path('scored.jsonl');
    const collection = ['--collection', EMBEDDED_COLLECTION];
    await done('teach', scratch.path('ids.jsonl'), '-o', scored, '--teacher', DENSE, ...collection);
    for (const file of [scratch.path('ids.jsonl'), scored]) {
      const { exitCode, stderr } = await lzero('teach', file, '-o', scratch.path('x.jsonl'), '--teacher', DENSE);
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('jsonl:1: the line holds ids, not texts')]);
      expect(stderr).toMatch(/hint: .*--collection/);
    }
  });

  it('scores lists anew that have scores already: each stays with its document', async () => {
    const docs = ['the river was cold', 'winter', 'snow on the tower'];
    const lists = scratch.writeLines('old.jsonl', [{ query: 'winter', docs, scores: [1, 2, 3] }]);
    const bare = scratch.writeLines('bare.jsonl', [{ query: 'winter', docs }]);
    for (const [input, output] of [
      [lists, 'new-a.jsonl'],
      [bare, 'new-b.jsonl'],
    ])
      await done('teach', input, '-o', scratch.path(output), '--teacher', DENSE);
    expect(linesOf('new-a.jsonl')).toEqual(linesOf('new-b.jsonl'));
  });

  it('goes on after a stop, and refuses another input', async () => {
    await done(...MINE, '-o', scratch.path('t.jsonl'), '--negatives', '6');
    const argv = ['teach', scratch.path('t.jsonl'), '-o', scratch.path('s.jsonl'), '--teacher', DENSE];
    const told = await stopLate(argv);
    expect(told).toContain('run the same command again to go on');
    expect(await done(...argv)).toContain('going on after');
    expect(readFileSync(scratch.path('s.jsonl'), 'utf8')).toBe(readFileSync(scratch.path('elsewhere'), 'utf8'));
    const again = await lzero(...argv);
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining('--force')]);
  });

  it('writes the ranking of a dense encoder as a run', async () => {
    const run = scratch.path('dense.trec');
    await done('teach', EMBEDDED_COLLECTION, '--teacher', `dense:${DENSE}`, '--run', run, '-k', '10');
    const lines = readFileSync(run, 'utf8').trimEnd().split('\n');
    expect(lines.length).toBe(1560);
    expect(lines[0].split(' ').length).toBe(6);
  });

  it('counts the documents of a run once for each teacher', async () => {
    const both = ['--teacher', DENSE, '--teacher', 'sparse:bow'];
    const told = await done('teach', EMBEDDED_COLLECTION, ...both, '--run', scratch.path('both.trec'), '-k', '1');
    expect(told).toContain('encoding: 482/482 texts'); // 241 documents
    const again = ['--run', scratch.path('both.trec'), '-k', '1', '--force'];
    expect(await done('teach', EMBEDDED_COLLECTION, ...both, ...again)).toContain('encoding: 482/482 texts'); // remembered
  });

  it('shows how many lists there are in all', async () => {
    const lists = scratch.writeLines('lists.jsonl', [
      { query: 'winter', docs: ['a river', 'snow'] },
      { query: 'rivers', docs: ['a river', 'snow'] },
    ]);
    const told = await done('teach', lists, '-o', scratch.path('s.jsonl'), '--teacher', DENSE);
    expect(told).toContain('scoring: 2/2 lists');
  });

  it.each([
    [['-o', 'x'], 'no teacher was named'],
    [['--teacher', DENSE], 'expected either'],
    [['--teacher', 'nowhere', '-o', 'x'], 'nowhere'],
    [['--teacher', DENSE, '-o', 'x', '-k', '5'], '-k has no meaning without --run'],
    [['--teacher', DENSE, '--run', 'x', '--collection', 'y'], '--collection has no meaning with --run'],
    [['--teacher', `sparse:${DENSE},pooling=cls`, '-o', 'x'], 'has no pooling'],
    [['--teacher', `dense:${DENSE}/model.safetensors`, '-o', 'x'], `is not a folder\nhint: name its folder: ${DENSE}`],
    [['--teacher', `${SPARSE},max-length=99`, '-o', 'x'], 'max-length cannot be changed from outside'],
    [['--teacher', `${TIED},max-length=9999`, '-o', 'x'], 'hint: choose one of these with max-length;'],
  ])('refuses %j', async (options, message) => {
    const { exitCode, stderr } = await lzero('teach', scratch.write('l.jsonl', '{}'), ...options);
    expect(exitCode).toBeGreaterThan(0);
    expect(stderr).toContain(message);
  });

  it('names the line that is no list', async () => {
    const file = scratch.writeLines('bad.jsonl', [{ query: 'q', docs: ['a', 'b'] }, { query: 'q' }]);
    const { exitCode, stderr } = await lzero('teach', file, '-o', scratch.path('s.jsonl'), '--teacher', DENSE);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('bad.jsonl:2: ')]);
  });
});

describe('the output of mine and teach', () => {
  /** Both name a teacher that is not there: whoever looks for it first has not looked at the output. */
  const commands = (): string[][] => [
    [...MINE, '--teacher', 'nowhere'],
    ['teach', scratch.writeLines('lists.jsonl', [{ query: 'q', docs: ['a', 'b'] }]), '--teacher', 'nowhere'],
  ];

  it('is checked before any model is opened: a missing folder, a file that is there', async () => {
    const there = scratch.write('there.jsonl', 'mine\n');
    const missing = scratch.path('no/where/x.jsonl');
    for (const argv of commands()) {
      const lost = await lzero(...argv, '-o', missing);
      expect([lost.exitCode, lost.stderr]).toEqual([
        1,
        expect.stringContaining(`cannot write ${missing}: there is no`),
      ]);
      expect(lost.stderr).not.toContain('.lock');
      const { exitCode, stderr } = await lzero(...argv, '-o', there);
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('there.jsonl exists already')]);
      expect((await lzero(...argv, '-o', there, '--force')).stderr).toContain('nowhere');
    }
    const [, teach] = commands();
    expect((await lzero(...teach, '-o', teach[1])).stderr).toContain('is the input itself');
    expect(readFileSync(there, 'utf8')).toBe('mine\n');
  });

  it('is no name of a compressed file: lines are written as they are', async () => {
    for (const argv of commands()) {
      const { exitCode, stderr } = await lzero(...argv, '-o', scratch.path('x.jsonl.gz'));
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('x.jsonl.gz would be written uncompressed')]);
      expect(stderr).toMatch(/hint: .*x\.jsonl, and compress it afterwards/);
    }
  });

  it('is a file, and standard output is none', async () => {
    for (const argv of commands()) {
      const { exitCode, stderr } = await lzero(...argv, '-o', '-');
      expect([exitCode, stderr]).toEqual([
        2,
        expect.stringContaining('lines go to a file here, not to standard output'),
      ]);
      expect(stderr).toMatch(/hint: .*goes on where it was stopped/);
    }
  });

  it('is not left behind where there is nothing to write', async () => {
    const empty = scratch.write('empty.jsonl', '\n');
    const output = scratch.path('x.jsonl');
    for (const argv of [
      ['mine', EMBEDDED_COLLECTION, '--queries', empty],
      ['teach', empty, '--teacher', DENSE],
    ]) {
      const { exitCode, stderr } = await lzero(...argv, '-o', output);
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('error[INPUT]: ')]);
      expect(stderr).toMatch(/empty\.jsonl has no (queries|lists)\nhint: /);
      expect(readdirSync(scratch.path('.')).filter((name) => name.startsWith('x.'))).toEqual([]);
    }
  });
});
