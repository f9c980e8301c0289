/**
 * Speed and memory of encoding documents: ours against PyTorch and sentence-transformers.
 *
 *     npm run build
 *     LZERO_WEIGHTS=… LZERO_SHARED_DATA=… LZERO_PYTHON=peers/bin/python npx tsx bench/encode.ts [--rounds 5] \
 *         [--only batches,splade-tiny,minilm,memory,start] [--precision fp32|int8] [--json results.json]
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
 * With --precision int8 we compute in 8-bit integers, and the bars against SparseEncoder.encode are 3× on processors
 * without VNNI and 4× with it; int8 against our fp32 is bench/int8.ts.
 *
 * Each contender has a process of its own; they take turns round by round, so that a slow minute of the machine hits all.
 * Peers are tried with 1, 2, 4 … threads up to the number of cores, and the fastest setting is compared. The first round
 * warms up and is not counted. Nothing else should run on the machine: the load is printed.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '../src/core/index.ts';
import { documentTexts, readDocuments } from '../src/data/index.ts';
import { PRECISIONS, type Precision } from '../src/model/index.ts';
import { benchOptions } from './lib/bench-options.ts';
import { runLzero } from './lib/command-line.ts';
import type { Answer, Contender } from './lib/contender.ts';
import {
  BATCH_DOCUMENTS,
  BATCH_TOKENS,
  COLLECTION_DOCUMENTS,
  type CorpusFiles,
  importTied,
  NUM_BATCHES,
  prepareBatches,
  writeCorpus,
} from './lib/encode-setting.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atLeast, atMost, type Part, printPart, writeResults } from './lib/report.ts';
import { median, spread } from './lib/statistics.ts';
import { type Command, ourCommand, rateRows, speedUp, type Turn, takeTurns, withContenders } from './lib/turns.ts';

const PARTS = ['batches', 'splade-tiny', 'minilm', 'memory', 'start'] as const;
const PEERS = resolve(import.meta.dirname, 'peers');
const LIBRARY = 'lzero, library';
const COMMAND = 'lzero, command (start-up included)';
const PEER = 'SparseEncoder.encode';

type Setting = CorpusFiles & {
  readonly scratch: string;
  readonly weights: string;
  /** MiniLM with a tied head, calibrated on SciFact. */
  readonly tied: string;
  readonly python: string | undefined;
  readonly rounds: number;
  readonly precision: Precision;
  /** How many times faster than SparseEncoder.encode we are to be. */
  readonly bar: number;
};

/** A script of bench/peers, where there is a Python for it. */
function peerCommand(python: string | undefined, script: string, model: string): Command | undefined {
  return python ? [python, '-B', join(PEERS, script), model] : undefined;
}

/** Starts ours and, if there is one, the peer. */
function withPeer<T>(
  commands: { readonly ours: Command; readonly peer: Command | undefined },
  use: (contenders: { readonly ours: Contender; readonly peer: Contender | undefined }) => Promise<T>,
): Promise<T> {
  const { ours, peer } = commands;
  return withContenders(peer ? [ours, peer] : [ours], (running) => use({ ours: running[0], peer: peer && running[1] }));
}

