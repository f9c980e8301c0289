import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fc, test } from '@fast-check/vitest';
import { afterAll, describe, expect, it } from 'vitest';
import { InputError } from '../core/index.ts';
import { rankHits } from './run-order.ts';
import { formatRun, readRun, readRunLines } from './runs.ts';

const folder = mkdtempSync(join(tmpdir(), 'lzero-runs-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('runs', () => {
  it('are read from TREC columns, whatever the order of their lines', async () => {
    const text = 'q1 Q0 d1 1 2.5 t\nq2\tQ0\td1\t1\t-1e-3\tt\n q1 Q0 d2 7 3 t and more \n';
    const expected = new Map([
      [
        'q1',
        [
          { id: 'd1', score: 2.5 },
          { id: 'd2', score: 3 },
        ],
      ],
      ['q2', [{ id: 'd1', score: -0.001 }]],
    ]);
    expect(await readRun(file('a.trec', text))).toEqual(expected);
    expect(await readRun(file('a.trec.gz', gzipSync(text)))).toEqual(expected);
  });

  it('are read from tables: ordered by rank without a score, by score with one', async () => {
    const byRank = await readRun(file('a.tsv', 'q\tx\t1\nq\ty\t2\nq\tz\t10\n'));
    expect(rankHits(byRank.get('q') ?? []).map(({ id }) => id)).toEqual(['x', 'y', 'z']);
    const byScore = await readRun(file('b.tsv', 'q\tx\t1\t0.5\nq\ty\t2\t0.75\n'));
    expect(rankHits(byScore.get('q') ?? []).map(({ id }) => id)).toEqual(['y', 'x']);
  });

  const bad: readonly (readonly [line: string, reason: string, message: string])[] = [
    ['q 0 d1 1', 'wrong-columns', 'got 4 columns'],
    ['q Q0 d1 1 2.5', 'wrong-columns', 'got 5 columns'],
    ['query-id\tcorpus-id\tscore', 'wrong-type', 'the rank is "score"'],
    ['q Q0 d2 1 nan t', 'wrong-type', 'the score is "nan", expected a finite number'],
    ['q Q0 d2 1 inf t', 'wrong-type', 'the score is "inf"'],
    ['q\tQ0\t\t1\t2\tt', 'missing-field', 'an id is empty'],
    ['q Q0 d1 2 1.0 t', 'duplicate-id', 'id "q d1" was seen before'],
  ];
  for (const [line, reason, message] of bad)
    it(`with a bad line (${reason}: ${message}) stop with file and line, or it is counted`, async () => {
      const path = file('bad.trec', `q Q0 d1 1 2 t\n${line}\nq Q0 d3 3 1 t\n`);
      await expect(readRun(path)).rejects.toThrow(InputError);
      await expect(readRun(path)).rejects.toThrow(`${path}:2: `);
      await expect(readRun(path)).rejects.toThrow(message);
      const lines = readRunLines(path, { skipBad: true });
      for await (const { hit } of lines) expect(['d1', 'd3']).toContain(hit.id);
      expect(lines.report.badByReason).toEqual({ [reason]: 1 });
    });

  it('without any hit are an error', async () => {
    await expect(readRun(file('none.trec', '\n'))).rejects.toThrow('has no hits');
  });
});

describe('run lines', () => {
  it("are written in trec_eval's order, with ranks from 1", () => {
    const hits = [
      { id: 'a', score: 0.1 },
      { id: 'c', score: 1 / 3 },
      { id: 'b', score: 0.1 },
    ];
    expect(formatRun('q', hits, 'bm25')).toEqual([
      'q Q0 c 1 0.3333333333333333 bm25',
      'q Q0 b 2 0.1 bm25',
      'q Q0 a 3 0.1 bm25',
    ]);
  });

  it('refuse what their columns cannot hold', () => {
    expect(() => formatRun('q 1', [{ id: 'a', score: 1 }], 't')).toThrow('"q 1" cannot stand in a TREC run file');
    expect(() => formatRun('q', [{ id: '', score: 1 }], 't')).toThrow(InputError);
    expect(() => formatRun('q', [{ id: 'a', score: Number.NaN }], 't')).toThrow('the score NaN');
  });

  const id = fc.stringMatching(/^[!-~é日😀\u00a0]{1,8}$/u);
  const hits = fc.uniqueArray(fc.record({ id, score: fc.double({ noNaN: true, noDefaultInfinity: true }) }), {
    selector: (hit) => hit.id,
    minLength: 1,
  });
  test.prop([hits])('are read back with the same scores, in the order they were written', async (list) => {
    const path = file('property.trec', `${formatRun('q', list, 't').join('\n')}\n`);
    const expected = rankHits(list).map(({ id: name, score }) => ({ id: name, score: score + 0 })); // −0 becomes 0
    expect((await readRun(path)).get('q')).toEqual(expected);
  });
});
