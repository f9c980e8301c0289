/** `lzero view` as it is typed: the address, what is there, how it ends, what it refuses. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommands } from '../../test/cli/fake-host.ts';
import { makeRun } from '../../test/view/make-run.ts';
import { viewCommand } from './view.ts';

let folder: string;
let run: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-cli-view-'));
  run = join(folder, 'a.run');
  makeRun(run, { numLines: 3 });
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs until it has said where the page is: a signal that has fired already. */
const lzero = (...argv: string[]) => runCommands([viewCommand], ['view', ...argv], { signal: AbortSignal.abort() });

describe('lzero view', () => {
  it('prints the address, and Ctrl-C is no error', async () => {
    const { exitCode, stdout, stderr } = await lzero(run, '--port', '0');
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/\n$/)]);
    expect(stderr).toContain('Ctrl-C');
  });

  it('gives one JSON object with the address and the runs, and says which are not there yet', async () => {
    const { stdout, stderr } = await lzero(run, join(folder, 'later.run'), '--port', '0', '--json');
    expect(JSON.parse(stdout)).toEqual({
      schemaVersion: 1,
      url: expect.stringMatching(/^http:/),
      runs: [
        { name: 'a.run', folder: run, state: 'stopped' },
        { name: 'later.run', folder: join(folder, 'later.run'), state: 'waiting' },
      ],
    });
    expect(stderr).toContain('later.run has no run yet');
  });

  it.each([
    ['no run', [], /missing required argument/],
    ['a port that is none', ['a', '--port', '70000'], /error\[USAGE\]: --port 70000: .*0 to 65535/],
  ])('%s is wrong usage', async (_, argv, message) => {
    const { exitCode, stderr } = await lzero(...argv);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(message);
  });

  it('refuses a file', async () => {
    const file = join(folder, 'train.yaml');
    writeFileSync(file, '');
    const { exitCode, stderr } = await lzero(file);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/is a file.*\n.*hint: .*train\.run/s)]);
  });
});
