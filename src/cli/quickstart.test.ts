import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { runCommands } from '../../test/cli/fake-host.ts';
import type { Product } from '../engines/index.ts';
import { quickstartCommand } from './quickstart.ts';

const quickstart = (...argv: string[]) => runCommands([quickstartCommand], ['quickstart', ...argv]);

describe('lzero quickstart', () => {
  it('finds the passage that its question is about, with products that sum to the score', async () => {
    const { terms, hits, measured } = JSON.parse((await quickstart('--json')).stdout);
    expect(terms.map(({ token }: Product) => token)).toContain('sofa');
    expect(hits[0].id).toBe('cat-1');
    const sum = hits[0].explain.reduce((total: number, { product }: Product) => total + product, 0);
    expect(sum).toBeCloseTo(hits[0].score, 9);
    expect(measured).toMatchObject({
      name: 'everyday',
      numQueries: 156,
      rows: [{ system: 'bm25' }, { system: 'default' }],
    });
  });

  it('shows terms, hits with a passage and products, what was measured, and what to try next', async () => {
    const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith('lzero-quickstart-'));
    const before = left();
    const { exitCode, stdout } = await quickstart();
    expect(exitCode).toBe(0);
    expect(stdout).toContain('1. The 241 passages');
    expect(stdout).toMatch(/no model runs:\n {5}cat \d/);
    expect(stdout).toMatch(/1\. \d+\.\d{3} {2}Cats scratching furniture\n {5}cat-1\n.*sofa.*\n +\d\.\d{3} = /);
    expect(stdout).toMatch(/system +ndcg@10[\s\S]*bm25 +0\.\d{4}[\s\S]*default +0\.\d{4}/);
    expect(stdout).toContain('bag of words');
    expect(stdout).toContain('Try next');
    expect(left()).toEqual(before);
  });

  it('says so where no passage shares a term', async () => {
    expect((await quickstart('parliament')).stdout).toContain('no hits for parliament');
  });
});
