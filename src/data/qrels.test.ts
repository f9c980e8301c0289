import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { InputError } from '../core/index.ts';
import { type Qrels, readJudgements, readQrels } from './qrels.ts';

const folder = mkdtempSync(join(tmpdir(), 'lzero-qrels-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const plain = (qrels: Qrels): unknown => Object.fromEntries([...qrels].map(([id, of]) => [id, Object.fromEntries(of)]));

describe('judgements', () => {
  const expected = { q1: { d1: 2, d2: 0 }, q2: { d1: -1 } };

  it('are read from TREC columns, between spaces or tabs, compressed or not', async () => {
    const text = 'q1 0 d1 2\n q1  0   d2\t0 \n\nq2\t0\td1\t-1\n';
    expect(plain(await readQrels(file('a.qrels', text)))).toEqual(expected);
    expect(plain(await readQrels(file('a.qrels.gz', gzipSync(text))))).toEqual(expected);
  });

  it('are read from BEIR tables; the names over them are no judgement', async () => {
    const path = file('a.tsv', 'query-id\tcorpus-id\tscore\r\nq1\td1\t2\r\nq1\td2\t0\r\nq2\td1\t-1\r\n');
    expect(plain(await readQrels(path))).toEqual(expected);
    const judgements = readJudgements(path);
    for await (const { queryId } of judgements) expect(queryId).toMatch(/^q/);
    expect(judgements.report).toMatchObject({ numRead: 3, numEmpty: 0, numBad: 0 });
  });

  it('of a table without names begin at its first line, and ids may have spaces', async () => {
    expect(plain(await readQrels(file('b.tsv', 'q 1\td 1\t1\n')))).toEqual({ 'q 1': { 'd 1': 1 } });
  });

  const bad: readonly (readonly [line: string, reason: string, message: string])[] = [
    ['q2 Q0 d1 1 3.5 tag', 'wrong-columns', 'got 6 columns; six are those of a run'],
    ['q2 d1', 'wrong-columns', 'got 2 columns'],
    ['q2 0 d1 high', 'wrong-type', 'the relevance is "high", expected a whole number'],
    ['q2 0 d1 1.5', 'wrong-type', 'the relevance is "1.5"'],
    ['q2\t\t1', 'missing-field', 'an id is empty'],
    ['q1 0 d1 1', 'duplicate-id', 'id "q1 d1" was seen before'],
  ];
  for (const [line, reason, message] of bad)
    it(`of a bad line (${reason}: ${message}) stop with file and line, or are counted`, async () => {
      const path = file('bad.qrels', `q1 0 d1 2\n${line}\nq3 0 d1 1\n`);
      await expect(readQrels(path)).rejects.toThrow(InputError);
      await expect(readQrels(path)).rejects.toThrow(`${path}:2: `);
      await expect(readQrels(path)).rejects.toThrow(message);
      const judgements = readJudgements(path, { skipBad: true });
      for await (const { queryId } of judgements) expect(['q1', 'q3']).toContain(queryId);
      expect(judgements.report.badByReason).toEqual({ [reason]: 1 });
    });

  it('that are none are an error', async () => {
    await expect(readQrels(file('none.tsv', 'query-id\tcorpus-id\tscore\n'))).rejects.toThrow('has no judgements');
  });
});
