/** What benchmarks on real weights are told: by the command line, and by the environment. */

/** Options as they stand on the command line. */
type Given = { readonly only?: string | undefined; readonly rounds: string };

/** Checked. */
export type BenchOptions = {
  readonly weights: string;
  readonly data: string;
  /** Undefined where peers are not installed. */
  readonly python: string | undefined;
  readonly rounds: number;
  readonly wanted: readonly string[];
};

/** Reads the environment and the options, and refuses what cannot be meant. */
export function benchOptions(given: Given, parts: readonly string[]): BenchOptions {
  const { LZERO_WEIGHTS: weights, LZERO_SHARED_DATA: data, LZERO_PYTHON: python } = process.env;
  if (!weights || !data) throw new Error('set LZERO_WEIGHTS and LZERO_SHARED_DATA; see the head of bench/encode.ts');
  const wanted = given.only?.split(',') ?? parts;
  const unknown = wanted.filter((part) => !parts.includes(part));
  if (unknown.length > 0) throw new Error(`--only knows ${parts.join(', ')}, not ${unknown.join(', ')}`);
  const rounds = Number(given.rounds);
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new Error(`--rounds is a whole number from 1, not ${given.rounds}`);
  return { weights, data, python, rounds, wanted };
}
