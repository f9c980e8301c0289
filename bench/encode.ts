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
 * The first round warms up and is not counted. Nothing else should run on the machine: the load is printed.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '../src/core/index.ts';
import { documentText, readDocuments } from '../src/data/index.ts';
import { importModel, loadModel } from '../src/model/index.ts';
import { runLzero } from './lib/command-line.ts';
import { type Answer, Contender } from './lib/contender.ts';
import { circumstances, describe } from './lib/machine.ts';
import { formatSpread, median, type Spread, spread } from './lib/statistics.ts';

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

/** A row of the result. */
type Row = {
  readonly name: string;
  readonly unit: string;
  readonly value: Spread;
  readonly activeTerms?: number | undefined;
};
/** A claim and its bar. */
type Ratio = { readonly claim: string; readonly value: number; readonly bar: string; readonly reached: boolean };
type Part = { readonly title: string; readonly rows: readonly Row[]; readonly ratios: readonly Ratio[] };

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

function atLeast(claim: string, value: number, bar: number): Ratio {
  return { claim, value, bar: `≥ ${bar}×`, reached: value >= bar };
}

function ourContender(model: string): Promise<Contender> {
  const script = resolve(import.meta.dirname, 'lib/ours.ts');
  return Contender.start('lzero', [process.execPath, '--import', import.meta.resolve('tsx'), script, model]);
}

async function batchesPart({ scratch, weights, corpus, python, rounds }: Setting): Promise<Part> {
  const tied = join(scratch, 'minilm-tied-128'); // calibrated at the length that is measured: 200 terms
  await importTied(tied, { weights, corpus, encodeLength: BATCH_TOKENS });
  const ids = await writeBatches(join(scratch, 'batches.json'), tied, corpus);
  const ours = await ourContender(tied);
  const torch = python
    ? await Contender.start('PyTorch', [python, '-B', join(PEERS, 'pytorch_batches.py'), tied])
    : undefined;
  const turns: Turn[] = [{ name: 'lzero', measure: () => ours.measure({ kind: 'batches', ids }) }];
  const best = new Map<string, string>();
  if (torch) {
    const peers: Readonly<Record<string, readonly string[]>> = {
      usual: ['usual'],
      tuned: ['max-first', 'per-document', 'per-document-transposed'],
    };
    for (const [kind, variants] of Object.entries(peers)) {
      const turn = await bestSetting(torch, { kind, variants, ids });
      best.set(kind, turn.name);
      turns.push(turn);
    }
  }
  const results = await takeTurns(turns, rounds);
  ours.close();
  torch?.close();
  const [usual, tuned] = [best.get('usual'), best.get('tuned')];
  return {
    title: `MiniLM with tied head, ${BATCH_DOCUMENTS} × ${BATCH_TOKENS} tokens`,
    rows: rateRows(results, NUM_BATCHES * BATCH_DOCUMENTS),
    ratios: [
      ...(usual ? [atLeast('against the usual PyTorch code', speedUp(results, 'lzero', usual), 1.6)] : []),
      ...(tuned ? [atLeast('against hand-tuned PyTorch', speedUp(results, 'lzero', tuned), 1.3)] : []),
    ],
  };
}

/** Tries a peer's variants with 1 and 2 threads, twice each, and keeps the fastest. */
async function bestSetting(
  torch: Contender,
  { kind, variants, ids }: { kind: string; variants: readonly string[]; ids: string },
): Promise<Turn> {
  const tried: { turn: Turn; ms: number }[] = [];
  for (const variant of variants) {
    for (const threads of [1, 2]) {
      const measure = () => torch.measure({ ids, variant, threads });
      const ms = Math.min((await measure()).ms, (await measure()).ms);
      tried.push({ turn: { name: `PyTorch ${kind} (${variant}, threads ${threads})`, measure }, ms });
    }
  }
  return tried.reduce((a, b) => (b.ms < a.ms ? b : a)).turn;
}

