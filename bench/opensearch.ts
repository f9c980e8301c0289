/**
 * OpenSearch through lzero: ingest against a hand-written parallel bulk of the same lines, queries against a raw request
 * with the same body, and what each kind of field takes in bytes and milliseconds, beside the embedded index.
 *
 *     LZERO_OPENSEARCH=$(scripts/opensearch.sh start) npx tsx bench/opensearch.ts [--docs 100000] [--terms 200] [--rounds 3] [--json FILE] [--sizes KINDS]
 *
 * `--sizes rank_features,sparse_vector` measures bytes alone, of these kinds of field with vectors stored and not, whole and by
 * kind of Lucene's files, and the heap that a warm sparse_vector field takes: nothing is timed, so it may run beside other work.
 * Cluster settings are changed and taken back: not on a server that others use.
 *
 * Documents are synthetic, seeded: terms drawn by squares, so that some are frequent; texts are not stored, so bytes are
 * those of the vectors. Ingests by turns on the same server, each into a new index; queries of 8 terms, warm, by turns.
 * The embedded index holds the same vectors, and answers the same queries in one thread. The encoder whose CPU a client is
 * compared with is the embedded model on the first documents of the embedded collection. Clusters of sparse_vector are made by as many
 * threads as there are cores, and searched when all of the index is loaded, with a limit that it fits in (cluster settings, taken back
 * at the end): give the server 6 GB of heap at 100,000 documents. What a search leaves out stands beside its latency, as overlap@10 with the exact one.
 * Bars: ingest at least 0.9 times the hand-written one, at most 0.3 ms more for a query at the median, and for a document at
 * most a tenth of the encoder's CPU.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  inParallel,
  isJsonObject,
  type JsonObject,
  Random,
  type SparseVector,
  sparseVector,
} from '../src/core/index.ts';
import { createIndex, type Engine, type EngineDocument } from '../src/engines/index.ts';
import { loadModel } from '../src/model/index.ts';
import {
  bulkLines,
  createOpenSearchIndex,
  deleteIndex,
  documentSource,
  neuralSparseQuery,
  type OpenSearchIndex,
  openOpenSearchIndex,
  type QueryStyle,
  Server,
  type VectorField,
} from '../src/opensearch/index.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atLeast, atMost, type Part, printPart, type Row, writeResults } from './lib/report.ts';
import { median, spread } from './lib/statistics.ts';

const { values: options } = parseArgs({
  options: {
    docs: { type: 'string', default: '100000' },
    terms: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'string' },
    sizes: { type: 'string' },
  },
});
const url = process.env.LZERO_OPENSEARCH;
if (url === undefined) throw new Error('LZERO_OPENSEARCH names no server: scripts/opensearch.sh start');
const [numDocs, numTerms, numRounds] = [Number(options.docs), Number(options.terms), Number(options.rounds)];
const NUM_QUERIES = 200;
const IN_FLIGHT = 2;
const BATCH = 500;
/** Documents that the encoder's CPU is measured on. */
const ENCODED = 64;

const model = await loadModel('bow');
const { vocabulary } = model.tokenizer;
const newServer = (): Server => new Server(url, { patienceMs: 300_000, stallMs: 600_000 });
const server = newServer();
const random = new Random(1);

function randomVector(count: number, weight: () => number): SparseVector {
  const terms = new Set<number>();
  while (terms.size < count) terms.add(1000 + Math.floor(random.uniform() ** 2 * (vocabulary.size - 1000)));
  return sparseVector([...terms], Array.from(terms, weight));
}

const documents: readonly (EngineDocument & { readonly vector: SparseVector })[] = Array.from(
  { length: numDocs },
  (_, i) => ({
    id: `d${i}`,
    vector: randomVector(numTerms, () => 0.01 + 2.5 * random.uniform() ** 2),
  }),
);
const queries = Array.from({ length: NUM_QUERIES }, () => {
  const { terms, weights } = randomVector(8, () => 0.5 + 7 * random.uniform());
  return Array.from(terms, (term, i) => ({ token: vocabulary.tokens[term], weight: weights[i] }));
});

