/**
 * Speed and size of the sparse index on a synthetic collection (bench/lib/synthetic.ts), all in one process, by turns:
 * WebAssembly against its TypeScript twin, against plain term-at-a-time, lean against resident, ten segments against one,
 * and with one document in twenty deleted.
 *
 *     npx tsx bench/search.ts [--docs 1000000] [--small 200000] [--queries 500] [--rounds 5] [--json results.json]
 *
 * A query's time is the least of its rounds, a contender's the mean of its queries: what disturbs the machine falls on all
 * contenders alike and mostly drops out. One million documents need 10 GB. The bars are those of docs/DESIGN.md.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { SparseVector } from '../src/core/index.ts';
import {
  quantiseWeights,
  type SearchSegment,
  SparseSearcher,
  type SparseSearcherOptions,
} from '../src/search/index.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atLeast, atMost, type Part, printPart, type Row, writeResults } from './lib/report.ts';
import {
  buildSegment,
  buildSegments,
  fileSource,
  memorySource,
  plainLists,
  SCALE,
  TermAtATime,
} from './lib/sparse-index.ts';
import { spread } from './lib/statistics.ts';
import { type SyntheticCollection, syntheticCollection } from './lib/synthetic.ts';

const KS = [10, 100, 1000] as const;
/** How many times faster than term-at-a-time, for each k. */
const BARS = { 10: 20, 100: 12, 1000: 7 } as const;
const WARM_UP_QUERIES = 50;
const US = 1000;

type Contender = { readonly name: string; search(query: SparseVector, k: number): unknown };

const oneInTwenty = (doc: number): boolean => (doc * 2654435761) % 4294967296 < 4294967296 / 20;

const { values } = parseArgs({
  options: {
    docs: { type: 'string', default: '1000000' },
    small: { type: 'string', default: '200000' },
    queries: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
  },
});
const numRounds = Number(values.rounds);

function contender(
  name: string,
  segments: readonly SearchSegment[],
  options: Omit<SparseSearcherOptions, 'scale'> = {},
) {
  const searcher = new SparseSearcher({ scale: SCALE, ...options });
  const start = performance.now();
  searcher.setSegments(segments);
  const openMs = performance.now() - start;
  return { name, openMs, searcher, search: (query: SparseVector, k: number) => searcher.searchIntegers(query, { k }) };
}

/** Mean time of a query in microseconds, for each contender; of each query the best of all rounds. */
function measure(contenders: readonly Contender[], queries: readonly SparseVector[], k: number): Map<string, number> {
  const best = contenders.map(() => new Float64Array(queries.length).fill(Number.POSITIVE_INFINITY));
  for (const { search } of contenders) for (const query of queries.slice(0, WARM_UP_QUERIES)) search(query, k);
  for (let round = 0; round < numRounds; round++) {
    contenders.forEach(({ search }, j) => {
      queries.forEach((query, i) => {
        const start = performance.now();
        search(query, k);
        best[j][i] = Math.min(best[j][i], performance.now() - start);
      });
    });
  }
  const means = best.map((times) => (US * times.reduce((sum, time) => sum + time, 0)) / times.length);
  return new Map(contenders.map(({ name }, j) => [name, means[j]]));
}

const single = (name: string, value: number, unit: string): Row => ({ name, unit, value: spread([value]) });

/** CPU seconds that a call takes. */
function cpuSeconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

function buildPart(collection: SyntheticCollection): { part: Part; bytes: Uint8Array; codes: Uint8Array } {
  const { numDocs, weights } = collection;
  const codes = new Uint8Array(weights.length);
  let bytes: Uint8Array = new Uint8Array(0);
  const seconds = cpuSeconds(() => {
    quantiseWeights(weights, SCALE, codes);
    bytes = buildSegment(collection, codes, { from: 0, to: numDocs });
  });
  const speed = weights.length / seconds / 1e6;
  const size = bytes.length / weights.length;
  const part = {
    title: `Building: ${numDocs} documents, ${weights.length} postings`,
    rows: [
      single('build from float weights', speed, 'M postings a CPU second'),
      single('size', size, 'bytes a posting'),
    ],
    claims: [
      { claim: 'build', value: speed, bar: '≥ 15 M postings/s', reached: speed >= 15 },
      atMost('size', size, { limit: 2.5, unit: 'bytes a posting' }),
    ],
  };
  return { part, bytes, codes };
}

