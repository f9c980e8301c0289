/**
 * The training kernels in WebAssembly against their twins in TypeScript, on one thread and the arrays of a MiniLM: 22.7 M
 * parameters, vocabulary of 30,522, rows of 384, a batch of 16 documents with 300 active terms each.
 *
 *     npx tsx bench/training-kernels.ts [--rounds 9] [--json results.json]
 *
 * Both work on the same memory and take turns. The bars are what a step of training counts on: AdamW and the codes of
 * the decoder run once a step over everything, and must be small beside the 1.3 s of the step itself. The sum of squares
 * reads 90 MB and does little else, so memory bounds what SIMD can win. Processor time moves less than wall time where
 * something else runs.
 */
import { parseArgs } from 'node:util';
import { Random } from '../src/core/index.ts';
import { createTrainingKernel, type TrainingKernel, TrainingMemory } from '../src/kernels/index.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atLeast, type Part, printPart, writeResults } from './lib/report.ts';
import { formatSpread, spread } from './lib/statistics.ts';
import { cpuSaving, speedUps, takeTurns } from './lib/turns.ts';

const NUM_WEIGHTS = 22_744_506;
const NUM_TERMS = 30_522;
const SIZE = 384;
const NUM_DOCUMENTS = 16;
const NUM_POSITIONS = NUM_DOCUMENTS * 128;
const NUM_PAIRS = NUM_DOCUMENTS * 300;
/** Elements of one mask: the attention of 12 heads over 16 documents of 128 tokens. */
const NUM_MASKED = 12 * NUM_DOCUMENTS * 128 * 128;
/** All arrays below take 480 MB. */
const MEMORY_BYTES = 512 * 2 ** 20;
/** Calls before the first turn: the optimising compiler takes over a function of WebAssembly between calls. */
const WARM_UP = 3;

type Task = { readonly name: string; readonly bar: number; run(kernel: TrainingKernel): unknown };

const random = new Random(6);

/** Numbers around 0 in the memory. */
function noise(memory: TrainingMemory, length: number, width: number): Float32Array {
  const values = memory.floats(length);
  for (let i = 0; i < length; i++) values[i] = width * (random.uniform() - 0.5);
  return values;
}

/** Rows drawn at random. */
function draw(memory: TrainingMemory, length: number, numRows: number): Int32Array {
  const rows = memory.ints(length);
  for (let i = 0; i < length; i++) rows[i] = random.below(numRows);
  return rows;
}

function parameterTasks(memory: TrainingMemory): Task[] {
  const [weights, gradients] = [0.1, 0.01].map((width) => noise(memory, NUM_WEIGHTS, width));
  const [moments, variances] = [memory.floats(NUM_WEIGHTS), memory.floats(NUM_WEIGHTS)];
  const options = { learningRate: 2e-5, weightDecay: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };
  let step = 0;
  const adamW = (kernel: TrainingKernel) =>
    kernel.adamW({ weights, gradients, moments, variances }, { ...options, step: ++step });
  return [
    { name: 'AdamW, 22.7 M weights', bar: 2, run: adamW },
    { name: 'sum of squares, 22.7 M', bar: 1.5, run: (kernel) => kernel.sumOfSquares(gradients) },
    { name: 'scale, 22.7 M', bar: 1.5, run: (kernel) => kernel.scale(gradients, 0.999) },
    { name: 'add scaled, 22.7 M', bar: 1.5, run: (kernel) => kernel.addScaled(moments, gradients, 0.001) },
  ];
}

function headTasks(memory: TrainingMemory): Task[] {
  const [decoder, dDecoder] = [0.1, 0].map((width) => noise(memory, NUM_TERMS * SIZE, width));
  const [inputs, dInputs] = [1, 0].map((width) => noise(memory, NUM_POSITIONS * SIZE, width));
  const [terms, rows] = [NUM_TERMS, NUM_POSITIONS].map((numRows) => draw(memory, NUM_PAIRS, numRows));
  const gradients = noise(memory, NUM_PAIRS, 1);
  const pairs = { count: NUM_PAIRS, terms, rows, gradients, decoder, dDecoder, inputs, dInputs, size: SIZE };
  const indices = draw(memory, NUM_POSITIONS, NUM_TERMS);
  const [scales, norms, errors] = Array.from({ length: 3 }, () => memory.floats(NUM_TERMS));
  const quantised = { rows: decoder, size: SIZE, codes: memory.bytes(decoder.length), scales, norms, errors };
  return [
    { name: 'head backward, 16 × 300 terms × 384', bar: 2, run: (kernel) => kernel.headBackward(pairs) },
    {
      name: 'add rows, 16 × 128 × 384',
      bar: 1.5,
      run: (kernel) => kernel.addRows({ indices, rows: inputs, table: dDecoder, size: SIZE }),
    },
    { name: 'codes of the decoder, 30,522 × 384', bar: 2, run: (kernel) => kernel.quantiseRows(quantised) },
  ];
}

function maskTask(memory: TrainingMemory): Task {
  const out = memory.bytes(NUM_MASKED);
  let seed = 0;
  return {
    name: 'dropout mask, 3.1 M',
    bar: 4,
    run: (kernel) => kernel.dropoutMask(out, { seed: seed++, rate: 0.1 }),
  };
}

async function measure({ name, bar, run }: Task, kernels: readonly TrainingKernel[], rounds: number): Promise<Part> {
  const turns = kernels.map((kernel) => ({
    name: kernel.name,
    measure: async () => {
      const start = performance.now();
      const cpuStart = process.cpuUsage();
      run(kernel);
      const { user, system } = process.cpuUsage(cpuStart);
      return { ms: performance.now() - start, cpuMs: (user + system) / 1000 };
    },
  }));
  const results = await takeTurns(turns, rounds);
  const ratio = speedUps(results, 'wasm', 'typescript');
  const rows = [...results].map(([kernel, answers]) => ({
    name: kernel,
    unit: 'ms',
    value: spread(answers.map(({ ms }) => ms)),
  }));
  const claims = [
    atLeast(`wasm against TypeScript, ${formatSpread(ratio, 2)}`, ratio.median, bar),
    atLeast('the same in processor time', cpuSaving(results, 'wasm', 'typescript'), bar),
  ];
  return { title: name, rows, claims };
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' }, json: { type: 'string' } } });
  const where = await circumstances();
  console.log(describe(where));
  const memory = new TrainingMemory(MEMORY_BYTES);
  const kernels = (['wasm', 'typescript'] as const).map((name) => createTrainingKernel(memory, name));
  const parts: Part[] = [];
  for (const task of [...parameterTasks(memory), ...headTasks(memory), maskTask(memory)]) {
    for (const kernel of kernels) for (let i = 0; i < WARM_UP; i++) task.run(kernel);
    const part = await measure(task, kernels, Number(values.rounds));
    printPart(part);
    parts.push(part);
  }
  if (values.json) writeResults(values.json, where, parts);
}

await main();