const EXACT: VectorField = { type: 'rank_features', names: 'escaped' };
const APPROXIMATE: VectorField = {
  type: 'sparse_vector',
  documentCeiling: 2.51,
  queryCeiling: 7.5,
  // Clusters are made once, by the last merge, as docs/OPENSEARCH.md advises: a flush or merge of more documents than this makes its own.
  approximateThreshold: Math.ceil(numDocs * 0.9),
};

let numIndexes = 0;
const made: string[] = [];
async function create(vector: VectorField, storeVectors = true): Promise<OpenSearchIndex> {
  const name = `bench-${process.pid}-${numIndexes++}`;
  made.push(name);
  return await createOpenSearchIndex(newServer(), name, {
    model,
    vector,
    storeVectors,
    writer: { maxInFlight: IN_FLIGHT, batchDocs: BATCH },
  });
}

const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });
/** What anybody would write by hand. */
function raw(path: string, body: string, type = 'application/json'): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body) };
    const sent = request(`${url}${path}`, { method: 'POST', agent, headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => resolve(Buffer.concat(pieces).toString('utf8')));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

// ---- sizes alone

const BYTES = 'bytes/document';
/** Merging clusters of a sparse_vector field says nothing for as long as it takes. */
const MERGE_MS = 4 * 3600_000;
/** Kinds of file with fewer bytes a document than this are not shown. */
const LEAST_BYTES = 1;

/** Merges to one segment; gives the milliseconds it took. */
async function settle({ index }: OpenSearchIndex): Promise<number> {
  const merging = await timed(() =>
    server.ask({ method: 'POST', path: `/${index}/_forcemerge?max_num_segments=1&flush=true` }, { stallMs: MERGE_MS }),
  );
  await server.ask({ method: 'POST', path: `/${index}/_refresh` }, { stallMs: MERGE_MS });
  return merging;
}

/** What was sent is kept for recoveries, and goes in a merge that comes after the next sync of retention leases (30 s). */
async function dropSent(index: OpenSearchIndex): Promise<void> {
  await server.ask({ method: 'POST', path: `/${index.index}/_flush?force=true` }, { stallMs: MERGE_MS });
  await sleep(65_000);
  await index.add(documents.slice(0, 1));
  await index.commit();
  await settle(index);
  await server.ask({ method: 'POST', path: `/${index.index}/_flush?force=true` }, { stallMs: MERGE_MS });
}

const part = (value: unknown, name: string): JsonObject => {
  const inner = isJsonObject(value) ? value[name] : undefined;
  return isJsonObject(inner) ? inner : {};
};

/** Bytes by kind of file, largest first: fdt is what is stored, as _source; the others depend on the kind of field. */
async function fileBytes({ index }: OpenSearchIndex): Promise<readonly (readonly [string, number])[]> {
  const path = `/${index}/_stats/segments?include_segment_file_sizes=true`;
  const { body } = await server.ask({ method: 'GET', path });
  const files = part(part(part(body._all, 'primaries'), 'segments'), 'file_sizes');
  return Object.keys(files)
    .map((kind) => [kind, Number(part(files, kind).size_in_bytes)] as const)
    .sort((a, b) => b[1] - a[1]);
}

const put = async (settings: JsonObject): Promise<void> =>
  void (await server.ask({ method: 'PUT', path: '/_cluster/settings', body: JSON.stringify({ transient: settings }) }));

const NEURAL = 'plugins.neural_search';
/** Clusters by all cores, and room for all of them on the heap: the usual limit, a tenth of it, drops what was used least. */
const ROOMY = {
  [`${NEURAL}.stats_enabled`]: true,
  [`${NEURAL}.circuit_breaker.limit`]: '80%',
  [`${NEURAL}.sparse.algo_param.index_thread_qty`]: availableParallelism(),
};
const USUAL = Object.fromEntries(Object.keys(ROOMY).map((name) => [name, null]));

/** Loads all of an index with clusters; gives the bytes of heap that it takes then: the documents' vectors, and the clusters. */
async function warmUp({ index }: OpenSearchIndex): Promise<readonly (readonly [string, number])[]> {
  await server.ask({ method: 'POST', path: `/_plugins/_neural/clear_cache/${index}` }, { stallMs: MERGE_MS });
  await server.ask({ method: 'POST', path: `/_plugins/_neural/warmup/${index}` }, { stallMs: MERGE_MS });
  const { body } = await server.ask({ method: 'GET', path: '/_plugins/_neural/stats' });
  const used = part(part(body.all_nodes, 'memory'), 'sparse');
  return [
    ['heap, vectors', Number(used.forward_index_usage) * 1024], // told in KB
    ['heap, clusters', Number(used.clustered_posting_usage) * 1024],
  ];
}

/** The rows are printed as they come: at 100,000 documents each takes minutes. */
async function sizesOf(name: string, vector: VectorField, storeVectors: boolean): Promise<Part> {
  const index = await create(vector, storeVectors);
  await index.add(documents);
  await index.commit();
  await settle(index);
  if (!storeVectors) await dropSent(index);
  const { sizeBytes = 0, numDocs: numFound } = await index.stats();
  if (numFound !== numDocs) throw new Error(`${numFound} documents instead of ${numDocs}`);
  const files = (await fileBytes(index)).filter(([, bytes]) => bytes / numDocs >= LEAST_BYTES);
  const heap = vector.type === 'sparse_vector' ? await warmUp(index) : [];
  const rows = [
    { name: 'all', unit: BYTES, value: spread([sizeBytes / numDocs]) },
    ...[...files.map(([kind, bytes]) => [`  .${kind}`, bytes] as const), ...heap].map(([label, bytes]) => ({
      name: label,
      unit: BYTES,
      value: spread([bytes / numDocs]),
    })),
  ];
  const measured: Part = { title: `${name}, vectors ${storeVectors ? '' : 'not '}stored`, rows, claims: [] };
  printPart(measured);
  await index.close();
  await deleteIndex(server, index.index);
  return measured;
}

if (options.sizes !== undefined) {
  const parts: Part[] = [];
  const kinds = options.sizes.split(',');
  if (kinds.includes('sparse_vector')) await put(ROOMY);
  for (const storeVectors of [true, false])
    for (const field of [EXACT, APPROXIMATE])
      if (kinds.includes(field.type)) parts.push(await sizesOf(field.type, field, storeVectors));
  await put(USUAL);
  const around = await circumstances();
  console.log(`\n${describe(around)}`);
  if (options.json !== undefined) writeResults(options.json, around, parts);
  process.exit(0);
}

// ---- ingest, by turns

const ours: number[] = [];
const byHand: number[] = [];
let clientMs = 0;
const lines = (index: OpenSearchIndex): string[] => {
  const { description } = index;
  const batches: string[] = [];
  for (let first = 0; first < numDocs; first += BATCH)
    batches.push(
      bulkLines(
        documents.slice(first, first + BATCH).map((document, i) => ({
          kind: 'index',
          id: document.id,
          source: documentSource(document, document.vector, { description, vocabulary, place: { order: first + i } }),
        })),
      ),
    );
  return batches;
};
/** CPU of the embedded model, in milliseconds a document. */
async function encoderMs(): Promise<number> {
  const encoder = await loadModel();
  const file = join(import.meta.dirname, '../collections/everyday/corpus.jsonl');
  const texts = readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, ENCODED)
    .map((line, i) => ({ id: String(i), text: String(JSON.parse(line).text) }));
  const work = async (): Promise<void> => {
    for await (const _ of encoder.encode(texts));
  };
  await work(); // warm
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  await encoder.close();
  return (user + system) / 1000 / texts.length;
}

