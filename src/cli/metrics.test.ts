import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCommands } from '../../test/cli/fake-host.ts';
import { metricsCommand } from './metrics.ts';

const folder = mkdtempSync(join(tmpdir(), 'lzero-metrics-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

const metrics = (...argv: string[]) => runCommands([metricsCommand], ['metrics', ...argv]);

// q1: the good document at rank 2 (a tie that the larger id wins); q2: at rank 1, judged 2; q3: not in the run
const run = file('run.trec', 'q1 Q0 good 1 1.0 t\nq1 Q0 hood 2 1.0 t\nq2 Q0 good 1 0.5 t\nother Q0 good 1 1 t\n');
const qrels = file('test.qrels', 'q1 0 good 1\nq2 0 good 2\nq3 0 good 1\n');

describe('lzero metrics', () => {
  it('prints the usual metrics over the queries that have both, and says which do not count', async () => {
    const { exitCode, stdout, stderr } = await metrics(run, qrels);
    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      [
        'ndcg@10     0.8155', // (1/log₂3 + 1)/2
        'mrr@10      0.7500',
        'map         0.7500',
        'recall@100  1.0000',
        'p@10        0.1000',
        'success@10  1.0000',
        'over 2 queries\n',
      ].join('\n'),
    );
    expect(stderr).toContain('the run lacks 1 of 3 judged queries');
  });

  it('prints JSON with full precision, and the values of each query if asked', async () => {
    const { stdout } = await metrics(run, qrels, '-m', 'ndcg@10,recip_rank', '--per-query', '--json');
    const ndcg = 1 / Math.log2(3);
    expect(JSON.parse(stdout)).toEqual({
      schemaVersion: 1,
      numQueries: 2,
      'ndcg@10': (ndcg + 1) / 2,
      mrr: 0.75,
      perQuery: { q1: { 'ndcg@10': ndcg, mrr: 0.5 }, q2: { 'ndcg@10': 1, mrr: 1 } },
    });
  });

  it('prints a line per query', async () => {
    const { stdout } = await metrics(run, qrels, '-m', 'mrr', '-m', 'p@5', '--per-query');
    expect(stdout).toBe('query     mrr     p@5\nq1     0.5000  0.2000\nq2     1.0000  0.2000\nmean   0.7500  0.2000\n');
  });

  it('averages over all judged queries with --complete, and is strict with --relevance-level', async () => {
    const complete = JSON.parse((await metrics(run, qrels, '-m', 'mrr', '-c', '--json')).stdout);
    expect(complete).toMatchObject({ numQueries: 3, mrr: 0.5 });
    const strict = JSON.parse((await metrics(run, qrels, '-m', 'mrr', '-l', '2', '--json')).stdout);
    expect(strict).toMatchObject({ numQueries: 2, mrr: 0.5 });
  });

  it('counts bad lines with --skip-bad, and stops at them without', async () => {
    const bad = file('bad.trec', 'q1 Q0 good 1 1.0 t\nnonsense\n');
    expect(await metrics(bad, qrels)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('bad.trec:2: expected'),
    });
    const skipped = await metrics(bad, qrels, '--skip-bad', '-m', 'mrr');
    expect([skipped.exitCode, skipped.stderr]).toEqual([0, expect.stringContaining('1 bad line')]);
  });

  it.each([
    ['run and judgements the other way round', [qrels, run], 1, 'six are those of a run'],
    ['an unknown metric', [run, qrels, '-m', 'ndgc@10'], 2, 'there is no metric "ndgc@10"'],
    ['a level of 0', [run, qrels, '-l', '0'], 2, 'expected a whole number from 1'],
    ['a missing file', [join(folder, 'none'), qrels], 1, 'does not exist'],
    ['one file', [run], 2, "missing required argument 'qrels'"],
  ])('refuses %s', async (_, argv, exitCode, message) => {
    expect(await metrics(...argv)).toMatchObject({ exitCode, stderr: expect.stringContaining(message) });
  });
});
