/** `lzero index` killed for real while it builds, and started again: the index is that of a build that was not stopped. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, watch } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../../src/core/index.ts';
import { hitsOf, lzeroJson, Scratch } from '../cli/index-commands.ts';

const MAIN = resolve(import.meta.dirname, '../../dist/cli/main.js');
const NUM_DOCS = 1500; // "ocean" stands in more than a thousand
const TIMEOUT_MS = 60_000;

let scratch: Scratch;
let corpus: string;

beforeAll(() => {
  scratch = new Scratch();
  const random = new Random(11);
  const words = ['ocean', 'moon', 'tide', 'bread', 'yeast', 'chain', 'light', 'lens', 'time', 'water'];
  const text = () => Array.from({ length: 1 + random.below(40) }, () => words[random.below(words.length)]).join(' ');
  const documents = Array.from({ length: NUM_DOCS }, (_, i) => ({ _id: `d${i}`, text: text() }));
  corpus = scratch.writeLines('corpus.jsonl', documents);
});
afterAll(() => scratch.remove());

/** Kills the build as soon as its folder has this file. True if it was killed before its end. */
async function killAt(folder: string, file: string): Promise<boolean> {
  mkdirSync(join(folder, 'segments'), { recursive: true });
  const child = spawn(process.execPath, [MAIN, 'index', corpus, '-o', folder, '--quiet', '--model', 'bow'], {
    stdio: 'inherit',
  });
  const kill = () => existsSync(join(folder, file)) && child.kill('SIGKILL');
  const watchers = [folder, join(folder, 'segments')].map((path) => watch(path, kill));
  const [, signal] = await once(child, 'close');
  for (const watcher of watchers) watcher.close();
  return signal === 'SIGKILL';
}

/** The same for one that replaces an index, whose folders come and go. */
async function killForced(folder: string, file: string): Promise<boolean> {
  const child = spawn(process.execPath, [MAIN, 'index', corpus, '-o', folder, '--force', '--quiet', '--model', 'bow'], {
    stdio: 'inherit',
  });
  const look = setInterval(() => existsSync(join(folder, file)) && child.kill('SIGKILL'), 1);
  const [, signal] = await once(child, 'close');
  clearInterval(look);
  return signal === 'SIGKILL';
}

describe.skipIf(process.platform === 'win32')('lzero index, killed and started again', () => {
  it.each(['lock', 'query-side.bin', 'manifest.json', 'segments/0.postings'])(
    'finds what a build finds that was never stopped, killed when there was %s',
    async (file) => {
      const [index, whole] = [scratch.path(`killed-${file.replace('/', '-')}`), scratch.path('whole')];
      const wasKilled = await killAt(index, file);
      if (file !== 'segments/0.postings') expect(wasKilled).toBe(true); // that late it may have been done
      if (!existsSync(whole)) await lzeroJson('index', corpus, '-o', whole);
      if (wasKilled) expect((await lzeroJson('index', corpus, '-o', index)).documents).toBe(NUM_DOCS);
      for (const query of ['ocean tide', 'bread and yeast'])
        expect(await hitsOf(index, query, '-k', '1000')).toEqual(await hitsOf(whole, query, '-k', '1000'));
      expect(await lzeroJson('verify', index)).toMatchObject({ ok: true, numDocs: NUM_DOCS });
    },
    TIMEOUT_MS,
  );

  it.each(['replacement/manifest.json', 'replacement/segments/0.postings', 'segments/1.postings'])(
    'with --force finds the old index or the new, killed when there was %s, and at last the new',
    async (file) => {
      const index = scratch.path(`forced-${file.replaceAll('/', '-')}`);
      await lzeroJson('index', scratch.writeLines('old.jsonl', [{ _id: 'old', text: 'ocean' }]), '-o', index);
      const wasKilled = await killForced(index, file);
      const left = await hitsOf(index, 'ocean', '-k', '1000');
      if (file.startsWith('replacement')) expect([wasKilled, left.map(([id]) => id)]).toEqual([true, ['old']]);
      expect([1, 1000]).toContain(left.length);
      expect(await lzeroJson('verify', index)).toMatchObject({ ok: true, numDocs: left.length === 1 ? 1 : NUM_DOCS });
      expect((await lzeroJson('index', corpus, '-o', index, '--force')).documents).toBe(NUM_DOCS);
      expect((await hitsOf(index, 'ocean', '-k', '1000')).length).toBe(1000);
      expect(await lzeroJson('verify', index)).toMatchObject({ ok: true, numDocs: NUM_DOCS });
      expect(existsSync(join(index, 'replacement'))).toBe(false);
    },
    TIMEOUT_MS,
  );
});
