/** `lzero train` as it is typed: errors with the line of the file, the lines that are shown, what is printed at the end. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommands } from '../../test/cli/fake-host.ts';
import { writeTinyTraining } from '../../test/train/tiny-training.ts';
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
      'a mask with L1, which has none',
      (yaml: string) => yaml.replace('ramp: 8', 'ramp: 8, regulariser: l1'),
      /bad\.yaml:5:\d+: .*l1 has none/,
    ],
    [
      'other positives left out of no batch',
      (yaml: string) => yaml.replace('loss: kl', 'loss: info-nce, otherPositives: false'),
      /bad\.yaml:3:\d+: .*there are none to leave out/,
    ],
    [
      'patience that no evaluation can exhaust',
      (yaml: string) => yaml.replace('ramp: 8', 'ramp: 20').replace('every: 8', 'every: 8, patience: 1'),
      /bad\.yaml:7:\d+: .*no evaluation counts/,
    ],
  ])('%s is named with its line, before anything is done', async (_, change, message) => {
    const bad = join(folder, 'bad.yaml');
    writeFileSync(bad, change(text));
    const { exitCode, stderr } = await lzero(bad, '-o', join(folder, 'bad.run'));
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(message);
  });

  it('--dry-run prints the configuration with all defaults', async () => {
    const { stdout } = await lzero(config, '--dry-run', '--set', 'sparsity.lambda=0.5');
    expect(JSON.parse(stdout)).toMatchObject({
      sparsity: { lambda: 0.5, grouping: 'by-position' },
      optim: { clip: null },
    });
  });

  it.each([
    'data.train=nowhere.jsonl',
    'data.docsPerQuery=9',
    'evaluate.collection=nowhere',
    'evaluate.split=nowhere',
    'idf.source=nowhere.json',
  ])('--dry-run finds %s', async (set) => {
    const { exitCode, stdout, stderr } = await lzero(config, '--dry-run', '--set', set);
    expect([exitCode === 0, stdout]).toEqual([false, '']);
    expect(stderr).toMatch(/nowhere|docsPerQuery: 9/);
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