/** Token ids of documents that fill 128 tokens, as [[ids × 16] × 4] in a JSON file. */
async function writeBatches(path: string, model: string, corpus: string): Promise<string> {
  const { tokenizer } = await loadModel(model);
  const full: number[][] = [];
  for await (const document of readDocuments(corpus)) {
    const { ids } = tokenizer.encodeForModel(documentText(document), BATCH_TOKENS);
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
  const ours = await ourContender(checkpoint);
  const peerCommand = [python ?? '', '-B', join(PEERS, 'sparse_encoder.py'), checkpoint];
  const peer = python ? await Contender.start('SparseEncoder', peerCommand) : undefined;
  const input = (warmUp: boolean): string => (warmUp ? warmUpCorpus : corpus);
  const output = join(scratch, 'vectors.jsonl');
  const callCommand = async (warmUp: boolean): Promise<Answer> => {
    const { ms } = await runLzero(['encode', input(warmUp), '-o', output, '--model', checkpoint, '--force']);
    return { ms };
  };
  const turns: Turn[] = [
    { name: LIBRARY, measure: (warmUp) => ours.measure({ kind: 'documents', input: input(warmUp) }) },
    { name: COMMAND, measure: callCommand },
    ...(peer ? [{ name: PEER, measure: (warmUp: boolean) => peer.measure({ input: input(warmUp) }) }] : []),
  ];
  const results = await takeTurns(turns, rounds);
  ours.close();
  peer?.close();
  const ratios = (peer ? [LIBRARY, COMMAND] : []).map((us) =>
    atLeast(`${us}, against ${PEER}`, speedUp(results, us, PEER), 2),
  );
  const title = `${name}, first ${COLLECTION_DOCUMENTS} SciFact documents`;
  return { title, rows: rateRows(results, COLLECTION_DOCUMENTS), ratios };
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
    ratios: [{ claim: 'peak memory', value: gigabytes, bar: '≤ 0.7 GB', reached: gigabytes <= 0.7 }],
  };
}

/** A quarter empty, a quarter beyond 512 tokens, the rest anything between. */
async function writeMixedLengths(path: string, corpus: string): Promise<void> {
  const words: string[] = [];
  for await (const document of readDocuments(corpus)) words.push(...documentText(document).split(/\s+/));
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
  const value = median(seconds);
  return {
    title: 'MiniLM, one document, from process start to its vector on stdout',
    rows: [{ name: 'lzero, command', unit: 's', value: spread(seconds) }],
    ratios: [{ claim: 'first vector', value, bar: '≤ 1.5 s', reached: value <= 1.5 }],
  };
}

function print({ title, rows, ratios }: Part): void {
  console.log(`\n${title}`);
  for (const { name, unit, value, activeTerms } of rows) {
    const terms = activeTerms === undefined ? '' : `  ${activeTerms.toFixed(1)} terms a document`;
    console.log(`  ${name.padEnd(48)} ${formatSpread(value, 2)} ${unit}${terms}`);
  }
  for (const { claim, value, bar, reached } of ratios)
    console.log(`  → ${claim}: ${value.toFixed(2)}  (bar ${bar}: ${reached ? 'reached' : 'MISSED'})`);
}

/** MiniLM with a tied head, calibrated on the corpus. */
async function importTied(
  output: string,
  { weights, corpus, encodeLength }: { weights: string; corpus: string; encodeLength?: number },
): Promise<void> {
  async function* texts(): AsyncGenerator<string> {
    for await (const document of readDocuments(corpus)) yield documentText(document);
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
  const where = await circumstances();
  console.log(describe(where));
  if (!python) console.log('peers and the part minilm skipped: LZERO_PYTHON is not set (bench/peers/README.md)');
  const scratch = mkdtempSync(join(tmpdir(), 'lzero-bench-'));
  const parts: Part[] = [];
  const report = (part: Part): void => {
    print(part);
    parts.push(part);
  };
  try {
    const prepared = await prepare(scratch, data, weights);
    const setting: Setting = { scratch, weights, python, rounds: Number(values.rounds), ...prepared };
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
  if (values.json) writeFileSync(values.json, `${JSON.stringify({ ...where, parts }, undefined, 2)}\n`);
}

await main();
