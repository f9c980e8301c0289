/**
 * What HTTP costs: the queries a second of `lzero serve`, against those of the same index and threads inside one process;
 * its times at half of that; and what it does at twice of what it holds.
 *
 *     npm run build && npx tsx bench/serve.ts [--docs 100000] [--seconds 10] [--workers 1] [--json results.json]
 *
 * Documents are 100 words drawn by rank from those of the embedded collection with a fixed seed, encoded by the bag of
 * words; queries are those of the collection, k = 10, hits with their texts. The server is a process of its own, the load
 * comes from this one over loopback, so they share the cores: with two of them the server has less than it would have.
 * Bars: 60 % of the queries a second within the process; p99 at half load 10 ms; at twice the load nothing but 200 and 503.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { Random } from '../src/core/index.ts';
import { createIndex, openIndex } from '../src/engines/index.ts';
import { loadModel } from '../src/model/index.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atLeast, atMost, type Part, printPart, type Row, writeResults } from './lib/report.ts';
import { spread } from './lib/statistics.ts';

const { values } = parseArgs({
  options: {
    docs: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '10' },
    workers: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
});
const [numDocs, seconds, workers] = [Number(values.docs), Number(values.seconds), Number(values.workers)];
const COLLECTION = resolve(import.meta.dirname, '../collections/everyday');
const MAIN = resolve(import.meta.dirname, '../dist/cli/main.js');
/** Requests on their way at once when as many as possible are wanted. */
const CONNECTIONS = 8;
const MIN_SHARE = 0.6;
const MAX_P99_MS = 10;

const readLines = (name: string): { readonly text: string }[] =>
  readFileSync(join(COLLECTION, name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const QUERIES = readLines('queries.jsonl').map(({ text }) => text);

function* documents() {
  const random = new Random(11);
  const words = [
    ...new Set(readLines('corpus.jsonl').flatMap(({ text }) => text.toLowerCase().match(/[a-z]+/g) ?? [])),
  ];
  for (let i = 0; i < numDocs; i++) {
    const drawn = Array.from(
      { length: 100 },
      () => words[Math.floor(words.length ** random.uniform()) - 1] ?? words[0],
    );
    yield { id: `d${i}`, text: drawn.join(' ') };
  }
}

async function build(folder: string): Promise<void> {
  const model = await loadModel('bow');
  const index = await createIndex(folder, { model, writer: { log: false } });
  await index.add(documents());
  await index.commit();
  await index.merge();
  await index.close();
  await model.close();
}

type Load = { readonly perSecond: number; readonly latenciesMs: number[]; readonly statuses: Map<number, number> };

/** Asks one after the other on so many lanes for some seconds. `ask` gives a status. */
async function closedLoop(lanes: number, ask: (query: string) => Promise<number>): Promise<Load> {
  const latenciesMs: number[] = [];
  const statuses = new Map<number, number>();
  const began = performance.now();
  const end = began + seconds * 1000;
  const lane = async (first: number): Promise<void> => {
    for (let i = first; performance.now() < end; i += lanes) {
      const start = performance.now();
      const status = await ask(QUERIES[i % QUERIES.length]);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 200) latenciesMs.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, i) => lane(i)));
  return { perSecond: latenciesMs.length / ((performance.now() - began) / 1000), latenciesMs, statuses };
}

/** Asks so often a second, whether or not answers have come; times are counted from when each was due. */
async function openLoop(perSecond: number, ask: (query: string) => Promise<number>): Promise<Load> {
  const latenciesMs: number[] = [];
  const statuses = new Map<number, number>();
  const began = performance.now();
  const waiting: Promise<void>[] = [];
  const total = Math.floor(perSecond * seconds);
  for (let i = 0; i < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - began) / 1000) * perSecond));
    for (; i < due; i++) {
      const at = began + (i / perSecond) * 1000;
      const asked = ask(QUERIES[i % QUERIES.length]).then((status) => {
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 200) latenciesMs.push(performance.now() - at);
      });
      waiting.push(asked);
    }
    await new Promise((next) => setTimeout(next, 1));
  }
  await Promise.all(waiting);
  return { perSecond: latenciesMs.length / ((performance.now() - began) / 1000), latenciesMs, statuses };
}

function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

async function withinProcess(folder: string): Promise<Load> {
  const index = await openIndex(folder, { workers });
  const ask = async (query: string): Promise<number> =>
    (await index.search(query, { k: 10 })).hits.length >= 0 ? 200 : 0;
  await closedLoop(CONNECTIONS, ask); // warm
  const load = await closedLoop(CONNECTIONS, ask);
  await index.close();
  return load;
}

async function overHttp(folder: string): Promise<{ full: Load; half: Load; twice: Load; growthMb: number }> {
  const args = [MAIN, 'serve', folder, '--port', '0', '--workers', String(workers), '--quiet', '--json'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { url } = JSON.parse(line);
  const agent = new Agent({ keepAlive: true, maxSockets: 512 });
  const get = (address: string): Promise<{ status: number; text: string }> =>
    new Promise((done, fail) => {
      request(url + address, { agent }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => done({ status: response.statusCode ?? 0, text })).on('error', fail);
      })
        .on('error', fail)
        .end();
    });
  const ask = async (query: string) => (await get(`v1/search?q=${encodeURIComponent(query)}`)).status;
  const memoryMb = async () =>
    Number(/^process_resident_memory_bytes (\d+)/m.exec((await get('metrics')).text)?.[1]) / 2 ** 20;
  await closedLoop(CONNECTIONS, ask); // warm
  const full = await closedLoop(CONNECTIONS, ask);
  const half = await openLoop(full.perSecond / 2, ask);
  const before = await memoryMb();
  const twice = await openLoop(full.perSecond * 2, ask);
  const growthMb = (await memoryMb()) - before;
  agent.destroy();
  child.kill('SIGTERM');
  await once(child, 'close');
  return { full, half, twice, growthMb };
}

const scratch = mkdtempSync(join(tmpdir(), 'lzero-bench-serve-'));
const folder = join(scratch, 'index');
await build(folder);
const inside = await withinProcess(folder);
const { full, half, twice, growthMb } = await overHttp(folder);
rmSync(scratch, { recursive: true });

const other = [...twice.statuses]
  .filter(([status]) => status !== 200 && status !== 503)
  .reduce((sum, [, n]) => sum + n, 0);
const row = (name: string, { perSecond, latenciesMs, statuses }: Load): Row => ({
  name,
  value: spread([perSecond]),
  unit: `queries/s, p50 ${percentile(latenciesMs, 0.5).toFixed(2)} ms, p99 ${percentile(latenciesMs, 0.99).toFixed(2)} ms, ${JSON.stringify(Object.fromEntries(statuses))}`,
});
const part: Part = {
  title: `${numDocs} documents, ${workers} search threads`,
  rows: [
    row('within the process', inside),
    row('over HTTP, all it holds', full),
    row('over HTTP, half of that', half),
    row('over HTTP, twice of that', twice),
    { name: 'memory grown meanwhile', value: spread([growthMb]), unit: 'MB' },
  ],
  claims: [
    atLeast('queries/s over HTTP against within the process', full.perSecond / inside.perSecond, MIN_SHARE),
    atMost('p99 at half load', percentile(half.latenciesMs, 0.99), { limit: MAX_P99_MS, unit: 'ms' }),
    atMost('answers at twice the load that are neither 200 nor 503', other, { limit: 0, unit: '' }),
  ],
};
const where = await circumstances();
console.log(describe(where));
printPart(part);
if (values.json) writeResults(values.json, where, [part]);
