/** Verdicts over results that nobody trained, so that every answer is known. */
import { describe, expect, it } from 'vitest';
import { type MadeUp, madeUpResults, paperWorld } from '../../test/reproduce/made-up-results.ts';
import type { PointResult } from '../sweep/index.ts';
import { type Claim, judgeClaims } from './claims.ts';
import { gather } from './measurements.ts';
import { readScale, scaleFolder } from './scale.ts';
import type { PointKind } from './variant.ts';

const scale = await readScale(scaleFolder('small'));

function judged(results: ReadonlyMap<string, PointResult>): Record<string, Claim['verdict']> {
  return Object.fromEntries(judgeClaims(gather(scale, results)).map(({ id, verdict }) => [id, verdict]));
}

type World = (kind: PointKind, seed: number | undefined) => MadeUp | 'collapsed' | undefined;
const inWorld = (world: World): Record<string, Claim['verdict']> => judged(madeUpResults(scale, world));
/** The paper's world with one thing changed. */
const but =
  (change: (made: MadeUp, kind: PointKind, seed: number | undefined) => MadeUp): World =>
  (kind, seed) => {
    const made = paperWorld(kind);
    return made === 'collapsed' ? made : change(made, kind, seed);
  };

describe('the claims', () => {
  it('all hold in a world that is as the paper says, but for what its text and its table say of the activation alone', () => {
    const verdicts = inWorld(paperWorld);
    expect(verdicts).toEqual({
      'mask-lifts': 'holds',
      'activation-shortens': 'holds',
      'activation-alone-harms': 'contradicted', // it lifts in this world, as in Table 2
      'activation-alone-helps': 'holds',
      'each-is-cheaper': 'holds',
      'both-degrade-slowest': 'holds',
      'more-hurts': 'holds',
      'decoupled-costs': 'holds',
      'baseline-collapses': 'holds',
      'rises-with-t': 'holds',
      't-beats-lambda': 'holds',
      't-to-zero': 'contradicted', // t 20 already lifts by two points here
    });
  });

  it('are contradicted where the mask costs NDCG at equal FLOPS, the activation lengthens, t lowers', () => {
    const opposite = inWorld(
      but(({ ndcg, flops, docLen }, { variant, lambda, threshold }) => ({
        ndcg: ndcg - (threshold === null ? 0 : 0.08) - (lambda === 0.04 ? (threshold ?? 0) / 2000 : 0),
        flops,
        docLen: docLen * (variant.includes('l0') ? 2 : 1),
      })),
    );
    for (const id of ['mask-lifts', 'activation-shortens', 'rises-with-t', 't-beats-lambda'])
      expect([id, opposite[id]]).toEqual([id, 'contradicted']);
  });

  it('are contradicted where the baseline does not collapse, or the mask does', () => {
    const alive = (kind: PointKind): MadeUp => ({ ndcg: 0.5, flops: 1 / (1 + kind.lambda), docLen: 50 });
    expect(inWorld(alive)['baseline-collapses']).toBe('contradicted');
    const dying = (kind: PointKind) => (kind.lambda >= 0.1 ? 'collapsed' : paperWorld(kind));
    expect(inWorld(dying)['baseline-collapses']).toBe('contradicted');
  });

  it('take documents with less than one term for a collapse, also where no alarm has stopped the run', () => {
    const short: World = (kind) =>
      paperWorld(kind) === 'collapsed' ? { ndcg: 0.01, flops: 0.001, docLen: -9.9 } : paperWorld(kind); // + 10 a set: 0.1 on average
    expect(inWorld(short)['baseline-collapses']).toBe('holds');
  });

  it('are not resolved without results, and without differences that queries could tell', () => {
    expect(new Set(Object.values(judged(new Map())))).toEqual(new Set(['not resolved']));
    const noisy = madeUpResults(scale, (kind) => ({ ndcg: 0.5, flops: 1 / (1 + kind.lambda), docLen: 50 }), {
      noise: 0.3,
    });
    const verdicts = judged(noisy);
    for (const id of ['mask-lifts', 'more-hurts', 'activation-alone-harms', 'rises-with-t'])
      expect([id, verdicts[id]]).toEqual([id, 'not resolved']);
  });

  it('are not resolved where a seed by itself says the opposite', () => {
    const torn = but((made, { variant }, seed) => ({
      ...made,
      ndcg: made.ndcg + (variant === 'l0-3' || variant === 'l0-2' ? (seed === 1 ? 0.08 : -0.1) : 0),
    }));
    expect(inWorld(torn)['more-hurts']).toBe('not resolved');
  });

  it('of equal FLOPS are not resolved where series have no FLOPS in common', () => {
    const apart = but((made, { variant }) => ({
      ...made,
      flops: variant === 'baseline' ? made.flops * 100 : made.flops,
    }));
    expect(inWorld(apart)).toMatchObject({ 'mask-lifts': 'not resolved', 'both-degrade-slowest': 'not resolved' });
  });

  it('of t → 0 hold where the smallest t is within a point of no mask at all', () => {
    const flat = but((made, { lambda }) => (lambda === 0.04 ? { ...made, ndcg: 0.5 } : made));
    expect(inWorld(flat)['t-to-zero']).toBe('holds');
  });

  it('say what they rest on: difference, interval, seeds, FLOPS', () => {
    const claims = judgeClaims(gather(scale, madeUpResults(scale, paperWorld)));
    const evidenceOf = (id: string): string => claims.find((claim) => claim.id === id)?.evidence.join('\n') ?? '';
    expect(evidenceOf('activation-alone-helps')).toMatch(
      /rows of Table 2: \+0\.\d\d points \(95 % \+0\.\d\d … \+\d\.\d\d; by seed \+.*, \+.*\), at FLOPS \d\.\d\d and \d\.\d\d/,
    );
    expect(evidenceOf('activation-shortens')).toMatch(
      /−\d+\.\d\d % \(95 % −.* … −.*, \d+ cells of pair, set and seed\)/,
    );
    expect(evidenceOf('baseline-collapses')).toContain('collapsed without the mask: baseline, λ 0.1; baseline, λ 0.2');
    expect(evidenceOf('rises-with-t')).toMatch(/from t 20 to 400: .*\d of 8 steps rise/);
  });
});

describe('gathering results', () => {
  it('trains points that several files have once, and gives a figure the seeds of a table', () => {
    const { settings, numPoints, missing } = gather(scale, madeUpResults(scale, paperWorld));
    const row = settings.figure1.find(({ variant, lambda }) => variant === 'mask' && lambda === 0.035);
    expect(row?.runs.map(({ seed }) => seed)).toEqual([1, 2]);
    expect(settings.figure1.find(({ lambda }) => lambda === 0.05)?.runs).toHaveLength(1);
    // Tables: 11 settings × 2 seeds. Figures: 4 series × 8 other λ + λ 0.12; 2 series × 9 t + 2 without the mask.
    expect([numPoints, missing.length]).toEqual([22 + 33 + 20, 0]);
  });

  it('lists points without a result, with the files that want them', () => {
    const { missing } = gather(
      scale,
      madeUpResults(scale, (kind, seed) => (kind.lambda === 0.035 && seed === 2 ? undefined : paperWorld(kind))),
    );
    expect(missing).toHaveLength(11);
    expect(missing[0]).toEqual({
      point: 'lambda=0.035,activation=relu,threshold=80,seed=2',
      what: '+ ℓ0 mask, λ 0.035, t 80, seed 2',
      sweeps: ['table1', 'table2'],
    });
  });
});
