/** The report over results that nobody trained: what it shows, what it lists as missing, what lies beside it. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { madeUpResults, paperWorld, type World } from '../../../test/reproduce/made-up-results.ts';
import { loadConfig } from '../../config/index.ts';
import { trainConfigSchema } from '../../train/index.ts';
import { judgeClaims } from '../claims.ts';
import { figuresOf } from '../figures.ts';
import { gather } from '../measurements.ts';
import { BEIR_COLUMNS } from '../published.ts';
import type { Reproduction } from '../reproduction.ts';
import { readScale, type ScaleName, scaleFolder } from '../scale.ts';
import { costTable, measuredTable1 } from '../tables.ts';
import { writeReport } from './write-report.ts';

const FACTS = { date: '2026-11-18', version: 'lzero 0.1.0' };
const NUM_SETS = 4;

async function madeUp(name: ScaleName, world: World = paperWorld): Promise<Reproduction> {
  const scale = await readScale(scaleFolder(name));
  const measurements = gather(scale, madeUpResults(scale, world, { numSets: scale.config.sets.length }));
  return {
    scale,
    train: await loadConfig(scale.train, trainConfigSchema),
    measurements,
    bm25: scale.config.sets.map(() => 0.45),
    commands: ['lzero reproduce table2', 'lzero reproduce all'],
    claims: judgeClaims(measurements, { numSamples: 50 }), // their words are tested here, not their verdicts
  };
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-report-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the report', () => {
  it('has command, date, machine, every claim with its verdict, tables beside the published ones, figures, differences', async () => {
    const { report, assets } = await writeReport(await madeUp('small'), join(folder, 'REPRODUCTION.md'), FACTS);
    const text = readFileSync(report, 'utf8');
    for (const part of [
      '`lzero reproduce table2`, `lzero reproduce all`',
      '| trained | 2026-11-01 … 2026-11-02, 1.4 hours in all |', // 75 points of 65 s
      '| machines | linux x64, 2 cores, onnxruntime 1.0 |',
      '| versions | lzero 0.0.9, Node v20 |', // of the runs, not of the report
      'Written 2026-11-18 by lzero 0.1.0',
      'No number of ours at the scale of the paper exists yet',
      '| The ℓ0 mask lifts NDCG@10 at comparable FLOPS. | Table 2: 50.43 at FLOPS 2.31 against 49.52 at 2.39 | **',
      '## Where the paper’s text, tables and code differ',
      'stand one row too low',
      '![Figure 2. λ against encoded document sparsity](reproduction/figure2.svg)',
      'Nothing: every point has a result.',
      'average 47.54',
      '| 45.02 | 45.02 | 8.54 | 8.62 |', // SPLADE-doc-distill: worked out, printed
    ])
      expect(text).toContain(part);
    expect(text).toMatch(
      /\| \+ ℓ0 mask \| \d\d\.\d\d \| .* \(2\) \| \d\.\d\d \| \d+\.\d\d \| 50\.43 \| 2\.31 \| 322\.22 \|/,
    );
    for (const [, target] of text.matchAll(/\]\(([^)\s:]+)\)/g))
      expect([target, existsSync(join(folder, target))]).toEqual([target, true]);
    const results = JSON.parse(readFileSync(join(assets, 'results.json'), 'utf8'));
    expect(results).toMatchObject({ schemaVersion: 1, scale: 'small', claims: { length: 12 }, points: { length: 75 } });
    expect(readFileSync(join(assets, 'results.json'), 'utf8')).not.toContain('perQuery');
    const [header, ...lines] = readFileSync(join(assets, 'points.csv'), 'utf8').trimEnd().split('\n');
    expect([header.split(',').length, lines.length]).toEqual([7 + 3 * NUM_SETS, 75]);
    for (const line of lines) expect(line.split(',')).toHaveLength(7 + 3 * NUM_SETS);
  });

  it('lists what the hours did not allow, and shows nothing of it', async () => {
    const some = await madeUp('small', (kind) => (kind.lambda === 0.04 ? undefined : paperWorld(kind)));
    const { report } = await writeReport(some, join(folder, 'part/REPRODUCTION.md'), FACTS);
    const text = readFileSync(report, 'utf8');
    expect(text).toContain('20 of 75 points have no result yet');
    expect(text).toContain('- + ℓ0 mask, λ 0.04, t 20, seed 1 (figure3)');
    expect(text).not.toContain('figure3.svg');
  });

  it('is written where a run has diverged: named, without a point in figures, `diverged` in points.csv', async () => {
    const one = await madeUp('small', (kind) =>
      kind.variant === 'mask' && kind.lambda === 0.2 ? 'diverged' : paperWorld(kind),
    );
    const { report, assets } = await writeReport(one, join(folder, 'diverged/REPRODUCTION.md'), FACTS);
    expect(readFileSync(report, 'utf8')).toMatch(/Diverged .*\n\n- \+ ℓ0 mask, λ 0\.2, t 80, seed 1\n/);
    expect(readFileSync(join(assets, 'points.csv'), 'utf8')).toContain('mask,0.2,80,1,diverged,100000,');
    const masked = figuresOf(one.measurements)[1].series.find(({ name }) => name === '+ ℓ0 mask');
    expect(masked?.points.map(({ x }) => x)).toEqual([0.001, 0.01, 0.025, 0.035, 0.05, 0.1, 0.4, 0.8]);
  });

  it('of the tiny scale says that it says nothing', async () => {
    const { report } = await writeReport(await madeUp('tiny'), join(folder, 'tiny/REPRODUCTION.md'), FACTS);
    expect(readFileSync(report, 'utf8')).toContain('its figures say nothing about the paper');
  });
});

describe('tables and figures as data', () => {
  it('rank the measured rows of Table 1 among each other, and have published ones of other systems where a set is a column', async () => {
    const { scale, measurements, bm25 } = await madeUp('small');
    const { columns, rows } = measuredTable1(scale.config, measurements, bm25);
    expect(columns).toEqual(['squadshifts-wiki', 'boolq', 'covidfact', 'SciFact']);
    const measured = rows.filter(({ kind }) => kind === 'measured');
    expect(measured.map(({ system }) => system)).toEqual([
      'ℓ0 mask',
      'ℓ0 mask + ℓ0 activation',
      'IDF-SPLADE-doc-distill',
      'BM25',
      'SPLADE-doc-distill',
    ]);
    expect(measured[0].averageRank).toBe(1); // the mask is best everywhere in this world, at twice the noise and more
    expect(measured[3]).toMatchObject({ ndcg: [45, 45, 45, 45], average: 45, averageRank: 5 });
    const published = rows.filter(({ kind }) => kind === 'published');
    expect(published).toHaveLength(6); // not those that were run
    expect(published[0]).toMatchObject({
      system: 'SPLADE-v3-Doc',
      ndcg: [undefined, undefined, undefined, 68.8],
      average: undefined,
      averageRank: undefined,
    });
  });

  it('rank all eleven systems together where every set is a column of the paper', async () => {
    const { scale, measurements } = await madeUp('paper');
    const { columns, rows } = measuredTable1(scale.config, measurements, Array(13).fill(0));
    expect(columns).toEqual(BEIR_COLUMNS);
    expect(rows.map(({ kind }) => kind)).toEqual([...Array(5).fill('measured'), ...Array(6).fill('published')]);
    const bm25 = rows.find(({ system }) => system === 'BM25');
    expect(bm25).toMatchObject({ kind: 'measured', average: 0, averageRank: 11 }); // last everywhere
    const colbert = rows.find(({ system }) => system === 'ColBERTv2');
    expect(colbert?.average).toBeCloseTo(49.95, 1);
    expect(colbert?.averageRank).toBeLessThan(11);
  });

  it('have a row of Table 3 for each of the paper, collapsed ones marked', async () => {
    const dead = await madeUp('small', (kind) => (kind.variant === 'l0-3' ? 'collapsed' : paperWorld(kind)));
    const rows = costTable('table3', dead.measurements);
    expect(rows).toHaveLength(9);
    expect(rows.find(({ variant }) => variant === 'l0-3')).toMatchObject({
      isCollapsed: true,
      numRuns: 2,
      measured: undefined,
    });
  });

  it('take NDCG@10, FLOPS and Doc_Len from the same runs, where one of two seeds has collapsed but was measured', async () => {
    const whole = await madeUp('small');
    const partly = await madeUp(
      'small',
      (kind, seed) =>
        kind.variant === 'l0' && seed === 2 ? { ndcg: 0.01, flops: 0.001, docLen: -14.9 } : paperWorld(kind), // + 15 on average
    );
    const [both, one] = [whole, partly].map(({ measurements }) =>
      costTable('table2', measurements).find(({ variant }) => variant === 'l0'),
    );
    expect(one).toMatchObject({ isCollapsed: false, numRuns: 2, lost: '1 of 2 seeds collapsed' });
    expect(one?.measured?.flops).toBeCloseTo(both?.measured?.flops ?? Number.NaN, 12); // made up without noise
    expect(one?.measured?.docLen).toBeCloseTo(both?.measured?.docLen ?? Number.NaN, 9);
    const point = figuresOf(partly.measurements)[0].series[2].points.find(({ label }) => label.startsWith('λ 0.035'));
    expect(point).toMatchObject({ label: 'λ 0.035 (1 of 2 seeds collapsed)', x: one?.measured?.flops });
  });

  it('have four series in Figures 1 and 2 with bars over seeds, collapsed points marked, and published points', async () => {
    const [figure1, figure2, figure3] = figuresOf((await madeUp('small')).measurements);
    expect([figure1.id, figure2.id, figure3.id]).toEqual(['figure1', 'figure2', 'figure3']);
    const named = (figure: typeof figure1, name: string, kind = 'measured') =>
      figure.series.find((series) => series.name === name && series.kind === kind)?.points ?? [];
    const lengths = named(figure2, 'baseline');
    expect(lengths.map(({ x }) => x)).toEqual([0.001, 0.01, 0.025, 0.035, 0.05, 0.1, 0.12, 0.2, 0.4, 0.8]);
    expect(lengths.filter(({ isCollapsed }) => isCollapsed).map(({ x }) => x)).toEqual([0.1, 0.12, 0.2, 0.4, 0.8]);
    const [seeds, single] = [0.035, 0.05].map((x) => lengths.find((point) => point.x === x));
    expect(seeds?.yLow).toBeLessThanOrEqual(seeds?.yHigh ?? Number.NaN);
    expect(single).not.toHaveProperty('yLow');
    expect(named(figure2, 'baseline', 'published')).toEqual([
      { x: 0.035, y: 327.23, label: 'λ 0.035' },
      { x: 0.12, y: 0, label: 'λ 0.12', isCollapsed: true },
    ]);
    expect(named(figure1, '+ ℓ0 mask', 'published')).toEqual([
      { x: 2.31, y: 0.5043, label: 'λ 0.035 (assumed)' }, // Table 2 prints none, and Table 3 has no such row
    ]);
    expect(named(figure3, '+ ℓ0 mask').map(({ label }) => label)).toEqual(
      [20, 40, 60, 80, 100, 120, 160, 200, 400].map((t) => `t ${t}`),
    );
    expect(named(figure3, 'baseline')).toHaveLength(1);
    const measuredNames = figure1.series.filter(({ kind }) => kind === 'measured').map(({ name }) => name);
    expect(figure3.series.map(({ name }) => name)).toEqual(measuredNames); // so each has its colour in all figures
  });
});