const filled: OpenSearchIndex[] = [];
async function byLzero(): Promise<void> {
  const index = await create(EXACT);
  filled.push(index);
  const before = process.cpuUsage();
  ours.push((numDocs / (await timed(() => index.add(documents)))) * 1000);
  const { user, system } = process.cpuUsage(before);
  clientMs = (user + system) / 1000 / numDocs;
}
/** As we do, it asks for no more of the answer than it needs. */
async function byRawRequests(): Promise<void> {
  const index = await create(EXACT);
  const batches = lines(index);
  const path = `/${index.index}/_bulk?filter_path=errors`;
  const sending = timed(() =>
    inParallel(batches, IN_FLIGHT, async (batch) => void (await raw(path, batch, 'application/x-ndjson'))),
  );
  byHand.push((numDocs / (await sending)) * 1000);
  await index.close();
}
for (let round = 0; round < numRounds; round++) {
  const turns = [byLzero, byRawRequests];
  for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn(); // whoever is first finds a fresher server
}
const exact = filled.at(-1);
const perSecond = 'documents/s';
const ownMs = await encoderMs();
const ingest: Part = {
  title: `ingest of ${numDocs} documents × ${numTerms} weights, ${IN_FLIGHT} requests of ${BATCH} at a time`,
  rows: [
    { name: 'lzero', unit: perSecond, value: spread(ours) },
    { name: 'lines made before, raw requests', unit: perSecond, value: spread(byHand) },
    { name: 'CPU of the client', unit: 'ms/document', value: spread([clientMs]) },
    { name: 'CPU of the encoder', unit: 'ms/document', value: spread([ownMs]) },
  ],
  claims: [
    atLeast('lzero against raw requests', median(ours) / median(byHand), 0.9),
    atMost('CPU of the client by that of the encoder', clientMs / ownMs, { limit: 0.1, unit: 'of it' }),
  ],
};
printPart(ingest);

