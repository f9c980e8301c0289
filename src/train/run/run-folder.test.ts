import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tinyConfig } from '../../../test/train/tiny-training.ts';
import { loadConfig } from '../../config/index.ts';
import { isJsonObject } from '../../core/index.ts';
import { trainConfigSchema } from '../config.ts';
import { FROZEN_CACHE, RunFolder, requireFolder } from './run-folder.ts';

const config = tinyConfig(`model: { base: x }
data: { train: x, format: scored }
rank: { loss: kl }
sparsity: { lambda: 0.4 }
optim: { warmup: 0 }`);
/** Data that is known by a name. */
const dataOf = (name: string) => ({
  describe: async () => ({ name }),
  matches: async (kept: unknown) => isJsonObject(kept) && kept.name === name,
});
const facts = { base: 'sha', data: dataOf('x'), idf: 'one', evaluate: undefined, teachers: undefined };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-run-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('RunFolder', () => {
  it('writes a configuration that reads back as it is, and lets nobody else in', async () => {
    const run = await RunFolder.open(folder, config, { ...facts, provenance: { lzero: '1' } });
    expect(await loadConfig(join(folder, 'config.yaml'), trainConfigSchema)).toEqual(config);
    await expect(RunFolder.open(folder, config, { ...facts, resume: true })).rejects.toMatchObject({ code: 'LOCKED' });
    run.close();
    (await RunFolder.open(folder, config, { ...facts, resume: true })).close();
  });

  it('goes on with the same data and settings only; what is shown and saved may change', async () => {
    (await RunFolder.open(folder, config, facts)).close();
    const again = (changes: object, others = facts) =>
      RunFolder.open(folder, { ...config, ...changes }, { ...others, resume: true });
    await expect(again({}, { ...facts, base: 'other' })).rejects.toThrow('another base model');
    await expect(again({}, { ...facts, data: dataOf('y') })).rejects.toThrow('another training data');
    await expect(again({}, { ...facts, idf: 'two' })).rejects.toThrow('another table of query weights');
    await expect(again({ evaluate: { collection: 'dev' } })).rejects.toThrow('another evaluation');
    await expect(again({ optim: { ...config.optim, seed: 7 } })).rejects.toThrow('another section "optim"');
    (await again({ output: { ...config.output, checkpointEvery: 7 } })).close();
  });

  it('notices a section that is gone', async () => {
    const evaluate = { collection: 'dev', every: 5 };
    (await RunFolder.open(folder, { ...config, evaluate } as typeof config, facts)).close();
    await expect(RunFolder.open(folder, config, { ...facts, resume: true })).rejects.toThrow('another evaluation');
  });

  it('drops lines behind the step it goes on from, and one that a kill has torn', async () => {
    const run = await RunFolder.open(folder, config, facts);
    for (const step of [5, 10, 15]) await run.log({ step, loss: step });
    appendFileSync(join(folder, 'metrics.jsonl'), '{"step":20,"lo');
    await run.cutMetrics(10, -1);
    await run.log({ step: 11 });
    expect(readFileSync(join(folder, 'metrics.jsonl'), 'utf8')).toBe(
      '{"step":5,"loss":5}\n{"step":10,"loss":10}\n{"step":11}\n',
    );
    run.close();
  });

  it('drops an evaluation that the checkpoint does not know: it is made again', async () => {
    const run = await RunFolder.open(folder, config, facts);
    for (const line of [
      { step: 5, evaluation: {} },
      { step: 10, loss: 1 },
      { step: 10, evaluation: {} },
    ])
      await run.log(line);
    await run.cutMetrics(10, 5);
    expect(readFileSync(join(folder, 'metrics.jsonl'), 'utf8')).toBe(
      '{"step":5,"evaluation":{}}\n{"step":10,"loss":1}\n',
    );
    run.close();
  });

  it('takes what a kill has left for no checkpoint, and deletes it when it goes on', async () => {
    const run = await RunFolder.open(folder, config, facts);
    const left = [
      `${run.checkpoint(5)}.123.0.tmp`,
      join(folder, '.best.9.partial'),
      join(folder, '.best.9.partial.old'),
    ];
    for (const path of left) writeFileSync(path, '');
    expect(await run.lastCheckpoint()).toBeUndefined();
    run.close();
    (await RunFolder.open(folder, config, { ...facts, resume: true })).close();
    expect(left.filter((path) => existsSync(path))).toEqual([]);
  });

  it('finds the newest checkpoint by its number, and keeps as many as wanted', async () => {
    const run = await RunFolder.open(folder, config, facts);
    expect(await run.lastCheckpoint()).toBeUndefined();
    for (const step of [900, 1000, 99]) writeFileSync(run.checkpoint(step), '');
    writeFileSync(`${run.checkpoint(2000)}.123.0.tmp`, ''); // what a kill leaves
    expect(await run.lastCheckpoint()).toBe(run.checkpoint(1000));
    await run.dropOldCheckpoints(2);
    expect([900, 1000, 99].map((step) => existsSync(run.checkpoint(step)))).toEqual([true, true, false]);
    run.close();
  });

  it('says how much room is missing, before the first step', async () => {
    const run = await RunFolder.open(folder, config, facts);
    await run.requireRoom(1000);
    await expect(run.requireRoom(1e18)).rejects.toMatchObject({
      code: 'OUTPUT',
      message: expect.stringMatching(/need 1,000,000,000,000 MB, the disk has [\d,]+ MB left/),
    });
    run.close();
  });

  it('refuses a folder with files of others, and leaves them alone; what a run left that never began is no hindrance', async () => {
    writeFileSync(join(folder, 'config.yaml'), 'mine');
    await expect(RunFolder.open(folder, config, facts)).rejects.toMatchObject({
      code: 'OUTPUT',
      message: expect.stringContaining("has files that are no run's: config.yaml"),
      hint: expect.stringContaining('-o'),
    });
    expect(readFileSync(join(folder, 'config.yaml'), 'utf8')).toBe('mine');
    writeFileSync(join(folder, 'notes.txt'), '');
    await expect(requireFolder(folder, {})).rejects.toThrow('config.yaml and 1 more');
    for (const name of ['config.yaml', 'notes.txt']) rmSync(join(folder, name));
    const run = await RunFolder.open(folder, config, facts);
    for (const name of [FROZEN_CACHE, `${FROZEN_CACHE}.lock`, 'run.lock.break']) writeFileSync(join(folder, name), '');
    await run.abandon();
    run.close();
    (await RunFolder.open(folder, config, facts)).close();
  });

  it('refuses a finished run, one that is not to be gone on with, and a folder without one', async () => {
    await expect(requireFolder(folder, { resume: true })).rejects.toThrow('has no run to go on with');
    await expect(requireFolder(join(folder, 'none'), { resume: true })).rejects.toThrow('has no run to go on with');
    expect(existsSync(join(folder, 'none'))).toBe(false);
    const run = await RunFolder.open(folder, config, facts);
    run.close();
    await expect(requireFolder(folder, {})).rejects.toThrow('not finished');
    writeFileSync(run.model, '');
    await expect(requireFolder(folder, { resume: true })).rejects.toThrow('is a finished run');
  });
});
