/** Verdicts over results that nobody trained, so that every answer is known. */
import { describe, expect, it } from 'vitest';
import {
  type MadeUp,
  madeUpResults,
  oppositeWorld,
  paperWorld,
  type World,
} from '../../test/reproduce/made-up-results.ts';
import { Random } from '../core/index.ts';
import { mean } from '../eval/index.ts';
import type { PointResult } from '../sweep/index.ts';
import { type Claim, judgeClaims } from './claims.ts';
import { gather } from './measurements.ts';
import { readScale, scaleFolder } from './scale.ts';
import type { PointKind } from './variant.ts';

const NUM_NULL_WORLDS = 40;
const scale = await readScale(scaleFolder('small'));

/** Draws enough for differences that are far from 0 or none. */
const claimsOf = (results: ReadonlyMap<string, PointResult>, numSamples = 400): Claim[] =>
  judgeClaims(gather(scale, results), { numSamples });

function judged(results: ReadonlyMap<string, PointResult>, numSamples?: number): Record<string, Claim['verdict']> {
  return Object.fromEntries(claimsOf(results, numSamples).map(({ id, verdict }) => [id, verdict]));
}

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

  it('are all contradicted in a world where the opposite of each is true, but for the text on the activation alone', () => {
    expect(inWorld(oppositeWorld)).toEqual({
      'mask-lifts': 'contradicted',
      'activation-shortens': 'contradicted',
      'activation-alone-harms': 'holds', // by a point
      'activation-alone-helps': 'contradicted',
      'each-is-cheaper': 'contradicted',
      'both-degrade-slowest': 'contradicted',
      'more-hurts': 'contradicted',
      'decoupled-costs': 'contradicted',
      'baseline-collapses': 'contradicted',
      'rises-with-t': 'contradicted',
      't-beats-lambda': 'contradicted',
      't-to-zero': 'contradicted', // more than five points lower
    });
  });

  it('of decoupled activations are contradicted by one that is cheaper, however dear the others are', () => {
    const hidden = but((made, { variant }) => ({
      ...made,
      flops: made.flops * (variant === 'inv-de-l0' ? 0.6 : variant === 'de-l0' ? 3 : 1), // 0.6 · 1.3 < 1
    }));
    expect(inWorld(hidden)['decoupled-costs']).toBe('contradicted');
  });

  it('of the slowest fall are not resolved where one other series falls as slowly', () => {
    const alike: World = (kind) => paperWorld(kind.variant === 'l0' ? { ...kind, variant: 'mask-l0' } : kind);
    expect(inWorld(alike)['both-degrade-slowest']).toBe('not resolved');
  });

  it('are contradicted where the baseline does not collapse, or the mask does', () => {
    const alive = (kind: PointKind): MadeUp => ({ ndcg: 0.5, flops: 1 / (1 + kind.lambda), docLen: 50 });
    expect(inWorld(alive)['baseline-collapses']).toBe('contradicted');
    const dying = (kind: PointKind) => (kind.lambda >= 0.1 ? 'collapsed' : paperWorld(kind));
    expect(inWorld(dying)['baseline-collapses']).toBe('contradicted');
  });

  it('of collapse are not resolved where the baseline is alive after fewer steps than the paper’s', () => {
    const alive: World = () => ({ ndcg: 0.5, flops: 1, docLen: 50 });
    const claim = claimsOf(madeUpResults(scale, alive, { steps: 900 })).find(({ id }) => id === 'baseline-collapses');
    expect(claim?.verdict).toBe('not resolved');
    expect(claim?.evidence).toContain('collapsed without the mask: none after 900 steps, of the paper’s 100000');
  });

  it('take documents with less than one term for a collapse, also where no alarm has stopped the run', () => {
    const short: World = (kind) =>
      paperWorld(kind) === 'collapsed' ? { ndcg: 0.01, flops: 0.001, docLen: -9.9 } : paperWorld(kind); // + 10 a set: 0.1 on average
    expect(inWorld(short)['baseline-collapses']).toBe('holds');
  });

  it('take a run that has diverged for one that says nothing of collapse, and name it', () => {
    const diverging: World = (kind) => (kind.variant === 'mask' && kind.lambda === 0.8 ? 'diverged' : paperWorld(kind));
    const claim = claimsOf(madeUpResults(scale, diverging)).find(({ id }) => id === 'baseline-collapses');
    expect(claim?.verdict).toBe('not resolved');
    expect(claim?.evidence.join('\n')).toContain('diverged, and so not counted: + ℓ0 mask, λ 0.8, t 80');
  });

  it('of collapse are contradicted by what was trained to the end, though another seed has diverged early', () => {
    const alive: World = ({ variant }, seed) =>
      variant === 'baseline' && seed === 2 ? 'diverged' : { ndcg: 0.5, flops: 1, docLen: 50 };
    const made = [...madeUpResults(scale, alive)];
    const results = new Map(made.map(([id, of]) => [id, of.status === 'diverged' ? { ...of, steps: 300 } : of]));
    const claim = claimsOf(results).find(({ id }) => id === 'baseline-collapses');
    expect(claim?.verdict).toBe('contradicted');
    expect(claim?.evidence).toContain('collapsed without the mask: none');
    expect(claim?.evidence.join('\n')).toContain('diverged, and so not counted: baseline');
  });

  it('of collapse are not resolved where one of two seeds of a masked model collapses', () => {
    const torn: World = (kind, seed) =>
      kind.variant === 'mask' && kind.lambda === 0.035 && seed === 2 ? 'collapsed' : paperWorld(kind);
    const claim = claimsOf(madeUpResults(scale, torn)).find(({ id }) => id === 'baseline-collapses');
    expect(claim?.verdict).toBe('not resolved');
    expect(claim?.evidence).toContain('collapsed with it: + ℓ0 mask, λ 0.035, t 80 (not with every seed)');
  });

  it('come out in 5 of 100 cases where nothing is different: at most 8 over all claims, 15 for each, in 40 worlds', () => {
    // NDCG differs by the noise of queries alone, costs by that of runs, which is the same on all sets.
    const numFalse: Record<string, number> = {};
    for (let seed = 0; seed < NUM_NULL_WORLDS; seed++) {
      const random = new Random(1000 + seed);
      const world: World = ({ lambda, threshold }) => {
        const base = lambda === 0.04 ? 1.5 + (threshold ?? 0) / 200 : 2 * (1 + Math.log10(0.8 / lambda) / 3);
        const flops = base * Math.exp(0.1 * random.normal());
        return { ndcg: 0.5, flops, docLen: 100 * flops };
      };
      const results = madeUpResults(scale, world, { noise: 0.1, numSets: 2, numQueries: 30, seed });
      for (const [id, verdict] of Object.entries(judged(results, 200)))
        numFalse[id] = (numFalse[id] ?? 0) + (verdict === 'not resolved' ? 0 : 1);
    }
    // The collapse is no matter of chance, equality is true here, and “harms” and “helps” are the same figure.
    const { 'baseline-collapses': _, 't-to-zero': __, 'activation-alone-helps': ___, ...counted } = numFalse;
    const counts = Object.values(counted);
    expect(counts).toHaveLength(9);
    expect(Math.max(...counts)).toBeLessThanOrEqual(0.15 * NUM_NULL_WORLDS);
    expect(mean(counts)).toBeLessThanOrEqual(0.08 * NUM_NULL_WORLDS);
  }, 300_000);

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
    const claims = claimsOf(madeUpResults(scale, paperWorld));
    const evidenceOf = (id: string): string => claims.find((claim) => claim.id === id)?.evidence.join('\n') ?? '';
    expect(evidenceOf('activation-alone-helps')).toMatch(
      /rows of Table 2: \+0\.\d\d points \(95 % \+0\.\d\d … \+\d\.\d\d; by seed \+.*, \+.*\), at FLOPS \d\.\d\d and \d\.\d\d/,
    );
    expect(evidenceOf('activation-shortens')).toMatch(
      /without the mask: −\d+\.\d\d % \(95 % −.* … −.*, 6 pairs of runs\) \(holds\)/, // λ below 0.1, one of them twice
    );
    expect(evidenceOf('baseline-collapses')).toContain('collapsed without the mask: baseline, λ 0.1; baseline, λ 0.2');
    expect(evidenceOf('rises-with-t')).toMatch(/from t 20 to 400: .*\d of 8 steps rise/);
  });

  it('say when a verdict rests on one seed', () => {
    const claims = claimsOf(madeUpResults(scale, paperWorld));
    const warned = claims.filter(({ evidence }) => evidence.some((line) => line.startsWith('**rests on one seed**')));
    // Rows of the tables have two seeds; points of the figures have one.
    expect(claims.filter((claim) => !warned.includes(claim)).map(({ id }) => id)).toEqual([
      'activation-alone-harms',
      'activation-alone-helps',
      'more-hurts',
      'decoupled-costs',
    ]);
    expect(
      claimsOf(new Map())
        .flatMap(({ evidence }) => evidence)
        .join(),
    ).not.toContain('one seed');
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
