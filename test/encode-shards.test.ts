/** Sharing the work of encoding: the plain-shell way with four processes, and what the pods of the manifest run. */
import { execFile } from 'node:child_process';
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Scratch } from './cli/index-commands.ts';

const ROOT = resolve(import.meta.dirname, '..');
const OPENSEARCH_GUIDE = readFileSync(join(ROOT, 'docs/OPENSEARCH.md'), 'utf8');
const run = promisify(execFile);
const scratch = new Scratch();
afterAll(() => scratch.remove());

describe.skipIf(process.platform === 'win32')('scripts/encode-shards.sh', () => {
  it('goes on with shards of the same work, and never takes those of other options or another corpus', async () => {
    const corpus = scratch.writeLines('c.jsonl', [
      { _id: 'a', text: 'bread' },
      { _id: 'b', text: 'butter' },
    ]);
    const log = scratch.path('calls');
    // Writes which corpus and options it was called with; fails at the second shard while there is a file called `broken`.
    const fake = scratch.write(
      'fake-lzero',
      `#!/bin/sh
        echo "$6" >>${log}
        [ "$6" = 2/2 ] && [ -e ${scratch.path('broken')} ] && exit 1
        echo "$(wc -l <"$2") $6 $8 $9" >"$4"\n`,
    );
    chmodSync(fake, 0o755);
    const encode = (...more: string[]) =>
      run('scripts/encode-shards.sh', [corpus, scratch.path('out'), '2', ...more], {
        cwd: ROOT,
        env: { ...process.env, LZERO: fake },
      });
    const written = () => readFileSync(scratch.path('out'), 'utf8');
    const broken = scratch.write('broken', '');
    await expect(encode('--model', 'a')).rejects.toThrow(/a shard failed/);
    rmSync(broken);
    await encode('--model', 'b');
    expect(written()).toBe('2 1/2 --model b\n2 2/2 --model b\n');
    scratch.write('calls', '');
    await encode('--model', 'a');
    expect(written()).toBe('2 1/2 --model a\n2 2/2 --model a\n');
    expect(readFileSync(log, 'utf8')).toBe('2/2\n'); // the first was there
    scratch.write('broken', '');
    await expect(encode('--model', 'a')).rejects.toThrow(/a shard failed/);
    rmSync(broken);
    scratch.writeLines('c.jsonl', [{ _id: 'c', text: 'other' }]);
    await encode('--model', 'a');
    expect(written()).toBe('1 1/2 --model a\n1 2/2 --model a\n');
  }, 60_000);

  it('four processes, started as docs/OPENSEARCH.md says, write line by line what one writes', async () => {
    const corpus = scratch.writeLines(
      'corpus.jsonl',
      Array.from({ length: 30 }, (_, i) => ({ _id: `d${i}`, text: i === 7 ? '' : `text number ${i}` })),
    );
    const [one, four] = [scratch.path('one.jsonl'), scratch.path('four.jsonl')];
    await run(process.execPath, ['dist/cli/main.js', 'encode', corpus, '-o', one, '--model', 'bow'], { cwd: ROOT });
    const [, example] = /^ {4}(scripts\/encode-shards\.sh .*?)(?: {2,}.*)?$/m.exec(OPENSEARCH_GUIDE) ?? [];
    expect(example).toBe('scripts/encode-shards.sh corpus.jsonl vectors.jsonl 4 --model my-model');
    const words = new Map([
      ['corpus.jsonl', corpus],
      ['vectors.jsonl', four],
      ['my-model', 'bow'],
    ]);
    const [script, ...argv] = example.split(' ').map((word) => words.get(word) ?? word);
    await run(script, argv, { cwd: ROOT });
    expect(readFileSync(four, 'utf8')).toBe(readFileSync(one, 'utf8'));
  }, 120_000);
});

describe.skipIf(process.platform === 'win32')('configs/encode-job.yaml', () => {
  it('its pods write the shards that make the whole, and leave finished ones alone', async () => {
    const corpus = scratch.writeLines(
      'pods.jsonl',
      Array.from({ length: 9 }, (_, i) => ({ _id: `d${i}`, text: `text number ${i}` })),
    );
    const job = parse(readFileSync(join(ROOT, 'configs/encode-job.yaml'), 'utf8'));
    const [{ command, args }] = job.spec.template.spec.containers;
    const script = String(args[0])
      .replaceAll('/16', '/4')
      .replaceAll('of-16', 'of-4')
      .replace('/data/corpus.jsonl', corpus)
      .replace('/data/model --precision int8', 'bow')
      .replaceAll('/out/', `${scratch.folder}/`)
      .replace('exec lzero', `exec ${process.execPath} dist/cli/main.js`);
    const pod = (index: number) =>
      run(command[0], [command[1], script], {
        cwd: ROOT,
        env: { ...process.env, JOB_COMPLETION_INDEX: String(index) },
      });
    await Promise.all([0, 1, 2, 3].map(pod));
    await pod(2);
    const ids = [1, 2, 3, 4].map((part) =>
      readFileSync(scratch.path(`vectors.${part}-of-4`), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)._id),
    );
    expect(ids).toEqual([
      ['d0', 'd4', 'd8'],
      ['d1', 'd5'],
      ['d2', 'd6'],
      ['d3', 'd7'],
    ]);
  }, 120_000);
});
