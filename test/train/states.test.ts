/** Runs that learn mean states: what they write, that they go on to the same bits, what they refuse. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/index.ts';
import { DenseModel, denseProduct, importModel, openSafetensors } from '../../src/model/index.ts';
import { openScorer, parseTeacher } from '../../src/teach/index.ts';
import {
  type StatesConfig,
  statesConfigSchema,
  type TrainEvent,
  type TrainOptions,
  train,
} from '../../src/train/index.ts';
import { goldenFolder } from '../golden/model/fixtures.ts';
import { metricsOf, writeTinyTraining } from './tiny-training.ts';

const TIMEOUT_MS = 60_000;
const DENSE = join(import.meta.dirname, '../golden/dense');
const TEACHER = join(DENSE, 'mean');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-states-'));
  writeTinyTraining(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const place = (name: string): string => join(folder, name);

/** A DistilBERT learns from a BERT of the same width: both are folders of sentence-transformers. */
function config(...set: string[]): StatesConfig {
  const text = `model: { base: ${join(DENSE, 'cls')}, maxLength: 24 }
data: { train: ${place('lists.jsonl')}, format: scored, shuffleBuffer: 10 }
rank: { loss: states }
teachers: { models: ["dense:${TEACHER}"] }
optim: { learningRate: 3.0e-3, warmup: 2, steps: 20, batchDocuments: 8, seed: 3 }
evaluate: { documents: ${place('dev')}, every: 8 }
engine: { microBatchTokens: 64 }
output: { logEvery: 3, checkpointEvery: 5 }
`;
  return parseConfig(text, statesConfigSchema, { set });
}

const run = (name: string, set: readonly string[] = [], options: Partial<TrainOptions> = {}) =>
  train(config(...set), { folder: place(name), ...options });
const weightsOf = (name: string): Buffer => readFileSync(join(place(name), 'model/model.safetensors'));

