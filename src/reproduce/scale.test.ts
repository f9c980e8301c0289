/** The committed configurations: every one is checked, without weights or data. */
import { describe, expect, it } from 'vitest';
import { ConfigSource } from '../config/index.ts';
import { findCollections } from '../data/index.ts';
import { sweepPoints } from '../sweep/index.ts';
import { trainConfigSchema } from '../train/index.ts';
import { planWork } from './plan.ts';
import { BEIR_COLUMNS, TABLE2, TABLE3 } from './published.ts';
import { readScale, SCALES, type Scale, SWEEPS, type SweepName, scaleFolder } from './scale.ts';
import { kindOf, type PointKind } from './variant.ts';

const LAMBDAS = [0.001, 0.01, 0.025, 0.035, 0.05, 0.1, 0.2, 0.4, 0.8];
const THRESHOLDS = [50, 100, 150, 200, 250, 300, 400, 500, 1000];

const kindsOf = ({ sweeps }: Scale, name: SweepName): PointKind[] =>
  sweepPoints(sweeps[name]).map(({ settings }) => kindOf(settings));
const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];

describe.each(SCALES)('scale %s', (name) => {
  it('has points whose training configurations are right, all of them rows or points of the paper', async () => {
    const scale = await readScale(scaleFolder(name));
    expect(scale.config.name).toBe(name);
    for (const sweep of SWEEPS)
      for (const { set } of sweepPoints(scale.sweeps[sweep]))
        (await ConfigSource.read(scale.train, { set })).check(trainConfigSchema);
    expect(distinct(kindsOf(scale, 'table2').map(({ variant }) => variant))).toEqual([...TABLE2.keys()]);
    expect(distinct(kindsOf(scale, 'table3').map(({ variant }) => variant))).toEqual([...TABLE3.keys()]);
    expect(distinct(kindsOf(scale, 'table1').map(({ variant }) => variant))).toEqual([
      'mask',
      'mask-l0',
      'baseline',
      'no-idf',
    ]);
    expect(distinct(kindsOf(scale, 'figure1').map(({ variant }) => variant))).toEqual([
      'baseline',
      'mask',
      'l0',
      'mask-l0',
    ]);
    expect(distinct(kindsOf(scale, 'figure3').map(({ variant }) => variant))).toEqual(['mask', 'mask-l0']);
    expect(kindsOf(scale, 'collapse')).toEqual([{ variant: 'baseline', lambda: 0.12, threshold: null }]);
    expect(kindsOf(scale, 'unmasked').map(({ variant }) => variant)).toEqual(['baseline', 'l0']);
  });

  it('has one t outside of Figure 3, λ 0.035 in the tables, 0.04 in Figure 3', async () => {
    const scale = await readScale(scaleFolder(name));
    const fixed = (['table1', 'table2', 'table3', 'figure1'] as const).flatMap((sweep) => kindsOf(scale, sweep));
    expect(distinct(fixed.flatMap(({ threshold }) => threshold ?? []))).toHaveLength(1);
    for (const sweep of ['table1', 'table2', 'table3'] as const)
      expect(distinct(kindsOf(scale, sweep).map(({ lambda }) => lambda))).toEqual([0.035]);
    for (const sweep of ['figure3', 'unmasked'] as const)
      expect(distinct(kindsOf(scale, sweep).map(({ lambda }) => lambda))).toEqual([0.04]);
  });

  it('needs every folder and file that its configurations name', async () => {
    const scale = await readScale(scaleFolder(name));
    const needed = scale.config.needs.map((need) => ('path' in need ? need.path : need.name));
    const { model, data, idf } = (await ConfigSource.read(scale.train)).check(trainConfigSchema);
    const named = [
      model.base,
      data.train,
      data.collection ?? [],
      ['model', 'corpus'].includes(idf.source) ? [] : idf.source,
    ];
    expect(needed).toEqual(
      expect.arrayContaining([...named.flat(), ...scale.config.sets.map(({ collection }) => collection)]),
    );
  });
});

