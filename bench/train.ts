/**
 * Speed and memory of training steps: ours against PyTorch and sentence-transformers.
 *
 *     LZERO_WEIGHTS=… LZERO_SHARED_DATA=… LZERO_PYTHON=peers/bin/python npx tsx bench/train.ts [--rounds 5] \
 *         [--only steps,shares,scifact,bert-base] [--json results.json]
 *
 * Folders as in bench/encode.ts, and bert-base-mlm among the weights. A step is forward, KL and FLOPS, backward and AdamW
 * over 8 queries with 2 documents each. Four parts:
 *
 *     steps      MiniLM with tied head, 16 × 128 tokens      recompute ≥ 1.0× hand-tuned PyTorch, ≥ 1.35× the usual code at
 *                                                            ≤ 0.5× its memory; save ≥ 1.2× hand-tuned; four of six layers
 *                                                            frozen and cached ≥ 2.5× our own full step
 *     shares     what the time of a step goes to, how much of the engine's rate of products the encoder reaches, and what a
 *                step could take at best as one graph, which needs no second forward pass
 *     scifact    SciFact's mix of lengths up to 256 tokens   ≥ 2.5× SparseEncoderTrainer at ≤ 0.5× its memory
 *     bert-base  BERT-base, 16 × 256 tokens, two steps       ≤ 8 GB
 *
 * Each contender has a process of its own; they take turns round by round, so that a slow minute of the machine hits all.
 * PyTorch is tried in several variants, compiled too, and with fewer threads, and the fastest setting is compared. The first
 * round warms up and is not counted. Ours tokenises in its time, PyTorch does not. Nothing else should run on the machine.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Checkpoint } from '../src/model/index.ts';
import { benchOptions } from './lib/bench-options.ts';
import type { Answer } from './lib/contender.ts';
import { Contender } from './lib/contender.ts';
import { type CorpusFiles, importTied, writeCorpus } from './lib/encode-setting.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atLeast, atMost, type Claim, type Part, printPart, type Row, writeResults } from './lib/report.ts';
import { median, spread } from './lib/statistics.ts';
import {
  MIX_TOKENS,
  PRODUCT,
  productFlops,
  type ScifactFiles,
  STEP_DOCUMENTS,
  STEP_TOKENS,
  scifactIn,
  trainingBatchesSchema,
  writeExamples,
  writeTrainingBatches,
} from './lib/training-setting.ts';
import { type Command, type Results, rateRows, speedUp, takeTurns, withContenders } from './lib/turns.ts';

const PARTS = ['steps', 'shares', 'scifact', 'bert-base'] as const;
const PEERS = resolve(import.meta.dirname, 'peers');
const [RECOMPUTE, SAVE, FROZEN] = ['lzero, recompute', 'lzero, save', 'lzero, 4 of 6 layers frozen and cached'];
/** Batches that are measured together. */
const NUM_BATCHES = 4;
/** The same for SciFact's mix, where lengths differ. */
const NUM_MIXED = 12;

type Setting = CorpusFiles & {
  readonly scratch: string;
  readonly weights: string;
  readonly scifact: ScifactFiles;
  /** MiniLM with a tied head, calibrated on SciFact. */
  readonly tied: string;
  readonly python: string | undefined;
  readonly rounds: number;
};

/** A contender by name. */
type Entry = { readonly name: string; readonly command: Command };

function ours(name: string, setting: Readonly<Record<string, unknown>>): Entry {
  const script = resolve(import.meta.dirname, 'lib/our-training.ts');
  return { name, command: [...tsx(script), JSON.stringify(setting)] };
}

function tsx(script: string): Command {
  return [process.execPath, '--import', import.meta.resolve('tsx'), script];
}

/** All by turns, each step by step over the same batches. */
async function compare(entries: readonly Entry[], rounds: number): Promise<Results> {
  return await withContenders(
    entries.map(({ command }) => command),
    (running) =>
      takeTurns(
        entries.map(({ name }, i) => ({ name, measure: () => running[i].measure({}) })),
        rounds,
      ),
  );
}