async function batchesPart({ scratch, weights, corpus, python, rounds, precision }: Setting): Promise<Part> {
  const { model, ids } = await prepareBatches(scratch, { weights, corpus });
  const commands = { ours: ourCommand(model, precision), peer: peerCommand(python, 'pytorch_batches.py', model) };
  return await withPeer(commands, async ({ ours, peer: torch }) => {
    const usual = torch && (await bestVariant(torch, { kind: 'usual', variants: ['usual'], ids }));
    const tunedVariants = ['max-first', 'per-document', 'per-document-transposed'];
    const tuned = torch && (await bestVariant(torch, { kind: 'tuned', variants: tunedVariants, ids }));
    const turns: Turn[] = [{ name: 'lzero', measure: () => ours.measure({ kind: 'batches', ids }) }];
    for (const turn of [usual, tuned]) if (turn) turns.push(turn);
    const results = await takeTurns(turns, rounds);
    return {
      title: `MiniLM with tied head, ${BATCH_DOCUMENTS} × ${BATCH_TOKENS} tokens, ${precision}`,
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

async function collectionPart(setting: Setting, name: string, checkpoint: string): Promise<Part> {
  const { scratch, corpus, warmUpCorpus, python, rounds, precision, bar } = setting;
  const input = (warmUp: boolean): string => (warmUp ? warmUpCorpus : corpus);
  const output = join(scratch, 'vectors.jsonl');
  const callCommand = async (warmUp: boolean): Promise<Answer> => {
    const model = ['--model', checkpoint, '--precision', precision];
    const { ms } = await runLzero(['encode', input(warmUp), '-o', output, ...model, '--force']);
    return { ms };
  };
  const peerScript = peerCommand(python, 'sparse_encoder.py', checkpoint);
  const commands = { ours: ourCommand(checkpoint, precision), peer: peerScript };
  return await withPeer(commands, async ({ ours, peer }) => {
    const encoder = peer && (await bestEncoder(peer, input));
    const turns: Turn[] = [
      { name: LIBRARY, measure: (warmUp) => ours.measure({ kind: 'documents', input: input(warmUp) }) },
      { name: COMMAND, measure: callCommand },
      ...(encoder ? [encoder] : []),
    ];
    const results = await takeTurns(turns, rounds);
    return {
      title: `${name}, first ${COLLECTION_DOCUMENTS} SciFact documents, ${precision}`,
      rows: rateRows(results, COLLECTION_DOCUMENTS),
      claims: encoder
        ? [LIBRARY, COMMAND].map((us) => atLeast(`${us}, against ${PEER}`, speedUp(results, us, encoder.name), bar))
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

async function memoryPart({ scratch, tied, corpus, precision }: Setting): Promise<Part> {
  const input = join(scratch, 'mixed.jsonl');
  await writeMixedLengths(input, corpus);
  const { peakMemoryBytes } = await runLzero([
    'encode',
    input,
    '-o',
    join(scratch, 'mixed.out.jsonl'),
    '--model',
    tied,
    '--precision',
    precision,
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

async function startPart({ scratch, tied, rounds, precision }: Setting): Promise<Part> {
  const input = join(scratch, 'one.jsonl');
  writeFileSync(
    input,
    `${JSON.stringify({ _id: '1', text: 'A lighthouse keeper counts the ships that pass at night.' })}\n`,
  );
  const seconds: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const { firstByteMs = Number.NaN } = await runLzero(['encode', input, '--model', tied, '--precision', precision]);
    if (round > 0) seconds.push(firstByteMs / 1000);
  }
  return {
    title: 'MiniLM, one document, from process start to its vector on stdout',
    rows: [{ name: 'lzero, command', unit: 's', value: spread(seconds) }],
    claims: [atMost('first vector', median(seconds), { limit: 1.5, unit: 's' })],
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '5' },
      only: { type: 'string' },
      precision: { type: 'string', default: 'fp32' },
      json: { type: 'string' },
    },
  });
  const precision = PRECISIONS.find((name) => name === values.precision);
  if (!precision) throw new Error(`--precision is ${PRECISIONS.join(' or ')}, not ${values.precision}`);
  const { weights, data, python, rounds, wanted } = benchOptions(values, PARTS);
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
    const corpusFiles = writeCorpus(scratch, data);
    const tied = join(scratch, 'minilm-tied');
    await importTied(tied, { weights, ...corpusFiles });
    const bar = precision === 'fp32' ? 2 : where.cpuFlags.some((flag) => flag.includes('vnni')) ? 4 : 3;
    const setting: Setting = { scratch, weights, python, rounds, precision, bar, tied, ...corpusFiles };
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