describe('the scale of the paper', () => {
  it('has the λ and t of the authors, and their training settings', async () => {
    const scale = await readScale(scaleFolder('paper'));
    expect(distinct(kindsOf(scale, 'figure1').map(({ lambda }) => lambda))).toEqual(LAMBDAS);
    expect(distinct(kindsOf(scale, 'figure3').map(({ threshold }) => threshold))).toEqual(THRESHOLDS);
    expect(distinct(kindsOf(scale, 'table3').flatMap(({ threshold }) => threshold ?? []))).toEqual([200]);
    expect((await ConfigSource.read(scale.train)).check(trainConfigSchema)).toMatchObject({
      model: { base: 'Luyu/co-condenser-marco', maxLength: 256, encodeLength: 512 },
      data: { format: 'scored', docsPerQuery: 2, mendEncoding: true },
      rank: { loss: 'kl', temperature: 1 },
      sparsity: { regulariser: 'flops', ramp: 10_000, rampShape: 'quadratic', grouping: 'by-position' },
      optim: { learningRate: 2e-5, weightDecay: 0.01, warmup: 6000, steps: 100_000, batchQueries: 40, clip: null },
    });
  });

  it('is measured on the 13 sets of BEIR, as the registry has them', async () => {
    const { sets } = (await readScale(scaleFolder('paper'))).config;
    expect(sets.map(({ column }) => column)).toEqual(BEIR_COLUMNS);
    for (const { collection, split, numDocs, numQueries, dropIdenticalIds = false } of sets)
      expect(findCollections(collection)).toMatchObject([{ split, numDocs, numQueries, dropIdenticalIds }]);
  });
});

describe('the small scale', () => {
  it('is planned for six hours by the rates that it assumes, which nothing here measures: 64 tokens, two seeds for Tables 2 and 3, ≥ 3,000 queries, ≤ 5,000 documents a set', async () => {
    const scale = await readScale(scaleFolder('small'));
    const { sets } = scale.config;
    expect(sets.length).toBeGreaterThanOrEqual(3);
    expect(sets.reduce((sum, { numQueries }) => sum + numQueries, 0)).toBeGreaterThanOrEqual(3000);
    for (const { numDocs } of sets) expect(numDocs).toBeLessThanOrEqual(5000);
    for (const name of ['table2', 'table3'] as const) expect(scale.sweeps[name].seeds).toEqual([1, 2]);
    const { model } = (await ConfigSource.read(scale.train)).check(trainConfigSchema);
    expect([model.maxLength, model.encodeLength]).toEqual([64, 64]);
    const work = await planWork(scale, SWEEPS);
    expect(work).toHaveLength(75);
    expect(work.reduce((sum, { seconds }) => sum + seconds, 0) / 3600).toBeLessThan(6);
  });

  it('has the λ of the paper, and 0.4 of its t', async () => {
    const scale = await readScale(scaleFolder('small'));
    expect(distinct(kindsOf(scale, 'figure1').map(({ lambda }) => lambda))).toEqual(LAMBDAS);
    expect(distinct(kindsOf(scale, 'figure3').map(({ threshold }) => threshold))).toEqual(
      THRESHOLDS.map((t) => 0.4 * t),
    );
  });
});

describe('the plan', () => {
  it('has every point once, with the files that want it, and what is over', async () => {
    const scale = await readScale(scaleFolder('tiny'));
    const [first, ...others] = await planWork(scale, ['table1', 'table2'], (point) => point.endsWith('seed=2'));
    expect(first).toMatchObject({
      point: 'lambda=0.035,activation=relu,threshold=80,seed=1',
      variant: 'mask',
      sweeps: ['table1', 'table2'],
      steps: 16,
      numTrained: 16 * 8 * 2,
      numMeasured: 241,
      isOver: false,
    });
    expect(others.filter(({ isOver }) => isOver)).toHaveLength(4);
  });
});
