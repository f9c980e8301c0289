/**
 * Speed and size of the sparse index on a synthetic collection (bench/lib/synthetic.ts), all in one process: building,
 * opening, WebAssembly against its TypeScript twin and against plain term-at-a-time, lean against resident, ten segments
 * against one, one document in twenty deleted, two threads against one, and growth with the collection.
 *
 *     npx tsx bench/search.ts [--docs 1000000] [--small 200000] [--queries 200] [--rounds 5] [--json results.json]
 *     npx tsx bench/search.ts --vectors vectors.jsonl --collection FOLDER --model FOLDER [--queries 200] [--rounds 5]
 *
 * The second form takes what `lzero encode` wrote; the bars, which are for a million documents, do not hold there.
 *
 * Contenders take turns, some queries each, until all queries are answered by all: a round, which gives one ratio. Shown
 * are median, least and largest of the rounds. One million documents need 12 GB. The bars are those of docs/DESIGN.md.
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
import { givenCollection, type RealCollection } from './lib/real-collection.ts';
import { atLeast, atMost, type Claim, type Part, printPart, type Row, writeResults } from './lib/report.ts';
import { SearchWorkers } from './lib/search-workers.ts';
import {
  bitmapOf,
  buildSegment,
  buildSegments,
  codesOf,
  fileSource,
  plainLists,
  SCALE,
  TermAtATime,
} from './lib/sparse-index.ts';
import { median, spread } from './lib/statistics.ts';
import { syntheticCollection } from './lib/synthetic.ts';

const KS = [10, 100, 1000] as const;
/** How many times faster than term-at-a-time, for each k. */
const BARS = { 10: 20, 100: 12, 1000: 7 } as const;
const WARM_UP_QUERIES = 200;
/** A contender's turn: short, so that what disturbs the machine falls on all, but not so short that caches are cold. */
const TURN_QUERIES = 100;
const US = 1000;
const MB = 1e6;

const oneInTwenty = (doc: number): boolean => (doc * 2654435761) % 4294967296 < 4294967296 / 20;

const { values } = parseArgs({
  options: {
    docs: { type: 'string', default: '1000000' },
    small: { type: 'string', default: '200000' },
    queries: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
    vectors: { type: 'string' },
    collection: { type: 'string' },
    model: { type: 'string' },
  },
});
const numRounds = Number(values.rounds);
const numQueries = Number(values.queries);

type Contender = {
  readonly name: string;
  readonly queries: readonly SparseVector[];
  search(query: SparseVector, k: number): unknown;
};

/** A searcher as contender, and how long it took to open. */
function contender(
  name: string,
  segments: readonly SearchSegment[],
  { queries, ...options }: Omit<SparseSearcherOptions, 'scale'> & { readonly queries: readonly SparseVector[] },
) {
  const searcher = new SparseSearcher({ scale: SCALE, ...options }); // integer scores do not depend on it
  const start = performance.now();
  searcher.setSegments(segments);
  const openMs = performance.now() - start;
  const search = (query: SparseVector, k: number) => searcher.searchIntegers(query, { k });
  return { name, queries, openMs, searcher, search };
}

/** Mean time of a query in microseconds, by contender and round. */
type Times = ReadonlyMap<string, readonly number[]>;

function measure(contenders: readonly Contender[], k: number): Times {
  const times = new Map(contenders.map(({ name }): [string, number[]] => [name, []]));
  for (const { search, queries } of contenders) for (const query of queries.slice(0, WARM_UP_QUERIES)) search(query, k);
  for (let round = 0; round < numRounds; round++) {
    const sums = contenders.map(() => 0);
    for (let first = 0; first < numQueries; first += TURN_QUERIES) {
      contenders.forEach(({ search, queries }, i) => {
        const start = performance.now();
        for (const query of queries.slice(first, first + TURN_QUERIES)) search(query, k);
        sums[i] += performance.now() - start;
      });
    }
    contenders.forEach(({ name }, i) => {
      times.get(name)?.push((US * sums[i]) / numQueries);
    });
  }
  return times;
}

/** The ratio of two contenders in each round. */
function ratios(times: Times, [a, b]: readonly [string, string]): number[] {
  const [over, under] = [times.get(a) ?? [], times.get(b) ?? []];
  return over.map((time, round) => time / under[round]);
}

const row = (name: string, rounds: readonly number[], unit: string): Row => ({ name, unit, value: spread(rounds) });

/** Rows and claims of ratios that have bars. */
function judge(times: Times, bars: readonly (readonly [[string, string], (name: string, ratio: number) => Claim])[]) {
  const rows: Row[] = [...times].map(([name, rounds]) => row(name, rounds, 'µs a query'));
  const claims: Claim[] = [];
  for (const [pair, bar] of bars) {
    const [name, rounds] = [pair.join(' / '), ratios(times, pair)];
    rows.push(row(name, rounds, '×'));
    claims.push(bar(name, median(rounds)));
  }
  return { rows, claims };
}

