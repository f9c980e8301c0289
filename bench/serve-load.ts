/**
 * A server with twice the load that it holds, for ten minutes: whether it goes on answering, refuses the rest honestly, keeps
 * its times bounded and its memory flat. Prints a line and a verdict for each minute; exit code 1 where one fails.
 *
 *     npm run build && npx tsx bench/serve-load.ts [--minutes 10] [--docs 100000] [--workers 1] [--json results.json]
 *     LZERO_AUTOCANNON=DIR/node_modules/autocannon/autocannon.js npx tsx bench/serve-load.ts   the load by autocannon (npm)
 *
 * What it holds is measured first: 8 requests at once, for 10 s, the median of three. Our own load asks evenly and counts times
 * from when each request was due; autocannon asks for a second's share at the beginning of that second, on 256 connections.
 *
 * Bars, for each minute: nothing but 200, 429 and 503, each refusal with `retry-after` (by our own load); at least half of what it holds is
 * answered (whoever refuses everything keeps its times, too); p99 of the answered ≤ 1.5 s, which is `maxDelayMs` and half as
 * much again; memory ≤ 1.15 × that after the second minute.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { autocannonLoad } from './lib/autocannon-load.ts';
import { closedLoop, type Load, numOthers, openLoop, percentile } from './lib/load.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atLeast, atMost, type Claim, type Part, printPart, type Row, writeResults } from './lib/report.ts';
import { buildServedIndex, QUERIES, ServerProcess } from './lib/served.ts';
import { median, spread } from './lib/statistics.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    docs: { type: 'string', default: '100000' },
    workers: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
});
const [minutes, numDocs, workers] = [values.minutes, values.docs, values.workers].map(Number);
const LANES = 8;
const HONEST = [200, 429, 503];
const MIN_ANSWERED = 0.5;
const MAX_P99_MS = 1500;
const MAX_GROWTH = 1.15;
/** Until then threads, caches and compiled code find their size. */
const SETTLED_AFTER_MINUTES = 2;

/** One minute of load. `numUnhinted`, refusals without `retry-after`, is unknown where autocannon asks: it shows no headers. */
type Minute = Load & { readonly memoryMb: number; readonly numUnhinted: number | undefined };

async function capacityOf(server: ServerProcess): Promise<number> {
  const ask = async (n: number): Promise<number> => (await server.search(n)).status;
  const rates: number[] = [];
  for (let i = 0; i < 3; i++) rates.push((await closedLoop({ ask }, { lanes: LANES, seconds: 10 })).perSecond);
  return median(rates);
}

async function minuteOf(server: ServerProcess, perSecond: number): Promise<Minute> {
  let numUnhinted = 0;
  const ask = async (n: number): Promise<number> => {
    const { status, head } = await server.search(n);
    if ((status === 503 || status === 429) && !/\r\nretry-after: \d/i.test(head)) numUnhinted++;
    return status;
  };
  const load = await (autocannon ? autocannon(perSecond) : openLoop({ ask }, { perSecond, seconds: 60 }));
  return { ...load, memoryMb: (await server.usage()).memoryMb, numUnhinted: autocannon ? undefined : numUnhinted };
}

function claimsOf(
  minute: Minute,
  { capacity, settledMb }: { capacity: number; settledMb: number | undefined },
): Claim[] {
  const p99 = percentile(minute.latenciesMs, 0.99);
  return [
    atMost('answers other than 200, 429, 503', numOthers(minute, HONEST), { limit: 0, unit: '' }),
    ...(minute.numUnhinted === undefined
      ? []
      : [atMost('refusals without retry-after', minute.numUnhinted, { limit: 0, unit: '' })]),
    atLeast('answered, of what it holds', minute.perSecond / capacity, MIN_ANSWERED),
    atMost('p99 of the answered', p99, { limit: MAX_P99_MS, unit: 'ms' }),
    ...(settledMb === undefined
      ? []
      : [atMost('memory, of that at first', minute.memoryMb / settledMb, { limit: MAX_GROWTH, unit: '×' })]),
  ];
}

function rowOf(minute: Minute, number: number): Row {
  const { latenciesMs, latenessMs, statuses, memoryMb, perSecond } = minute;
  const shown = [...statuses].map(([status, count]) => `${count} × ${status || 'no answer'}`).join(', ');
  const times = [0.5, 0.99].map((share) => percentile(latenciesMs, share).toFixed(0)).join(' / ');
  const late =
    latenessMs.length === 0 ? '' : ` (p99 of our own lateness ${percentile(latenessMs, 0.99).toFixed(0)} ms)`;
  const unit = `answered/s, p50/p99 ${times} ms${late}, ${memoryMb.toFixed(0)} MB, ${shown}`;
  return { name: `minute ${number}`, value: spread([perSecond]), unit };
}

async function underLoad(server: ServerProcess): Promise<Part> {
  const capacity = await capacityOf(server);
  console.log(`holds ${capacity.toFixed(0)} queries/s; asked for ${(2 * capacity).toFixed(0)}/s`);
  const rows: Row[] = [];
  const claims: Claim[] = [];
  let settledMb: number | undefined;
  for (let number = 1; number <= minutes; number++) {
    const minute = await minuteOf(server, 2 * capacity);
    const found = claimsOf(minute, { capacity, settledMb });
    if (number === SETTLED_AFTER_MINUTES) settledMb = minute.memoryMb;
    const part = { title: '', rows: [rowOf(minute, number)], claims: found.filter(({ reached }) => !reached) };
    printPart(part);
    console.log(part.claims.length === 0 ? '  → sound' : '  → FAILED');
    rows.push(...part.rows);
    claims.push(...found.map((claim) => ({ ...claim, claim: `minute ${number}: ${claim.claim}` })));
  }
  return { title: `${minutes} minutes at ${(2 * capacity).toFixed(0)} queries/s, twice what it holds`, rows, claims };
}

const { LZERO_AUTOCANNON } = process.env;
const scratch = mkdtempSync(join(tmpdir(), 'lzero-bench-load-'));
let autocannon: ((perSecond: number) => Promise<Load>) | undefined;
try {
  const where = await circumstances();
  console.log(describe(where));
  const folder = join(scratch, 'index');
  await buildServedIndex(folder, numDocs);
  const server = await ServerProcess.serve(folder, workers);
  if (LZERO_AUTOCANNON)
    autocannon = await autocannonLoad(pathToFileURL(LZERO_AUTOCANNON).href, {
      url: server.url,
      queries: QUERIES,
      seconds: 60,
    });
  const part = await underLoad(server).finally(() => server.stop());
  if (values.json) writeResults(values.json, where, [part]);
  const numFailed = part.claims.filter(({ reached }) => !reached).length;
  console.log(numFailed === 0 ? '\nall minutes sound' : `\n${numFailed} bars MISSED`);
  process.exitCode = numFailed === 0 ? 0 : 1;
} finally {
  rmSync(scratch, { recursive: true });
}
