/** Runs with teachers that score batches as they come: same numbers as stored scores, same bits after a stop. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/core/index.ts';
import { loadModel } from '../../src/model/index.ts';
import { openScorer, PAPER_ENSEMBLE, parseTeacher, scoreLists } from '../../src/teach/index.ts';
import { type TrainEvent, type TrainOptions, train } from '../../src/train/index.ts';
import { LiveTeachers } from '../../src/train/run/live-teachers.ts';
import { goldenFolder } from '../golden/model/fixtures.ts';
import { metricsOf, tinyConfig, writeTinyTraining } from './tiny-training.ts';

const TIMEOUT_MS = 60_000;
const DENSE = join(import.meta.dirname, '../golden/dense/mean');
let folder: string;
let text: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-live-'));
  text = writeTinyTraining(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const place = (name: string): string => join(folder, name);
const run = (name: string, set: readonly string[], options: Partial<TrainOptions> = {}) =>
  train(tinyConfig(text, ...set), { folder: place(name), ...options });
const weightsOf = (name: string): Buffer => readFileSync(join(place(name), 'model/model.safetensors'));

type List = { readonly query: string; readonly docs: readonly string[] };

function lists(): List[] {
  return readFileSync(place('lists.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The setting that trains on the lists without their scores. */
function unscored(): string {
  const lines = lists().map(({ query, docs }) => `${JSON.stringify({ query, docs })}\n`);
  writeFileSync(place('unscored.jsonl'), lines.join(''));
  return `data.train=${place('unscored.jsonl')}`;
}

const IN_BATCH = ['rank={ loss: kl, inBatchNegatives: true }', `teachers={ models: [ "${DENSE}" ] }`];

