/** What repeated measurements say. */

/** Median and extremes of a measurement's rounds. */
export type Spread = { readonly median: number; readonly min: number; readonly max: number; readonly rounds: number };

/** The middle value; of an even number the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
}

/** Sums up the rounds of one contender. */
export function spread(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values), rounds: values.length };
}

/** "median (min … max)"; of a single measurement just that. */
export function formatSpread({ median: middle, min, max, rounds }: Spread, digits: number): string {
  if (rounds === 1) return middle.toFixed(digits);
  return `${middle.toFixed(digits)} (${min.toFixed(digits)} … ${max.toFixed(digits)})`;
}
