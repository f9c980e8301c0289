import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommands } from '../../test/cli/fake-host.ts';
import type { Product } from '../engines/index.ts';
import { quickstartCommand } from './quickstart.ts';

/** It encodes the docs, which takes most of a minute on two busy cores. */
const TIMEOUT = 240_000;

let scratch: string;
const quickstart = (...argv: string[]) =>
  runCommands([quickstartCommand], ['quickstart', '-o', join(scratch, 'tour'), ...argv]);

describe('lzero quickstart', () => {
  beforeAll(() => {
    scratch = mkdtempSync(join(tmpdir(), 'lzero-quickstart-'));
  });
  afterAll(() => rmSync(scratch, { recursive: true }));

  it(
    'shows three searches whose answers share no word with them, the docs, what was measured, and what it left',
    async () => {
      const { exitCode, stdout } = await quickstart('--model', 'default');
      expect(exitCode).toBe(0);
      expect(stdout).toContain('1. The 241 passages');
      expect(stdout).toContain('no model runs');
      for (const title of ['Cats scratching furniture', 'Ice in the freezer', 'Soothing a crying infant'])
        expect(stdout).toMatch(new RegExp(`1\\. \\d+\\.\\d{3} {2}.*${title}[\\s\\S]*?found by meaning: `));
      expect(stdout).toMatch(/\d\.\d{3} = \d\.\d{3} × \d\.\d{3} {2}couch/);
      expect(stdout).toMatch(/system +ndcg@10[\s\S]*bm25 +0\.\d{4}[\s\S]*default +0\.\d{4}/);
      expect(stdout).toContain('Try next');
      expect(readdirSync(join(scratch, 'tour')).sort()).toEqual([
        'docs.index',
        'everyday-bm25.index',
        'everyday.index',
      ]);
    },
    TIMEOUT,
  );

  it(
    'answers a question of the user in JSON, with products that sum to the score, and replaces its indexes',
    async () => {
      const { stdout } = await quickstart('cat scratching the sofa', '--model', 'bow', '--json');
      const { searches, docs, measured, files } = JSON.parse(stdout);
      expect(searches).toHaveLength(1);
      const [{ terms, hits, bm25Rank }] = searches;
      expect(terms.map(({ token }: Product) => token)).toContain('sofa');
      expect([hits[0].id, bm25Rank]).toEqual(['cat-1', 1]);
      const sum = hits[0].explain.reduce((total: number, { product }: Product) => total + product, 0);
      expect(sum).toBeCloseTo(hits[0].score, 9);
      expect(docs.hits).toHaveLength(1);
      expect(measured).toMatchObject({ name: 'everyday', numQueries: 156 });
      expect(measured.rows).toMatchObject([{ system: 'bm25' }, { system: 'bow' }]);
      for (const { folder } of files) expect(existsSync(join(folder, 'manifest.json'))).toBe(true);
    },
    TIMEOUT,
  );

  it(
    'begins again where a killed one has left an index without a manifest',
    async () => {
      const half = join(scratch, 'tour/everyday.index');
      mkdirSync(join(half, 'segments'), { recursive: true });
      rmSync(join(half, 'manifest.json'), { force: true });
      const { exitCode } = await quickstart('--model', 'bow', '--quiet');
      expect([exitCode, existsSync(join(half, 'manifest.json'))]).toEqual([0, true]);
    },
    TIMEOUT,
  );

  it('keeps its hands off what is no index', async () => {
    const own = join(scratch, 'other/everyday.index/notes.txt');
    mkdirSync(dirname(own), { recursive: true });
    for (const path of [own, join(scratch, 'file')]) writeFileSync(path, 'mine');
    for (const [name, words] of [
      ['other', 'is not empty: there is notes.txt'],
      ['file', 'cannot write'],
    ]) {
      const { exitCode, stderr } = await runCommands([quickstartCommand], ['quickstart', '-o', join(scratch, name)]);
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining(words)]);
    }
    expect(readFileSync(own, 'utf8')).toBe('mine');
  });
});
