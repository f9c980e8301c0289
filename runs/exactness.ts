/**
 * Is the search exact? Every way to search, against exhaustive scoring that shares no code with the index: document
 * numbers and integer scores of 1,000 queries for k = 10, 100 and 1000 on 200,000 synthetic documents, or on the vectors
 * that `lzero encode` wrote of a collection.
 *
 *     npx tsx runs/exactness.ts [--docs 200000] [--queries 1000] [--seed 1]
 *     npx tsx runs/exactness.ts --vectors vectors.jsonl --collection FOLDER --model FOLDER [--queries 1000]
 *
 * Prints the number of lists that differ, and ends with 1 if there is any.
 */
import { parseArgs } from 'node:util';
import { givenCollection, type RealCollection } from '../bench/lib/real-collection.ts';
import { bitmapOf, buildSegments, type PlainLists, plainLists, scoreAll } from '../bench/lib/sparse-index.ts';
import type { SparseVector } from '../src/core/index.ts';
import {
  type IntegerTopK,
  quantiseQuery,
  quantiseWeights,
  SparseSearcher,
  type SparseSearcherOptions,
} from '../src/search/index.ts';

const KS = [10, 100, 1000];

type Way = {
  readonly name: string;
  readonly options: Omit<SparseSearcherOptions, 'scale'>;
  readonly numSegments: number;
  readonly isDeleted?: (doc: number) => boolean;
  readonly isPermitted?: (doc: number, numDocs: number) => boolean;
};

const oneInTwenty = (doc: number): boolean => (doc * 2654435761) % 4294967296 < 4294967296 / 20;
const oneInThree = (doc: number): boolean => doc % 3 === 0;
/** Only in the middle of the collection, so that whole windows have no permitted document. */
const oneStretch = (doc: number, numDocs: number): boolean => doc >= 0.5 * numDocs && doc < 0.55 * numDocs;

const WAYS: readonly Way[] = [
  { name: 'WebAssembly', options: {}, numSegments: 1 },
  { name: 'TypeScript', options: { kernel: 'typescript' }, numSegments: 1 },
  { name: 'WebAssembly, lean', options: { mode: 'lean' }, numSegments: 1 },
  { name: 'WebAssembly, shared memory', options: { shared: true }, numSegments: 1 },
  { name: 'WebAssembly, ten segments', options: {}, numSegments: 10 },
  { name: 'WebAssembly, 5 % deleted', options: {}, numSegments: 1, isDeleted: oneInTwenty },
  {
    name: 'TypeScript, ten segments, 5 % deleted',
    options: { kernel: 'typescript' },
    numSegments: 10,
    isDeleted: oneInTwenty,
  },
  { name: 'WebAssembly, a third permitted', options: {}, numSegments: 3, isPermitted: oneInThree },
  { name: 'WebAssembly, one stretch permitted', options: {}, numSegments: 1, isPermitted: oneStretch },
];

/** The right answer: all scores, sorted. Score and number fit one float as long as there are at most 2²² documents. */
function exhaustive(lists: PlainLists, query: SparseVector, isAllowed: (doc: number) => boolean): IntegerTopK {
  const scores = scoreAll(lists, quantiseQuery(query));
  const radix = 2 ** Math.ceil(Math.log2(lists.numDocs + 1));
  const keys = new Float64Array(lists.numDocs);
  let n = 0;
  for (let doc = 0; doc < lists.numDocs; doc++)
    if (scores[doc] > 0 && isAllowed(doc)) keys[n++] = scores[doc] * radix + (radix - 1 - doc);
  const best = keys
    .subarray(0, n)
    .sort()
    .subarray(-Math.max(...KS))
    .reverse();
  const docIds = Uint32Array.from(best, (key) => radix - 1 - (key % radix));
  return { docIds, scores: docIds.map((doc) => scores[doc]) };
}

function isEqual(found: IntegerTopK, expected: IntegerTopK, k: number): boolean {
  const length = Math.min(k, expected.docIds.length);
  if (found.docIds.length !== length) return false;
  return found.docIds.every((doc, i) => doc === expected.docIds[i] && found.scores[i] === expected.scores[i]);
}

const answers = new Map<string, readonly IntegerTopK[]>();

/** The right answers to all queries; ways that allow the same documents share them. */
function answersFor(
  { isDeleted, isPermitted }: Way,
  { queries, numDocs }: RealCollection,
  lists: PlainLists,
): readonly IntegerTopK[] {
  const key = `${isDeleted?.name} ${isPermitted?.name}`;
  const isAllowed = (doc: number): boolean => !isDeleted?.(doc) && (isPermitted?.(doc, numDocs) ?? true);
  const found = answers.get(key) ?? queries.map((query) => exhaustive(lists, query, isAllowed));
  answers.set(key, found);
  return found;
}

type Given = {
  readonly collection: RealCollection;
  readonly codes: Uint8Array;
  readonly lists: PlainLists;
};

/** Lists that differ, for each k. */
function countMismatches(way: Way, { collection, codes, lists }: Given): number[] {
  const { isPermitted } = way;
  const segments = buildSegments(collection, codes, way);
  const searcher = new SparseSearcher({ scale: collection.largestWeight / 255, ...way.options });
  searcher.setSegments(segments);
  let first = 0;
  const filter =
    isPermitted &&
    segments.map(({ numDocs }) => {
      const base = first;
      first += numDocs;
      return bitmapOf(numDocs, (doc) => isPermitted(base + doc, collection.numDocs));
    });
  const expected = answersFor(way, collection, lists);
  return KS.map((k) => {
    const isWrong = (query: SparseVector, i: number): boolean =>
      !isEqual(searcher.searchIntegers(query, { k, filter }), expected[i], k);
    return collection.queries.filter(isWrong).length;
  });
}

const { values } = parseArgs({
  options: {
    docs: { type: 'string', default: '200000' },
    queries: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    vectors: { type: 'string' },
    collection: { type: 'string' },
    model: { type: 'string' },
  },
});

const collection = await givenCollection(values);
const codes = new Uint8Array(collection.weights.length);
quantiseWeights(collection.weights, collection.largestWeight / 255, codes);
const lists = plainLists(collection, codes);
console.log(
  `${collection.numDocs} documents, ${collection.terms.length} postings, ${collection.queries.length} queries`,
);
console.log(`lists that differ from exhaustive scoring, for k = ${KS.join(' / ')}`);
let total = 0;
for (const way of WAYS) {
  const mismatches = countMismatches(way, { collection, codes, lists });
  total += mismatches.reduce((sum, count) => sum + count, 0);
  console.log(`  ${way.name.padEnd(40)} ${mismatches.join(' / ')}`);
}
process.exitCode = total === 0 ? 0 : 1;
