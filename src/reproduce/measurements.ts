/**
 * What came of the points, brought together: results of sweeps by what they are in the paper. A setting is a variant with its λ
 * and t; its runs differ in the seed. Values of several seeds are averaged, query by query.
 */
import { mean } from '../eval/index.ts';
import type { PointResult, SweepConfig } from '../sweep/index.ts';
import { sweepPoints } from '../sweep/index.ts';
import { bySweep, type Scale, SWEEPS, type SweepName } from './scale.ts';
import { describeKind, kindOf, type PointKind } from './variant.ts';

/** A finished model on a set. */
export type SetScores = {
  readonly ndcg: number;
  readonly flops: number;
  readonly docLen: number;
  /** NDCG@10 of each judged query. */
  readonly perQuery: Readonly<Record<string, number>>;
};

/** A training that is over. */
export type Run = {
  readonly point: string;
  readonly seed: number | undefined;
  readonly steps: number;
  /** Of training and measuring, over all calls. */
  readonly seconds: number;
  /** Versions, machine and date of the call that finished it. */
  readonly provenance: Readonly<Record<string, string>>;
  /** `collapsed`: documents have lost their terms, so that there is nothing to search; `diverged`: numbers were not finite. */
  readonly status: PointResult['status'];
  /** In the order of the scale's sets; empty where an alarm has stopped the run. */
  readonly sets: readonly SetScores[];
};

/** A variant with its λ and t, and the runs of it that are over. */
export type Setting = PointKind & { readonly runs: readonly Run[] };

/** Everything that is known of a reproduction. */
export type Measurements = {
  readonly settings: Readonly<Record<SweepName, readonly Setting[]>>;
  /** Points without a result. */
  readonly missing: readonly { readonly point: string; readonly what: string; readonly sweeps: readonly SweepName[] }[];
  readonly numPoints: number;
};

/** Documents with fewer terms than this on average have collapsed. */
const COLLAPSED_TERMS = 1;

/** Brings the results of a scale's sweeps together. */
export function gather({ sweeps }: Pick<Scale, 'sweeps'>, results: ReadonlyMap<string, PointResult>): Measurements {
  const runs = new Map<string, Run[]>();
  const all = new Map<string, { readonly what: string; readonly sweeps: SweepName[] }>();
  for (const name of SWEEPS)
    for (const { name: point, settings, seed } of sweepPoints(sweeps[name])) {
      const known = all.get(point);
      if (known) known.sweeps.push(name);
      else {
        const kind = kindOf(settings);
        const found = results.get(point);
        all.set(point, { what: `${describeKind(kind)}${seed === undefined ? '' : `, seed ${seed}`}`, sweeps: [name] });
        if (found) runs.set(keyOf(kind), [...(runs.get(keyOf(kind)) ?? []), runOf(found)]);
      }
    }
  return {
    settings: bySweep((name) => settingsOf(sweeps[name], runs)),
    missing: [...all].flatMap(([point, { what, sweeps: own }]) =>
      results.has(point) ? [] : [{ point, what, sweeps: own }],
    ),
    numPoints: all.size,
  };
}

/** Settings of a sweep in its order, each with the runs that any sweep has of it. */
function settingsOf(sweep: SweepConfig, runs: ReadonlyMap<string, readonly Run[]>): Setting[] {
  const found = new Map<string, Setting>();
  for (const { settings } of sweepPoints(sweep)) {
    const kind = kindOf(settings);
    found.set(keyOf(kind), { ...kind, runs: runs.get(keyOf(kind)) ?? [] });
  }
  return [...found.values()];
}

/** Every setting once, in the order of the sweeps. */
export function everySetting({ settings }: Pick<Measurements, 'settings'>): Setting[] {
  return [...new Map(SWEEPS.flatMap((name) => settings[name].map((own) => [keyOf(own), own] as const))).values()];
}