describe('a run with live teachers', () => {
  it(
    'has the numbers of one with their stored scores, where a list is a sample',
    async () => {
      // Lists of two documents give one sample each: normalised over the list as over the sample.
      const pairs = lists().map(({ query, docs }) => ({ query, docs: docs.slice(0, 2) }));
      const teacher = await openScorer(parseTeacher(DENSE));
      const scores = await scoreLists(pairs, { teachers: [teacher], ensemble: PAPER_ENSEMBLE });
      await teacher.close();
      // The order of a list decides which document is first: best first, as stored scores are read.
      const ordered = pairs.map(({ query, docs }, i) => {
        const order = [0, 1].sort((a, b) => scores[i][b] - scores[i][a]);
        return { query, docs: order.map((g) => docs[g]), scores: order.map((g) => scores[i][g]) };
      });
      const write = (name: string, lines: readonly unknown[]) =>
        writeFileSync(place(name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      write('stored.jsonl', ordered);
      write(
        'bare.jsonl',
        ordered.map(({ query, docs }) => ({ query, docs })),
      );
      await run('stored', [`data.train=${place('stored.jsonl')}`]);
      await run('live', [`data.train=${place('bare.jsonl')}`, `teachers={ models: [ "${DENSE}" ] }`]);
      const [stored, live] = [metricsOf(place('stored')), metricsOf(place('live'))];
      expect(live).toEqual(stored);
      // Scores of lines come before those of teachers, who would have nothing to do.
      const idle = run('idle', [`data.train=${place('stored.jsonl')}`, `teachers={ models: [ "${DENSE}" ] }`]);
      await expect(idle).rejects.toMatchObject({
        code: 'CONFIG',
        message: expect.stringMatching(/^teachers have no effect/),
      });
      expect(weightsOf('live').equals(weightsOf('stored'))).toBe(true);
      expect(existsSync(join(place('live'), 'teachers.cache'))).toBe(false);
    },
    TIMEOUT_MS,
  );

  it(
    'learns from more queries of a line, too, and keeps what its teacher encoded where it is told to',
    async () => {
      const memory = place('memory');
      const set = [...IN_BATCH, `teachers.memory=${memory}`];
      const asked = lists().map(({ query, docs }) => ({ query, docs, moreQueries: docs.slice(0, 2) }));
      writeFileSync(place('asked.jsonl'), asked.map((line) => `${JSON.stringify(line)}\n`).join(''));
      await run('few', set);
      await run('many', [...set, `data.train=${place('asked.jsonl')}`]);
      const [few, many] = ['few', 'many'].map((name) => metricsOf(place(name)).find(({ rank }) => rank !== undefined));
      expect(many?.rank).toBeGreaterThan(0);
      expect(many?.rank).not.toBe(few?.rank);
      expect(readdirSync(memory).filter((name) => name.endsWith('.vectors'))).toHaveLength(1);
    },
    TIMEOUT_MS,
  );

  it(
    'encodes nothing that others have encoded, and leaves theirs as it is',
    async () => {
      const [known, own] = [place('known'), place('known.run')];
      const scored = lists().map(({ query, docs }) => ({ query, docs }));
      const other = await openScorer(parseTeacher(DENSE), { folder: known });
      await other.scoreLists(scored); // it stays open, as if it went on
      const sizes = (path: string): number[] => readdirSync(path).map((name) => statSync(join(path, name)).size);
      const before = sizes(known);
      const controller = new AbortController();
      const onEvent = (event: TrainEvent) => event.kind === 'step' && event.step === 3 && controller.abort();
      const stopped = run('known.run', IN_BATCH, { knownTeacherFolder: known, onEvent, signal: controller.signal });
      await expect(stopped).rejects.toMatchObject({ code: 'INTERRUPTED' });
      await other.close();
      expect(sizes(join(own, 'teachers.cache'))).toEqual([64]); // a header
      expect(sizes(known)).toEqual(before.filter((size) => size > 1000));
    },
    TIMEOUT_MS,
  );

  it(
    'compares a query with all documents of the batch, and goes on to the same bits after a stop',
    async () => {
      await run('in-batch', IN_BATCH);
      const controller = new AbortController();
      const onEvent = (event: TrainEvent) => event.kind === 'step' && event.step === 7 && controller.abort();
      await expect(run('cut', IN_BATCH, { onEvent, signal: controller.signal })).rejects.toMatchObject({
        code: 'INTERRUPTED',
      });
      expect(existsSync(join(place('cut'), 'teachers.cache'))).toBe(true);
      rmSync(join(place('cut'), 'teachers.cache'), { recursive: true }); // a memory may get lost: vectors are the same again
      await run('cut', IN_BATCH, { resume: true });
      expect(metricsOf(place('cut'))).toEqual(metricsOf(place('in-batch')));
      expect(weightsOf('cut').equals(weightsOf('in-batch'))).toBe(true);
      await run('own', ['rank={ loss: kl }', IN_BATCH[1], unscored()]);
      expect(metricsOf(place('own'))).not.toEqual(metricsOf(place('in-batch')));
    },
    TIMEOUT_MS,
  );

  it(
    'learns the term weights of a sparse teacher: the distance falls',
    async () => {
      const set = ['rank={ loss: term-mse }', `teachers={ models: [ "siamese:${goldenFolder('tied')}" ] }`];
      const slower = ['sparsity.lambda=0', 'optim.steps=40', 'optim.learningRate=1e-2', 'engine.dropout=0'];
      await run('terms', [...set, ...slower, 'output.logEvery=1']);
      const losses = metricsOf(place('terms')).flatMap((line) =>
        typeof line['term-mse'] === 'number' ? [line['term-mse']] : [],
      );
      const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
      expect(mean(losses.slice(-8))).toBeLessThan(0.8 * mean(losses.slice(0, 8)));
    },
    TIMEOUT_MS,
  );

  it(
    'is not gone on with by other teachers',
    async () => {
      const controller = new AbortController();
      const onEvent = (event: TrainEvent) => event.kind === 'step' && event.step === 3 && controller.abort();
      const copy = place('teacher');
      cpSync(DENSE, copy, { recursive: true });
      const set = ['rank={ loss: kl }', `teachers={ models: [ "${copy}" ] }`, unscored()];
      await expect(run('other', set, { onEvent, signal: controller.signal })).rejects.toThrow('saved');
      writeFileSync(join(copy, '1_Pooling/config.json'), '{ "pooling_mode": "cls" }');
      await expect(run('other', set, { resume: true })).rejects.toThrow('was begun with another teachers');
    },
    TIMEOUT_MS,
  );

  it.each([DENSE, `siamese:${goldenFolder('tied')}`])(
    'gives %s engine.threads, not the whole machine',
    async (model) => {
      const config = tinyConfig(text, `teachers={ models: [ "${model}" ] }`);
      const { tokenizer } = await loadModel(goldenFolder('tied'), { idf: 'none' });
      const open = (threads: number | null) => {
        const options = { vocabulary: tokenizer.vocabulary, logger: silentLogger };
        return LiveTeachers.open({ ...config, engine: { ...config.engine, threads } }, options);
      };
      await expect(open(0)).rejects.toThrow('threads is 0'); // which the schema refuses before: it shows that they arrive
      for (const threads of [1, null]) await (await open(threads))?.close();
    },
  );

  it.each([
    [['rank={ loss: term-mse }'], /term-mse learns from the vectors of a sparse model/],
    [['rank={ loss: kl, inBatchNegatives: true }'], /kl needs scores of the whole batch/],
    [['rank={ loss: info-nce }', `teachers={ models: [ "${DENSE}" ] }`], /info-nce learns nothing/],
    [['rank={ loss: margin-mse, inBatchNegatives: true }', `teachers={ models: [ m ] }`], /margin-mse has none/],
    [['rank={ loss: info-nce, teacherTemperature: 2 }'], /info-nce has none/],
  ])('is refused before it begins: %j', (set, message) => {
    expect(() => tinyConfig(text, ...set)).toThrow(message);
  });

  it.each([
    [['rank={ loss: term-mse }', `teachers={ models: [ "${DENSE}" ] }`], /vectors of one sparse teacher, there are 0/],
    [['rank={ loss: kl }', 'teachers={ models: [ nowhere ] }'], /nowhere/],
    [['rank={ loss: kl }', 'teachers={ models: [ "m,poolin=cls" ] }'], /unknown option poolin/],
  ])('is refused when its teachers are opened: %j', async (set, message) => {
    await expect(run('refused', set)).rejects.toThrow(message);
  });
});
