/**
 * Speed and memory of encoding documents: ours against PyTorch and sentence-transformers.
 *
 *     npm run build
 *     LZERO_WEIGHTS=… LZERO_SHARED_DATA=… LZERO_PYTHON=peers/bin/python npx tsx bench/encode.ts [--rounds 5] \
 *         [--only batches,splade-tiny,minilm,memory,start] [--json results.json]
 *
 * LZERO_WEIGHTS holds Hugging Face checkpoints (minilm-l6, splade-tiny), LZERO_SHARED_DATA the unpacked real data
 * (SciFact), LZERO_PYTHON a Python with the peers (bench/peers/README.md; without it only we are measured). Five parts:
 *
 *     batches      MiniLM with tied head, 16 × 128 tokens: the network and head alone      ≥ 1.6× usual, ≥ 1.3× tuned
 *     splade-tiny  the first 1,000 SciFact documents, SparseEncoder.encode                 ≥ 2×
 *     minilm       the same with MiniLM's shape (minutes a round)                          ≥ 2×
 *     memory       MiniLM, lengths 3…512 mixed: peak of the command's process              ≤ 0.7 GB
 *     start        one document, from process start to the vector, page cache warm         ≤ 1.5 s
 *
 * Each contender has a process of its own; they take turns round by round, so that a slow minute of the machine hits all.
 * Peers are tried with 1, 2, 4 … threads up to the number of cores, and the fastest setting is compared. The first round
 * warms up and is not counted. Nothing else should run on the machine: the load is printed.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '../src/core/index.ts';
import { documentTexts, readDocuments } from '../src/data/index.ts';
import { importModel, loadModel } from '../src/model/index.ts';
import { runLzero } from './lib/command-line.ts';
import { type Answer, Contender } from './lib/contender.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atLeast, atMost, type Part, printPart, type Row, writeResults } from './lib/report.ts';
import { median, spread } from './lib/statistics.ts';

const PARTS = ['batches', 'splade-tiny', 'minilm', 'memory', 'start'] as const;
const PEERS = resolve(import.meta.dirname, 'peers');
const BATCH_DOCUMENTS = 16;
const BATCH_TOKENS = 128;
const NUM_BATCHES = 4;
const COLLECTION_DOCUMENTS = 1000;
const WARM_UP_DOCUMENTS = 64;
const LIBRARY = 'lzero, library';
const COMMAND = 'lzero, command (start-up included)';
const PEER = 'SparseEncoder.encode';

type Setting = {
  readonly scratch: string;
  readonly weights: string;
  /** The first 1,000 documents of SciFact, as JSON lines. */
  readonly corpus: string;
  /** A few of them. */
  readonly warmUpCorpus: string;
  /** MiniLM with a tied head, calibrated on SciFact. */
  readonly tied: string;
  readonly python: string | undefined;
  readonly rounds: number;
};

/** A way to measure something once; to warm up, a part of the work may do. */
type Turn = { readonly name: string; measure(warmUp: boolean): Promise<Answer> };

/** All contenders by turns; the first round is for warming up. */
async function takeTurns(turns: readonly Turn[], rounds: number): Promise<Map<string, Answer[]>> {
  const results = new Map<string, Answer[]>(turns.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const { name, measure } of turns) {
      const answer = await measure(round === 0);
      if (round > 0) results.get(name)?.push(answer);
    }
  }
  return results;
}

/** Documents a second, one row per contender. */
function rateRows(results: ReadonlyMap<string, readonly Answer[]>, numDocs: number): Row[] {
  return [...results].map(([name, answers]) => ({
    name,
    unit: 'documents/s',
    value: spread(answers.map(({ ms }) => (1000 * numDocs) / ms)),
    activeTerms: answers[0].activeTerms,
  }));
}

/** How many times faster `ours` is: the median over rounds of the ratio within a round. */
function speedUp(results: ReadonlyMap<string, readonly Answer[]>, ours: string, peer: string): number {
  const peers = results.get(peer) ?? [];
  return median((results.get(ours) ?? []).map(({ ms }, round) => peers[round].ms / ms));
}

/** A program and its arguments. */
type Command = readonly string[];

