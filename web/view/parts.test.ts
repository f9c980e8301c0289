/** Small parts of the page: ticks, numbers in words, zoom, bins, names of charts, time. */
import { describe, expect, it } from 'vitest';
import { trainConfigSchema } from '../../src/train/config.ts';
import { lengthBin } from '../../src/train/run/length-histogram.ts';
import { binNumber } from './bins.ts';
import { count, duration, short } from './format.ts';
import { chartsOf } from './metrics.ts';
import { extentOf, panned, zoomed } from './options.ts';
import { Run } from './run.ts';
import { DARK, LIGHT, strokeOf, swatchOf } from './theme.ts';
import { linearTicks, logTicks } from './ticks.ts';

const head = { id: 0, name: 'a', state: 'running', generation: 1, numRows: 0, version: 0 } as const;

/** A run with these columns. */
function runOf(columns: Readonly<Record<string, readonly number[]>>): Run {
  const run = new Run(head);
  const numRows = columns.step.length;
  const config = { optim: { batchQueries: 4 }, data: { docsPerQuery: 2 } };
  run.details = { ...head, folder: 'a', config, evaluations: [], alarms: [], numBadLines: 0, problem: null };
  const received = { generation: 1, from: 0, numRows, names: Object.keys(columns) };
  run.rows.receive({ ...received, columns: Object.values(columns).map((values) => Float64Array.from(values)) });
  return run;
}

describe('parts of the page', () => {
  it('ticks are round and inside', () => {
    expect(linearTicks(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(linearTicks(0.583, 0.687, 4)).toEqual([0.6, 0.65]);
    expect(logTicks(0.0005, 2)).toEqual([0.001, 0.01, 0.1, 1]);
    expect(logTicks(0.4, 3)).toEqual([0.5, 1, 2]);
  });

  it('numbers are short', () => {
    expect([0, 0.043124, 12345.6, 2e-5, 3.2e7, -1.5, Number.NaN].map(short)).toEqual([
      '0',
      '0.04312',
      '12,346',
      '2.0e−5',
      '3.2e7',
      '−1.5',
      '–',
    ]);
    expect([45, 750, 11_100].map(duration)).toEqual(['45 s', '12:30 min', '3:05 h']);
    expect(count(1e5)).toBe('100,000');
  });

  it('zoom stays inside and ends at everything', () => {
    expect(zoomed([0, 100], 0.5, [0, 100])).toEqual([25, 75]);
    expect(zoomed([25, 75], 4, [0, 100])).toBeNull();
    expect(panned([25, 75], 1, [0, 100])).toEqual([50, 100]);
    expect(panned([25, 75], -1, [0, 100])).toEqual([0, 50]);
  });

  it('bins count up by one, as the log has them', () => {
    const bins = new Set(Array.from({ length: 3000 }, (_, length) => lengthBin(length)));
    expect(Array.from(bins, binNumber)).toEqual(Array.from(bins, (_, i) => i));
  });

  it('has a chart for each loss under its name, and not the same one twice', () => {
    const one = runOf({ step: [1], loss: [1], rank: [1], kl: [1], flops: [1], docsPerSecond: [1] });
    expect(chartsOf([one]).map(({ name }) => name)).toEqual(['loss', 'kl', 'flops', 'docsPerSecond']);
    const two = runOf({ step: [1], loss: [1], rank: [1], kl: [1], 'info-nce': [1] });
    expect(chartsOf([two]).map(({ name }) => name)).toEqual(['loss', 'rank', 'kl', 'info-nce']);
  });

  it.each([
    ['light', LIGHT],
    ['dark', DARK],
  ])('on %s paper 32 runs have 32 looks: of their lines, and of what is beside their names', (_, theme) => {
    const ids = Array.from({ length: 32 }, (_, id) => id);
    expect(new Set(ids.map((id) => JSON.stringify(strokeOf(theme, id)))).size).toBe(32);
    expect(new Set(ids.map((id) => swatchOf(theme, id))).size).toBe(32);
    expect(strokeOf(theme, 7)).toEqual({ colour: theme.runs[7], dash: [] }); // the first eight are unbroken
    expect(swatchOf(theme, 7)).toBe(theme.runs[7]);
  });

  const { regulariser } = trainConfigSchema.shape.sparsity.shape;

  it.each(regulariser.unwrap().options)('knows %s for a regulariser, not for a ranking loss', (name) => {
    const run = runOf({ step: [1], loss: [1], rank: [1], kl: [1], [name]: [1], lambda: [1] });
    expect(chartsOf([run]).map(({ title }) => title)).toEqual(['loss', 'kl', `${name}, before λ`, 'λ']);
  });

  it('time is steps · documents a step / documents a second, added up', () => {
    const run = runOf({ step: [10, 20, 40], loss: [1, 2, 3], docsPerSecond: [80, 40, 16] });
    expect([...(run.curve('loss', { axis: 'time', window: 1 })?.xs.subarray(0, 3) ?? [])]).toEqual([1, 3, 13]);
    expect(run.place(20, 'time')).toBe(3);
    expect(extentOf([run], 'time')).toEqual([1, 13]);
    expect(extentOf([], 'step')).toEqual([0, 1]);
  });
});
