/** Systems against a baseline on one collection: differences, and whether they are more than chance. */
import { InputError } from '../core/index.ts';
import type { Evaluation } from './evaluate.ts';
import { type BootstrapOptions, bootstrapInterval, type Interval } from './significance/bootstrap.ts';
import { holm } from './significance/holm.ts';
import { type RandomisationOptions, randomisationTest } from './significance/randomisation.ts';

/** One system compared with the baseline, on one metric. */
export type Comparison = {
  /** Mean of system − baseline, and its bootstrap interval. */
  readonly difference: Interval;
  /** Of the paired randomisation test, two-sided. */
  readonly p: number;
  /** The same, corrected for all systems that are compared with this baseline on this collection (Holm). */
  readonly pCorrected: number;
  /** Queries where the system is better, equal, worse. */
  readonly numBetter: number;
  readonly numEqual: number;
  readonly numWorse: number;
};

/** How to compare. */
export type CompareOptions = {
  readonly metric: string;
  readonly randomisation?: RandomisationOptions | undefined;
  readonly bootstrap?: BootstrapOptions | undefined;
};

/** Compares systems with a baseline. All must have been evaluated on the same queries. */
export function compareWithBaseline(
  baseline: Evaluation,
  systems: readonly Evaluation[],
  { metric, randomisation, bootstrap }: CompareOptions,
): Comparison[] {
  const queries = [...baseline.perQuery.keys()];
  const b = valuesOf(baseline, queries, metric);
  const tests = systems.map((system) => {
    const a = valuesOf(system, queries, metric);
    const differences = a.map((value, i) => value - b[i]);
    return {
      difference: bootstrapInterval(differences, bootstrap),
      p: randomisationTest(a, b, randomisation).p,
      numBetter: differences.filter((d) => d > 0).length,
      numEqual: differences.filter((d) => d === 0).length,
      numWorse: differences.filter((d) => d < 0).length,
    };
  });
  const corrected = holm(tests.map(({ p }) => p));
  return tests.map((test, i) => ({ ...test, pCorrected: corrected[i] }));
}

function valuesOf({ perQuery }: Evaluation, queries: readonly string[], metric: string): number[] {
  if (perQuery.size !== queries.length)
    throw new InputError(`systems must answer the same queries to be compared: ${perQuery.size} and ${queries.length}`);
  return queries.map((query) => {
    const value = perQuery.get(query)?.[metric];
    if (value === undefined) throw new InputError(`query ${query} has no ${metric} in one of the systems`);
    return value;
  });
}
