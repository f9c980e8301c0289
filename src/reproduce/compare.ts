/**
 * Comparisons that claims are judged by. Figures of NDCG@10 have intervals over queries (resampling.ts): they say what other
 * queries could have given, not what other seeds could. Costs are those of whole collections, where only runs can differ: they have
 * intervals over pairs of runs.
 */
import { mean, studentInterval } from '../eval/index.ts';
import { type Curve, curveThrough } from './curve.ts';
import { livingRuns, type Run, type Setting, settingMean } from './measurements.ts';
import { type IntervalAt, type ResamplingOptions, resample, type Statistic, scoreTable } from './resampling.ts';

/** A figure, how sure it is, and what each seed by itself says of it. */
export type Comparison = {
  /** Undefined where something to compare is missing. */
  readonly intervalAt: IntervalAt;
  /** Empty where not all settings have two seeds or more in common. */
  readonly bySeed: readonly number[];
  /** Seeds of the setting that has fewest. */
  readonly numSeeds: number;
};

const NOTHING: Comparison = { intervalAt: () => undefined, bySeed: [], numSeeds: 0 };

/** A figure of the NDCG of settings, one macro average each. */
export function compareSettings(
  settings: readonly (Setting | undefined)[],
  statistic: Statistic,
  options: ResamplingOptions,
): Comparison {
  const runs = settings.map((setting) => (setting ? livingRuns(setting) : []));
  if (runs.length === 0 || runs.some((own) => own.length === 0)) return NOTHING;
  const intervalAt = resample(scoreTable(runs), statistic, options);
  const numSeeds = Math.min(...runs.map((own) => own.length));
  const seeds = commonSeeds(runs);
  if (seeds.length < 2) return { intervalAt, bySeed: [], numSeeds };
  const bySeed = seeds.flatMap((seed) => {
    const own = runs.map((all) => all.filter((run) => run.seed === seed));
    const value = statistic(own.map(([run]) => mean(run.sets.map(({ ndcg }) => ndcg))));
    return value === undefined ? [] : [value];
  });
  return { intervalAt, bySeed, numSeeds };
}

/** Seeds that every model has a run of. */
function commonSeeds(runs: readonly (readonly Run[])[]): (number | undefined)[] {
  const [first, ...others] = runs.map((own) => new Set(own.map(({ seed }) => seed)));
  return [...first].filter((seed) => others.every((seeds) => seeds.has(seed)));
}

/** NDCG of one setting less that of another. */
export function difference(a: Setting | undefined, b: Setting | undefined, options: ResamplingOptions): Comparison {
  return compareSettings([a, b], ([own, other]) => own - other, options);
}

/** A figure of series as curves over their FLOPS, which are taken as they are; points that have collapsed are left out. */
export function compareCurves(
  series: readonly (readonly Setting[])[],
  figure: (curves: readonly Curve[]) => number | undefined,
  options: ResamplingOptions,
): Comparison {
  const living = series.map((settings) => settings.filter((setting) => livingRuns(setting).length > 0));
  if (living.some((settings) => settings.length < 2)) return NOTHING;
  const flops = living.map((settings) => settings.map((setting) => settingMean(setting, 'flops') ?? 0));
  const statistic: Statistic = (means) => {
    let at = 0;
    return figure(flops.map((own) => curveThrough(own.map((x) => ({ x, y: means[at++] })))));
  };
  return compareSettings(living.flat(), statistic, options);
}

/** What is known of a ratio of costs. */
export type CostComparison = Comparison & { readonly numRunPairs: number };

/**
 * What one setting of each pair costs of the other: the mean of ln(a/b) over pairs of runs with the same seed, for each the mean over
 * sets. Sets of one pair of runs are no independent witnesses (a model with long documents has them everywhere), so pairs are what the
 * interval counts. Undefined with fewer than two.
 */
export function costRatio(
  pairs: readonly (readonly [Setting | undefined, Setting | undefined])[],
  value: 'flops' | 'docLen',
): CostComparison {
  const bySetting = pairs.map(([a, b]) => (a && b ? ratiosOf(a, b, value) : [])).filter((own) => own.length > 0);
  const ratios = bySetting.flat();
  if (ratios.length < 2) return { ...NOTHING, numRunPairs: ratios.length };
  return {
    intervalAt: (confidence) => studentInterval(ratios, { confidence }),
    bySeed: [],
    numSeeds: Math.min(...bySetting.map((own) => own.length)),
    numRunPairs: ratios.length,
  };
}

/** ln(a/b) of each pair of runs with the same seed. */
function ratiosOf(a: Setting, b: Setting, value: 'flops' | 'docLen'): number[] {
  return livingRuns(a).flatMap((run) => {
    const other = livingRuns(b).find(({ seed }) => seed === run.seed);
    if (!other) return [];
    const ratio = mean(run.sets.map((set, c) => Math.log(set[value] / other.sets[c][value])));
    return Number.isFinite(ratio) ? [ratio] : []; // a set whose documents have no terms has no ratio
  });
}