const below = (limit: number) => (name: string, ratio: number) => atMost(name, ratio, { limit, unit: '×' });
const above = (bar: number) => (name: string, ratio: number) => atLeast(name, ratio, bar);

const parts: Part[] = [];

function report({ claims, ...found }: Part): void {
  const part = { ...found, claims: values.vectors ? [] : claims };
  parts.push(part);
  printPart(part);
}

function build(collection: RealCollection): { bytes: Uint8Array; codes: Uint8Array } {
  const { numDocs, weights } = collection;
  const before = process.cpuUsage();
  const codes = new Uint8Array(weights.length);
  quantiseWeights(weights, collection.largestWeight / 255, codes);
  const bytes = buildSegment(collection, codes, { from: 0, to: numDocs });
  const { user, system } = process.cpuUsage(before);
  const speed = weights.length / (user + system);
  const size = bytes.length / weights.length;
  report({
    title: `Building: ${numDocs} documents, ${weights.length} postings`,
    rows: [row('from float weights', [speed], 'M postings a CPU second'), row('size', [size], 'bytes a posting')],
    claims: [
      { claim: 'build', value: speed, bar: '≥ 15 M postings a CPU second', reached: speed >= 15 },
      atMost('size', size, { limit: 2.5, unit: 'bytes a posting' }),
    ],
  });
  return { bytes, codes };
}

/** One worker against two at the same time; CPU, not time: the cores share what memory delivers. */
async function compareWorkers(segment: SearchSegment, queries: readonly SparseVector[]): Promise<void> {
  const { searcher } = contender('shared', [segment], { queries, shared: true });
  const workers = new SearchWorkers(searcher, { queries, k: 10, count: 2 });
  await workers.cpuPerQuery(2); // threads start, code is compiled
  await workers.cpuPerQuery(2);
  const times = new Map<string, number[]>([
    ['two workers', []],
    ['one worker', []],
  ]);
  for (let round = 0; round < numRounds; round++) {
    times.get('one worker')?.push(await workers.cpuPerQuery(1));
    times.get('two workers')?.push(await workers.cpuPerQuery(2));
  }
  await workers.close();
  const { rows, claims } = judge(times, [[['two workers', 'one worker'], below(1.1)]]);
  const title = 'Threads over one shared memory, k = 10, CPU time';
  report({ title, rows, claims });
}

const where = await circumstances();
console.log(describe(where));
const collection = await givenCollection(values);
const { queries } = collection;
const { bytes, codes } = build(collection);

const folder = mkdtempSync(join(tmpdir(), 'lzero-bench-'));
const source = fileSource(join(folder, 'segment'), bytes);
const one = { key: 'one', source, numDocs: collection.numDocs, deleted: undefined };
await compareWorkers(one, queries);

const resident = contender('WebAssembly', [one], { queries });
const lean = contender('lean', [one], { queries, mode: 'lean' });
const twin = contender('TypeScript', [one], { queries, kernel: 'typescript' });
const deleted = { ...one, deleted: bitmapOf(collection.numDocs, oneInTwenty) };
const holed = contender('5 % deleted', [deleted], { queries });
const openMs = [resident, twin, holed].map((opened) => opened.openMs);
const memory = [resident, lean].map(({ searcher }) => searcher.memoryBytes / MB);
report({
  title: 'Opening',
  rows: [
    row('open, resident', openMs, 'ms'),
    row('open, lean', [lean.openMs], 'ms'),
    row('memory, resident', [memory[0]], 'MB'),
    row('memory, lean', [memory[1]], 'MB'),
  ],
  claims: [
    atMost('open', median(openMs), { limit: 1000, unit: 'ms' }),
    atLeast('memory resident / lean', memory[0] / memory[1], 4),
  ],
});

const plain = new TermAtATime(plainLists(collection, codes));
const contenders = [
  { name: 'term-at-a-time', queries, search: (query: SparseVector, k: number) => plain.search(query, k) },
  resident,
  twin,
  lean,
  holed,
  contender('ten segments', buildSegments(collection, codes, { numSegments: 10 }), { queries }),
];
for (const k of KS) {
  const bars = judge(measure(contenders, k), [
    [['term-at-a-time', 'WebAssembly'], above(BARS[k])],
    [['TypeScript', 'WebAssembly'], below(2.5)],
    [['lean', 'WebAssembly'], below(1.25)],
    [['5 % deleted', 'WebAssembly'], below(1.1)],
    [['ten segments', 'WebAssembly'], below(1.35)],
  ]);
  report({ title: `Searching, k = ${k}`, ...bars });
}

if (!values.vectors) {
  const few = syntheticCollection({ numDocs: Number(values.small), numQueries });
  const small = contender('small', buildSegments(few, codesOf(few), { numSegments: 1 }), { queries: few.queries });
  const growth = judge(measure([small, { ...resident, name: 'large' }], 10), [[['large', 'small'], below(4.7)]]);
  report({ title: `Growth from ${few.numDocs} to ${collection.numDocs} documents, k = 10`, ...growth });
}

source.close();
rmSync(folder, { recursive: true });
if (values.json) writeResults(values.json, where, parts);
