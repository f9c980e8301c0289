/**
 * Our search against engines that others use for learned sparse vectors: the same vectors, the same queries, one thread.
 *
 *     LZERO_PYTHON=peers/bin/python LZERO_LUCENE=lucene-core.jar npx tsx bench/search-peers.ts
 *         [--docs 20000] [--queries 500] [--rounds 5] [--only pisa,lucene] [--cap zvec=50000] [--json results.json]
 *         [--vectors vectors.jsonl --collection FOLDER --model FOLDER]
 *
 * Vectors are synthetic (bench/lib/synthetic.ts), or, with --vectors, what `lzero encode` wrote of a collection, with the
 * collection's queries weighted by its IDF and the tokenizer of the model. bench/peers/README.md says how the peers are
 * installed; one that is missing is left out, with the reason.
 *
 * Every contender has a process of its own and builds its index from bench/lib/search-files.ts. What it finds is held
 * against scoring every document: weights are whole numbers that floats add exactly, so an exact engine has no excuse. A
 * peer's settings are tried once, the fastest that reaches each recall is kept, and takes turns with ours, round by round;
 * ratios are formed inside a round, and again from the least time of each query. Slow peers get fewer queries, and those that cannot hold many documents fewer
 * documents (--cap); ours then has the same. One million documents need 10 GB of memory beside the peer's, and 20 GB of
 * disk in TMPDIR.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { Contender } from './lib/contender.ts';
import { circumstances, describe } from './lib/machine.ts';
import { type Answer, readAnswers, readFound, readVectors } from './lib/search-files.ts';
import { type Comparison, printBuilds, printComparisons, type Quality } from './lib/search-report.ts';
import { median, spread } from './lib/statistics.ts';

const DEPTHS = [10, 100, 1000];
/** Recalls that an approximate peer is measured at. */
const RECALLS = [0.95, 0.99, 1];
const MIN_QUERIES = 20;
/** One thread for everyone, whatever it uses for threads; but Seismic, which takes very long to build, may build with all. */
const ONE_THREAD = ['OMP', 'MKL', 'OPENBLAS', 'NUMBA'].map((name) => `${name}_NUM_THREADS`);

type Peer = {
  readonly id: string;
  readonly name: string;
  readonly command: (folder: string) => readonly string[];
  /** Does not promise to find the best. */
  readonly isApproximate?: boolean;
  /** Documents that it can hold in acceptable time and memory. */
  readonly cap?: number;
};

const { values } = parseArgs({
  options: {
    docs: { type: 'string', default: '20000' },
    queries: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string' },
    cap: { type: 'string', multiple: true, default: [] },
    /** Seconds that a peer may search, for each k; more queries than fit are left out. */
    seconds: { type: 'string', default: '60' },
    'build-minutes': { type: 'string', default: '20' },
    vectors: { type: 'string' },
    collection: { type: 'string' },
    model: { type: 'string' },
    json: { type: 'string' },
  },
});
const numRounds = Number(values.rounds);

const python = (script: string, ...args: string[]) => {
  return (folder: string): string[] => [
    process.env.LZERO_PYTHON ?? '',
    join(import.meta.dirname, 'peers', script),
    folder,
    ...args,
  ];
};

function lucene(folder: string): string[] {
  const { JAVA_HOME, LZERO_LUCENE } = process.env;
  const java = JAVA_HOME ? join(JAVA_HOME, 'bin/java') : 'java';
  const flags = ['-Xmx4g', '--add-modules', 'jdk.incubator.vector', '--class-path', LZERO_LUCENE ?? ''];
  return [java, ...flags, join(import.meta.dirname, 'peers/search_lucene.java'), folder];
}

