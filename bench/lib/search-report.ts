/** How bench/search-peers.ts says what it found. */
import { formatSpread, type Spread } from './statistics.ts';

/** How good a list of results is. */
export type Quality = {
  /** Share of the k best documents that were found, mean over queries. */
  readonly recall: number;
  /** Scores that are not those of their documents. */
  readonly numWrongScores: number;
};

/** A peer beside us, for one k. */
export type Comparison = {
  readonly name: string;
  readonly setting: string;
  readonly k: number;
  readonly numQueries: number;
  readonly quality: Quality;
  /** Does not promise to find the best, even if it did here. */
  readonly isApproximate: boolean;
  /** Mean over queries, a value for each round. */
  readonly meanUs: Spread;
  readonly medianUs: Spread;
  /** Its mean divided by ours of the same round. */
  readonly ratio: Spread;
  readonly oursUs: Spread;
  /** The same from the least time of each query. */
  readonly leastRatio: number;
};

/** What an index cost. */
export type Build = { readonly name: string; readonly buildMs: number; readonly sizeBytes: number };

function printTable(rows: readonly (readonly string[])[]): void {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  for (const row of rows)
    console.log(`  ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('   ')}`);
}

/** Prints what the indexes cost. */
export function printBuilds(
  { numDocs, numPostings }: { readonly numDocs: number; readonly numPostings: number },
  builds: readonly Build[],
): void {
  console.log(`\n${numDocs} documents, ${numPostings} postings`);
  printTable([
    ['', 'build, s', 'MB', 'bytes a posting'],
    ...builds.map(({ name, buildMs, sizeBytes }) => [
      name,
      (buildMs / 1000).toFixed(1),
      (sizeBytes / 1e6).toFixed(1),
      (sizeBytes / numPostings).toFixed(2),
    ]),
  ]);
}

/** Prints the comparisons of one k, and whether an exact peer is ahead of us. */
export function printComparisons(comparisons: readonly Comparison[]): void {
  if (comparisons.length === 0) return;
  console.log(`\nk = ${comparisons[0].k}`);
  printTable([
    ['', 'recall', 'mean, µs a query', 'p50', 'ours, mean', 'times ours', 'of least times', 'queries'],
    ...comparisons.map(
      ({ name, setting, quality, isApproximate, meanUs, medianUs, oursUs, ratio, leastRatio, numQueries }) => [
        setting === '' ? name : `${name} (${setting})`,
        quality.recall === 1 && !isApproximate ? 'exact' : quality.recall.toFixed(4),
        formatSpread(meanUs, 1),
        medianUs.median.toFixed(1),
        formatSpread(oursUs, 1),
        formatSpread(ratio, 2),
        leastRatio.toFixed(2),
        String(numQueries),
      ],
    ),
  ]);
  for (const { name, setting, quality, isApproximate, leastRatio } of comparisons) {
    if (quality.numWrongScores > 0) console.log(`  ${name} (${setting}): ${quality.numWrongScores} scores are wrong`);
    if (quality.recall < 1 && !isApproximate) console.log(`  ${name} (${setting}): should be exact and is not`);
    if (!isApproximate && leastRatio < 1) console.log(`  → ${name} (${setting}) is exact and AHEAD of us`);
  }
}
