/**
 * How many copies of a network share the cores, where texts are run one by one: a vector must depend on its text alone, so texts
 * cannot share a batch, and one text alone keeps several cores busy only in part. Two copies with a core each encode 1.3 to 1.6 times as
 * many documents as one with both, the more the shorter they are (bench/lanes.ts).
 */

/** Copies at most: each has the weights in memory. */
const MAX_LANES = 4;

/** Threads of each copy, all that there are. A number that makes no sense is the engine's to refuse. */
export function laneThreads(threads: number): number[] {
  const count = threads > 1 ? Math.min(MAX_LANES, threads) : 1;
  return Array.from({ length: count }, (_, lane) => Math.floor((threads + lane) / count));
}