const texts = (): string[] =>
  readFileSync(place('dev/corpus.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).text);

describe('a run that learns mean states', () => {
  it(
    'brings the cosine with the teacher up, and writes an encoder that gives it',
    async () => {
      const outcome = await run('whole', ['optim.steps=60', 'evaluate.every=20']);
      const lines = metricsOf(place('whole'));
      const cosines = lines.flatMap(({ evaluation }) => (evaluation ? [Object(evaluation).cosine] : []));
      expect(cosines).toHaveLength(4);
      expect(cosines.at(-1)).toBeGreaterThan(cosines[0] + 0.1);
      const steps = lines.filter(({ loss }) => loss !== undefined);
      for (const { loss, cosine } of steps) expect(cosine).toBeCloseTo(1 - Number(loss), 10);
      expect(Object.keys(steps[0])).toEqual(['step', 'loss', 'cosine', 'gradientNorm', 'learningRate']);

      const student = await DenseModel.load(outcome.model);
      expect(student.settings).toMatchObject({ pooling: 'mean', normalise: true, maxLength: 24 });
      const teacher = await openScorer(parseTeacher(`dense:${TEACHER}`));
      const vectors = (await teacher.denseVectorsOf?.('document', texts())) ?? [];
      let sum = 0;
      let numDone = 0;
      const documents = texts().map((text, i) => ({ id: String(i), text }));
      for await (const { vector } of student.encode(documents, { role: 'document' }))
        sum += denseProduct(vector, vectors[numDone++]);
      expect(sum / numDone).toBeCloseTo(Number(outcome.evaluation?.values.cosine), 5);
      await student.close();
      await teacher.close();
      expect(existsSync(join(place('whole'), 'teachers.cache'))).toBe(false);
    },
    TIMEOUT_MS,
  );

  it(
    'writes an encoder that gets a head, and no head of its own, also where the base has one',
    async () => {
      const { model } = await run('headed', [
        `model.base=${goldenFolder('half')}`,
        'optim.steps=3',
        'optim.warmup=1',
        'evaluate.every=3',
        'model.dtype=F16',
      ]);
      const file = await openSafetensors(join(model, 'model.safetensors'));
      const names = [...file.tensors.keys()];
      await file.close();
      expect(names.every((name) => name.startsWith('bert.'))).toBe(true);
      const report = await importModel({
        source: model,
        output: place('imported'),
        idf: 'none',
        head: 'tied',
        calibration: texts(),
      });
      expect(report.head).toBe('tied');
    },
    TIMEOUT_MS,
  );

  it(
    'goes on to the same bits after a stop, with frozen layers and dropout',
    async () => {
      const set = ['engine.freezeLayers=1', 'engine.dropout=0.1', 'optim.steps=12'];
      await run('straight', set);
      const controller = new AbortController();
      const onEvent = (event: TrainEvent) => event.kind === 'step' && event.step === 7 && controller.abort();
      await expect(run('cut', set, { onEvent, signal: controller.signal })).rejects.toMatchObject({
        code: 'INTERRUPTED',
      });
      expect(readdirSync(place('cut'))).toEqual(expect.arrayContaining(['frozen.cache', 'teachers.cache']));
      await run('cut', set, { resume: true });
      expect(metricsOf(place('cut'))).toEqual(metricsOf(place('straight')));
      expect(weightsOf('cut').equals(weightsOf('straight'))).toBe(true);
    },
    TIMEOUT_MS,
  );

  it(
    'has the batches of the documents alone, whatever lines they stand in, and finds with the teacher’s queries',
    async () => {
      const lists = readFileSync(place('lists.jsonl'), 'utf8').trimEnd().split('\n');
      const documents = lists.flatMap((line) => JSON.parse(line).docs);
      writeFileSync(place('alone.jsonl'), documents.map((text) => `${JSON.stringify({ text })}\n`).join(''));
      const set = ['data.shuffleBuffer=1000', `evaluate={ collection: ${place('dev')}, every: 8 }`];
      await run('lists', set);
      await run('alone', [...set, `data.train=${place('alone.jsonl')}`, 'data.format=documents']);
      // Windows hold whole files, so that both draw the same places of 160 documents.
      expect(weightsOf('alone').equals(weightsOf('lists'))).toBe(true);
      const [first] = metricsOf(place('lists'));
      expect(first.evaluation).toEqual({ cosine: expect.any(Number), 'ndcg@10': expect.any(Number) });
    },
    TIMEOUT_MS,
  );
});

describe('is refused', () => {
  it.each([
    ['sparsity={ lambda: 0 }', /sparsity/],
    ['idf={ source: none }', /idf/],
    ['model.activation=l0', /activation/],
    ['rank.temperature=2', /temperature/],
    ['data.docsPerQuery=2', /docsPerQuery/],
    ['optim.batchQueries=2', /batchQueries.*batchDocuments/s],
    ['engine.sampledTerms=9', /sampledTerms/],
    ['teachers.models=[a, b]', /one teacher/],
    ['evaluate={ every: 2 }', /expected documents, a collection, or both/],
    ['evaluate.patience=2', /before step 20 there are 2/],
    ['optim.warmup=20', /20 steps of 20/],
    ['data.format=lines', /format/],
  ])('by the schema: %s', (set, message) => {
    expect(() => config(set)).toThrow(message);
  });

  it.each([
    [`teachers.models=["siamese:${goldenFolder('tied')}"]`, /is a sparse model: states are learned from dense vectors/],
    [`model.base=${goldenFolder('tied')}`, /have 32 numbers, states of the base model 24/],
    ['engine.freezeLayers=2', /expected at most 1, since a layer has to learn/],
    ['model.maxLength=65', /expected at most 64/],
    ['data.format=documents', /no "text"/],
    ['evaluate={ documents: nowhere.jsonl }', /nowhere\.jsonl/],
  ])('when it is opened: %s', async (set, message) => {
    await expect(run('refused', [set])).rejects.toThrow(message);
    expect(existsSync(place('refused/run.json'))).toBe(false);
  });

  it('when documents are to be ids of a collection', async () => {
    const set = [`data={ train: ${place('lists.jsonl')}, format: documents, collection: ${place('dev')} }`];
    await expect(run('refused', set)).rejects.toThrow('has its own texts, so collection has no meaning');
  });
});
