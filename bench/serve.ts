/**
 * What HTTP costs: the queries a second of `lzero serve` against those of the same index and search threads inside one
 * process, by turns; its times at half of what it holds; and what it does at twice of that.
 *
 *     npm run build && npx tsx bench/serve.ts [--docs 100000] [--seconds 5] [--rounds 3] [--workers 1] [--json results.json]
 *
 * Documents and queries: bench/lib/served.ts; k = 10, hits with their texts. The load comes over loopback from this process,
 * so on two cores it takes from the server what the search inside a process has for itself. Two things say how much: the
 * processor time a query of server and load, and a bare node:http server that answers as many bytes to the same load, which
 * no server in Node can surpass. About three minutes, one of them for the index. Ten minutes at twice the load: serve-load.ts.
 *
 * Bars: 60 % of the queries a second within the process; p99 at half load 10 ms; at twice the load nothing but 200 and 503.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Index, openIndex } from '../src/engines/index.ts';
import { closedLoop, type Load, numOthers, openLoop, percentile, type Question } from './lib/load.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atLeast, atMost, type Part, printPart, type Row, writeResults } from './lib/report.ts';
import { buildServedIndex, QUERIES, ServerProcess } from './lib/served.ts';
import { median, spread } from './lib/statistics.ts';

const { values } = parseArgs({
  options: {
    docs: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    workers: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
});
const [numDocs, seconds, rounds, workers] = [values.docs, values.seconds, values.rounds, values.workers].map(Number);
/** Requests on their way at once when as many as possible are wanted. */
const LANES = 8;
const MIN_SHARE = 0.6;
const MAX_P99_MS = 10;

/** A load, and the processor time of whoever bore it. */
type Measured = Load & { readonly serverCpuMs: number };

/** One who is measured: round by round, by turns with the others. */
type Contender = { readonly name: string; readonly loads: Measured[]; measure(): Promise<Measured> };

function contender(name: string, measure: () => Promise<Measured>): Contender {
  return { name, loads: [], measure };
}

function withinProcess(index: Index): Question {
  return {
    ask: async (n) => {
      await index.search(QUERIES[n % QUERIES.length], { k: 10 });
      return 200;
    },
  };
}

const overHttp = (server: ServerProcess): Question => ({ ask: async (n) => (await server.search(n)).status });

async function loadOf(server: ServerProcess, load: (question: Question) => Promise<Load>): Promise<Measured> {
  const before = await server.usage();
  const done = await load(overHttp(server));
  return { ...done, serverCpuMs: (await server.usage()).cpuMs - before.cpuMs };
}

const numAsked = ({ statuses }: Load): number => [...statuses.values()].reduce((sum, count) => sum + count, 0);
const all = (question: Question): Promise<Load> => closedLoop(question, { lanes: LANES, seconds });
const rate = ({ loads }: Contender): number => median(loads.map(({ perSecond }) => perSecond));
const p99 = ({ loads }: Contender): number => median(loads.map(({ latenciesMs }) => percentile(latenciesMs, 0.99)));

function rowsOf({ name, loads }: Contender): Row[] {
  const times = (share: number) => spread(loads.map(({ latenciesMs }) => percentile(latenciesMs, share)));
  const statuses = new Map<number, number>();
  for (const load of loads)
    for (const [status, count] of load.statuses) statuses.set(status, (statuses.get(status) ?? 0) + count);
  const shown = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
  return [
    { name, value: spread(loads.map(({ perSecond }) => perSecond)), unit: `queries/s (${shown})` },
    ...(loads.some(({ latenessMs }) => latenessMs.length > 0)
      ? [
          {
            name: '  our own lateness, p99',
            value: spread(loads.map((l) => percentile(l.latenessMs, 0.99))),
            unit: 'ms',
          },
        ]
      : []),
    { name: '  p50', value: times(0.5), unit: 'ms' },
    { name: '  p99', value: times(0.99), unit: 'ms' },
    {
      name: '  processor time',
      value: spread(loads.map((l) => (1000 * l.serverCpuMs) / numAsked(l))),
      unit: 'µs a query',
    },
    { name: '  and of the load', value: spread(loads.map(loadCpu)), unit: 'µs a query' },
  ];
}

/** Within the process both are one. */
const loadCpu = (load: Measured): number =>
  (1000 * (load.cpuMs === load.serverCpuMs ? 0 : load.cpuMs)) / numAsked(load);

async function takeTurns(contenders: readonly Contender[]): Promise<void> {
  for (let round = 0; round <= rounds; round++)
    for (const { loads, measure } of contenders) {
      const load = await measure();
      if (round > 0) loads.push(load); // the first is to warm up
    }
}

/** How many times more of the one than of the other, round by round. */
const ratio = (a: Contender, b: Contender, of: (load: Measured) => number): number =>
  median(a.loads.map((load, round) => of(load) / of(b.loads[round])));

async function measureAll(folder: string): Promise<Part> {
  const index = await openIndex(folder, { workers });
  const server = await ServerProcess.serve(folder, workers);
  const numBytes = (await server.search(0)).body.length;
  const echo = await ServerProcess.start([
    '--import',
    import.meta.resolve('tsx'),
    resolve(import.meta.dirname, 'lib/echo-server.ts'),
    String(numBytes),
  ]);
  const inside = contender('within the process', async () => {
    const load = await all(withinProcess(index));
    return { ...load, serverCpuMs: load.cpuMs };
  });
  const full = contender('lzero serve, all it holds', () => loadOf(server, all));
  const bare = contender(`node:http, ${numBytes} bytes whatever is asked`, () => loadOf(echo, all));
  await takeTurns([inside, full, bare]);
  const at = (share: number) =>
    loadOf(server, (question) => openLoop(question, { perSecond: share * rate(full), seconds }));
  const half = contender('lzero serve, half of that', () => at(0.5));
  const twice = contender('lzero serve, twice of that', () => at(2));
  await takeTurns([half, twice]);
  await Promise.all([index.close(), server.stop(), echo.stop()]);
  const others = twice.loads.reduce((sum, load) => sum + numOthers(load, [200, 503]), 0);
  const cpuPerQuery = (load: Measured): number => load.serverCpuMs / numAsked(load);
  return {
    title: `${numDocs} documents, ${workers} search threads, ${LANES} requests at once`,
    rows: [inside, full, bare, half, twice].flatMap(rowsOf),
    claims: [
      atLeast(
        'queries/s over HTTP against within the process',
        ratio(full, inside, (load) => load.perSecond),
        MIN_SHARE,
      ),
      atLeast('the same by processor time of the server alone', ratio(inside, full, cpuPerQuery), MIN_SHARE),
      atMost('p99 at half load', p99(half), { limit: MAX_P99_MS, unit: 'ms' }),
      atMost('answers at twice the load that are neither 200 nor 503', others, { limit: 0, unit: '' }),
    ],
  };
}

const scratch = mkdtempSync(join(tmpdir(), 'lzero-bench-serve-'));
try {
  const where = await circumstances();
  const folder = join(scratch, 'index');
  await buildServedIndex(folder, numDocs);
  const part = await measureAll(folder);
  console.log(describe(where));
  printPart(part);
  if (values.json) writeResults(values.json, where, [part]);
} finally {
  rmSync(scratch, { recursive: true });
}