const ALL_PEERS: readonly Peer[] = [
  { id: 'pisa', name: 'PISA', command: python('search_pisa.py') },
  { id: 'lucene', name: 'Lucene', command: lucene },
  {
    id: 'seismic',
    name: 'Seismic, as it comes',
    command: python('search_seismic.py', '3500', '1.5'),
    isApproximate: true,
    cap: 200_000,
  },
  {
    id: 'seismic-long',
    name: 'Seismic, longer lists',
    command: python('search_seismic.py', '8000', '8'),
    isApproximate: true,
    cap: 200_000,
  },
  { id: 'splade-index', name: 'splade-index', command: python('search_splade_index.py') },
  { id: 'duckdb', name: 'DuckDB', command: python('search_duckdb.py') },
  { id: 'zvec', name: 'zvec, FLAT', command: python('search_zvec.py'), cap: 100_000 },
];

/** Those wanted, with the reason why one cannot be. */
function peersWanted(): readonly Peer[] {
  const caps = new Map(values.cap.flatMap((text) => text.split(',')).map((text) => splitOnce(text)));
  const only = values.only?.split(',') ?? ALL_PEERS.map(({ id }) => id);
  return ALL_PEERS.filter(({ id }) => only.includes(id)).flatMap((peer) => {
    const missing = peer.id === 'lucene' ? 'LZERO_LUCENE' : 'LZERO_PYTHON';
    if (process.env[missing]) return [{ ...peer, cap: Number(caps.get(peer.id) ?? peer.cap ?? Infinity) }];
    console.log(`${peer.name} is left out: ${missing} is not set`);
    return [];
  });
}

function splitOnce(text: string): [string, string] {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}

const script = (name: string): string[] => [
  process.execPath,
  ...process.execArgv,
  join(import.meta.dirname, 'lib', name),
];

