/** A run that is watched while it is killed for real and gone on with: the view has what the run folder has. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunFollower } from '../../src/view/run-follower.ts';
import { metricsOf, writeTinyTraining } from '../train/tiny-training.ts';

const MAIN = resolve(import.meta.dirname, '../../dist/cli/main.js');
const TIMEOUT_MS = 120_000;

let folder: string;
let config: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-view-kill-'));
  config = join(folder, 'tiny.yaml');
  writeFileSync(config, writeTinyTraining(folder));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Trains, looking at the run all the while, until it ends or has so many lines; gives the states that were seen. */
async function watched(follower: RunFollower, args: readonly string[], killAt = Number.POSITIVE_INFINITY) {
  const child = spawn(process.execPath, [MAIN, 'train', config, '-o', follower.folder, ...args], { stdio: 'ignore' });
  const ended = once(child, 'close');
  const states = new Set<string>();
  while (child.exitCode === null && child.signalCode === null) {
    await follower.poll();
    states.add(follower.head.state);
    if (follower.head.numRows >= killAt) child.kill('SIGKILL');
    await new Promise((next) => setImmediate(next));
  }
  await ended;
  await follower.poll();
  return states;
}

/** Steps of the rows that a view has. */
function stepsOf(follower: RunFollower): number[] {
  const { names, columns } = follower.rowsFrom(0);
  return [...columns[names.indexOf('step')]];
}

/** Steps of the lines that the file has. */
function loggedSteps(run: string): unknown[] {
  return metricsOf(run)
    .filter(({ loss }) => loss !== undefined)
    .map(({ step }) => step);
}

describe.skipIf(process.platform === 'win32')('a view', () => {
  it(
    'of a run that is killed says so, and has all of it when it has gone on',
    async () => {
      const run = join(folder, 'killed.run');
      const follower = new RunFollower(0, run);
      expect([...(await watched(follower, [], 4))]).toEqual(expect.arrayContaining(['waiting', 'running']));
      expect([follower.head.state, existsSync(join(run, 'run.lock'))]).toEqual(['stopped', true]);
      const { generation } = follower.head;
      expect(await watched(follower, ['--resume'])).toContain('running');
      expect(follower.head).toMatchObject({ state: 'finished', numRows: 7 });
      expect(follower.head.generation).toBeGreaterThan(generation);
      expect(stepsOf(follower)).toEqual(loggedSteps(run));
      expect(follower.details).toMatchObject({ numBadLines: 0, problem: null, alarms: [] });
      expect(follower.details.evaluations.map(({ step }) => step)).toEqual([0, 8, 16, 20]);
      expect(follower.details.evaluations[3].pinned).toHaveLength(3);
      expect(follower.lengthsAt(20)?.step).toBe(20);
      expect(readFileSync(join(run, 'metrics.jsonl'), 'utf8')).toContain('"docLens"');
    },
    TIMEOUT_MS,
  );

  it(
    'of a run that collapses marks it',
    async () => {
      const follower = new RunFollower(0, join(folder, 'collapsed.run'));
      const set = ['sparsity.lambda=1000', 'sparsity.ramp=0', 'sparsity.threshold=null', 'optim.learningRate=0.1'];
      await watched(
        follower,
        set.flatMap((one) => ['--set', one]),
      );
      expect(follower.details).toMatchObject({ state: 'collapsed', alarms: [{ message: expect.any(String) }] });
    },
    TIMEOUT_MS,
  );
});
