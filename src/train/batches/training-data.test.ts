import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fc, test } from '@fast-check/vitest';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigError, InputError, InterruptedError, LzeroError, silentLogger } from '../../core/index.ts';
import { type TrainConfig, trainConfigSchema } from '../config.ts';
import type { TrainingBatch } from './training-batch.ts';
import { TrainingData, type TrainingDataOptions } from './training-data.ts';

const root = mkdtempSync(join(tmpdir(), 'lzero-training-data-'));
afterAll(() => rmSync(root, { recursive: true }));

type DataConfig = TrainConfig['data'];

let numFiles = 0;
/** A new file with these lines, objects as JSON. */
function file(lines: readonly (string | object)[], extension = '.jsonl'): string {
  const path = join(root, `${numFiles++}${extension}`);
  const text = lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
  writeFileSync(path, extension.endsWith('.gz') ? gzipSync(text) : text);
  return path;
}

const config = (settings: Partial<DataConfig>): DataConfig => ({
  train: '',
  docsPerQuery: 2,
  shuffleBuffer: 100,
  maxBadLines: 0,
  ...settings,
});

type Options = Partial<TrainingDataOptions> & { readonly wantsScores?: boolean };

const open = (
  settings: Partial<DataConfig>,
  { wantsScores = false, ...options }: Options = {},
): Promise<TrainingData> => {
  const data = config(settings);
  const takes = { docsPerQuery: data.docsPerQuery, wantsScores };
  return TrainingData.open(data, { takes, batchSize: 2, seed: 7, ...options });
};

async function take(data: TrainingData, count: number, fromStep = 0): Promise<TrainingBatch[]> {
  const batches: TrainingBatch[] = [];
  for await (const batch of data.batches(fromStep)) if (batches.push(batch) === count) break;
  return batches;
}

/** A list of n documents q.0, q.1, … from best to worst. */
const list = (query: string, n: number): object => ({
  query,
  docs: Array.from({ length: n }, (_, i) => `${query}.${i}`),
  scores: Array.from({ length: n }, (_, i) => n - i),
});
const triple = (query: string): object => ({ query, positive: `${query}+`, negative: `${query}-` });
const triples = (count: number, prefix = 'q'): object[] =>
  Array.from({ length: count }, (_, i) => triple(`${prefix}${i}`));

/** Three sources of files. */
const files = [
  file(triples(7, 'a')),
  file([list('b', 5), list('c', 2), '', list('d', 9)]),
  file(triples(3, 'e'), '.jsonl.gz'),
];
const sources: DataConfig['train'] = files.map((path, i) => ({
  path,
  format: i === 1 ? 'scored' : 'triples',
  weight: i + 0.5,
  mendEncoding: false,
}));

/** A BEIR folder: query 1 is answered by a, 2 by b and c; c has grade 2, and query 1 has nothing from c. */
function beir(): string {
  const folder = join(root, `beir${numFiles++}`);
  mkdirSync(join(folder, 'qrels'), { recursive: true });
  writeFileSync(
    join(folder, 'corpus.jsonl'),
    ['a', 'b', 'c'].map((_id) => JSON.stringify({ _id, title: 'T', text: _id })).join('\n'),
  );
  writeFileSync(join(folder, 'queries.jsonl'), '{"_id":"1","text":"one"}\n{"_id":"2","text":"two"}\n');
  writeFileSync(join(folder, 'qrels', 'train.tsv'), 'query-id\tcorpus-id\tscore\n1\ta\t1\n2\tb\t1\n1\tc\t0\n2\tc\t2\n');
  return folder;
}

