/** `lzero train` as it is typed: errors with the line of the file, the lines that are shown, what is printed at the end. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommands } from '../../test/cli/fake-host.ts';
import { rewriteWeights } from '../../test/golden/check/fixtures.ts';
import { goldenFolder } from '../../test/golden/model/fixtures.ts';
import { writeTopicModel } from '../../test/lib/convert-models.ts';
import { writeTinyTraining } from '../../test/train/tiny-training.ts';
import { openScorer, parseTeacher } from '../teach/index.ts';
import { trainCommand } from './train.ts';

let folder: string;
let config: string;
let text: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-cli-train-'));
  text = writeTinyTraining(folder);
  config = join(folder, 'tiny.yaml');
  writeFileSync(config, text);
});
afterAll(() => rmSync(folder, { recursive: true }));

const lzero = (...argv: string[]) => runCommands([trainCommand], ['train', ...argv]);

/** What comes of a configuration after a change. */
function refused(change: (yaml: string) => string) {
  const bad = join(folder, 'bad.yaml');
  writeFileSync(bad, change(text));
  return lzero(bad, '-o', join(folder, 'bad.run'));
}

describe('lzero train', () => {
  it('prints the model, shows losses, λ, Doc_Len, the masked share, rate and time left, and evaluations', async () => {
    const run = join(folder, 'shown.run');
    const { exitCode, stdout, stderr } = await lzero(config, '-o', run);
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toBe(`${join(run, 'model')}\n`);
    expect(stderr).toMatch(/lists\.jsonl: 40 examples/);
    expect(stderr).toMatch(/first batch: logits .*active terms a document/);
    expect(stderr).toMatch(/step 1\/20 .*docs\/s.*loss .*kl .*flops .*Doc_Len .*masked \d+ % {2}λ .*rate/);
    expect(stderr).toMatch(/after step 8: NDCG@10 0\.\d{4}, FLOPS .*Doc_Len .*, the best so far/);
    expect(stderr).toMatch(/trained for 20 steps; after step \d+: NDCG@10/);
  }, 60_000);

  it('gives one JSON object', async () => {
    const set = ['--set', 'optim.steps=3', '--set', 'evaluate.every=3', '--set', 'sparsity.ramp=2'];
    const { stdout } = await lzero(config, '-o', join(folder, 'json.run'), ...set, '--json', '--quiet');
    expect(JSON.parse(stdout)).toMatchObject({
      schemaVersion: 1,
      steps: 3,
      stoppedEarly: false,
      evaluation: { step: 3, values: { 'ndcg@10': expect.any(Number), flops: expect.any(Number) } },
    });
  }, 60_000);

  it('knows what mine and teach have encoded with a teacher, in the cache folder', async () => {
    const cache = join(folder, 'cache');
    const teacher = join(import.meta.dirname, '../../test/golden/dense/mean');
    const scorer = await openScorer(parseTeacher(teacher));
    const file = join(cache, 'teachers', `${scorer.identity.slice(0, 16)}.vectors`);
    await scorer.close();
    mkdirSync(join(cache, 'teachers'), { recursive: true });
    writeFileSync(file, 'a letter in place of vectors: whoever looks at it says so');
    const set = [
      '--set',
      'rank={ loss: kl, inBatchNegatives: true }',
      '--set',
      `teachers={ models: [ "${teacher}" ] }`,
    ];
    const argv = ['train', config, '-o', join(folder, 'known.run'), ...set];
    const { exitCode, stderr } = await runCommands([trainCommand], argv, { env: { LZERO_CACHE: cache } });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`${file} is no cache of vectors`)]);
  }, 60_000);

  it('--view serves a page while it runs, and says how to see the run later', async () => {
    const run = join(folder, 'viewed.run');
    const set = ['--set', 'optim.steps=3', '--set', 'evaluate.every=3', '--set', 'sparsity.ramp=2'];
    const { exitCode, stderr } = await lzero(config, '-o', run, ...set, '--view');
    expect(exitCode, stderr).toBe(0);
    const [, url] = /curves: (http:\/\/127\.0\.0\.1:\d+\/)/.exec(stderr) ?? [];
    expect(stderr).toContain(`lzero view ${run}`);
    await expect(fetch(url)).rejects.toThrow(); // it ends with the run
  }, 60_000);

  it.each([
    ['an unknown key', (yaml: string) => yaml.replace('lambda:', 'lamda:'), /bad\.yaml:5:\d+: .*lamda.*lambda/s],
    [
      'flopsOn equal to the activation',
      (yaml: string) => yaml.replace('ramp: 8', 'ramp: 8, flopsOn: l0'),
      /bad\.yaml:5:\d+: .*write same/,
    ],
    [
      'a threshold of the whole vocabulary',
      (yaml: string) => yaml.replace('threshold: 20', 'threshold: 277'),
      /bad\.yaml:5:\d+: .*at most 276/,
    ],
    [
      'a warm-up longer than the run',
      (yaml: string) => yaml.replace('warmup: 2', 'warmup: 20'),
      /bad\.yaml:6:\d+: .*20 steps of 20/,
    ],
    [
      'a prune rule that nobody knows',
      (yaml: string) => yaml.replace('maxLength: 24', 'maxLength: 24, prune: half'),
      /bad\.yaml:1:\d+: .*`model\.prune`: expected none, ratio:0\.1/,
    ],
    [
      'a mask with L1, which has none',
      (yaml: string) => yaml.replace('ramp: 8', 'ramp: 8, regulariser: l1'),
      /bad\.yaml:5:\d+: .*l1 has none/,
    ],
    [
      'a cut of document frequencies for FLOPS, which has none',
      (yaml: string) => yaml.replace('ramp: 8', 'ramp: 8, dfAlpha: 0.2'),
      /bad\.yaml:5:\d+: .*flops has none: use df-flops/,
    ],
    [
      'a projection of no table',
      (yaml: string) => yaml.replace('source: corpus', 'source: none, learnable: projected'),
      /bad\.yaml:4:\d+: .*there is no table to learn/,
    ],
    [
      'other positives left out of no batch',
      (yaml: string) => yaml.replace('loss: kl', 'loss: info-nce, otherPositives: false'),
      /bad\.yaml:3:\d+: .*there are none to leave out/,
    ],
    [
      'patience that no evaluation can exhaust',
      (yaml: string) => yaml.replace('ramp: 8', 'ramp: 20').replace('every: 8', 'every: 8, patience: 1'),
      /bad\.yaml:7:\d+: .*before step 20 0 count/,
    ],
    [
      'patience of a run that is evaluated at its ends only',
      (yaml: string) => yaml.replace('every: 8', 'every: 30, patience: 1'),
      /bad\.yaml:7:\d+: .*before step 20 0 count/,
    ],
    [
      'patience for as many evaluations as there are, of which the first is the best so far',
      (yaml: string) => yaml.replace('every: 8', 'every: 8, patience: 2'),
      /bad\.yaml:7:\d+: .*before step 20 2 count/,
    ],
    [
      'a ramp where λ does not grow',
      (yaml: string) => yaml.replace('ramp: 8', 'ramp: 8, rampShape: none'),
      /bad\.yaml:5:\d+: .*write 0, or leave it out/,
    ],
    [
      'a cache of layers that are not frozen',
      (yaml: string) => yaml.replace('dropout: 0.1', 'dropout: 0.1, frozenCacheBytes: 1000'),
      /bad\.yaml:8:\d+: .*no layers are frozen/,
    ],
  ])('%s is named with its line, before anything is done', async (_, change, message) => {
    const { exitCode, stderr } = await refused(change);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(message);
  });

  it.each([
    [
      'a base model that is not there',
      (yaml: string) => yaml.replace(/base: [^,]+/, 'base: ./nowhere'),
      /bad\.yaml:1:16: `model\.base`: .*nowhere/,
    ],
    [
      'training data that are not there',
      (yaml: string) => yaml.replace('lists.jsonl', 'nowhere.jsonl'),
      /bad\.yaml:2:16: `data\.train`: .*nowhere\.jsonl does not exist/,
    ],
    [
      'a split of a file',
      (yaml: string) => yaml.replace('docsPerQuery', 'split: dev, docsPerQuery'),
      /bad\.yaml:2:\d+: `data\.split`: .*\nhint: leave split out/,
    ],
    [
      'more documents a query than a list has',
      (yaml: string) => yaml.replace('docsPerQuery: 2', 'docsPerQuery: 9'),
      /bad\.yaml:2:16: `data\.train`: .*lists\.jsonl:1: 4 documents, but docsPerQuery: 9 needs 9/,
    ],
    [
      'query weights that are not there',
      (yaml: string) => yaml.replace('source: corpus', 'source: nowhere.json'),
      /bad\.yaml:4:16: `idf\.source`: nowhere\.json/,
    ],
    [
      'a development collection that is not there',
      (yaml: string) => yaml.replace(/collection: [^,]+/, 'collection: nowhere'),
      /bad\.yaml:7:25: `evaluate\.collection`: nowhere/,
    ],
  ])('%s: the line is named that says so, before a run begins', async (_, change, message) => {
    expect((await refused(change)).stderr).toMatch(message);
    expect(existsSync(join(folder, 'bad.run', 'run.json'))).toBe(false);
  });

  it('--dry-run prints the configuration with all defaults', async () => {
    const { stdout } = await lzero(config, '--dry-run', '--set', 'sparsity.lambda=0.5');
    expect(JSON.parse(stdout)).toMatchObject({
      sparsity: { lambda: 0.5, grouping: 'by-position' },
      optim: { clip: null },
    });
  });

  it.each([
    ['data.train=nowhere.jsonl', '--set data.train=nowhere.jsonl: `data.train`: nowhere.jsonl does not exist'],
    ['data.docsPerQuery=9', 'tiny.yaml:2:16: `data.train`: '],
    ['evaluate.collection=nowhere', '--set evaluate.collection=nowhere: `evaluate.collection`: nowhere'],
    ['evaluate.split=nowhere', 'tiny.yaml:7:25: `evaluate.collection`: '],
    ['idf.source=nowhere.json', '--set idf.source=nowhere.json: `idf.source`: nowhere.json'],
    ['output.pinned=[nowhere]', '--set output.pinned=[nowhere]: `output.pinned`: no document'],
  ])('--dry-run finds %s, and names it', async (set, message) => {
    const { exitCode, stdout, stderr } = await lzero(config, '--dry-run', '--set', set);
    expect([exitCode === 0, stdout]).toEqual([false, '']);
    expect(stderr).toContain(message);
  });

  it('--dry-run finds a base model without a head', async () => {
    const base = join(folder, 'headless');
    cpSync(goldenFolder('untied'), base, { recursive: true });
    await rewriteWeights(base, (name) => !name.startsWith('cls.'));
    const { stderr } = await lzero(config, '--dry-run', '--set', `model.base=${base}`);
    expect(stderr).toMatch(/error\[CHECKPOINT\]: --set model\.base=.*: `model\.base`: .*head/);
  });

  it('--dry-run takes a base model with a topic head', async () => {
    const base = await writeTopicModel(join(folder, 'topic'));
    const { exitCode, stdout, stderr } = await lzero(config, '--dry-run', '--set', `model.base=${base}`);
    expect(exitCode, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ model: { base } });
    const idle = await lzero(config, '--dry-run', '--set', `model.base=${base}`, '--set', 'optim.head.weightDecay=0');
    expect(idle.stderr).toContain('`optim.head`: it would have no effect');
  });

  it('checks a training of mean states by settings of its own, with lines', async () => {
    const states = join(folder, 'states.yaml');
    const dense = join(import.meta.dirname, '../../test/golden/dense');
    const lines = [
      `model: { base: ${join(dense, 'cls')}, maxLength: 24 }`,
      `data: { train: ${join(folder, 'lists.jsonl')}, format: scored }`,
      'rank: { loss: states }',
      `teachers: { models: ["dense:${join(dense, 'mean')}"] }`,
    ];
    writeFileSync(states, `${lines.join('\n')}\n`);
    const { stdout, stderr } = await lzero(states, '--dry-run');
    expect(JSON.parse(stdout), stderr).toMatchObject({ rank: { loss: 'states' }, optim: { batchDocuments: 32 } });
    const tooLong = await lzero(states, '--dry-run', '--set', 'model.maxLength=65');
    expect(tooLong.stderr).toMatch(/--set model\.maxLength=65: .*expected at most 64/);
    writeFileSync(states, `${lines.join('\n')}\nsparsity: { lambda: 0.1 }\n`);
    expect((await lzero(states, '--dry-run')).stderr).toMatch(/states\.yaml:5:1: .*sparsity/);
    const settings = (await lzero('--settings')).stdout;
    expect(settings).toMatch(/^sparsity\.lambda .*^With rank\.loss: states.*^optim\.batchDocuments /ms);
  });

  it('says what is missing, and that a ramp is longer than the run', async () => {
    const bad = join(folder, 'no-rank.yaml');
    writeFileSync(bad, text.replace('rank: { loss: kl }\n', ''));
    expect((await lzero(bad, '--dry-run')).stderr).toContain('`rank`: is missing: expected { loss: … }');
    const set = ['--set', 'optim.steps=3', '--set', 'sparsity.ramp=30'];
    const { stderr } = await lzero(config, '-o', join(folder, 'ramp.run'), ...set);
    expect(stderr).toContain('λ grows over 30 steps and the run has 3: it ends with 0.00010 of 0.01');
  }, 60_000);
});
