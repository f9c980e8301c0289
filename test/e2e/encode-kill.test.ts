/** `lzero encode` killed for real, at several moments, and started again: nothing missing, nothing twice, same bytes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../../src/core/index.ts';
import { goldenFolder } from '../golden/model/fixtures.ts';

const MAIN = resolve(import.meta.dirname, '../../dist/cli/main.js');
const NUM_DOCS = 6000;
const TIMEOUT_MS = 120_000;

let folder: string;
let input: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-kill-'));
  input = join(folder, 'in.jsonl');
  const random = new Random(7);
  const words = ['ocean', 'moon', 'tide', 'bread', 'yeast', 'chain', 'light', 'lens', 'time', 'water'];
  const text = () => Array.from({ length: 1 + random.below(40) }, () => words[random.below(words.length)]).join(' ');
  const lines = Array.from({ length: NUM_DOCS }, (_, i) => `${JSON.stringify({ _id: `d${i}`, text: text() })}\n`);
  writeFileSync(input, lines.join(''));
});
afterAll(() => rmSync(folder, { recursive: true }));

function start(output: string) {
  const argv = [MAIN, 'encode', input, '-o', output, '--model', goldenFolder('tied'), '--idf', 'none', '--quiet'];
  const child = spawn(process.execPath, argv, { stdio: 'inherit' });
  return { child, ended: once(child, 'close') };
}

/** Kills the job as soon as its unfinished output has this many bytes. True if it was killed before its end. */
async function killAt(output: string, sizeBytes: number): Promise<boolean> {
  const partial = `${output}.partial`;
  const { child, ended } = start(output);
  const watcher = watch(folder, () => {
    if (existsSync(partial) && statSync(partial).size >= sizeBytes) child.kill('SIGKILL');
  });
  const [, signal] = await ended;
  watcher.close();
  return signal === 'SIGKILL';
}

describe.skipIf(process.platform === 'win32')('lzero encode, killed and started again', () => {
  it(
    'gives the bytes of a run that was never stopped',
    async () => {
      const whole = join(folder, 'whole.jsonl');
      expect((await start(whole).ended)[0]).toBe(0);
      const expected = readFileSync(whole, 'utf8');
      const output = join(folder, 'out.jsonl');
      const kills: boolean[] = [];
      for (const share of [0.05, 0.3, 0.65]) kills.push(await killAt(output, share * expected.length));
      expect(kills).toContain(true);
      expect((await start(output).ended)[0]).toBe(0);
      expect(readFileSync(output, 'utf8') === expected).toBe(true);
    },
    TIMEOUT_MS,
  );
});
