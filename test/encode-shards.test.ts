/** The plain-shell way to share encoding, with four processes. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { Scratch } from './cli/index-commands.ts';

const ROOT = resolve(import.meta.dirname, '..');
const run = promisify(execFile);
const scratch = new Scratch();
afterAll(() => scratch.remove());

describe.skipIf(process.platform === 'win32')('scripts/encode-shards.sh', () => {
  it('four processes write, line by line, what one writes', async () => {
    const corpus = scratch.writeLines(
      'corpus.jsonl',
      Array.from({ length: 30 }, (_, i) => ({ _id: `d${i}`, text: i === 7 ? '' : `text number ${i}` })),
    );
    const [one, four] = [scratch.path('one.jsonl'), scratch.path('four.jsonl')];
    await run(process.execPath, ['dist/cli/main.js', 'encode', corpus, '-o', one, '--model', 'bow'], { cwd: ROOT });
    await run('scripts/encode-shards.sh', [corpus, four, '4', '--model', 'bow'], { cwd: ROOT });
    expect(readFileSync(four, 'utf8')).toBe(readFileSync(one, 'utf8'));
  }, 120_000);
});
