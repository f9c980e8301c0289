/** `lzero sweep` killed for real, in training, in measuring and between points, and started again: the numbers of one that never was. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeTinyTraining } from '../train/tiny-training.ts';

const MAIN = resolve(import.meta.dirname, '../../dist/cli/main.js');
const TIMEOUT_MS = 180_000;

let folder: string;
let config: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-sweep-kill-'));
  const base = join(folder, 'tiny.yaml');
  writeFileSync(base, writeTinyTraining(folder));
  config = join(folder, 'sweep.json');
  const sweep = {
    base,
    set: { 'optim.steps': 6, 'evaluate.every': 6, 'sparsity.ramp': 2 },
    grid: { 'sparsity.lambda': [0.01, 0.02] },
    seeds: [1],
    measure: [{ collection: join(folder, 'dev'), split: 'dev' }],
  };
  writeFileSync(config, JSON.stringify(sweep));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the sweep, and kills it as soon as `when` says so. */
async function swept(output: string, when: () => boolean = () => false): Promise<string> {
  const child = spawn(process.execPath, [MAIN, 'sweep', config, '-o', output], { stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const look = setInterval(() => when() && child.kill('SIGKILL'), 1);
  const [exitCode, signal] = await once(child, 'close');
  clearInterval(look);
  expect(signal ?? exitCode, stderr).toBeOneOf(['SIGKILL', 0]);
  return signal ?? 'ended';
}

const filesIn = (path: string): string[] => (existsSync(path) ? readdirSync(path) : []);
/** Without what a kill has left of a file that was being written beside its name. */
const resultsIn = (output: string): string[] =>
  filesIn(join(output, 'results')).filter((name) => name.endsWith('.json'));
const numbersOf = (output: string): object[] =>
  resultsIn(output).map((name) => ({
    ...JSON.parse(readFileSync(join(output, 'results', name), 'utf8')),
    seconds: undefined,
    provenance: undefined,
  }));

describe.skipIf(process.platform === 'win32')('lzero sweep', () => {
  it(
    'killed three times gives the results of a sweep that was never killed',
    async () => {
      const [whole, killed] = [join(folder, 'whole'), join(folder, 'killed')];
      expect(await swept(whole)).toBe('ended');
      const points = join(killed, 'points');
      const moments = [
        () => filesIn(points).some((name) => existsSync(join(points, name, 'metrics.jsonl'))), // training the first
        () => filesIn(points).some((name) => name.endsWith('.trained.json')), // measuring it
        () => resultsIn(killed).length === 1, // after it
      ];
      for (const when of moments) expect(await swept(killed, when)).toBe('SIGKILL');
      expect(await swept(killed)).toBe('ended');
      expect(numbersOf(killed)).toEqual(numbersOf(whole));
      expect(numbersOf(whole)).toHaveLength(2);
    },
    TIMEOUT_MS,
  );
});
