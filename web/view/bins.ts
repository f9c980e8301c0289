/** Bins of lengths on an axis. */

/** The number of a bin, by its shortest length: 0 … 7, then four an octave (src/train/run/length-histogram.ts). */
export function binNumber(shortest: number): number {
  if (shortest < 8) return shortest;
  const octave = Math.floor(Math.log2(shortest));
  return 8 + 4 * (octave - 3) + 4 * (shortest / 2 ** octave - 1);
}
