/** Comparisons that claims are judged by: differences and curves of NDCG@10 with intervals over queries, ratios of costs over cells. */
import { bootstrapInterval, type Interval, mean } from '../eval/index.ts';
import { type Curve, curveThrough } from './curve.ts';
import { livingRuns, type Run, type Setting, settingMean } from './measurements.ts';
import { resample, type Statistic, scoreTable } from './resampling.ts';

/** A figure, how sure it is, and what each seed by itself says of it. */
export type Comparison = {
  /** Undefined where something to compare is missing. */
  readonly interval: Interval | undefined;
  /** Empty where not all settings have two seeds or more in common. */
  readonly bySeed: readonly number[];
};

const NOTHING: Comparison = { interval: undefined, bySeed: [] };

/** A figure of the NDCG of settings, one macro average each. */
export function compareSettings(settings: readonly (Setting | undefined)[], statistic: Statistic): Comparison {
  const runs = settings.map((setting) => (setting ? livingRuns(setting) : []));
  if (runs.length === 0 || runs.some((own) => own.length === 0)) return NOTHING;
  const interval = resample(scoreTable(runs), statistic);
  const seeds = commonSeeds(runs);
  if (seeds.length < 2) return { interval, bySeed: [] };
  const bySeed = seeds.flatMap((seed) => {
    const own = runs.map((all) => all.filter((run) => run.seed === seed));
    const value = statistic(own.map(([run]) => mean(run.sets.map(({ ndcg }) => ndcg))));
    return value === undefined ? [] : [value];
  });
  return { interval, bySeed };
}

/** Seeds that every model has a run of. */
function commonSeeds(runs: readonly (readonly Run[])[]): (number | undefined)[] {
  const [first, ...others] = runs.map((own) => new Set(own.map(({ seed }) => seed)));
  return [...first].filter((seed) => others.every((seeds) => seeds.has(seed)));
}

/** NDCG of one setting less that of another. */
export function difference(a: Setting | undefined, b: Setting | undefined): Comparison {
  return compareSettings([a, b], ([own, other]) => own - other);
}

/** A figure of series as curves over their FLOPS, which are taken as they are; points that have collapsed are left out. */
export function compareCurves(
  series: readonly (readonly Setting[])[],
  figure: (curves: readonly Curve[]) => number | undefined,
): Comparison {
  const living = series.map((settings) => settings.filter((setting) => livingRuns(setting).length > 0));
  if (living.some((settings) => settings.length < 2)) return NOTHING;
  const flops = living.map((settings) => settings.map((setting) => settingMean(setting, 'flops') ?? 0));
  return compareSettings(living.flat(), (means) => {
    let at = 0;
    return figure(flops.map((own) => curveThrough(own.map((x) => ({ x, y: means[at++] })))));
  });
}

/** Fewer cells than this say nothing. */
const MIN_CELLS = 5;

/**
 * What one setting of each pair costs of the other: the mean of ln(a/b) over cells, a cell being a pair, a set and a seed; the
 * interval is of cells, since costs are those of whole collections. Undefined with fewer than five cells.
 */
export function costRatio(
  pairs: readonly (readonly [Setting | undefined, Setting | undefined])[],
  value: 'flops' | 'docLen',
): { readonly interval: Interval | undefined; readonly numCells: number } {
  const cells = pairs.flatMap(([a, b]) => (a && b ? ratiosOf(a, b, value) : []));
  return { interval: cells.length < MIN_CELLS ? undefined : bootstrapInterval(cells), numCells: cells.length };
}

function ratiosOf(a: Setting, b: Setting, value: 'flops' | 'docLen'): number[] {
  return livingRuns(a).flatMap((run) => {
    const other = livingRuns(b).find(({ seed }) => seed === run.seed);
    if (!other) return [];
    const ratios = run.sets.map((set, c) => Math.log(set[value] / other.sets[c][value]));
    return ratios.filter(Number.isFinite);
  });
}
