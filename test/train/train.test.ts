/** Whole runs, on the training thread: what they write, that they can be stopped and gone on with, what they refuse. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadModel } from '../../src/model/index.ts';
import { CollapseError, type TrainEvent, type TrainOptions, train } from '../../src/train/index.ts';
import { rewriteWeights } from '../golden/check/fixtures.ts';
import { goldenFolder } from '../golden/model/fixtures.ts';
import { metricsOf, tinyConfig, writeTinyTraining } from './tiny-training.ts';

const TIMEOUT_MS = 60_000;
let folder: string;
let text: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-train-'));
  text = writeTinyTraining(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const place = (name: string): string => join(folder, name);
const run = (name: string, set: readonly string[] = [], options: Partial<TrainOptions> = {}) =>
  train(tinyConfig(text, ...set), { folder: place(name), ...options });
const weightsOf = (name: string): Buffer => readFileSync(join(place(name), 'model/model.safetensors'));

const numDocsOf = (docLens: Readonly<Record<string, number>>): number =>
  Object.values(docLens).reduce((sum, count) => sum + count, 0);

describe('a training run', () => {
  it(
    'logs every term by its name, evaluates, keeps the best model, and writes one that encodes',
    async () => {
      const events: TrainEvent[] = [];
      const outcome = await run('whole', [], { onEvent: (event) => events.push(event) });
      expect(outcome).toMatchObject({ steps: 20, stoppedEarly: false, model: join(place('whole'), 'model') });
      const lines = metricsOf(place('whole'));
      expect(lines.filter(({ evaluation }) => evaluation).map(({ step }) => step)).toEqual([0, 8, 16, 20]);
      const steps = lines.filter(({ loss }) => loss !== undefined);
      expect(steps.map(({ step }) => step)).toEqual([3, 6, 9, 12, 15, 18, 20]);
      for (const name of [
        'loss',
        'rank',
        'kl',
        'flops',
        'lambda',
        'docLen',
        'maskedShare',
        'learningRate',
        'gradientNorm',
      ])
        expect(steps[0][name], name).toEqual(expect.any(Number));
      expect(steps.at(-1)?.lambda).toBe(0.01);
      const numsDocs = steps.map(({ docLens }) => numDocsOf(Object(docLens)));
      expect(numsDocs).toEqual([24, 24, 24, 24, 24, 24, 16]); // 8 documents a step
      for (const { evaluation, pinned } of lines.filter((line) => line.evaluation))
        expect([evaluation, pinned]).toEqual([
          expect.any(Object),
          ['d0', 'd1', 'd2'].map((id) =>
            expect.objectContaining({ id, text: expect.any(String), terms: expect.any(Array) }),
          ),
        ]);
      const evaluated = lines.flatMap(({ step, evaluation }) =>
        Number(step) >= 8 && evaluation ? [{ step, values: evaluation }] : [],
      );
      const best = Math.max(...evaluated.map(({ values }) => Number(Object(values)['ndcg@10'])));
      expect(evaluated.find(({ values }) => Object(values)['ndcg@10'] === best)).toEqual(outcome.evaluation);
      expect(events.filter(({ kind }) => kind === 'step')).toHaveLength(20);
      const model = await loadModel(outcome.model);
      const vectors = [];
      for await (const { vector } of model.encode([{ id: 'a', text: 'the boat on the river' }])) vectors.push(vector);
      await model.close();
      expect(vectors[0].terms.length).toBeGreaterThan(0);
      expect(model.settings).toMatchObject({ activation: 'l0', encodeLength: 32, name: 'whole' });
      const card = readFileSync(join(outcome.model, 'README.md'), 'utf8');
      expect(card).toContain('| ranking loss | kl |');
      expect(card).not.toContain(folder);
    },
    TIMEOUT_MS,
  );

  it(
    'gives the same bits twice',
    async () => {
      await run('again');
      expect(metricsOf(place('again'))).toEqual(metricsOf(place('whole')));
      expect(weightsOf('again').equals(weightsOf('whole'))).toBe(true);
    },
    TIMEOUT_MS,
  );

  it.each([1, 7, 8, 13])(
    'stopped after step %i, saves, and goes on to the bits of a run that was never stopped',
    async (stopAt) => {
      const name = `stopped-${stopAt}`;
      const controller = new AbortController();
      const onEvent = (event: TrainEvent) => event.kind === 'step' && event.step === stopAt && controller.abort();
      await expect(run(name, [], { onEvent, signal: controller.signal })).rejects.toMatchObject({
        code: 'INTERRUPTED',
        hint: 'go on with --resume',
      });
      utimesSync(place('lists.jsonl'), stopAt, stopAt); // as after a copy: the content is the same
      await run(name, [], { resume: true });
      expect(metricsOf(place(name))).toEqual(metricsOf(place('whole')));
      expect(weightsOf(name).equals(weightsOf('whole'))).toBe(true);
    },
    TIMEOUT_MS,
  );

  it(
    'with a sample of the terms goes on to the same bits; with a sample of all has the losses of all within 1e-5',
    async () => {
      const set = ['engine.sampledTerms=60'];
      await run('sampled', set);
      const controller = new AbortController();
      const onEvent = (event: TrainEvent) => event.kind === 'step' && event.step === 7 && controller.abort();
      await expect(run('sampled-7', set, { onEvent, signal: controller.signal })).rejects.toThrow('is saved');
      await run('sampled-7', set, { resume: true });
      expect(metricsOf(place('sampled-7'))).toEqual(metricsOf(place('sampled')));
      expect(weightsOf('sampled-7').equals(weightsOf('sampled'))).toBe(true);
      await run('every-term', ['engine.sampledTerms=100000']);
      const lossOf = (name: string): number =>
        Number(metricsOf(place(name)).find(({ loss }) => loss !== undefined)?.loss);
      expect(Math.abs(lossOf('every-term') / lossOf('whole') - 1)).toBeLessThan(1e-5);
      expect(Math.abs(lossOf('sampled') / lossOf('whole') - 1)).toBeGreaterThan(1e-5);
    },
    TIMEOUT_MS,
  );

  it(
    'with DF-FLOPS and query weights as a projection goes on to the same bits, and writes the table that it learned',
    async () => {
      const set = ['sparsity.regulariser=df-flops', 'sparsity.dfAlpha=0.3', 'idf.learnable=projected'];
      const notes: string[] = [];
      const whole = (event: TrainEvent) => event.kind === 'note' && notes.push(event.message);
      await run('projected', set, { onEvent: whole });
      expect(notes.filter((note) => /begins with \d+\.\d % of the table's variance/.test(note))).toHaveLength(1);
      const controller = new AbortController();
      const onEvent = (event: TrainEvent) => event.kind === 'step' && event.step === 7 && controller.abort();
      await expect(run('projected-7', set, { onEvent, signal: controller.signal })).rejects.toThrow('is saved');
      await run('projected-7', set, { resume: true });
      expect(metricsOf(place('projected-7'))).toEqual(metricsOf(place('projected')));
      expect(metricsOf(place('projected'))[1]).toMatchObject({ 'df-flops': expect.any(Number) });
      expect(weightsOf('projected-7').equals(weightsOf('projected'))).toBe(true);
      const tables = ['projected', 'projected-7', 'whole'].map((name) =>
        readFileSync(join(place(name), 'model/idf.json'), 'utf8'),
      );
      expect(tables[1]).toBe(tables[0]);
      expect(tables[2]).not.toBe(tables[0]);
      expect(readFileSync(join(place('projected'), 'model/README.md'), 'utf8')).toContain('learned as a projection');
    },
    TIMEOUT_MS,
  );

  it(
    'ends early when nothing gets better',
    async () => {
      const set = [
        'optim.learningRate=1e-12',
        'sparsity.ramp=0',
        'sparsity.lambda=0',
        'evaluate.every=2',
        'evaluate.patience=2',
      ];
      expect(await run('early', set)).toMatchObject({ steps: 6, stoppedEarly: true, evaluation: { step: 2 } });
    },
    TIMEOUT_MS,
  );

  it(
    'says that documents have lost all terms, names λ, and stops',
    async () => {
      const set = [
        'sparsity.lambda=1000',
        'sparsity.rampShape=none',
        'sparsity.ramp=0',
        'sparsity.threshold=null',
        'optim.learningRate=0.5',
      ];
      const error = await run('collapsed', set).catch((cause: unknown) => cause);
      expect(error).toBeInstanceOf(CollapseError);
      expect(error).toMatchObject({
        code: 'COLLAPSE',
        hint: expect.stringContaining('λ is 1000 from the first step on'),
      });
      expect(metricsOf(place('collapsed')).at(-1)).toMatchObject({
        alarm: expect.stringMatching(/lost all their terms|less than one/),
      });
    },
    TIMEOUT_MS,
  );

  it(
    'goes on after a collapse where told to, with one warning',
    async () => {
      const set = ['sparsity.lambda=1000', 'sparsity.ramp=0', 'sparsity.threshold=null'];
      const told = ['optim.learningRate=0.5', 'output.onCollapse=continue', 'evaluate.every=100'];
      const warnings: string[] = [];
      const onEvent = (event: TrainEvent) =>
        event.kind === 'note' && event.level === 'warn' && warnings.push(event.message);
      expect(await run('continued', [...set, ...told], { onEvent })).toMatchObject({ steps: 20 });
      expect(warnings.filter((message) => message.includes('lost all their terms'))).toHaveLength(1);
    },
    TIMEOUT_MS,
  );

  it(
    'writes half floats where asked for, of which the same index can be made',
    async () => {
      const { model: path } = await run('half-floats', ['model.dtype=F16', 'optim.steps=3']);
      const [half, whole] = [weightsOf('half-floats'), weightsOf('whole')];
      expect(half.length).toBeLessThan(0.6 * whole.length);
      const model = await loadModel(path);
      for await (const { vector } of model.encode([{ id: 'a', text: 'the boat on the river' }]))
        expect(vector.terms.length).toBeGreaterThan(0);
      await model.close();
    },
    TIMEOUT_MS,
  );

  it(
    'that never began leaves the folder to another one',
    async () => {
      const base = place('uncalibrated');
      cpSync(goldenFolder('untied'), base, { recursive: true });
      const raised = (name: string, values: Float32Array) => (/bias$/.test(name) ? values.map((x) => x + 9) : values);
      await rewriteWeights(base, () => true, raised);
      const set = [`model.base=${base}`, 'idf.source=none'];
      await expect(run('never', set)).rejects.toThrow('the head is not calibrated');
      expect(existsSync(join(place('never'), 'run.json'))).toBe(false);
    },
    TIMEOUT_MS,
  );

  it(
    'takes a configuration without defaults, refuses one that cannot work, and fails with what a listener throws',
    async () => {
      const config = tinyConfig(text, 'optim.steps=3', 'evaluate.every=100');
      const { engine: _, output: _o, ...written } = config;
      expect(await train(written, { folder: place('written') })).toMatchObject({ steps: 3 });
      const bad = { ...written, rank: { loss: 'kl', inBatchNegatives: true } } as const;
      await expect(train(bad, { folder: place('bad') })).rejects.toMatchObject({ code: 'CONFIG' });
      const onEvent = (): void => {
        throw new Error('mine');
      };
      await expect(train(config, { folder: place('thrown'), onEvent })).rejects.toThrow('mine');
    },
    TIMEOUT_MS,
  );

  it(
    'is stopped by what a listener throws amid the steps, and can be gone on with',
    async () => {
      const onEvent = ({ kind }: TrainEvent): void => {
        if (kind === 'step') throw new Error('mine');
      };
      await expect(run('thrown-later', [], { onEvent })).rejects.toThrow('mine');
      expect(await run('thrown-later', [], { resume: true })).toMatchObject({ steps: 20 });
    },
    TIMEOUT_MS,
  );

  it('refuses a tokenizer that is much smaller than the network', async () => {
    const base = place('misfit');
    cpSync(goldenFolder('tied'), base, { recursive: true });
    const lines = readFileSync(join(base, 'vocab.txt'), 'utf8').split('\n');
    rmSync(join(base, 'tokenizer.json'), { force: true });
    writeFileSync(join(base, 'vocab.txt'), lines.slice(0, 200).join('\n'));
    await expect(run('misfit.run', [`model.base=${base}`])).rejects.toThrow('they are of two models');
  });

  it(
    'refuses to begin over a run, to go on with none, and to go on with another configuration',
    async () => {
      await expect(run('whole')).rejects.toMatchObject({
        code: 'RESUME',
        message: expect.stringContaining('finished'),
      });
      await expect(run('none', [], { resume: true })).rejects.toMatchObject({ code: 'RESUME' });
      const controller = new AbortController();
      const onEvent = ({ kind }: TrainEvent) => kind === 'step' && controller.abort();
      await expect(run('half', [], { onEvent, signal: controller.signal })).rejects.toThrow('is saved');
      await expect(run('half')).rejects.toMatchObject({ code: 'RESUME', hint: expect.stringContaining('--resume') });
      await expect(run('half', ['sparsity.lambda=0.02'], { resume: true })).rejects.toThrow(
        'another section "sparsity" of the configuration',
      );
    },
    TIMEOUT_MS,
  );

  it.each([
    ['sparsity.threshold=277', 'CONFIG', /threshold.*at most 276/],
    ['model.maxLength=513', 'CONFIG', /maxLength.*at most 512/],
    ['engine.freezeLayers=3', 'CONFIG', /freezeLayers.*at most 2/],
    ['data.docsPerQuery=5', 'INPUT', /4 documents/],
    ['data.train=nowhere.jsonl', 'INPUT', /nowhere/],
    ['model.base=nowhere', 'CHECKPOINT', /nowhere/],
    ['idf.source=nowhere.json', 'CONFIG', /nowhere/],
    ['evaluate.collection=nowhere', 'INPUT', /nowhere/],
  ])('refuses %s before the first step', async (set, code, message) => {
    await expect(run('refused', [set])).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    expect(existsSync(join(place('refused'), 'run.json'))).toBe(false);
  });
});