function stepRows(results: Results): Row[] {
  return [...results].map(([name, answers]) => ({
    name,
    unit: 'ms a step',
    value: spread(answers.map(({ ms }) => ms)),
    activeTerms: answers[0].activeTerms,
  }));
}

function memoryRows(results: Results): Row[] {
  return [...results.keys()].map((name) => ({
    name: `${name}, peak memory`,
    unit: 'GB',
    value: spread([peakOf(results, name) / 1e9]),
  }));
}

function peakOf(results: Results, name: string): number {
  return Math.max(...(results.get(name) ?? []).map(({ peakMemoryBytes }) => peakMemoryBytes ?? Number.NaN));
}

function memoryClaim(results: Results, [us, peer]: readonly [string, string]): Claim {
  const share = peakOf(results, us) / peakOf(results, peer);
  return atMost(`memory of ${us}, against ${peer}`, share, { limit: 0.5, unit: '×' });
}

/** The tuned ways to write it; the first of them is the plainest. */
const TUNED = ['max-first', 'per-document', 'per-document-transposed'];

async function stepsPart(setting: Setting): Promise<Part> {
  const { scratch, tied: model, python, rounds } = setting;
  const batches = await batchesOf(setting, model);
  const common = { model, batches, maxLength: STEP_TOKENS };
  const us = [
    ours(RECOMPUTE, common),
    ours(SAVE, { ...common, engine: { activations: 'save' } }),
    ours(FROZEN, { ...common, engine: { freezeLayers: 4 }, frozenCache: join(scratch, 'states') }),
  ];
  const torch = python ? { python, model, batches } : undefined;
  const usual = torch && (await bestTorch('usual', ['usual'], torch));
  const tuned = torch && (await bestTorch('tuned', TUNED, torch));
  const results = await compare([...us, ...[usual, tuned].filter((entry) => entry !== undefined)], rounds);
  const faster = (a: string, b: string, bar: number) => atLeast(`${a}, against ${b}`, speedUp(results, a, b), bar);
  return {
    title: `MiniLM with tied head, ${STEP_DOCUMENTS} × ${STEP_TOKENS} tokens, steps of training`,
    rows: [...stepRows(results), ...memoryRows(results)],
    claims: [
      faster(FROZEN, RECOMPUTE, 2.5),
      ...(tuned ? [faster(RECOMPUTE, tuned.name, 1), faster(SAVE, tuned.name, 1.2)] : []),
      ...(usual ? [faster(RECOMPUTE, usual.name, 1.35), memoryClaim(results, [RECOMPUTE, usual.name])] : []),
    ],
  };
}

async function batchesOf({ scratch, scifact }: Setting, model: string): Promise<string> {
  const options = { ...scifact, model, numBatches: NUM_BATCHES, numTokens: STEP_TOKENS };
  return await writeTrainingBatches(join(scratch, 'batches.json'), options);
}

type Torch = { readonly python: string; readonly model: string; readonly batches: string };

