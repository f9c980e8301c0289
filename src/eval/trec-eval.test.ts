/** Held to trec_eval's own code (scripts/golden-metrics.py): a committed file, and on demand many thousand more runs. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sharedData } from '../../test/golden/text/fixtures.ts';
import { pythonWith } from '../../test/lib/python.ts';
import { Random } from '../core/index.ts';
import { type Qrels, type Run, readQrels, readRun } from '../data/index.ts';
import { type Evaluation, evaluateRun, mean } from './evaluate.ts';

type Nested = Record<string, Record<string, number>>;
type Case = { readonly level: number; readonly qrels: Nested; readonly run: Nested };
type Values = Record<string, number[]>;

const ROOT = resolve(import.meta.dirname, '../..');
const golden: { metrics: string[]; cases: (Case & { values: Values })[] } = JSON.parse(
  readFileSync(join(ROOT, 'test/golden/eval/metrics.json'), 'utf8'),
);

const qrelsOf = (nested: Nested): Qrels =>
  new Map(Object.entries(nested).map(([id, judged]) => [id, new Map(Object.entries(judged))]));
const runOf = (nested: Nested): Run =>
  new Map(
    Object.entries(nested).map(([query, scores]) => [
      query,
      Object.entries(scores).map(([id, score]) => ({ id, score })),
    ]),
  );

/** The largest difference between our values and the oracle's. Throws where the queries differ. */
function largestError({ level, qrels, run }: Case, oracle: Values): number {
  const {
    perQuery,
    metrics,
    mean: means,
  } = evaluateRun(runOf(run), qrelsOf(qrels), {
    metrics: [...golden.metrics, 'mrr@3'],
    relevanceLevel: level,
  });
  expect([...perQuery.keys()].sort()).toEqual(Object.keys(oracle).sort());
  const asked = metrics.slice(0, golden.metrics.length);
  const differences = Object.entries(oracle).flatMap(([query, expected]) =>
    asked.map((name, i) => Math.abs((perQuery.get(query)?.[name] ?? Number.NaN) - expected[i])),
  );
  const ofMeans = asked.map((name, i) => Math.abs(means[name] - mean(Object.values(oracle).map((row) => row[i]))));
  return Math.max(...differences, ...ofMeans, ...cutErrors(perQuery, oracle));
}

/** trec_eval has no cut for the reciprocal rank: it is cut here, where it is below 1/3. */
function cutErrors(perQuery: Evaluation['perQuery'], oracle: Values): number[] {
  const at = golden.metrics.indexOf('recip_rank');
  return Object.entries(oracle).map(([query, { [at]: rank }]) =>
    Math.abs((perQuery.get(query)?.['mrr@3'] ?? Number.NaN) - (rank > 0.3 ? rank : 0)),
  );
}

describe('our metrics', () => {
  it('equal trec_eval within 1e-12 on 200 random runs: ties, grades, judgements below 0, queries missing', () => {
    expect(golden.cases).toHaveLength(200);
    const evaluated = golden.cases.filter(({ values }) => Object.keys(values).length > 0);
    expect(evaluated.length).toBeGreaterThan(180);
    for (const example of evaluated) expect(largestError(example, example.values)).toBeLessThan(1e-12);
  });
});

const { python, why } = pythonWith('pytrec_eval');

/** Asks the oracle for many cases at once. */
function ask(cases: readonly Case[]): Values[] {
  const { status, stdout, stderr } = spawnSync(python ?? '', ['scripts/golden-metrics.py', '--answer'], {
    cwd: ROOT,
    input: cases.map((example) => `${JSON.stringify(example)}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  if (status !== 0) throw new Error(`the oracle failed: ${stderr}`);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line): Values => JSON.parse(line));
}

const SCORES = [0, -1, 1, 1 + 1e-9, 1 + 1e-7, 2, 2, 0.1, 0.1 + 1e-10, 123456.789];
const IDS = [
  'd1',
  'd2',
  'd10',
  'D1',
  'x',
  'X',
  'é',
  'ö',
  '日',
  '\u{1f600}',
  '\ufffd',
  '\u{10ffff}',
  '~',
  '0',
  '00',
  '1',
];

function randomCase(random: Random): Case {
  const pick = <T>(items: readonly T[]): T => items[random.below(items.length)];
  const some = (most: number): string[] => random.shuffle([...IDS]).slice(0, 1 + random.below(most));
  const judged = (): Record<string, number> =>
    Object.fromEntries(some(9).map((id, i) => [id, i === 0 ? random.below(4) : random.below(6) - 2]));
  const found = (): Record<string, number> => Object.fromEntries(some(IDS.length).map((id) => [id, pick(SCORES)]));
  const queries = ['q1', 'q2', 'q3', 'q4'].filter(() => random.below(3) > 0);
  return {
    level: 1 + random.below(3),
    qrels: Object.fromEntries(['q0', ...queries.filter(() => random.below(4) > 0)].map((id) => [id, judged()])),
    run: Object.fromEntries(['q0', ...queries.filter(() => random.below(4) > 0)].map((id) => [id, found()])),
  };
}

describe.skipIf(!python)(`our metrics against pytrec_eval${why}`, () => {
  it('agree within 1e-9 on 12,000 random runs', { timeout: 120_000 }, () => {
    const random = new Random(20261116);
    const cases = Array.from({ length: 12_000 }, () => randomCase(random));
    const answers = ask(cases);
    const errors = cases.map((example, i) => largestError(example, answers[i]));
    expect(Math.max(...errors)).toBeLessThan(1e-9);
  });

  const names = ['dl21.bm25', 'dl21.bm25-rm3', 'dl21.splade-pp-ed'];
  for (const name of sharedData ? names : [])
    for (const level of [1, 2])
      it(`agree within 1e-9 on the real run ${name}, relevant from ${level} on`, { timeout: 60_000 }, async () => {
        const folder = join(sharedData ?? '', 'collections/beir-mini/msmarco-v2-dl21-22-pool');
        const qrels = await readQrels(join(folder, 'qrels/test-dl21.tsv'));
        const run = await readRun(join(sharedData ?? '', 'teacher/dl-runs', `${name}.trec`));
        const example: Case = {
          level,
          qrels: Object.fromEntries([...qrels].map(([id, judged]) => [id, Object.fromEntries(judged)])),
          run: Object.fromEntries(
            [...run].map(([id, hits]) => [id, Object.fromEntries(hits.map((hit) => [hit.id, hit.score]))]),
          ),
        };
        const [answer] = ask([example]);
        expect(Object.keys(answer).length).toBeGreaterThan(50);
        expect(largestError(example, answer)).toBeLessThan(1e-9);
      });
});