/** Makes the vectors and their right answers. */
function prepare(folder: string, numDocs: number): readonly Answer[] {
  const { vectors, collection, model } = values;
  const numQueries = Number(values.queries);
  const given = vectors ? { vectors, collection, model, numQueries } : { numDocs, numQueries };
  const [program, ...args] = [...script('search-prepare.ts'), folder, JSON.stringify(given)];
  const { status } = spawnSync(program, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error('the vectors could not be made');
  return readAnswers(folder);
}

const built = z.object({ ms: z.number(), sizeBytes: z.number(), settings: z.array(z.string()) });
const timed = z.object({ us: z.array(z.number()) });

/** A contender with its index. */
type Built = {
  readonly name: string;
  readonly contender: Contender;
  readonly settings: readonly string[];
  readonly buildMs: number;
  readonly sizeBytes: number;
};

async function startAndBuild(name: string, command: readonly string[]): Promise<Built> {
  const contender = await Contender.start(name, command);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    const minutes = Number(values['build-minutes']);
    timer = setTimeout(() => fail(new Error(`builds for more than ${minutes} minutes`)), minutes * 60_000);
  });
  try {
    const { ms, sizeBytes, settings } = built.parse(await Promise.race([contender.measure({ kind: 'build' }), late]));
    return { name, contender, settings, buildMs: ms, sizeBytes };
  } catch (error) {
    contender.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

type Question = { readonly setting: string; readonly k: number; readonly numQueries: number };

/** Microseconds of each query. */
async function search(contender: Contender, question: Question, results?: string): Promise<number[]> {
  const { us } = timed.parse(await contender.measure({ kind: 'search', ...question, ...(results && { results }) }));
  if (us.length !== question.numQueries)
    throw new Error(`${contender.name} has answered ${us.length} of ${question.numQueries} queries`);
  return us;
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/** Mean over queries of the least of their rounds: what disturbs the machine mostly drops out. */
function meanOfLeast(rounds: readonly (readonly number[])[]): number {
  return mean(rounds[0].map((_, query) => Math.min(...rounds.map((us) => us[query]))));
}

/**
 * How good what was found is. A document is right if its score is among the k best, so equal scores may come in any
 * order; a score is wrong if it is not that document's.
 */
function judge(path: string, { k, numQueries }: Question, answers: readonly Answer[]): Quality {
  const { docIds, scores } = readFound(path);
  let numWrongScores = 0;
  const recalls = answers.slice(0, numQueries).map((answer, i) => {
    const numWanted = Math.min(k, answer.docIds.length);
    if (numWanted === 0) return 1;
    const threshold = answer.scores[numWanted - 1];
    const scoreOf = new Map(Array.from(answer.docIds, (doc, rank) => [doc, answer.scores[rank]]));
    const found = new Set(docIds.subarray(i * k, (i + 1) * k).filter((doc) => doc >= 0));
    let numRight = 0;
    for (const doc of found) if ((scoreOf.get(doc) ?? 0) >= threshold) numRight++;
    for (let at = i * k; at < (i + 1) * k; at++) {
      const score = scoreOf.get(docIds[at]);
      if (score !== undefined && Math.round(scores[at]) !== score) numWrongScores++;
    }
    return numRight / numWanted;
  });
  return { recall: mean(recalls), numWrongScores };
}

type Trial = { readonly setting: string; readonly meanUs: number; readonly quality: Quality };

/** For each recall the fastest setting that reaches it; the best one where none reaches any. */
function choose(trials: readonly Trial[]): Trial[] {
  const fastest = RECALLS.flatMap((recall) =>
    trials
      .filter(({ quality }) => quality.recall >= recall)
      .sort((a, b) => a.meanUs - b.meanUs)
      .slice(0, 1),
  );
  if (fastest.length > 0) return [...new Set(fastest)];
  return trials.toSorted((a, b) => b.quality.recall - a.quality.recall).slice(0, 1);
}

/** As many queries as the time allows. Estimated twice: the first queries of a process are slow, and warm it up. */
async function affordable(peer: Built, k: number, available: number): Promise<number> {
  const numRuns = 2 * peer.settings.length + numRounds * RECALLS.length;
  const runUs = (Number(values.seconds) * 1e6) / numRuns;
  const fewest = Math.min(MIN_QUERIES, available);
  let numQueries = fewest;
  for (let estimate = 0; estimate < 2; estimate++) {
    const means: number[] = [];
    for (const setting of peer.settings) means.push(mean(await search(peer.contender, { setting, k, numQueries })));
    numQueries = Math.min(available, Math.max(fewest, Math.floor(runUs / mean(means))));
  }
  return numQueries;
}

type Setting = { readonly folder: string; readonly answers: readonly Answer[] };

/** A peer's chosen settings by turns with ours. */
async function compare(ours: Built, peer: Built, k: number, { folder, answers }: Setting) {
  const numQueries = await affordable(peer, k, answers.length);
  const results = join(folder, 'results');
  const trials: Trial[] = [];
  for (const setting of peer.settings) {
    const question = { setting, k, numQueries };
    await search(peer.contender, question);
    const meanUs = mean(await search(peer.contender, question, results));
    trials.push({ setting, meanUs, quality: judge(results, question, answers) });
  }
  const chosen = choose(trials);
  await search(ours.contender, { setting: '', k, numQueries }); // as warm as the peer is after its trials
  const rounds: { readonly ours: number[]; readonly theirs: number[][] }[] = [];
  for (let round = 0; round < numRounds; round++) {
    const own = await search(ours.contender, { setting: '', k, numQueries });
    const theirs: number[][] = [];
    for (const { setting } of chosen) theirs.push(await search(peer.contender, { setting, k, numQueries }));
    rounds.push({ ours: own, theirs });
  }
  return chosen.map(({ setting, quality }, i) => ({
    name: peer.name,
    setting,
    k,
    numQueries,
    quality,
    meanUs: spread(rounds.map(({ theirs }) => mean(theirs[i]))),
    medianUs: spread(rounds.map(({ theirs }) => median(theirs[i]))),
    ratio: spread(rounds.map(({ ours: own, theirs }) => mean(theirs[i]) / mean(own))),
    oursUs: spread(rounds.map(({ ours: own }) => mean(own))),
    leastRatio: meanOfLeast(rounds.map(({ theirs }) => theirs[i])) / meanOfLeast(rounds.map(({ ours: own }) => own)),
  }));
}

/** Ours must be right before it may be compared. */
async function checkOurs({ contender }: Built, { folder, answers }: Setting): Promise<void> {
  const results = join(folder, 'results');
  for (const k of DEPTHS) {
    const question = { setting: '', k, numQueries: answers.length };
    await search(contender, question, results);
    const { recall, numWrongScores } = judge(results, question, answers);
    if (recall < 1 || numWrongScores > 0)
      throw new Error(`k = ${k}: our recall is ${recall}, and ${numWrongScores} scores are wrong`);
  }
}

/** All of a peer; what it cannot do is left out, with the reason. */
async function measurePeer({ name, command, isApproximate = false }: Peer, ours: Built, setting: Setting) {
  const scratch = join(setting.folder, 'peer');
  mkdirSync(scratch);
  const comparisons: Comparison[] = [];
  let build: Built | undefined;
  try {
    build = await startAndBuild(name, command(setting.folder));
    console.log(`${name} has built its index in ${(build.buildMs / 1000).toFixed(1)} s`);
    for (const k of DEPTHS) {
      const found = await compare(ours, build, k, setting);
      comparisons.push(...found.map((comparison) => ({ ...comparison, isApproximate })));
    }
  } catch (error) {
    const what = build
      ? `k = ${DEPTHS.slice(new Set(comparisons.map(({ k }) => k)).size).join(', ')} of ${name}`
      : name;
    console.log(`${what} is left out: ${error instanceof Error ? error.message.trim() : error}`);
  } finally {
    build?.contender.close();
    rmSync(scratch, { recursive: true, maxRetries: 10 });
  }
  return build && { build, comparisons };
}

/** All peers that are given so many documents. */
async function measureSize(folder: string, numDocs: number, peers: readonly Peer[]) {
  const setting = { folder, answers: prepare(folder, numDocs) };
  const { offsets } = readVectors(folder, '');
  const size = { numDocs: offsets.length - 1, numPostings: offsets[offsets.length - 1] };
  const ours = await startAndBuild('lzero', [...script('search-contender.ts'), folder]);
  try {
    await checkOurs(ours, setting);
    const measured = [];
    for (const peer of peers) {
      const result = await measurePeer(peer, ours, setting);
      if (result) measured.push(result);
    }
    const builds = [ours, ...measured.map(({ build }) => build)].map(({ name, buildMs, sizeBytes }) => ({
      name,
      buildMs,
      sizeBytes,
    }));
    const comparisons = measured.flatMap((result) => result.comparisons);
    printBuilds(size, builds);
    for (const k of DEPTHS) printComparisons(comparisons.filter((comparison) => comparison.k === k));
    return { ...size, builds, comparisons };
  } finally {
    ours.contender.close();
  }
}

async function main(): Promise<void> {
  for (const name of ONE_THREAD) process.env[name] = '1';
  const where = await circumstances();
  console.log(describe(where));
  const wanted = Number(values.docs);
  const docsOf = ({ cap = Infinity }: Peer): number => (values.vectors ? wanted : Math.min(cap, wanted));
  const peers = peersWanted();
  const folder = mkdtempSync(join(process.env.TMPDIR ?? tmpdir(), 'lzero-peers-'));
  const sizes = [];
  try {
    for (const numDocs of new Set(peers.map(docsOf))) {
      const files = join(folder, String(numDocs));
      mkdirSync(files);
      const group = peers.filter((peer) => docsOf(peer) === numDocs);
      sizes.push(await measureSize(resolve(files), numDocs, group));
      rmSync(files, { recursive: true });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  if (values.json) writeFileSync(values.json, `${JSON.stringify({ ...where, sizes }, undefined, 2)}\n`);
}

await main();