describe('a batch', () => {
  it('of scored lists has Q queries, Q·G documents and the teacher’s scores [Q, G]', async () => {
    const data = await open({ train: file([list('x', 4), list('y', 4)]), format: 'scored' }, { wantsScores: true });
    expect(data.sources).toMatchObject([{ numExamples: 2, numSamples: 4, numBad: 0 }]);
    const batches = await take(data, 2);
    const rows = batches.flatMap(({ queries, documents, teacher }) =>
      queries.map((query, n) => [
        query,
        ...documents.slice(2 * n, 2 * n + 2),
        ...(teacher?.data.subarray(2 * n, 2 * n + 2) ?? []),
      ]),
    );
    // n = 4, G = 2: ranks 0 and 2, ranks 1 and 3; scores are 4 − rank. A pass of 4 samples fills both batches.
    expect(rows.toSorted()).toEqual([
      ['x', 'x.0', 'x.2', 4, 2],
      ['x', 'x.1', 'x.3', 3, 1],
      ['y', 'y.0', 'y.2', 4, 2],
      ['y', 'y.1', 'y.3', 3, 1],
    ]);
    expect(batches.map(({ teacher }) => [teacher?.rows, teacher?.cols])).toEqual([
      [2, 2],
      [2, 2],
    ]);
  });

  it.each(['.jsonl', '.jsonl.gz', '.ndjson'])(
    'of triples in %s has the positive first and no teacher',
    async (kind) => {
      const [batch] = await take(await open({ train: file(triples(2), kind), format: 'triples' }), 1);
      expect(batch.queries.toSorted()).toEqual(['q0', 'q1']);
      expect(batch.documents).toEqual(batch.queries.flatMap((query) => [`${query}+`, `${query}-`]));
      expect(batch.teacher).toBeUndefined();
    },
  );

  it.each(['.tsv', '.tsv.gz'])('of triples in %s is the same', async (kind) => {
    const lines = ['query\tpositive\tnegative', 'q0\tq0+\tq0-', '', 'q1\tq1+\tq1-'];
    const data = await open({ train: file(lines, kind), format: 'triples' });
    expect(data.sources).toMatchObject([{ numExamples: 2, numBad: 0 }]);
    const [batch] = await take(data, 1);
    expect(batch.documents).toEqual(batch.queries.flatMap((query) => [`${query}+`, `${query}-`]));
  });

  it('of documents alone has each document of every line once a pass, and no queries', async () => {
    const lines = [list('x', 3), list('y', 2)];
    const takes = { takes: 'documents', batchSize: 5 } as const;
    const [ranked] = await take(await open({ train: file(lines), format: 'scored' }, takes), 1);
    expect(ranked.documents.toSorted()).toEqual(['x.0', 'x.1', 'x.2', 'y.0', 'y.1']);
    expect([ranked.queries, ranked.teacher]).toEqual([[], undefined]);
    const [labelled] = await take(
      await open({ train: file(triples(3)), format: 'triples' }, { ...takes, batchSize: 6 }),
      1,
    );
    expect(labelled.documents.toSorted()).toEqual(['q0+', 'q0-', 'q1+', 'q1-', 'q2+', 'q2-']);
    const corpus = { ...config({}), train: beir(), format: 'documents' } as const;
    const data = await TrainingData.open(corpus, { takes: 'documents', batchSize: 3, seed: 7 });
    expect((await take(data, 1))[0].documents.toSorted()).toEqual(['T a', 'T b', 'T c']);
  });

  it('of a collection’s pairs has every judgement above 0', async () => {
    const data = await open({ train: beir(), format: 'pairs', docsPerQuery: 1 }, { batchSize: 3 });
    expect(data.sources).toMatchObject([{ numExamples: 3, numBad: 0 }]);
    const [{ queries, documents }] = await take(data, 1);
    expect(queries.map((query, n) => `${query}: ${documents[n]}`).toSorted()).toEqual([
      'one: T a',
      'two: T b',
      'two: T c',
    ]);
  });

  it('of lines with ids has the texts of the collection, named as a folder or as two files', async () => {
    const folder = beir();
    const named = { documents: join(folder, 'corpus.jsonl'), queries: join(folder, 'queries.jsonl') };
    const train = file([{ query: 2, docs: ['a', 'b'], scores: [1, 5] }]);
    for (const collection of [folder, named]) {
      const data = await open({ train, format: 'scored', collection }, { batchSize: 1 });
      expect(await take(data, 1)).toMatchObject([{ queries: ['two'], documents: ['T b', 'T a'] }]);
    }
  });

  it('finds relative paths from the folder it is told', async () => {
    const path = file(triples(1));
    const data = await open({ train: path.slice(root.length + 1), format: 'triples' }, { folder: root });
    expect(data.sources[0].path).toBe(path.slice(root.length + 1));
    expect((await take(data, 1))[0].queries).toEqual(['q0', 'q0']);
  });
});