/** The fastest of some variants with all threads, compiled or not; then with fewer threads. */
async function bestTorch(kind: string, variants: readonly string[], { python, model, batches }: Torch): Promise<Entry> {
  const threads = availableParallelism();
  const entry = (variant: string, numThreads: number, ...options: string[]): Entry => ({
    name: `PyTorch ${kind} (${[variant, ...options].join(', ')}, threads ${numThreads})`,
    command: [
      python,
      '-B',
      join(PEERS, 'pytorch_training.py'),
      model,
      batches,
      variant,
      String(numThreads),
      ...options,
    ],
  });
  const best = await fastest(
    variants.flatMap((variant) => [[], ['compiled']].map((o) => entry(variant, threads, ...o))),
  );
  const [variant, ...options] = /\((.*), threads/.exec(best.name)?.[1].split(', ') ?? [];
  const fewer = fewerThreads(threads).map((numThreads) => entry(variant, numThreads, ...options));
  return await fastest([best, ...fewer]);
}

/** Numbers of threads below all of them: 1, 2, 4 … */
function fewerThreads(most: number): number[] {
  const counts: number[] = [];
  for (let threads = 1; threads < most; threads *= 2) counts.push(threads);
  return counts;
}

/** Two steps of each after one to warm up; one that fails (a compiler is missing) is told and left out. */
async function fastest(entries: readonly Entry[]): Promise<Entry> {
  let best: { entry: Entry; ms: number } | undefined;
  for (const entry of entries) {
    const ms = await trial(entry).catch((error: unknown) => {
      console.log(`${entry.name} left out: ${error instanceof Error ? error.message.slice(-300) : error}`);
      return Number.POSITIVE_INFINITY;
    });
    console.log(`  tried ${entry.name}: ${ms.toFixed(0)} ms a step`);
    if (!best || ms < best.ms) best = { entry, ms };
  }
  if (!best) throw new Error('nothing to choose from');
  return best.entry;
}

async function trial({ name, command }: Entry): Promise<number> {
  const contender = await Contender.start(name, command);
  try {
    await contender.measure({ numBatches: 1 });
    return (await contender.measure({ numBatches: 2 })).ms;
  } finally {
    contender.close();
  }
}

type Shares = { readonly model: string; readonly activations: 'recompute' | 'save' };

/** What each part of a step takes, of one network. */
async function sharesPart(setting: Setting, name: string, what: Shares): Promise<Part> {
  const { model, activations } = what;
  const batches = await batchesOf(setting, model);
  const rate: Entry = {
    name: 'product',
    command: [...tsx(resolve(import.meta.dirname, 'lib/product-rate.ts')), String(availableParallelism())],
  };
  const results = await compare(
    [ours('step', { model, batches, maxLength: STEP_TOKENS, engine: { activations } }), rate],
    setting.rounds,
  );
  const [answers, products] = [results.get('step') ?? [], results.get('product') ?? []];
  const peak = (2 * PRODUCT.rows * PRODUCT.inner * PRODUCT.columns) / (1e6 * median(products.map(({ ms }) => ms)));
  const checkpoint = await Checkpoint.open(model);
  const flops = productFlops(checkpoint.config, activations === 'save' ? 1 : 2);
  await checkpoint.close();
  const encoder = median(answers.map(({ parts = {} }) => parts.encoder + parts['encoder-backward']));
  const reached = flops / (1e6 * encoder);
  return {
    title: `${name}, ${activations}, ${STEP_DOCUMENTS} × ${STEP_TOKENS} tokens: ${describeRate(reached, peak)}`,
    rows: [
      { name: 'step', unit: 'ms', value: spread(answers.map(({ ms }) => ms)) },
      ...Object.keys(answers[0].parts ?? {}).map((part) => partRow(part, answers)),
      ...(activations === 'recompute' ? [oneGraphRow(answers)] : []),
    ],
    claims: [],
  };
}

/** A step without the forward pass that a backward pass with recomputation contains once more. */
function oneGraphRow(answers: readonly Answer[]): Row {
  return {
    name: 'as one graph, at best',
    unit: 'ms',
    value: spread(answers.map(({ ms, parts = {} }) => ms - parts.encoder)),
  };
}

function describeRate(reached: number, peak: number): string {
  const share = ((100 * reached) / peak).toFixed(0);
  return `the encoder's products come to ${reached.toFixed(0)} GFLOPS, ${share} % of ${peak.toFixed(0)} for products alone`;
}

function partRow(part: string, answers: readonly Answer[]): Row {
  const times = answers.map(({ parts = {} }) => parts[part] ?? 0);
  const share = 100 * median(answers.map(({ ms }, i) => times[i] / ms));
  return { name: `  ${part}, ${share.toFixed(1)} %`, unit: 'ms', value: spread(times) };
}

async function scifactPart(setting: Setting): Promise<Part> {
  const { scratch, weights, corpus, scifact, python, rounds } = setting;
  if (!python) throw new Error('the part scifact needs LZERO_PYTHON');
  const model = join(scratch, 'minilm-mlm');
  execFileSync(python, ['-B', join(PEERS, 'calibrated_mlm.py'), join(weights, 'minilm-l6'), corpus, model], {
    stdio: 'ignore',
  });
  const batches = join(scratch, 'mixed.json');
  await writeTrainingBatches(batches, { ...scifact, model, numBatches: NUM_MIXED });
  const parsed = trainingBatchesSchema.parse(JSON.parse(readFileSync(batches, 'utf8')));
  const examples = writeExamples(join(scratch, 'examples.jsonl'), parsed);
  const peer = 'SparseEncoderTrainer';
  const script = join(PEERS, 'sparse_trainer.py');
  const entries = [
    ours(RECOMPUTE, { model, batches, maxLength: MIX_TOKENS }),
    ours(SAVE, { model, batches, maxLength: MIX_TOKENS, engine: { activations: 'save' } }),
    { name: peer, command: [python, '-B', script, model, examples, String(availableParallelism())] },
  ];
  const results = await compare(entries, rounds);
  return {
    title: `MiniLM's shape with an MLM head, SciFact's mix of lengths up to ${MIX_TOKENS} tokens, ${STEP_DOCUMENTS} documents a step`,
    rows: [...rateRows(results, STEP_DOCUMENTS), ...memoryRows(results)],
    claims: [
      ...[RECOMPUTE, SAVE].flatMap((us) => [
        atLeast(`${us}, against ${peer}`, speedUp(results, us, peer), 2.5),
        memoryClaim(results, [us, peer]),
      ]),
    ],
  };
}

async function bertBasePart({ scratch, weights, scifact }: Setting): Promise<Part> {
  const model = join(weights, 'bert-base-mlm');
  const batches = join(scratch, 'bert-base.json');
  await writeTrainingBatches(batches, { ...scifact, model, numBatches: 2, numTokens: MIX_TOKENS });
  const results = await compare([ours('lzero, recompute', { model, batches, maxLength: MIX_TOKENS })], 1);
  const gigabytes = peakOf(results, 'lzero, recompute') / 1e9;
  return {
    title: `BERT-base, ${STEP_DOCUMENTS} × ${MIX_TOKENS} tokens`,
    rows: [...stepRows(results), ...memoryRows(results)],
    claims: [atMost('peak memory', gigabytes, { limit: 8, unit: 'GB' })],
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '5' }, only: { type: 'string' }, json: { type: 'string' } },
  });
  const { weights, data, python, rounds, wanted } = benchOptions(values, PARTS);
  const where = await circumstances();
  console.log(describe(where));
  if (!python) console.log('peers and the part scifact skipped: LZERO_PYTHON is not set (bench/peers/README.md)');
  const scratch = mkdtempSync(join(tmpdir(), 'lzero-bench-'));
  const parts: Part[] = [];
  const report = (part: Part): void => {
    printPart(part);
    parts.push(part);
  };
  try {
    const corpusFiles = writeCorpus(scratch, data);
    const tied = join(scratch, 'minilm-tied');
    await importTied(tied, { weights, ...corpusFiles, encodeLength: STEP_TOKENS });
    const setting: Setting = { scratch, weights, python, rounds, tied, scifact: scifactIn(data), ...corpusFiles };
    if (wanted.includes('steps')) report(await stepsPart(setting));
    if (wanted.includes('shares')) {
      for (const activations of ['recompute', 'save'] as const)
        report(await sharesPart(setting, 'MiniLM with tied head', { model: tied, activations }));
      report(
        await sharesPart(setting, 'splade-tiny', { model: join(weights, 'splade-tiny'), activations: 'recompute' }),
      );
    }
    if (wanted.includes('scifact') && python) report(await scifactPart(setting));
    if (wanted.includes('bert-base')) report(await bertBasePart(setting));
  } finally {
    rmSync(scratch, { recursive: true });
  }
  if (values.json) writeResults(values.json, where, parts);
}

await main();