function searchPart(times: Map<string, number>, k: keyof typeof BARS): Part {
  const of = (name: string): number => times.get(name) ?? Number.NaN;
  const wasm = of('WebAssembly');
  return {
    title: `Searching, k = ${k}`,
    rows: [...times].map(([name, time]) => single(name, time, 'µs a query')),
    claims: [
      atLeast('term-at-a-time / WebAssembly', of('term-at-a-time') / wasm, BARS[k]),
      atMost('TypeScript / WebAssembly', of('TypeScript') / wasm, { limit: 2.5, unit: '×' }),
      atMost('ten segments / one', of('ten segments') / wasm, { limit: 1.35, unit: '×' }),
      atMost('5 % deleted / none', of('5 % deleted') / wasm, { limit: 1.1, unit: '×' }),
      atMost('lean / resident', of('lean') / wasm, { limit: 1.25, unit: '×' }),
    ],
  };
}

const where = await circumstances();
console.log(describe(where));
const collection = syntheticCollection({ numDocs: Number(values.docs), numQueries: Number(values.queries) });
const { part: building, bytes, codes } = buildPart(collection);
const parts: Part[] = [building];
printPart(building);

const folder = mkdtempSync(join(tmpdir(), 'lzero-bench-'));
const file = fileSource(join(folder, 'segment'), bytes);
const one = { key: 'one', source: memorySource(bytes), numDocs: collection.numDocs, deleted: undefined };
const resident = contender('WebAssembly', [one]);
const lean = contender('lean', [{ ...one, source: file }], { mode: 'lean' });
const plain = new TermAtATime(plainLists(collection, codes));
const contenders = [
  resident,
  contender('TypeScript', [one], { kernel: 'typescript' }),
  lean,
  contender('ten segments', buildSegments(collection, codes, { numSegments: 10 })),
  contender('5 % deleted', buildSegments(collection, codes, { numSegments: 1, isDeleted: oneInTwenty })),
  { name: 'term-at-a-time', search: (query: SparseVector, k: number) => plain.search(query, k) },
];
for (const k of KS) parts.push(searchPart(measure(contenders, collection.queries, k), k));
parts.slice(1).forEach(printPart);

const [openMs, memory] = [resident.openMs, [resident, lean].map(({ searcher }) => searcher.memoryBytes / 1e6)];
const opening: Part = {
  title: 'Opening',
  rows: [
    single('open, resident', openMs, 'ms'),
    single('open, lean', lean.openMs, 'ms'),
    single('memory, resident', memory[0], 'MB'),
    single('memory, lean', memory[1], 'MB'),
  ],
  claims: [
    atMost('open', openMs, { limit: 1000, unit: 'ms' }),
    atLeast('memory resident / lean', memory[0] / memory[1], 4),
  ],
};
parts.push(opening);
printPart(opening);
file.close();
rmSync(folder, { recursive: true });

const small = syntheticCollection({ numDocs: Number(values.small), numQueries: Number(values.queries) });
const smallCodes = new Uint8Array(small.weights.length);
quantiseWeights(small.weights, SCALE, smallCodes);
const smallContender = contender('WebAssembly', buildSegments(small, smallCodes, { numSegments: 1 }));
const times = [
  measure([smallContender], small.queries, 10).get('WebAssembly') ?? Number.NaN,
  measure([resident], collection.queries, 10).get('WebAssembly') ?? Number.NaN,
];
const growth: Part = {
  title: `Growth from ${small.numDocs} to ${collection.numDocs} documents, k = 10`,
  rows: [single('small', times[0], 'µs a query'), single('large', times[1], 'µs a query')],
  claims: [atMost('large / small', times[1] / times[0], { limit: 4.7, unit: '×' })],
};
parts.push(growth);
printPart(growth);
if (values.json) writeResults(values.json, where, parts);