function ourCommand(model: string): Command {
  const script = resolve(import.meta.dirname, 'lib/ours.ts');
  return [process.execPath, '--import', import.meta.resolve('tsx'), script, model];
}

/** A script of bench/peers, where there is a Python for it. */
function peerCommand(python: string | undefined, script: string, model: string): Command | undefined {
  return python ? [python, '-B', join(PEERS, script), model] : undefined;
}

/** Starts ours and, if there is one, the peer, and ends their processes whatever happens. */
async function withContenders<T>(
  commands: { readonly ours: Command; readonly peer: Command | undefined },
  use: (contenders: { readonly ours: Contender; readonly peer: Contender | undefined }) => Promise<T>,
): Promise<T> {
  const running: Contender[] = [];
  const start = async (name: string, command: Command): Promise<Contender> => {
    const contender = await Contender.start(name, command);
    running.push(contender);
    return contender;
  };
  try {
    const ours = await start('lzero', commands.ours);
    const peer = commands.peer && (await start('the peer', commands.peer));
    return await use({ ours, peer });
  } finally {
    for (const contender of running) contender.close();
  }
}

async function batchesPart({ scratch, weights, corpus, python, rounds }: Setting): Promise<Part> {
  const tied = join(scratch, 'minilm-tied-128'); // calibrated at the length that is measured: 200 terms
  await importTied(tied, { weights, corpus, encodeLength: BATCH_TOKENS });
  const ids = await writeBatches(join(scratch, 'batches.json'), tied, corpus);
  const commands = { ours: ourCommand(tied), peer: peerCommand(python, 'pytorch_batches.py', tied) };
  return await withContenders(commands, async ({ ours, peer: torch }) => {
    const usual = torch && (await bestVariant(torch, { kind: 'usual', variants: ['usual'], ids }));
    const tunedVariants = ['max-first', 'per-document', 'per-document-transposed'];
    const tuned = torch && (await bestVariant(torch, { kind: 'tuned', variants: tunedVariants, ids }));
    const turns: Turn[] = [{ name: 'lzero', measure: () => ours.measure({ kind: 'batches', ids }) }];
    for (const turn of [usual, tuned]) if (turn) turns.push(turn);
    const results = await takeTurns(turns, rounds);
    return {
      title: `MiniLM with tied head, ${BATCH_DOCUMENTS} × ${BATCH_TOKENS} tokens`,
      rows: rateRows(results, NUM_BATCHES * BATCH_DOCUMENTS),
      claims: [
        ...(usual ? [atLeast('against the usual PyTorch code', speedUp(results, 'lzero', usual.name), 1.6)] : []),
        ...(tuned ? [atLeast('against hand-tuned PyTorch', speedUp(results, 'lzero', tuned.name), 1.3)] : []),
      ],
    };
  });
}

/** Tries the variants of PyTorch code with each number of threads and keeps the fastest. */
async function bestVariant(
  torch: Contender,
  { kind, variants, ids }: { kind: string; variants: readonly string[]; ids: string },
): Promise<Turn> {
  const turns = variants.flatMap((variant) =>
    threadCounts().map((threads) => ({
      name: `PyTorch ${kind} (${variant}, threads ${threads})`,
      measure: () => torch.measure({ ids, variant, threads }),
    })),
  );
  return await fastest(turns);
}

/** Measures each twice, warming up, and keeps the one with the shortest time. */
async function fastest(turns: readonly Turn[]): Promise<Turn> {
  const tried: { turn: Turn; ms: number }[] = [];
  for (const turn of turns) {
    const ms = Math.min((await turn.measure(true)).ms, (await turn.measure(true)).ms);
    tried.push({ turn, ms });
  }
  return tried.reduce((a, b) => (b.ms < a.ms ? b : a)).turn;
}

/** Numbers of threads to try for a peer: 1, 2, 4 … below the number of cores, and all of them. */
function threadCounts(): number[] {
  const most = availableParallelism();
  const counts: number[] = [];
  for (let threads = 1; threads < most; threads *= 2) counts.push(threads);
  return [...counts, most];
}

