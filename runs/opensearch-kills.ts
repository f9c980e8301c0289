/**
 * Does an ingest survive kills? Synthetic vectors go to a real server; the client is killed (SIGKILL) in the middle, the
 * same command goes on, then the server is killed (kill −9) under it and started again. At the end every document must be
 * there, once, with the weights it was sent with.
 *
 *     npx tsx runs/opensearch-kills.ts [--docs 100000] [--terms 200] [--port 19400] [--seed 1] [--patience 600] [--keep]
 *
 * Starts a server of its own by scripts/opensearch.sh, and stops it. `--patience` is how many seconds that may take after the
 * kill: more on a machine with other work, together with OPENSEARCH_BOOT_SECONDS of the script. `--keep` leaves server and index,
 * to be looked at. Prints JSON; ends with 1 if anything is missing, twice, or changed, or if a kill came when all was there already.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isJsonObject, type JsonObject, Random } from '../src/core/index.ts';
import { formatVector } from '../src/data/index.ts';
import { loadModel } from '../src/model/index.ts';
import { featureOfToken, Server } from '../src/opensearch/index.ts';

const { values: options } = parseArgs({
  options: {
    docs: { type: 'string', default: '100000' },
    terms: { type: 'string', default: '200' },
    port: { type: 'string', default: '19400' },
    seed: { type: 'string', default: '1' },
    patience: { type: 'string', default: '600' },
    keep: { type: 'boolean', default: false },
  },
});
const [numDocs, numTerms] = [Number(options.docs), Number(options.terms)];
const ROOT = resolve(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'lzero-kills-'));
const file = join(folder, 'vectors.jsonl');
const environment = { ...process.env, OPENSEARCH_PORT: options.port };
const script = (verb: string): string =>
  execFileSync(join(ROOT, 'scripts/opensearch.sh'), [verb], { env: environment, encoding: 'utf8' }).trim();

const model = await loadModel('bow');
const { tokens } = model.tokenizer.vocabulary;

/** The vector of a document: a function of seed and number alone, so that it can be made again to be compared. */
function vectorOf(doc: number): Map<string, number> {
  const random = new Random(Number(options.seed) * 1_000_003 + doc);
  const weights = new Map<string, number>();
  while (weights.size < numTerms)
    weights.set(
      tokens[1000 + Math.floor(random.uniform() ** 2 * (tokens.length - 1000))],
      Math.fround(0.01 + 3 * random.uniform()),
    );
  return weights;
}

async function writeVectors(): Promise<void> {
  const out = createWriteStream(file);
  for (let doc = 0; doc < numDocs; doc++) {
    const weights = vectorOf(doc);
    if (!out.write(`${formatVector(`d${doc}`, [...weights.keys()], [...weights.values()])}\n`))
      await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
}

function ingest(address: string): ChildProcess {
  const words = ['opensearch', 'ingest', address, '--vectors', file, '--model', 'bow', '--create'];
  const all = [join(ROOT, 'src/cli/main.ts'), ...words, '--patience', options.patience];
  return spawn(process.execPath, ['--import', 'tsx', ...all], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

/** Its exit code, also where it has ended before. */
async function endOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

async function countOf(server: Server): Promise<number> {
  await server.ask({ method: 'POST', path: '/kills/_refresh' }, { accept: [404] });
  const { body } = await server.ask({ method: 'GET', path: '/kills/_count' }, { accept: [404] });
  return typeof body.count === 'number' ? body.count : 0;
}

/** All tokens, and no others. */
function isAsSent(stored: JsonObject, sent: ReadonlyMap<string, number>): boolean {
  return (
    Object.keys(stored).length === sent.size &&
    [...sent].every(([token, weight]) => Math.fround(Number(stored[featureOfToken(token)])) === weight)
  );
}

async function untilCount(server: Server, least: number, child: ChildProcess): Promise<number> {
  for (;;) {
    const count = await countOf(server);
    if (count >= least || child.exitCode !== null) return count;
    await sleep(500);
  }
}

const url = script('start');
const server = new Server(url, { patienceMs: Number(options.patience) * 1000 });
try {
  await server.ask({ method: 'DELETE', path: '/kills' }, { accept: [404] });
  await writeVectors();
  const address = `${url}/kills`;
  const began = performance.now();

  let child = ingest(address);
  const atClientKill = await untilCount(server, numDocs * 0.3, child);
  child.kill('SIGKILL');
  await endOf(child);

  child = ingest(address);
  const atServerKill = await untilCount(server, numDocs * 0.6, child);
  const runFolder = join(process.env.OPENSEARCH_DIR ?? join(tmpdir(), 'lzero-opensearch'), `run-${options.port}`);
  process.kill(Number(readFileSync(join(runFolder, 'pid'), 'utf8')), 'SIGKILL');
  await sleep(2000);
  script('start');
  const exitCode = await endOf(child);
  const seconds = (performance.now() - began) / 1000;

  const numFound = await countOf(server);
  let [numMissing, numChanged] = [0, 0];
  for (let first = 0; first < numDocs; first += 500) {
    const docs = Array.from({ length: Math.min(500, numDocs - first) }, (_, i) => first + i);
    const body = JSON.stringify({ ids: docs.map((doc) => `d${doc}`) });
    const answer = await server.ask({ method: 'POST', path: '/kills/_mget?_source_includes=vector', body });
    const found = Array.isArray(answer.body.docs) ? answer.body.docs : [];
    for (const [i, doc] of docs.entries()) {
      const stored: unknown = found[i]?._source?.vector;
      if (!isJsonObject(stored)) numMissing++;
      else if (!isAsSent(stored, vectorOf(doc))) numChanged++;
    }
  }
  const wereInTheMiddle = atClientKill < numDocs && atServerKill < numDocs;
  const isSound = wereInTheMiddle && exitCode === 0 && numFound === numDocs && numMissing === 0 && numChanged === 0;
  console.log(
    JSON.stringify({
      numDocs,
      numTerms,
      atClientKill,
      atServerKill,
      exitCode,
      numFound,
      numMissing,
      numChanged,
      seconds,
      isSound,
    }),
  );
  process.exitCode = isSound ? 0 : 1;
  if (!options.keep) await server.ask({ method: 'DELETE', path: '/kills' }, { accept: [404] });
} finally {
  server.close();
  if (!options.keep) script('stop');
  rmSync(folder, { recursive: true, force: true });
}