// ---- bytes and latency by kind of field

type Answered = { readonly ms: readonly number[]; readonly ids: readonly (readonly string[])[] };

async function answers(index: Engine): Promise<Answered> {
  const ms: number[] = [];
  const ids: string[][] = [];
  for (const isWarm of [false, true])
    for (const terms of queries) {
      const vector = Object.fromEntries(terms.map(({ token, weight }) => [token, weight]));
      const began = performance.now();
      const { hits } = await index.search({ vector }, { k: 10, idsOnly: true });
      if (!isWarm) continue;
      ms.push(performance.now() - began);
      ids.push(hits.map(({ id }) => id));
    }
  return { ms, ids };
}

const rows: Row[] = [];
/** Told at once, too: some take minutes. */
function row(name: string, unit: string, values: readonly number[]): void {
  rows.push({ name, unit, value: spread(values) });
  console.log(`${name}: ${median(values).toPrecision(4)} ${unit}`);
}
const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];

/** Answers of the exact search, which is measured first. */
let best: Answered['ids'] = [];
const overlap = ({ ids }: Answered): number =>
  ids.reduce((sum, found, i) => sum + found.filter((id) => best[i].includes(id)).length / best[i].length, 0) /
  ids.length;

function told(name: string, answered: Answered): void {
  row(`${name}: p50`, 'ms', [percentile(answered.ms, 0.5)]);
  row(`${name}: p95`, 'ms', [percentile(answered.ms, 0.95)]);
  row(`${name}: overlap@10 with exact search`, '', [overlap(answered)]);
}

async function measure(
  name: string,
  index: OpenSearchIndex,
  styles: Readonly<Record<string, QueryStyle>>,
): Promise<void> {
  row(`${name}: merge to one segment`, 's', [(await settle(index)) / 1000]);
  const { sizeBytes = 0 } = await index.stats();
  row(`${name}: size`, BYTES, [sizeBytes / numDocs]);
  if (index.description.vector.type === 'sparse_vector')
    for (const [kind, bytes] of await warmUp(index)) row(`${name}: ${kind}`, BYTES, [bytes / numDocs]);
  for (const [style, query] of Object.entries(styles)) {
    const opened = await openOpenSearchIndex(newServer(), index.index, { model, query });
    const answered = await answers(opened);
    if (best.length === 0) best = answered.ids;
    told(`${name}, ${style}`, answered);
    await opened.close();
  }
}