/** Token ids of documents that fill 128 tokens, as [[ids × 16] × 4] in a JSON file. */
async function writeBatches(path: string, model: string, corpus: string): Promise<string> {
  const { tokenizer } = await loadModel(model);
  const full: number[][] = [];
  for await (const { text } of documentTexts(readDocuments(corpus))) {
    const { ids } = tokenizer.encodeForModel(text, BATCH_TOKENS);
    if (ids.length === BATCH_TOKENS) full.push(Array.from(ids));
    if (full.length === NUM_BATCHES * BATCH_DOCUMENTS) break;
  }
  const batches = Array.from({ length: NUM_BATCHES }, (_, i) =>
    full.slice(i * BATCH_DOCUMENTS, (i + 1) * BATCH_DOCUMENTS),
  );
  writeFileSync(path, JSON.stringify(batches));
  return path;
}

async function collectionPart(setting: Setting, name: string, checkpoint: string): Promise<Part> {
  const { scratch, corpus, warmUpCorpus, python, rounds } = setting;
  const input = (warmUp: boolean): string => (warmUp ? warmUpCorpus : corpus);
  const output = join(scratch, 'vectors.jsonl');
  const callCommand = async (warmUp: boolean): Promise<Answer> => {
    const { ms } = await runLzero(['encode', input(warmUp), '-o', output, '--model', checkpoint, '--force']);
    return { ms };
  };
  const commands = { ours: ourCommand(checkpoint), peer: peerCommand(python, 'sparse_encoder.py', checkpoint) };
  return await withContenders(commands, async ({ ours, peer }) => {
    const encoder = peer && (await bestEncoder(peer, input));
    const turns: Turn[] = [
      { name: LIBRARY, measure: (warmUp) => ours.measure({ kind: 'documents', input: input(warmUp) }) },
      { name: COMMAND, measure: callCommand },
      ...(encoder ? [encoder] : []),
    ];
    const results = await takeTurns(turns, rounds);
    return {
      title: `${name}, first ${COLLECTION_DOCUMENTS} SciFact documents`,
      rows: rateRows(results, COLLECTION_DOCUMENTS),
      claims: encoder
        ? [LIBRARY, COMMAND].map((us) => atLeast(`${us}, against ${PEER}`, speedUp(results, us, encoder.name), 2))
        : [],
    };
  });
}

/** SparseEncoder with the number of threads that is fastest on the few documents of the warm-up. */
async function bestEncoder(peer: Contender, input: (warmUp: boolean) => string): Promise<Turn> {
  const turns = threadCounts().map((threads) => ({
    name: `${PEER} (threads ${threads})`,
    measure: (warmUp: boolean) => peer.measure({ input: input(warmUp), threads }),
  }));
  return await fastest(turns);
}

/** MiniLM's encoder with a random, calibrated MLM head, which both sides can load (bench/peers/calibrated_mlm.py). */
function calibratedMlm({ scratch, weights, corpus }: Setting, python: string): string {
  const output = join(scratch, 'minilm-mlm');
  execFileSync(python, ['-B', join(PEERS, 'calibrated_mlm.py'), join(weights, 'minilm-l6'), corpus, output], {
    stdio: 'ignore',
  });
  return output;
}

async function memoryPart({ scratch, tied, corpus }: Setting): Promise<Part> {
  const input = join(scratch, 'mixed.jsonl');
  await writeMixedLengths(input, corpus);
  const { peakMemoryBytes } = await runLzero([
    'encode',
    input,
    '-o',
    join(scratch, 'mixed.out.jsonl'),
    '--model',
    tied,
  ]);
  const gigabytes = peakMemoryBytes / 1e9;
  return {
    title: 'MiniLM, 400 documents of 3…512 tokens, peak resident memory of the command',
    rows: [{ name: 'lzero, command', unit: 'GB', value: spread([gigabytes]) }],
    claims: [atMost('peak memory', gigabytes, { limit: 0.7, unit: 'GB' })],
  };
}

/** A quarter of one word, a quarter beyond 512 tokens, the rest anything between. */
async function writeMixedLengths(path: string, corpus: string): Promise<void> {
  const words: string[] = [];
  for await (const { text } of documentTexts(readDocuments(corpus))) words.push(...text.split(/\s+/));
  const random = new Random(5);
  const lines = Array.from({ length: 400 }, (_, i) => {
    const length = [1, 600, 1 + random.below(400), 1 + random.below(60)][i % 4];
    const begin = random.below(words.length - length);
    return JSON.stringify({ _id: String(i), text: words.slice(begin, begin + length).join(' ') });
  });
  writeFileSync(path, `${lines.join('\n')}\n`);
}

