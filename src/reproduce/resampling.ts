/**
 * How far a figure that is worked out from NDCG@10 of several models could be off because these queries were drawn and not others.
 * Queries of each set are drawn with replacement, the same ones for all models (so that differences are paired), and the figure is
 * worked out anew from the macro averages of what was drawn.
 *
 *     y_m = 1/C Σ_c 1/n_c Σ_{i drawn of set c} ndcg_{m,c,i}          figure = f(y_1, y_2, …)          percentiles of B such figures
 *
 * For one set and f(y) = y_1 it is `bootstrapInterval` of src/eval.
 */
import { InputError, Random, ShapeError } from '../core/index.ts';
import { type Interval, quantile } from '../eval/index.ts';
import type { Run } from './measurements.ts';

/** NDCG@10 by set, model and query: scores[c][m] has one value a query, in the same order for all models of a set. */
export type ScoreTable = readonly (readonly Float64Array[])[];

/** A figure of macro averages, one a model; undefined where it has none for these. */
export type Statistic = (means: readonly number[]) => number | undefined;

/** How to draw. */
export type ResamplingOptions = {
  readonly numSamples?: number | undefined;
  readonly seed?: number | undefined;
};

/** An interval that is as sure as one asks; undefined where there is nothing to say. */
export type IntervalAt = (confidence: number) => Interval | undefined;

/** Samples in which a figure may be without a value before it counts as having none. */
const MAX_UNDEFINED_SHARE = 0.05;

/** Models as lists of runs that differ in the seed: the NDCG of a query is the mean over them. */
export function scoreTable(models: readonly (readonly Run[])[]): ScoreTable {
  const numSets = models[0]?.[0]?.sets.length ?? 0;
  if (models.some((runs) => runs.length === 0 || runs.some(({ sets }) => sets.length !== numSets)))
    throw new ShapeError('models can be compared on the same sets only, each with a run or more');
  return Array.from({ length: numSets }, (_, c) => {
    const ids = Object.keys(models[0][0].sets[c].perQuery).sort();
    return models.map((runs) =>
      Float64Array.from(ids, (id) => runs.reduce((sum, run) => sum + scoreOf(run, c, id), 0) / runs.length),
    );
  });
}

function scoreOf({ point, sets }: Run, c: number, id: string): number {
  const value = sets[c].perQuery[id];
  if (value === undefined) throw new InputError(`${point} has no value for the query ${id} that others answered`);
  return value;
}

/** The figure of all queries and its percentile intervals; undefined where it has no value, or too often none. */
export function resample(
  scores: ScoreTable,
  statistic: Statistic,
  { numSamples = 2000, seed = 42 }: ResamplingOptions = {},
): IntervalAt {
  const numModels = scores[0]?.length ?? 0;
  const whole = statistic(macroMeans(scores, numModels, (_, i) => i));
  if (whole === undefined) return () => undefined;
  const random = new Random(seed);
  const drawn: number[] = [];
  for (let sample = 0; sample < numSamples; sample++) {
    const value = statistic(macroMeans(scores, numModels, (n) => random.below(n)));
    if (value !== undefined && Number.isFinite(value)) drawn.push(value);
  }
  if (drawn.length < (1 - MAX_UNDEFINED_SHARE) * numSamples) return () => undefined;
  const sorted = Float64Array.from(drawn).sort();
  return (confidence) => ({
    mean: whole,
    low: quantile(sorted, (1 - confidence) / 2),
    high: quantile(sorted, (1 + confidence) / 2),
  });
}

/** y, [M]: of n queries of a set, those that `choose(n, i)` gives for i = 0 … n − 1. */
function macroMeans(scores: ScoreTable, numModels: number, choose: (n: number, i: number) => number): number[] {
  const means = new Array<number>(numModels).fill(0);
  for (const set of scores) {
    const n = set[0].length;
    const factor = 1 / (n * scores.length);
    for (let i = 0; i < n; i++) {
      const query = choose(n, i);
      for (let m = 0; m < numModels; m++) means[m] += factor * set[m][query];
    }
  }
  return means;
}
