/** Processes that end while the engine computes: none is aborted by the engine's native code. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { goldenFolder, needs, realWeights } from '../golden/model/fixtures.ts';

const MAIN = resolve(import.meta.dirname, '../../dist/cli/main.js');
const TIMEOUT_MS = 60_000;

function start(argv: readonly string[]) {
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
  const outcome = Promise.all([once(child, 'close'), text(child.stderr)]);
  return { child, end: async () => (await outcome).flat() };
}

describe.skipIf(process.platform === 'win32')('a process that ends while the engine computes', () => {
  const host = (how: string) => start(['--import', 'tsx', join(import.meta.dirname, 'engine-host.ts'), how]);

  it(
    'by process.exit waits for the run and ends with the code it asked for',
    async () => {
      const { child, end } = host('exit');
      expect(await text(child.stdout)).toBe('waited for the run\n');
      expect(await end()).toEqual([0, null, '']);
    },
    TIMEOUT_MS,
  );

  it(
    'by an uncaught error waits for the run and ends with 1',
    async () => {
      const { child, end } = host('throw');
      expect(await text(child.stdout)).toBe('waited for the run\n');
      expect(await end()).toEqual([1, null, expect.stringContaining('SyntaxError')]);
    },
    TIMEOUT_MS,
  );

  it(
    'by closing the session ends with 0: the run that was begun is waited for, one that was not fails',
    async () => {
      const { child, end } = host('close');
      expect(await text(child.stdout)).toBe('fulfilled the engine thread has ended\n');
      expect(await end()).toEqual([0, null, '']);
    },
    TIMEOUT_MS,
  );
});

describe.skipIf(process.platform === 'win32')('a process that ends amid a run of training', () => {
  it.each([
    ['evaluation', 1],
    ['step', 1],
    ['loading', 4], // its moment is short: one try may miss it
  ])(
    'while the engine is at a piece of work (%s) waits for that, and ends with the code it asked for',
    async (moment, numTries) => {
      for (let i = 0; i < numTries; i++) {
        const folder = mkdtempSync(join(tmpdir(), 'lzero-train-exit-'));
        const { child, end } = start(['--import', 'tsx', join(import.meta.dirname, 'train-host.ts'), folder, moment]);
        child.stdout.resume();
        expect(await end()).toEqual([7, null, '']);
        rmSync(folder, { recursive: true });
      }
    },
    TIMEOUT_MS,
  );
});

/** Each is a window of its own, and most of the time goes into the network. */
const LONG_TEXT = 'ocean moon tide bread yeast chain light '.repeat(2 ** 13);

describe.skipIf(process.platform === 'win32')('lzero encode, interrupted while the engine computes', () => {
  const encode = async (signal: NodeJS.Signals, model: readonly string[]): Promise<unknown[]> => {
    const folder = mkdtempSync(join(tmpdir(), 'lzero-interrupt-'));
    try {
      const input = join(folder, 'in.jsonl');
      const line = (i: number) => `${JSON.stringify({ _id: `d${i}`, text: LONG_TEXT })}\n`;
      writeFileSync(input, Array.from({ length: 200 }, (_, i) => line(i)).join(''));
      const { child, end } = start([MAIN, 'encode', input, '--quiet', ...model]);
      await once(child.stdout, 'data'); // the first vector is there, the second is being computed
      child.kill(signal);
      child.stdout.resume();
      return await end();
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  const ended = (code: number) => [code, null, 'error[INTERRUPTED]: interrupted\n'];
  const signals = [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const;

  it.each(signals)(
    'ends at %s with %i and a word, not with an abort',
    async (signal, code) => {
      expect(await encode(signal, ['--model', goldenFolder('tied'), '--idf', 'none'])).toEqual(ended(code));
    },
    TIMEOUT_MS,
  );

  const splade = realWeights('splade-tiny');
  it.skipIf(!splade)(
    `also with a model of usual size: ${needs('splade-tiny')}`,
    async () => {
      for (const [signal, code] of signals)
        expect(await encode(signal, ['--model', splade ?? ''])).toEqual(ended(code));
    },
    2 * TIMEOUT_MS,
  );
});
