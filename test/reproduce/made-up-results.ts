/** Results of sweeps that nobody trained, with known answers: what every point has is a function of what it is. */
import { Random } from '../../src/core/index.ts';
import { kindOf, type PointKind, type Scale, SWEEPS } from '../../src/reproduce/index.ts';
import { type PointResult, sweepPoints } from '../../src/sweep/index.ts';

/** What a made-up point has, on every set. */
export type MadeUp = { readonly ndcg: number; readonly flops: number; readonly docLen: number };

/** What is different from the usual. */
export type MadeUpOptions = {
  readonly numSets?: number;
  readonly numQueries?: number;
  /** Of each training; those of the paper unless given. */
  readonly steps?: number;
  /** Standard deviation of a point's own noise in the NDCG of a query. */
  readonly noise?: number;
  /** Of that noise. */
  readonly seed?: number;
};

/** What became of a made-up point: undefined where it has no result, 'collapsed' or 'diverged' where an alarm has stopped it. */
export type World = (kind: PointKind, seed: number | undefined) => MadeUp | 'collapsed' | 'diverged' | undefined;

const MADE_BY = { lzero: '0.0.9', node: 'v20', engine: 'onnxruntime 1.0', machine: 'linux x64, 2 cores' };

/** A result for every point of a scale. */
export function madeUpResults(
  { sweeps }: Pick<Scale, 'sweeps'>,
  world: World,
  { numSets = 3, numQueries = 40, steps = 100_000, noise = 0.01, seed: noiseSeed = 5 }: MadeUpOptions = {},
): Map<string, PointResult> {
  const results = new Map<string, PointResult>();
  const random = new Random(noiseSeed);
  for (const name of SWEEPS)
    for (const { name: point, settings, seed } of sweepPoints(sweeps[name])) {
      const made = world(kindOf(settings), seed);
      if (made === undefined || results.has(point)) continue;
      const isStopped = made === 'collapsed' || made === 'diverged';
      const { ndcg, flops, docLen } = isStopped ? { ndcg: 0, flops: 0, docLen: 0 } : made;
      const measured = Array.from({ length: isStopped ? 0 : numSets }, (_, c) => {
        // Hard and easy queries are the same for all points; what is left is the point's own.
        const perQuery = Array.from({ length: numQueries }, (_, i) => {
          const level = 0.3 * ((i % 5) / 4 - 0.5);
          return [`q${i}`, ndcg + level + noise * random.normal()] as const;
        });
        const mean = perQuery.reduce((sum, [, value]) => sum + value, 0) / numQueries;
        const values = { 'ndcg@10': mean, flops: flops * (1 + 0.1 * c), docLen: docLen + 10 * c };
        return { collection: `set${c}`, split: 'test', values, perQuery: Object.fromEntries(perQuery) };
      });
      results.set(point, {
        point,
        settings,
        seed: seed ?? null,
        status: isStopped ? made : 'done',
        steps,
        stoppedEarly: isStopped,
        evaluation: null,
        measured,
        seconds: { training: 60, measuring: 5 },
        provenance: { ...MADE_BY, date: results.size === 0 ? '2026-11-01T08:00:00Z' : '2026-11-02T08:00:00Z' },
        config: '',
      });
    }
  return results;
}

const LIFT: Readonly<Record<string, number>> = { mask: 0.03, l0: 0.01, 'mask-l0': 0.04, 'l0-2': -0.02, 'l0-3': -0.04 };

/** A world in which every claim of the paper is true, but for what its text says of the activation alone. */
export function paperWorld({ variant, lambda, threshold }: PointKind): MadeUp | 'collapsed' {
  const hasL0 = variant.includes('l0');
  if (lambda >= 0.1 && threshold === null) return 'collapsed';
  const t = threshold ?? 0;
  // FLOPS fall with λ and rise with t; NDCG falls with the logarithm of FLOPS, slower with both.
  const isSweepOfT = lambda === 0.04;
  const base = isSweepOfT ? 1.5 + t / 200 : 2 * (1 + Math.log10(0.8 / lambda) / 3);
  const flops = base * (hasL0 ? 0.9 : 1) * (variant.includes('de-') ? 1.3 : 1);
  const slope = variant === 'mask-l0' ? 0.02 : 0.06;
  const lift = isSweepOfT ? Math.min(1, t / 50) * 0.05 : (LIFT[variant] ?? 0);
  return { ndcg: 0.5 + slope * Math.log(flops) + lift, flops, docLen: 100 * flops * (hasL0 ? 0.8 : 1) };
}

const OPPOSITE_LIFT: Readonly<Record<string, number>> = { mask: -0.01, l0: -0.01, 'l0-2': 0.01, 'l0-3': 0.02 };

/** A world in which every claim of the paper is false, but for what its text says of the activation alone. */
export function oppositeWorld({ variant, lambda, threshold }: PointKind): MadeUp | 'collapsed' {
  if (lambda >= 0.4 && threshold !== null) return 'collapsed';
  const t = threshold ?? 0;
  const isSweepOfT = lambda === 0.04;
  const base = isSweepOfT ? 1.5 + t / 200 : 2 * (1 + Math.log10(0.8 / lambda) / 3);
  const flops = base * (variant.includes('de-') ? 0.7 : 1);
  const slope = variant === 'mask-l0' ? 0.2 : 0.06;
  const lift = isSweepOfT && threshold !== null ? -0.05 - t / 2000 : (OPPOSITE_LIFT[variant] ?? 0);
  return {
    ndcg: 0.5 + slope * Math.log(flops) + lift,
    flops,
    docLen: 100 * flops * (variant.includes('l0') ? 1.2 : 1),
  };
}
