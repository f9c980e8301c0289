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

  it('wants a text or a file, not both and not neither', async () => {
    for (const argv of [[], ['text', '--file', 'f']]) {
      expect(await query(...argv)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('error[USAGE]') });
    }
  });

  it('a text without known terms gives none', async () => {
    expect(JSON.parse((await query('', '--json')).stdout).terms).toEqual([]);
  });
});
