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
  readonly seconds: number;
  /** Documents have lost their terms, so that there is nothing to search. */
  readonly isCollapsed: boolean;
  /** In the order of the scale's sets; empty where the alarm has stopped the run. */
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

function keyOf({ variant, lambda, threshold }: PointKind): string {
  return JSON.stringify([variant, lambda, threshold]);
}

function runOf({ point, seed, steps, seconds, status, measured }: PointResult): Run {
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
    isCollapsed: status === 'collapsed' || isShort,
    sets,
  };
}

/** Whether all runs of a setting have collapsed; false where there are none. */
export function isCollapsed({ runs }: Setting): boolean {
  return runs.length > 0 && runs.every((run) => run.isCollapsed);
}

/** A value of a run: the macro average over its sets. */
export function macro({ sets }: Run, value: 'ndcg' | 'flops' | 'docLen'): number {
  return mean(sets.map((set) => set[value]));
}

/** The same of a setting: the mean over its runs; undefined where none has been measured. */
export function settingMean({ runs }: Setting, value: 'ndcg' | 'flops' | 'docLen'): number | undefined {
  const measured = runs.filter(({ sets }) => sets.length > 0);
  return measured.length === 0 ? undefined : mean(measured.map((run) => macro(run, value)));
}

/** Runs that have a model, and so something to compare. */
export function livingRuns({ runs }: Setting): Run[] {
  return runs.filter((run) => !run.isCollapsed && run.sets.length > 0);
}