describe('the order of samples', () => {
  it('is another one in each pass, and each pass has every sample once', async () => {
    const data = await open({ train: file(triples(20)), format: 'triples', shuffleBuffer: 6 }, { batchSize: 20 });
    const passes = (await take(data, 4)).map(({ queries }) => queries);
    const sorted = Array.from({ length: 20 }, (_, i) => `q${i}`).toSorted();
    for (const queries of passes) expect(queries.toSorted()).toEqual(sorted);
    expect(new Set(passes.map((queries) => queries.join())).size).toBe(4);
  });

  it('depends on the seed', async () => {
    const train = file(triples(20));
    const orders = await Promise.all(
      [1, 2].map(async (seed) =>
        (await take(await open({ train, format: 'triples' }, { seed }), 5)).map((b) => b.queries),
      ),
    );
    expect(orders[0]).not.toEqual(orders[1]);
  });

  test.prop([fc.nat({ max: 40 }), fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 12 }), fc.integer()], {
    numRuns: 40,
  })(
    'resumed at any step is that of the run that was not interrupted',
    async (step, batchSize, shuffleBuffer, seed) => {
      const data = await open({ train: sources, shuffleBuffer }, { batchSize, seed });
      const again = await open({ train: sources, shuffleBuffer }, { batchSize, seed });
      expect(await take(again, 3, step)).toEqual((await take(data, step + 3)).slice(step));
    },
  );

  it('mixes sources by weight: 3 to 1 within 2 % over 20,000 queries', async () => {
    const train = [3, 1].map((weight, i) => ({ ...sources[0], path: file(triples(5, 'xy'[i])), weight }));
    const batches = await take(await open({ train }, { batchSize: 1000 }), 20);
    const share = batches.flatMap(({ queries }) => queries).filter((query) => query.startsWith('x')).length / 20_000;
    expect(Math.abs(share - 0.75)).toBeLessThan(0.02); // σ is 0.003
  });
});

describe('documents', () => {
  it('come once for each line they stand in, without those of bad lines', async () => {
    const train = file([triple('a'), { query: 'x' }, triple('b'), triple('a')]);
    const data = await open({ train, format: 'triples', maxBadLines: 1 });
    const documents: string[] = [];
    for await (const document of data.documents()) documents.push(document);
    expect(documents).toEqual(['a+', 'a-', 'b+', 'b-', 'a+', 'a-']);
  });
});

