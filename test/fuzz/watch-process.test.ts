import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type FuzzRun, watchProcess } from '../../bench/lib/watch-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'lzero-watch-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Watches a process that runs this program, in which `tell` sends a message. */
async function watch(program: string): Promise<FuzzRun> {
  const script = join(folder, 'process.mjs');
  writeFileSync(script, `const tell = (message) => new Promise((sent) => process.send(message, sent));\n${program}`);
  const task = { folder, seed: 1, endsInMs: 1, maxMemoryBytes: 2 ** 30 };
  return await watchProcess(script, task, { execArgv: [], silenceMs: 300, startMs: 20_000 });
}

const TALLIES = "await tell({ kind: 'tallies', tallies: [{ name: 'a' }] });";
const RUNNING = "await tell({ kind: 'running', what: 'case 7' });";
const END = 'process.disconnect();';

describe('a process of fuzzing', () => {
  it('that tells its tallies and ends is no failure', async () => {
    expect(await watch(`${RUNNING}${TALLIES}${END}`)).toEqual({ tallies: [{ name: 'a' }], failures: [] });
  });

  it('that tells of failures has these', async () => {
    const { failures } = await watch(`await tell({ kind: 'failure', what: 'case 3: bad' });${TALLIES}${END}`);
    expect(failures).toEqual(['case 3: bad']);
  });

  it.each([
    [
      'is killed by the system',
      "process.kill(process.pid, 'SIGKILL'); await new Promise(() => {});",
      /SIGKILL.*memory/,
    ],
    ['crashes', 'process.abort();', /SIGABRT/],
    ['ends with an error', 'process.exit(3);', /ended with 3/],
    ['ends without tallies', 'process.exit(0);', /ended with 0 before it was done/],
  ])('that %s is a failure, near the last case', async (_, program, message) => {
    const { failures } = await watch(`${RUNNING}${program}`);
    expect(failures).toEqual([expect.stringMatching(message)]);
    expect(failures[0]).toContain('near case 7');
  });

  it('that is silent is ended, which is one failure', async () => {
    const { failures } = await watch(`${RUNNING} setInterval(() => {}, 1000);`);
    expect(failures).toEqual([expect.stringContaining('case 7: no sign of life')]);
  });
});
