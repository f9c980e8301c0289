/** How a run folder looks from outside, at every moment of its life. */
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeRun } from '../../test/view/make-run.ts';
import { acquireLock, writeFileAtomically } from '../files/index.ts';
import { RunFollower } from './run-follower.ts';

let parent: string;
let folder: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'lzero-runs-'));
  folder = join(parent, 'a.run');
});
afterEach(() => rmSync(parent, { recursive: true }));

async function polled(run: RunFollower) {
  await run.poll();
  return run.details;
}

describe('a followed run', () => {
  it('waits for its folder, then runs, and is finished when it has a model', async () => {
    const run = new RunFollower(0, folder);
    expect(await polled(run)).toMatchObject({
      name: 'a.run',
      state: 'waiting',
      numRows: 0,
      config: null,
      problem: null,
    });
    const { addLine } = makeRun(folder, { numLines: 20, evaluateEvery: 100 });
    const lock = acquireLock(join(folder, 'run.lock'));
    const running = await polled(run);
    expect(running).toMatchObject({ state: 'running', numRows: 20, config: { optim: { steps: 200 } } });
    expect(running.evaluations.map(({ step }) => step)).toEqual([100, 200]);
    const { version } = running;
    addLine();
    expect(await polled(run)).toMatchObject({ numRows: 21, version }); // a step is no reason to ask for all the rest
    lock.release();
    expect(await polled(run)).toMatchObject({ state: 'stopped', version: version + 1 });
    mkdirSync(join(folder, 'model'));
    expect(await polled(run)).toMatchObject({ state: 'finished' });
  });

  it('is collapsed where an alarm was its last word, and not where it went on', async () => {
    const { addLine } = makeRun(folder, { numLines: 30, collapseAt: 200 });
    const run = new RunFollower(0, folder);
    expect(await polled(run)).toMatchObject({ state: 'collapsed', alarms: [{ step: 200 }] });
    addLine();
    expect(await polled(run)).toMatchObject({ state: 'stopped', alarms: [{ step: 200 }] });
  });

  it('killed and gone on with, it has the rows of the file, in a new generation', async () => {
    makeRun(folder, { numLines: 20 });
    appendFileSync(join(folder, 'metrics.jsonl'), '{"step":210,"lo'); // torn by the kill
    const run = new RunFollower(0, folder);
    const { generation, numRows, numBadLines } = await polled(run);
    expect([numRows, numBadLines]).toEqual([20, 0]);
    const lines = readFileSync(join(folder, 'metrics.jsonl'), 'utf8').split('\n').slice(0, 12);
    await writeFileAtomically(join(folder, 'metrics.jsonl'), `${lines.join('\n')}\n`); // as RunFolder.cutMetrics
    expect(await polled(run)).toMatchObject({ generation: generation + 1, numRows: 12 });
    appendFileSync(join(folder, 'metrics.jsonl'), '{"step":125,"loss":0.5}\n');
    await run.poll();
    const { names, columns } = run.rowsFrom(12);
    expect(columns[names.indexOf('step')]).toEqual(Float64Array.of(125));
  });

  it('begun anew in the same place, it has the new configuration and rows', async () => {
    makeRun(folder, { numLines: 20, lambda: 0.1 });
    const run = new RunFollower(0, folder);
    await run.poll();
    rmSync(folder, { recursive: true });
    expect(await polled(run)).toMatchObject({ state: 'waiting', numRows: 0, config: null });
    makeRun(folder, { numLines: 7, lambda: 0.2 });
    expect(await polled(run)).toMatchObject({ numRows: 7, config: { sparsity: { lambda: 0.2 } } });
  });

  it('says what cannot be read, and goes on when it can', async () => {
    makeRun(folder, { numLines: 3 });
    const text = readFileSync(join(folder, 'run.json'), 'utf8');
    writeFileSync(join(folder, 'run.json'), text.slice(0, 20));
    const run = new RunFollower(0, folder);
    expect((await polled(run)).problem).toMatch(/JSON/);
    writeFileSync(join(folder, 'run.json'), text);
    expect(await polled(run)).toMatchObject({ problem: null, state: 'stopped', numRows: 3 });
  });
});
