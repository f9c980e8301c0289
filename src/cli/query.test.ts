import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommands } from '../../test/cli/fake-host.ts';
import { queryCommand } from './query.ts';

const query = (...argv: string[]) => runCommands([queryCommand], ['query', ...argv]);

describe('lzero query', () => {
  it('gives each distinct token its IDF, in order of first occurrence', async () => {
    const { exitCode, stdout } = await query('moon and ocean and moon', '--json');
    const { schemaVersion, query: text, terms } = JSON.parse(stdout);
    expect([exitCode, schemaVersion, text]).toEqual([0, 1, 'moon and ocean and moon']);
    expect(terms.map(({ token }: { token: string }) => token)).toEqual(['moon', 'and', 'ocean']);
    expect(terms[0].weight).toBeGreaterThan(terms[1].weight); // moon is rarer than and
  });

  it('weighs every token 1 with --idf none', async () => {
    const bare = ['--model', join(import.meta.dirname, '../../test/golden/model/tied'), '--idf', 'none'];
    const { stdout } = await query('the ocean', ...bare, '--json');
    expect(JSON.parse(stdout).terms.every(({ weight }: { weight: number }) => weight === 1)).toBe(true);
  });

  it('reads a file, one query a line, and answers a line each', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lzero-query-'));
    const file = join(folder, 'queries.txt');
    writeFileSync(file, 'high tide\n\nwild yeast\n');
    const { stdout } = await query('--file', file, '--json');
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.map((answer) => answer.query)).toEqual(['high tide', 'wild yeast']);
    rmSync(folder, { recursive: true });
  });

  it('reports the lines that --skip-bad leaves out', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lzero-query-'));
    const file = join(folder, 'queries.jsonl');
    writeFileSync(file, '{"_id":"1","text":"high tide"}\n{"_id":\n');
    expect(await query('--file', file, '--skip-bad')).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(new RegExp(`1 bad lines were left out\n.*${file}:2: `)),
    });
    rmSync(folder, { recursive: true });
  });

  describe('with --query-model', () => {
    const network = ['--query-model', join(import.meta.dirname, '../../test/golden/model/tied')];

    it('shows what the network makes of the text: terms it does not have, heaviest first', async () => {
      const { exitCode, stdout } = await query('the old bridge', ...network, '--json');
      const { terms }: { terms: { token: string; weight: number }[] } = JSON.parse(stdout);
      expect(exitCode).toBe(0);
      expect(terms.length).toBeGreaterThan(3);
      expect(terms.filter(({ token }) => /^\[(?:CLS|SEP|PAD|UNK|MASK)\]$/.test(token))).toEqual([]);
      const weights = terms.map(({ weight }) => weight);
      expect(weights).toEqual(weights.toSorted((a, b) => b - a));
    });

    it('answers a line for each of a file, as for one alone', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'lzero-query-'));
      const file = join(folder, 'queries.jsonl');
      writeFileSync(file, '{"_id":"a","text":"the old bridge"}\n{"_id":"b","text":"a bird"}\n');
      const { stdout } = await query('--file', file, ...network, '--json');
      const [a, b] = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect([a.id, b.id, b.query]).toEqual(['a', 'b', 'a bird']);
      const alone = JSON.parse((await query('the old bridge', ...network, '--json')).stdout);
      expect(a.terms.map(({ token }: { token: string }) => token)).toEqual(
        alone.terms.map(({ token }: { token: string }) => token),
      );
      rmSync(folder, { recursive: true });
    });

    it('refuses --model beside it, and a model without a network', async () => {
      const both = await query('text', ...network, '--model', 'x');
      expect(both).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('do not go together') });
      const bow = await query('text', '--query-model', join(import.meta.dirname, '../../models/bow'));
      expect(bow).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('has no network') });
    });
  });

  it('wants a text or a file, not both and not neither', async () => {
    for (const argv of [[], ['text', '--file', 'f']]) {
      expect(await query(...argv)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('error[USAGE]') });
    }
  });

  it('a text without known terms gives none', async () => {
    expect(JSON.parse((await query('', '--json')).stdout).terms).toEqual([]);
  });
});