describe('bad lines', () => {
  const lines = [triple('a'), '{', triple('b'), { query: 'c', positive: 'p' }, triple('d')];

  it('are an error with file and line', async () => {
    const train = file(lines);
    await expect(open({ train, format: 'triples' })).rejects.toThrow(`${train}:2: not JSON`);
    await expect(open({ train, format: 'triples' })).rejects.toBeInstanceOf(InputError);
  });

  it('are lines of ids where no collection is named, and the error says how to name it', async () => {
    const train = file([{ ...triple('a'), ids: true }]);
    const failure: unknown = await open({ train, format: 'triples' }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(InputError);
    expect(failure).toMatchObject({
      message: `${train}:1: the line holds ids, not texts`,
      hint: expect.stringContaining('data.collection'),
    });
  });

  it('are named, counted and left out up to maxBadLines', async () => {
    const train = file(lines);
    const words: string[] = [];
    const logger = { ...silentLogger, warn: (message: string) => words.push(message) };
    const data = await open({ train, format: 'triples', maxBadLines: 2 }, { logger, batchSize: 3 });
    expect(data.sources).toMatchObject([{ path: train, numExamples: 3, numBad: 2 }]);
    expect(words).toEqual([
      expect.stringContaining(`${train}:2: not JSON`),
      `${train}:4: no "negatives"; the line is left out`,
    ]);
    for (const { queries } of await take(data, 5)) expect(queries.toSorted()).toEqual(['a', 'b', 'd']);
  });

  it('beyond maxBadLines are an error that names the last', async () => {
    const train = file(lines);
    await expect(open({ train, format: 'triples', maxBadLines: 1 })).rejects.toThrow(
      `${train}:4: no "negatives"; this is bad line 2, and data.maxBadLines is 1`,
    );
  });
});

describe('data that cannot be trained on', () => {
  it('lists shorter than docsPerQuery: the line is named', async () => {
    const train = file([list('a', 4), list('b', 2)]);
    await expect(open({ train, format: 'scored', docsPerQuery: 3 })).rejects.toThrow(
      `${train}:2: 2 documents, but docsPerQuery: 3 needs 3`,
    );
  });

  it('lists without scores where a loss needs them', async () => {
    const train = file([{ query: 'q', docs: ['a', 'b'] }]);
    await expect(open({ train, format: 'scored' }, { wantsScores: true })).rejects.toThrow(`${train}:1: no "scores"`);
    await expect(open({ train, format: 'scored' })).resolves.toBeInstanceOf(TrainingData);
  });

  it.each([
    ['empty files', [], ''],
    ['files of blank lines', ['', ' '], ''],
    ['files of bad lines', ['{'], ', but 1 bad line'],
  ])('%s', async (_, lines, instead) => {
    const train = file(lines);
    await expect(open({ train, format: 'triples', maxBadLines: 5 })).rejects.toThrow(
      `${train} has no training examples${instead}`,
    );
  });

  it('ids that the collection does not have', async () => {
    const collection = beir();
    const train = file([{ query: '1', docs: ['a', 'z'] }]);
    await expect(open({ train, format: 'scored', collection })).rejects.toThrow(`${train}:1: "z" is no document of`);
  });

  it('pairs with two documents a query, scored lists with one, and standard input', async () => {
    const train = file([triple('a')]);
    await expect(open({ train, format: 'pairs' })).rejects.toBeInstanceOf(ConfigError);
    await expect(open({ train, format: 'scored', docsPerQuery: 1 })).rejects.toBeInstanceOf(ConfigError);
    await expect(open({ train: '-', format: 'triples' })).rejects.toBeInstanceOf(ConfigError);
    await expect(open({ train })).rejects.toBeInstanceOf(ConfigError);
  });

  it('files that are missing, folders, splits that are missing, and formats that nobody reads', async () => {
    await expect(open({ train: join(root, 'nowhere.jsonl'), format: 'scored' })).rejects.toThrow('does not exist');
    await expect(open({ train: root, format: 'triples' })).rejects.toThrow('is a folder, triples are read from a file');
    const pairs = { train: beir(), format: 'pairs', docsPerQuery: 1 } as const;
    await expect(open({ ...pairs, split: 'dev' })).rejects.toThrow('no judgements for split dev');
    await expect(open({ ...pairs, collection: beir() })).rejects.toThrow('has its own texts, so collection has no');
    await expect(open({ train: file([], '.tsv'), format: 'scored' })).rejects.toThrow('are read from .jsonl files');
    await expect(open({ train: file([], '.parquet'), format: 'triples' })).rejects.toThrow('.jsonl and .tsv files');
  });

  it.each([
    ['one pair', [['a', 'x']], 'query'],
    [
      'pairs of one query',
      [
        ['a', 'x'],
        ['a', 'y'],
      ],
      'query',
    ],
    [
      'pairs of one document',
      [
        ['a', 'x'],
        ['b', 'x'],
      ],
      'document',
    ],
  ])('%s: in-batch negatives have nothing to compare', async (_, pairs, shared) => {
    const lines = pairs.map(([query, positive]) => ({ query, positive }));
    const opening = open({ train: file(lines), format: 'pairs', docsPerQuery: 1 });
    await expect(opening).rejects.toThrow(`all examples have the same ${shared}`);
    const more = file([...lines, { query: 'c', positive: 'z' }]);
    await expect(open({ train: more, format: 'pairs', docsPerQuery: 1 })).resolves.toBeInstanceOf(TrainingData);
  });

  it('settings of collections beside a file that has its own texts', async () => {
    const train = file(triples(1));
    const settings = [{ split: 'train' }, { mendEncoding: true }];
    for (const [i, setting] of settings.entries()) {
      const key = Object.keys(setting)[0];
      const single = open({ train, format: 'triples', ...setting });
      await expect(single).rejects.toBeInstanceOf(ConfigError);
      await expect(single).rejects.toMatchObject({
        message: expect.stringContaining(`${key} has no meaning`),
        hint: `leave ${key} out`,
        setting: ['data', key],
      });
      const listed = [{ ...sources[0] }, { ...sources[0], path: train, ...settings[i] }];
      await expect(open({ train: listed })).rejects.toMatchObject({ setting: ['data', 'train', 1, key] });
    }
    const ids = { train: file([{ query: '1', docs: ['a', 'b'] }]), format: 'scored', collection: beir() } as const;
    await expect(open({ ...ids, mendEncoding: true })).resolves.toBeInstanceOf(TrainingData);
  });

  it('is blamed on the setting that names it', async () => {
    const blamed = (settings: Partial<DataConfig>) =>
      open(settings).then(
        () => undefined,
        (error: unknown) => (error instanceof LzeroError ? error.setting : error),
      );
    const scored = { train: file([{ query: '1', docs: ['a', 'z'] }]), format: 'scored' } as const;
    const pairs = { train: beir(), format: 'pairs', docsPerQuery: 1 } as const;
    expect(await blamed({ train: 'nowhere.jsonl', format: 'scored' })).toEqual(['data', 'train']);
    expect(await blamed({ ...scored, docsPerQuery: 3 })).toEqual(['data', 'train']);
    expect(await blamed({ ...scored, collection: 'nowhere' })).toEqual(['data', 'collection']);
    expect(await blamed({ ...scored, collection: { documents: file(['{']), queries: file([]) } })).toEqual([
      'data',
      'collection',
    ]);
    expect(await blamed({ ...pairs, split: 'dev' })).toEqual(['data', 'split']);
    expect(await blamed({ ...pairs, collection: beir() })).toEqual(['data', 'collection']);
    expect(await blamed({ train: [sources[0], { ...sources[0], path: 'nowhere.jsonl' }] })).toEqual([
      ...['data', 'train'],
      ...[1, 'path'],
    ]);
  });

  it('stops when it is told to', async () => {
    const train = file(triples(3));
    await expect(open({ train, format: 'triples' }, { signal: AbortSignal.abort() })).rejects.toBeInstanceOf(
      InterruptedError,
    );
    const stop = new AbortController();
    const batches = (await open({ train, format: 'triples' }, { signal: stop.signal })).batches(0);
    expect((await batches.next()).done).toBe(false);
    stop.abort();
    await expect(batches.next()).rejects.toBeInstanceOf(InterruptedError);
  });
});

describe('files of a run that goes on', () => {
  /** Three files, of lines and of texts. */
  const start = () =>
    ({ train: file([{ query: '1', docs: ['a', 'b'] }]), format: 'scored', collection: beir() }) as const;
  const corpusOf = ({ collection }: ReturnType<typeof start>): string => join(collection, 'corpus.jsonl');
  const LATER = new Date('2100-01-01');

  it('are known again, also where they were copied or put back', async () => {
    const settings = start();
    const kept = await (await open(settings)).files.describe();
    expect(await (await open(settings)).files.matches(kept)).toBe(true);
    for (const path of [settings.train, corpusOf(settings)]) utimesSync(path, LATER, LATER);
    expect(await (await open(settings)).files.matches(kept)).toBe(true);
  });

  it('are others after a change of lines or texts, of the same length or not', async () => {
    const changes: ((settings: ReturnType<typeof start>) => void)[] = [
      ({ train }) => appendFileSync(train, '\n'),
      (settings) => appendFileSync(corpusOf(settings), '\n{"_id":"d","text":"d"}\n'),
      (settings) => writeFileSync(corpusOf(settings), readFileSync(corpusOf(settings), 'utf8').replace('"T"', '"U"')),
    ];
    for (const change of changes) {
      const settings = start();
      const kept = await (await open(settings)).files.describe();
      change(settings);
      utimesSync(corpusOf(settings), LATER, LATER); // whatever the clock's steps
      expect(await (await open(settings)).files.matches(kept)).toBe(false);
    }
  });

  it('of before contents were kept are known by their times', async () => {
    const settings = start();
    const { files } = await (await open(settings)).files.describe();
    const kept = { files: Array.isArray(files) ? files.map(({ sha256: _, ...file }) => file) : [] };
    expect(await (await open(settings)).files.matches(kept)).toBe(true);
    utimesSync(settings.train, LATER, LATER);
    expect(await (await open(settings)).files.matches(kept)).toBe(false);
    expect(await (await open(settings)).files.matches(undefined)).toBe(false);
  });

  it('that change between reading and keeping are an error', async () => {
    const settings = start();
    const { files } = await open(settings);
    utimesSync(settings.train, LATER, LATER);
    await expect(files.describe()).rejects.toThrow('has changed while it was read');
  });

  it('a file that loses lines during the run is an error, not an endless wait', async () => {
    const train = file(triples(5));
    const data = await open({ train, format: 'triples' });
    writeFileSync(train, '');
    await expect(take(data, 1)).rejects.toThrow('is not what it was when the run began');
  });
});

describe('the configuration of data', () => {
  const run = (data: object): string[] => {
    const rank = { loss: 'info-nce', inBatchNegatives: true };
    const checked = trainConfigSchema.safeParse({ model: { base: 'x' }, data, rank, sparsity: { lambda: 0.1 } });
    return checked.success ? [] : checked.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  };

  it('takes a collection with one source or with each of several', () => {
    expect(run({ train: 'x.jsonl', format: 'scored', collection: 'beir', mendEncoding: true })).toEqual([]);
    const collection = { documents: 'd.tsv', queries: 'q.tsv' };
    expect(run({ train: [{ path: 'x.jsonl', format: 'triples', collection }] })).toEqual([]);
  });

  it('refuses settings of a single source beside several', () => {
    const train = [{ path: 'x.jsonl', format: 'triples' }];
    expect(run({ train, split: 'dev', collection: 'c' })).toEqual([
      'data.split: give split with each source',
      'data.collection: give collection with each source',
    ]);
  });

  it('refuses pairs with two documents a query and scored lists with one', () => {
    expect(run({ train: 'x', format: 'pairs' })[0]).toMatch(/^data.docsPerQuery: pairs have one document/);
    expect(run({ train: 'x', format: 'pairs', docsPerQuery: 1 })).toEqual([]);
    expect(run({ train: 'x', format: 'scored', docsPerQuery: 1 })[0]).toMatch(/^data.docsPerQuery: 1 would take/);
  });
});
