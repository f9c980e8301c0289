/**
 * Makes the files of bench/lib/search-files.ts, in a process of its own that gives its memory back when it ends:
 *
 *     search-prepare.ts FOLDER '{"numDocs": 20000, "numQueries": 500}'
 *     search-prepare.ts FOLDER '{"vectors": "v.jsonl", "collection": "scifact", "model": "splade", "numQueries": 500}'
 *
 * Synthetic vectors (bench/lib/synthetic.ts), or those that `lzero encode` wrote, with the collection's own queries
 * weighted by its IDF. The right answers are found by scoring every document.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type SparseVector, sparseVector } from '../../src/core/index.ts';
import { documentTexts, readDocuments, readQueries, readVectors } from '../../src/data/index.ts';
import { quantiseWeights } from '../../src/search/index.ts';
import { createTokenizer, encodeQuery, IdfCounter } from '../../src/text/index.ts';
import { type Answer, MAX_WEIGHT, type Vectors, writeAnswers, writeVectors } from './search-files.ts';
import { plainLists, scoreAll } from './sparse-index.ts';
import { LARGEST_WEIGHT, type SyntheticCollection, syntheticCollection } from './synthetic.ts';

const MAX_K = 1000;

const synthetic = z.object({ numDocs: z.number(), numQueries: z.number() });
const real = z.object({ vectors: z.string(), collection: z.string(), model: z.string(), numQueries: z.number() });

type Collection = SyntheticCollection & { readonly largestWeight: number };

/** Vectors and queries that somebody's model made. */
async function realCollection({ vectors, collection, model, numQueries }: z.infer<typeof real>): Promise<Collection> {
  const tokenizer = await createTokenizer({
    tokenizerJson: readFileSync(join(model, 'tokenizer.json'), 'utf8'),
    label: model,
  });
  const idf = new IdfCounter(tokenizer);
  for await (const { text } of documentTexts(readDocuments(collection))) idf.add(text);
  const documents: SparseVector[] = [];
  const idOf = (token: string): number => {
    const id = tokenizer.vocabulary.idOf(token);
    if (id === undefined) throw new Error(`${vectors}: the token ${token} is not in the vocabulary of ${model}`);
    return id;
  };
  for await (const { tokens, weights } of readVectors(vectors)) documents.push(sparseVector(tokens.map(idOf), weights));
  const queries: SparseVector[] = [];
  const querySide = { tokenizer, idf: idf.table() };
  for await (const { text } of readQueries(collection))
    if (queries.length < numQueries) queries.push(encodeQuery(querySide, text).vector);
  const offsets = offsetsOf(documents);
  const all = {
    terms: Uint16Array.from(documents.flatMap(({ terms }) => [...terms])),
    weights: Float32Array.from(documents.flatMap(({ weights }) => [...weights])),
  };
  const largestWeight = all.weights.reduce((largest, weight) => Math.max(largest, weight), 0);
  return { numDocs: documents.length, offsets, ...all, queries, largestWeight };
}

function offsetsOf(vectors: readonly SparseVector[]): Uint32Array {
  const offsets = new Uint32Array(vectors.length + 1);
  vectors.forEach(({ terms }, i) => {
    offsets[i + 1] = offsets[i] + terms.length;
  });
  return offsets;
}

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
