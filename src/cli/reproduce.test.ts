/** `lzero reproduce` as it is typed: plans, what is refused. A whole reproduction is test/e2e/reproduce.test.ts. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommands } from '../../test/cli/fake-host.ts';
import { reproduceCommand } from './reproduce.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-cli-reproduce-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const lzero = (...argv: string[]) =>
  runCommands([reproduceCommand], ['reproduce', ...argv], {
    env: { LZERO_CACHE: join(folder, 'cache'), LZERO_OFFLINE: '1' },
  });

describe('lzero reproduce', () => {
  it('says what it does, what it takes, and shows an example', async () => {
    const { exitCode, stdout } = await lzero('--help');
    expect(exitCode).toBe(0);
    for (const part of ['table1', 'figure3', 'report', '--scale', 'Examples:\n  $ lzero reproduce all '])
      expect(stdout).toContain(part);
  });

  it('--plan prints sets, files with sizes, points with steps, and hours; it makes nothing', async () => {
    const output = join(folder, 'planned');
    const { exitCode, stdout } = await lzero('all', '--scale', 'paper', '--plan', '-o', output);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('beir/fever: 6,666 queries, 5,416,568 documents');
    expect(stdout).toContain(
      'missing  Luyu/co-condenser-marco: the checkpoint that every row begins with, about 440 MB',
    );
    expect(stdout).toMatch(
      /lambda=0\.035,activation=relu,threshold=200,seed=42 \(table1, table2, figure1\): 100,000 steps, 8,000,000 documents, \d+h\d+m/,
    );
    expect(stdout).toMatch(/64 points of 64 left, about \d+h\d+m on one GPU of a data centre \(assumed\)/);
    expect(stdout).toContain('no number of ours at this scale exists yet');
    await expect(lzero('report', output)).resolves.toMatchObject({ exitCode: 2 });
  });

  it('--plan --json is one object', async () => {
    const { stdout } = await lzero('table2', '--plan', '--json', '-o', join(folder, 'planned'));
    expect(JSON.parse(stdout)).toMatchObject({
      schemaVersion: 1,
      scale: 'tiny',
      target: 'table2',
      points: { length: 8 },
      numLeft: 8,
      estimatedHours: expect.any(Number),
      needs: [{ path: 'base', isThere: false }, {}, {}],
    });
  });

  it('--jobs starts other processes, whose points are in the same report; the command is noted once', async () => {
    const output = join(folder, 'jobs');
    const { exitCode, stderr } = await lzero('table2', '-o', output, '--jobs', '2');
    expect(exitCode, stderr).toBe(0);
    expect(stderr).toMatch(/^job 2: point 8\/8: /m);
    expect(stderr).toContain('8 of 32 points over');
    expect(readFileSync(join(output, 'commands.txt'), 'utf8')).toBe(
      `lzero reproduce table2 --scale tiny -o ${output}\n`,
    );
  }, 180_000);

  it('ends with 1 and a list where inputs are missing, and begins nothing', async () => {
    const { exitCode, stderr } = await lzero('table2', '--scale', 'small', '-o', join(folder, 'missing'));
    expect(exitCode).toBe(1);
    expect(stderr).toContain('error[MISSING_INPUTS]: 6 of the inputs are missing');
    expect(stderr).toContain('made by: npx tsx runs/reproduce/prepare.ts DATA WEIGHTS -o ');
    expect(stderr).toContain('hint: ');
  });

  it('ends with 2 where words do not fit', async () => {
    for (const argv of [['table4'], ['all', '--scale', 'huge'], ['report'], ['report', folder], ['all', 'here']])
      expect([argv, (await lzero(...argv)).exitCode]).toEqual([argv, 2]);
    mkdirSync(join(folder, 'empty'));
    expect((await lzero('report', join(folder, 'empty'))).stderr).toContain('is not the folder of a reproduction');
  });
});
