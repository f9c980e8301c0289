/**
 * How many documents have how many terms, small enough for every line of metrics.jsonl: a bin is named by the shortest
 * length in it. Lengths below 8 have a bin each, and above it every octave has four:
 *
 *     0 1 2 … 7 | 8 10 12 14 | 16 20 24 28 | 32 40 48 56 | …
 */

/** Shortest length of a bin → documents in it; bins without any are left out. */
export type LengthHistogram = Readonly<Record<string, number>>;

/** Lengths that are counted one by one. */
const EXACT = 8;

/** The shortest length of the bin that a length falls into. */
export function lengthBin(length: number): number {
  if (length < EXACT) return length;
  const width = 2 ** (29 - Math.clz32(length)); // a quarter of the octave
  return length - (length % width);
}

/** A histogram with more documents in it. */
export function addLengths(histogram: LengthHistogram, docLens: Iterable<number>): LengthHistogram {
  const sum: Record<string, number> = { ...histogram };
  for (const length of docLens) {
    const bin = lengthBin(length);
    sum[bin] = (sum[bin] ?? 0) + 1;
  }
  return sum;
}
