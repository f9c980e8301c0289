/** `lzero sweep` as it is typed: what is printed, what is refused. The sweep itself is tested in src/sweep. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommands } from '../../test/cli/fake-host.ts';
import { writeTinyTraining } from '../../test/train/tiny-training.ts';
import { InterruptedError } from '../core/index.ts';
import { sweepCommand } from './sweep.ts';

let folder: string;
let config: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-cli-sweep-'));
  writeFileSync(join(folder, 'tiny.yaml'), writeTinyTraining(folder));
  config = join(folder, 'sweep.yaml');
  writeFileSync(
    config,
    `base: ${join(folder, 'tiny.yaml')}
set: { optim.steps: 4, evaluate.every: 4, sparsity.ramp: 2 }
grid: { sparsity.lambda: [0.01, 0.02] }
`,
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

const lzero = (...argv: string[]) => runCommands([sweepCommand], ['sweep', ...argv]);

describe('lzero sweep', () => {
  it('tells which point is next and what came of it, and prints the file of results', async () => {
    const output = join(folder, 'shown');
    const { exitCode, stdout, stderr } = await lzero(config, '-o', output);
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toBe(`${join(output, 'results.jsonl')}\n`);
    expect(stderr).toContain('point 2/2: lambda=0.02');
    expect(stderr).toMatch(/lambda=0\.01: dev NDCG@10 0\.\d{4}, FLOPS .*, Doc_Len \d+/);
    expect(stderr).toContain('2 of 2 points over');
    const again = await lzero(config, '-o', output, '--json', '--quiet');
    const lines = readFileSync(stdout.trimEnd(), 'utf8').trimEnd().split('\n');
    expect(JSON.parse(again.stdout)).toMatchObject({
      schemaVersion: 1,
      numPoints: 2,
      results: lines.map((line) => JSON.parse(line)),
      failed: [],
    });
  }, 60_000);

  it('--jobs starts other processes, whose points are in the same file with the same numbers', async () => {
    const grid = readFileSync(config, 'utf8').replace('[0.01, 0.02]', '[0.01, 0.02, 0.03, 0.04]');
    const wide = join(folder, 'wide.yaml');
    writeFileSync(wide, grid);
    const numbers = (file: string) =>
      readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => ({ ...JSON.parse(line), seconds: undefined, provenance: undefined }));
    const alone = await lzero(wide, '-o', join(folder, 'alone'), '--quiet');
    const { exitCode, stdout, stderr } = await lzero(wide, '-o', join(folder, 'together'), '--jobs', '2');
    expect(exitCode, stderr).toBe(0);
    expect(numbers(stdout.trimEnd())).toEqual(numbers(alone.stdout.trimEnd()));
    expect(stderr).toMatch(/^job 2: point 4\/4: lambda=0\.04$/m);
    expect(stderr).toContain('4 of 4 points over');
  }, 120_000);

  it('--jobs ends its processes when it is stopped', async () => {
    const slow = join(folder, 'slow.yaml');
    writeFileSync(
      slow,
      readFileSync(config, 'utf8').replace('optim.steps: 4, evaluate.every: 4', 'optim.steps: 100000'),
    );
    const controller = new AbortController();
    const output = join(folder, 'stopped');
    const running = runCommands([sweepCommand], ['sweep', slow, '-o', output, '--jobs', '2'], {
      signal: controller.signal,
    });
    const locks = () => [0.01, 0.02].map((lambda) => existsSync(join(output, 'points', `lambda=${lambda}.lock`)));
    await expect.poll(locks, { timeout: 60_000 }).toEqual([true, true]);
    controller.abort(new InterruptedError());
    expect((await running).exitCode).toBe(130);
    expect(locks()).toEqual([false, false]); // each by its own process, at its end
  }, 120_000);

  it('--dry-run prints the names of the points and trains nothing', async () => {
    const { stdout } = await lzero(config, '--dry-run');
    expect(stdout).toBe('lambda=0.01\nlambda=0.02\n');
  });

  it('--settings prints what a file can say', async () => {
    const { stdout } = await lzero('--settings');
    for (const key of ['base', 'grid', 'list', 'seeds', 'measure[].collection']) expect(stdout).toContain(key);
  });

  describe('--budget', () => {
    let searched: string;
    beforeAll(() => {
      searched = join(folder, 'searched.yaml');
      const grid = 'grid: { sparsity.lambda: [0.01, 0.1], model.prune: [none, "top-k:4"] }';
      const set =
        'set: { optim.steps: 6, optim.warmup: 1, sparsity.ramp: 3, sparsity.threshold: 5, model.activation: l0 }';
      writeFileSync(searched, `base: ${join(folder, 'tiny.yaml')}\n${set}\n${grid}\n`);
    });

    it('prints the front, what was given up and where the best model is', async () => {
      const output = join(folder, 'best');
      const { exitCode, stdout, stderr } = await lzero(searched, '-o', output, '--budget', 'docLen<=4, flops<=1000');
      expect(exitCode, stderr).toBe(0);
      expect(stdout).toMatch(
        /^ +candidate +prune +NDCG@10 +FLOPS +Doc_Len +bytes a query +index size +bytes a document$/m,
      );
      expect(stdout).toMatch(/^\* +lambda=\S+ +top-k:4 +0\.\d{4} /m);
      expect(stdout).toMatch(/^best within the budget: NDCG@10 .* prune top-k:4\)$/m);
      expect(stdout).toContain('flops<=1000 does not bind');
      expect(stdout).toContain(`configuration: ${join(output, 'best.yaml')}`);
      expect(stderr).toContain('rung 1/2: 2 candidates in 2 steps');
      const again = await lzero(searched, '-o', output, '--budget', 'docLen<=4', '--json', '--quiet');
      expect(JSON.parse(again.stdout)).toMatchObject({
        schemaVersion: 1,
        budgets: ['docLen<=4'],
        best: { prune: 'top-k:4' },
        files: { model: join(output, 'best') },
      });
    }, 120_000);

    it('ends with 1 and BUDGET where no model keeps it, after the table', async () => {
      const { exitCode, stdout, stderr } = await lzero(
        searched,
        '-o',
        join(folder, 'best'),
        '--budget',
        'indexSize<=1B',
      );
      expect(exitCode).toBe(1);
      expect(stdout).toContain('misses indexSize<=1B');
      expect(stderr).toMatch(/error\[BUDGET\]: no model keeps indexSize<=1B: nearest to the budget: /);
      expect(stderr).toContain('hint:');
    }, 120_000);

    it('with --dry-run prints rungs, trainings, steps, rules and candidates', async () => {
      const { stdout } = await lzero(searched, '--budget', 'flops<=2', '--budget', 'docLen<=9', '--dry-run');
      expect(stdout).toBe(
        [
          'rung 1: 2 candidates × 2 steps',
          'rung 2: at most 2 candidates × 6 steps',
          'at most 4 trainings, 16 steps in all: those of 2.7 whole trainings',
          'prune rules, tried on each: none, top-k:4',
          'candidates:',
          'lambda=0.01',
          'lambda=0.1',
          '',
        ].join('\n'),
      );
    });

    it('that cannot be read ends with 2', async () => {
      const { exitCode, stderr } = await lzero(searched, '--budget', 'flop<=2');
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('did you mean flops?')]);
    });
  });

  it('ends with 1 and SWEEP where a point failed, with 2 where the file is wrong', async () => {
    const bad = join(folder, 'bad.yaml');
    const text = readFileSync(config, 'utf8');
    writeFileSync(bad, text.replace('sparsity.lambda: [0.01, 0.02]', `data.train: [${join(folder, 'none.jsonl')}]`));
    const failed = await lzero(bad, '-o', join(folder, 'failed'));
    expect(failed.exitCode).toBe(1);
    expect(failed.stderr).toMatch(/error\[SWEEP\]: 1 point failed: .*none\.jsonl/);
    writeFileSync(bad, text.replace('grid:', 'gird:'));
    const wrong = await lzero(bad, '-o', join(folder, 'failed'));
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('did you mean `grid`?')]);
  }, 60_000);
});
