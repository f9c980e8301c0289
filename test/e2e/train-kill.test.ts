/** `lzero train` killed for real, at moments all over its run, and gone on with: the numbers of a run that was never killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { metricsOf, writeTinyTraining } from '../train/tiny-training.ts';

const MAIN = resolve(import.meta.dirname, '../../dist/cli/main.js');
const TIMEOUT_MS = 120_000;

let folder: string;
let config: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-train-kill-'));
  config = join(folder, 'tiny.yaml');
  writeFileSync(config, writeTinyTraining(folder));
});
afterAll(() => rmSync(folder, { recursive: true }));

type Ended = { readonly exitCode: number | null; readonly signal: string | null; readonly stderr: string };

/** Runs `lzero train`, and sends it a signal as soon as `when` says so. */
async function trained(
  run: string,
  args: readonly string[],
  signal?: NodeJS.Signals,
  when = () => false,
): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, 'train', config, '-o', run, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const look = setInterval(() => {
    if (!signal || !when()) return;
    clearInterval(look);
    child.kill(signal);
  }, 1);
  const [exitCode, ended] = await once(child, 'close');
  clearInterval(look);
  return { exitCode, signal: ended, stderr };
}

const numLines = (run: string): number =>
  existsSync(join(run, 'metrics.jsonl')) ? readFileSync(join(run, 'metrics.jsonl'), 'utf8').split('\n').length - 1 : 0;

describe.skipIf(process.platform === 'win32')('lzero train', () => {
  it(
    'killed again and again gives the metrics and the model, to the bit, of a run that was never killed',
    async () => {
      const [whole, killed] = [join(folder, 'whole.run'), join(folder, 'killed.run')];
      expect(await trained(whole, [])).toMatchObject({ exitCode: 0 });
      let numKills = 0;
      for (const lines of [1, 3, 4, 6, 8]) {
        const resume = existsSync(join(killed, 'run.json')) ? ['--resume'] : [];
        const { signal, stderr } = await trained(killed, resume, 'SIGKILL', () => numLines(killed) >= lines);
        expect(signal, stderr).toBe('SIGKILL');
        numKills++;
      }
      expect(await trained(killed, ['--resume'])).toMatchObject({ exitCode: 0 });
      expect(numKills).toBe(5);
      expect(metricsOf(killed)).toEqual(metricsOf(whole));
      const weights = [killed, whole].map((run) => readFileSync(join(run, 'model/model.safetensors')));
      expect(weights[0].equals(weights[1])).toBe(true);
    },
    TIMEOUT_MS,
  );

  it(
    'with frozen layers, learned query weights and half a checkpoint or model on disk: the same',
    async () => {
      const set = ['--set', 'engine.freezeLayers=1', '--set', 'idf.learnable=true'];
      const [whole, killed] = [join(folder, 'whole2.run'), join(folder, 'killed2.run')];
      expect(await trained(whole, set)).toMatchObject({ exitCode: 0 });
      const isHalf = (path: string, pattern: RegExp): boolean =>
        existsSync(path) && readdirSync(path).some((name) => pattern.test(name));
      const moments = [
        () => isHalf(join(killed, 'checkpoints'), /\.tmp$/),
        () => isHalf(killed, /^\.best\./),
        () => isHalf(join(killed, 'scratch'), /^\.model\./),
      ];
      for (const when of moments) {
        const resume = existsSync(join(killed, 'run.json')) ? ['--resume'] : [];
        await trained(killed, [...set, ...resume], 'SIGKILL', when); // a short moment: it may be missed
        if (existsSync(join(killed, 'model'))) break;
      }
      if (!existsSync(join(killed, 'model')))
        expect(await trained(killed, [...set, '--resume'])).toMatchObject({ exitCode: 0 });
      expect(metricsOf(killed)).toEqual(metricsOf(whole));
      const weights = [killed, whole].map((run) => readFileSync(join(run, 'model/model.safetensors')));
      expect(weights[0].equals(weights[1])).toBe(true);
      expect(existsSync(join(killed, 'frozen.cache'))).toBe(false);
    },
    TIMEOUT_MS,
  );

  it(
    'with DF-FLOPS and query weights as a projection, killed twice: the same, and the same table',
    async () => {
      const set = ['sparsity.regulariser=df-flops', 'sparsity.dfAlpha=0.3', 'idf.learnable=projected'];
      const args = set.flatMap((setting) => ['--set', setting]);
      const [whole, killed] = [join(folder, 'whole3.run'), join(folder, 'killed3.run')];
      expect(await trained(whole, args)).toMatchObject({ exitCode: 0 });
      for (const lines of [4, 7]) {
        const resume = existsSync(join(killed, 'run.json')) ? ['--resume'] : [];
        const { signal, stderr } = await trained(
          killed,
          [...args, ...resume],
          'SIGKILL',
          () => numLines(killed) >= lines,
        );
        expect(signal, stderr).toBe('SIGKILL');
      }
      expect(await trained(killed, [...args, '--resume'])).toMatchObject({ exitCode: 0 });
      expect(metricsOf(killed)).toEqual(metricsOf(whole));
      for (const file of ['model.safetensors', 'idf.json']) {
        const [ours, theirs] = [killed, whole].map((run) => readFileSync(join(run, 'model', file)));
        expect(ours.equals(theirs), file).toBe(true);
      }
    },
    TIMEOUT_MS,
  );

  it(
    'finishes the step at Ctrl-C, saves, says how to go on, and exits with 130',
    async () => {
      const run = join(folder, 'stopped.run');
      const ended = await trained(run, [], 'SIGINT', () => numLines(run) >= 3);
      expect(ended.exitCode).toBe(130);
      expect(ended.stderr).toMatch(
        /error\[INTERRUPTED\]: stopped after step \d+, which is saved\nhint: go on with --resume/,
      );
      expect(await trained(run, ['--resume'])).toMatchObject({ exitCode: 0 });
      expect(metricsOf(run)).toEqual(metricsOf(join(folder, 'whole.run')));
    },
    TIMEOUT_MS,
  );
});
