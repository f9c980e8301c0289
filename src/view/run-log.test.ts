/** Lines of metrics.jsonl, sound and damaged. */
import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { RunLog } from './run-log.ts';

const logOf = (...lines: unknown[]): RunLog => {
  const log = new RunLog();
  for (const line of lines) log.add(typeof line === 'string' ? line : JSON.stringify(line));
  return log;
};

describe('RunLog', () => {
  it('keeps numbers by column, NaN where a line has none', () => {
    const log = logOf({ step: 10, loss: 2, kl: 1 }, { step: 20, loss: null, kl: 0.5 }, { step: 30, loss: 1, l1: 4 });
    const { names, columns } = log.rows.from(0);
    expect(Object.fromEntries(names.map((name, i) => [name, [...columns[i]]]))).toEqual({
      step: [10, 20, 30],
      loss: [2, Number.NaN, 1],
      kl: [1, 0.5, Number.NaN],
      l1: [Number.NaN, Number.NaN, 4],
    });
    expect(log.rows.from(2).columns[0]).toEqual(Float64Array.of(30));
    expect(log.numBad).toBe(0);
  });

  it('keeps evaluations with their pinned documents, and alarms, also those of evaluations', () => {
    const pinned = [{ id: 'd', text: 'a text', numTerms: 2, terms: [['boat', 1.5]] }];
    const log = new RunLog();
    expect(log.add(JSON.stringify({ step: 0, evaluation: { 'ndcg@10': 0.5 }, pinned }))).toBe(true);
    expect(log.add('{"step":3,"alarm":"dead"}')).toBe(true);
    expect(log.add('{"step":5,"evaluation":{"docLen":0},"alarm":"collapsed"}')).toBe(true);
    expect(log.evaluations).toEqual([
      { step: 0, values: { 'ndcg@10': 0.5 }, pinned },
      { step: 5, values: { docLen: 0 }, pinned: [] },
    ]);
    expect(log.alarms).toEqual([
      { step: 3, message: 'dead' },
      { step: 5, message: 'collapsed' },
    ]);
  });

  it('counts and leaves out lines that are none, or go back', () => {
    const log = logOf(
      '',
      '{"step":',
      '[]',
      { loss: 1 },
      { step: -1, loss: 1 },
      { step: 5 },
      { step: 5, loss: 1 },
      { step: 5, loss: 1 },
    );
    expect([log.numBad, log.rows.numRows]).toEqual([7, 1]);
  });

  it('sums lengths over the lines before a step until there are 500 documents', () => {
    const log = logOf(
      ...Array.from({ length: 10 }, (_, i) => ({ step: 10 * (i + 1), loss: 1, docLens: { 96: 100, [i]: 100 } })),
    );
    expect(log.lengths.at(5)).toBeUndefined();
    expect(log.lengths.at(19)).toEqual({ afterStep: 0, step: 10, bins: [0, 96], counts: [100, 100] });
    expect(log.lengths.at(1000)).toEqual({
      afterStep: 70,
      step: 100,
      bins: [7, 8, 9, 96],
      counts: [100, 100, 100, 300],
    });
  });

  test.prop([
    fc.array(
      fc.oneof(
        fc.json(),
        fc.string(),
        fc
          .record(
            {
              step: fc.nat(9),
              loss: fc.jsonValue(),
              docLens: fc.jsonValue(),
              evaluation: fc.jsonValue(),
              pinned: fc.jsonValue(),
              alarm: fc.jsonValue(),
            },
            { requiredKeys: [] },
          )
          .map((line) => JSON.stringify(line)),
      ),
    ),
  ])('no line makes it throw, and steps ascend', (lines) => {
    const log = logOf(...lines);
    const { names, columns } = log.rows.from(0);
    const steps = columns[names.indexOf('step')] ?? [];
    expect([...steps].every((step, i) => i === 0 || step > steps[i - 1])).toBe(true);
    log.lengths.at(5);
  });
});