/** What all runs have come about by. */
export type MadeBy = {
  /** Days, the first and the last; undefined where no run says it. */
  readonly days: readonly [string, string] | undefined;
  readonly machines: readonly string[];
  readonly versions: readonly string[];
  /** Of training and measuring. */
  readonly hours: number;
};

/** Dates, machines, versions and hours of all runs, not of whoever reads them. */
export function madeBy(measurements: Pick<Measurements, 'settings'>): MadeBy {
  const runs = everySetting(measurements).flatMap((setting) => setting.runs);
  const told = runs.map(({ provenance }) => provenance).filter(({ date }) => date !== undefined);
  const days = told.map(({ date }) => date.slice(0, 10)).sort();
  const distinct = (values: readonly string[]): string[] => [...new Set(values)].sort();
  return {
    days: days.length === 0 ? undefined : [days[0], days[days.length - 1]],
    machines: distinct(told.map(({ machine, engine }) => `${machine}, ${engine}`)),
    versions: distinct(told.map(({ lzero, node }) => `lzero ${lzero}, Node ${node}`)),
    hours: runs.reduce((sum, { seconds }) => sum + seconds, 0) / 3600,
  };
}

function keyOf({ variant, lambda, threshold }: PointKind): string {
  return JSON.stringify([variant, lambda, threshold]);
}

function runOf({ point, seed, steps, seconds, status, measured, provenance = {} }: PointResult): Run {
  const sets = measured.map(({ values, perQuery }) => ({
    ndcg: values['ndcg@10'],
    flops: values.flops,
    docLen: values.docLen,
    perQuery,
  }));
  const isShort = sets.length > 0 && mean(sets.map(({ docLen }) => docLen)) < COLLAPSED_TERMS;
  return {
    point,
    seed: seed ?? undefined,
    steps,
    seconds: seconds.training + seconds.measuring,
    provenance,
    status: isShort ? 'collapsed' : status,
    sets,
  };
}

/**
 * Whether a setting collapses: `some` where seeds disagree, undefined where nothing is known. A run that has diverged says nothing
 * of it.
 */
export function collapseOf({ runs }: Setting): 'all' | 'some' | 'none' | undefined {
  const telling = runs.filter(({ status }) => status !== 'diverged');
  const numCollapsed = telling.filter(({ status }) => status === 'collapsed').length;
  if (telling.length === 0) return undefined;
  return numCollapsed === telling.length ? 'all' : numCollapsed > 0 ? 'some' : 'none';
}

/** A value of a run: the macro average over its sets. */
export function macro({ sets }: Run, value: 'ndcg' | 'flops' | 'docLen'): number {
  return mean(sets.map((set) => set[value]));
}

/** The same of a setting: the mean over its living runs, so that all values are of the same ones; undefined without any. */
export function settingMean(setting: Setting, value: 'ndcg' | 'flops' | 'docLen'): number | undefined {
  const living = livingRuns(setting);
  return living.length === 0 ? undefined : mean(living.map((run) => macro(run, value)));
}

/** Doc_Len of what is left of collapsed runs; 0 where the alarm has stopped all of them. */
export function collapsedLength({ runs }: Setting): number {
  const measured = runs.filter(({ status, sets }) => status === 'collapsed' && sets.length > 0);
  return measured.length === 0 ? 0 : mean(measured.map((run) => macro(run, 'docLen')));
}

/** Runs that have a model, and so something to compare. */
export function livingRuns({ runs }: Setting): Run[] {
  return runs.filter(({ status, sets }) => status === 'done' && sets.length > 0);
}

/** How many runs of a setting that has living ones have none themselves: "1 of 2 seeds collapsed"; empty where none. */
export function lostText(setting: Setting): string {
  const { runs } = setting;
  if (livingRuns(setting).length === 0) return '';
  return (['collapsed', 'diverged'] as const)
    .flatMap((status) => {
      const count = runs.filter((run) => run.status === status).length;
      return count === 0 ? [] : [`${count} of ${runs.length} seeds ${status}`];
    })
    .join(', ');
}