async function startPart({ scratch, tied, rounds }: Setting): Promise<Part> {
  const input = join(scratch, 'one.jsonl');
  writeFileSync(
    input,
    `${JSON.stringify({ _id: '1', text: 'A lighthouse keeper counts the ships that pass at night.' })}\n`,
  );
  const seconds: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const { firstByteMs = Number.NaN } = await runLzero(['encode', input, '--model', tied]);
    if (round > 0) seconds.push(firstByteMs / 1000);
  }
  return {
    title: 'MiniLM, one document, from process start to its vector on stdout',
    rows: [{ name: 'lzero, command', unit: 's', value: spread(seconds) }],
    claims: [atMost('first vector', median(seconds), { limit: 1.5, unit: 's' })],
  };
}

/** MiniLM with a tied head, calibrated on the corpus. */
async function importTied(
  output: string,
  { weights, corpus, encodeLength }: { weights: string; corpus: string; encodeLength?: number },
): Promise<void> {
  async function* texts(): AsyncGenerator<string> {
    for await (const { text } of documentTexts(readDocuments(corpus))) yield text;
  }
  await importModel({ source: join(weights, 'minilm-l6'), output, head: 'tied', calibration: texts(), encodeLength });
}

/** The first documents of SciFact in two files, and the model. */
async function prepare(
  scratch: string,
  data: string,
  weights: string,
): Promise<Pick<Setting, 'corpus' | 'warmUpCorpus' | 'tied'>> {
  const [corpus, warmUpCorpus] = [join(scratch, 'corpus.jsonl'), join(scratch, 'warm-up.jsonl')];
  const lines = readFileSync(join(data, 'collections/beir/scifact/corpus.jsonl'), 'utf8').split('\n');
  writeFileSync(corpus, `${lines.slice(0, COLLECTION_DOCUMENTS).join('\n')}\n`);
  writeFileSync(warmUpCorpus, `${lines.slice(0, WARM_UP_DOCUMENTS).join('\n')}\n`);
  const tied = join(scratch, 'minilm-tied');
  await importTied(tied, { weights, corpus });
  return { corpus, warmUpCorpus, tied };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '5' }, only: { type: 'string' }, json: { type: 'string' } },
  });
  const { LZERO_WEIGHTS: weights, LZERO_SHARED_DATA: data, LZERO_PYTHON: python } = process.env;
  if (!weights || !data) throw new Error('set LZERO_WEIGHTS and LZERO_SHARED_DATA; see the head of bench/encode.ts');
  const wanted: readonly string[] = values.only?.split(',') ?? PARTS;
  const unknown = wanted.filter((part) => !PARTS.some((known) => known === part));
  if (unknown.length > 0) throw new Error(`--only knows ${PARTS.join(', ')}, not ${unknown.join(', ')}`);
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new Error(`--rounds is a whole number from 1, not ${values.rounds}`);
  const where = await circumstances();
  console.log(describe(where));
  if (!python) console.log('peers and the part minilm skipped: LZERO_PYTHON is not set (bench/peers/README.md)');
  const scratch = mkdtempSync(join(tmpdir(), 'lzero-bench-'));
  const parts: Part[] = [];
  const report = (part: Part): void => {
    printPart(part);
    parts.push(part);
  };
  try {
    const prepared = await prepare(scratch, data, weights);
    const setting: Setting = { scratch, weights, python, rounds, ...prepared };
    if (wanted.includes('batches')) report(await batchesPart(setting));
    if (wanted.includes('splade-tiny'))
      report(await collectionPart(setting, 'splade-tiny', join(weights, 'splade-tiny')));
    if (wanted.includes('minilm') && python)
      report(await collectionPart(setting, 'MiniLM, calibrated random MLM head', calibratedMlm(setting, python)));
    if (wanted.includes('memory')) report(await memoryPart(setting));
    if (wanted.includes('start')) report(await startPart(setting));
  } finally {
    rmSync(scratch, { recursive: true });
  }
  if (values.json) writeResults(values.json, where, parts);
}

await main();