if (!exact) throw new Error('no rounds');
const folder = mkdtempSync(join(tmpdir(), 'lzero-bench-opensearch-'));
const embedded = await createIndex(join(folder, 'index'), { model, maxWeight: 2.51, writer: { log: false } });
const building = await timed(async () => {
  await embedded.add(documents);
  await embedded.commit();
  await embedded.merge();
});
row('embedded: build', 's', [building / 1000]);
row('embedded: size', BYTES, [((await embedded.stats()).sizeBytes ?? 0) / numDocs]);
const own = await answers(embedded);
await embedded.close();
rmSync(folder, { recursive: true });

row('rank_features: ingest', 's', [numDocs / median(ours)]);
await exact.commit();
await measure('rank_features', exact, {
  neural_sparse: {},
  rank_feature: { kind: 'rank_feature' },
  'two-phase': { twoPhase: true },
});
told('embedded', own);

const slim = await create(EXACT, false);
await slim.add(documents);
await slim.commit();
await dropSent(slim);
row('rank_features, vectors not stored: size', BYTES, [((await slim.stats()).sizeBytes ?? 0) / numDocs]);

// ---- overhead of a query

const engine: number[] = [];
const request0: number[] = [];
const idOf = (token: string): number | undefined => vocabulary.idOf(token);
// Whoever asks a query first finds nothing warm, which costs much more than we do: each is first for every query as often.
for (let round = 0; round < 6; round++)
  for (const [number, terms] of queries.entries()) {
    const vector = Object.fromEntries(terms.map(({ token, weight }) => [token, weight]));
    const body = JSON.stringify({
      query: neuralSparseQuery(terms, exact.description, { idOf }),
      size: 10,
      track_total_hits: false,
      _source: ['id', 'page', 'chunk', 'order'],
      sort: [{ _score: 'desc' }, { order: 'asc' }],
    });
    const index = exact;
    const pair = [
      async () => engine.push(await timed(() => index.search({ vector }, { k: 10, idsOnly: true }))),
      async () =>
        request0.push(
          await timed(async () =>
            JSON.parse(await raw(`/${index.index}/_search?allow_partial_search_results=false`, body)),
          ),
        ),
    ];
    for (const one of (round + number) % 2 === 0 ? pair : pair.reverse()) await one();
  }
const overhead: Part = {
  title: 'a query, k = 10, ids only, against a raw request with the same body',
  rows: [
    { name: 'lzero, median', unit: 'ms', value: spread([median(engine)]) },
    { name: 'raw request, median', unit: 'ms', value: spread([median(request0)]) },
  ],
  claims: [
    atMost('more, median of the pairs', median(engine.map((ms, i) => ms - request0[i])), { limit: 0.3, unit: 'ms' }),
  ],
};
printPart(overhead);

// ---- bytes and latency of what is searched by clusters, which may take long to be made

await put(ROOMY);
const approximate = await create(APPROXIMATE);
row('sparse_vector: ingest', 's', [(await timed(() => approximate.add(documents))) / 1000]);
row('sparse_vector: refresh', 's', [(await timed(() => approximate.commit())) / 1000]);
await measure('sparse_vector', approximate, { neural_sparse: {} });
await put(USUAL);
const fields: Part = { title: 'kinds of field, one segment', rows, claims: [] };
printPart(fields);

const where = await circumstances();
console.log(`\n${describe(where)}`);
if (options.json !== undefined) writeResults(options.json, where, [ingest, overhead, fields]);
for (const name of made) await deleteIndex(server, name);
agent.destroy();
server.close();
process.exit(0);
