/**
 * Makes the files of bench/lib/search-files.ts, in a process of its own that gives its memory back when it ends:
 *
 *     search-prepare.ts FOLDER '{"numDocs": 20000, "numQueries": 500}'
 *     search-prepare.ts FOLDER '{"vectors": "v.jsonl", "collection": "scifact", "model": "splade", "numQueries": 500}'
 *
 * Synthetic vectors (bench/lib/synthetic.ts), or those that `lzero encode` wrote, with the collection's own queries
 * weighted by its IDF. The right answers are found by scoring every document.
 */
import { z } from 'zod';
import type { SparseVector } from '../../src/core/index.ts';
import { quantiseWeights } from '../../src/search/index.ts';
import { offsetsOf, realCollection } from './real-collection.ts';
import { type Answer, MAX_WEIGHT, type Vectors, writeAnswers, writeVectors } from './search-files.ts';
import { plainLists, scoreAll } from './sparse-index.ts';
import { LARGEST_WEIGHT, syntheticCollection } from './synthetic.ts';

const MAX_K = 1000;

const synthetic = z.object({ numDocs: z.number(), numQueries: z.number() });
const real = z.object({ vectors: z.string(), collection: z.string(), model: z.string(), numQueries: z.number() });

/** Query weights as whole numbers from 1 to 255, the largest of each query 255. */
function queryCodes(queries: readonly SparseVector[]): Vectors {
  const codesOf = ({ weights }: SparseVector): number[] => {
    const largest = weights.reduce((max, weight) => Math.max(max, weight), 0);
    return [...weights].map((weight) => Math.max(1, Math.round((weight / largest) * MAX_WEIGHT)));
  };
  return {
    offsets: offsetsOf(queries),
    terms: Uint16Array.from(queries.flatMap(({ terms }) => [...terms])),
    codes: Uint8Array.from(queries.flatMap(codesOf)),
  };
}

/** The best documents, and all that score as much as the last of them. */
function bestOf(scores: Uint32Array): Answer {
  const largest = scores.reduce((max, score) => Math.max(max, score), 0);
  const counts = new Uint32Array(largest + 1);
  for (const score of scores) counts[score]++;
  let threshold = largest + 1;
  for (let numBetter = 0; threshold > 1 && numBetter < MAX_K; ) numBetter += counts[--threshold];
  const best: number[] = [];
  scores.forEach((score, doc) => {
    if (score >= threshold) best.push(doc);
  });
  const docIds = Uint32Array.from(best.sort((a, b) => scores[b] - scores[a] || a - b));
  return { docIds, scores: docIds.map((doc) => scores[doc]) };
}

async function main(): Promise<void> {
  const [folder, text] = process.argv.slice(2, 4);
  const given = z.union([synthetic, real]).parse(JSON.parse(text));
  const collection =
    'numDocs' in given ? { ...syntheticCollection(given), largestWeight: LARGEST_WEIGHT } : await realCollection(given);
  const codes = new Uint8Array(collection.weights.length);
  quantiseWeights(collection.weights, collection.largestWeight / MAX_WEIGHT, codes);
  const queries = queryCodes(collection.queries);
  writeVectors(folder, '', { ...collection, codes });
  writeVectors(folder, 'query-', queries);
  const lists = plainLists(collection, codes);
  const answers = collection.queries.map(({ terms }, i) => {
    const weights = Uint32Array.from(queries.codes.subarray(queries.offsets[i], queries.offsets[i + 1]));
    return bestOf(scoreAll(lists, { terms, weights, unit: 1 }));
  });
  writeAnswers(folder, answers);
}

await main();
