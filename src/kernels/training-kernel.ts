/**
 * The inner loops of training behind one face: WebAssembly where the machine has its SIMD, TypeScript elsewhere. Here is
 * checked what the loops trust: that arrays lie in the memory, that their lengths fit, that rows are rows of their
 * tables. Arrays of one call must not overlap, unless they are the same.
 */
import { assert, ShapeError } from '../core/index.ts';
import type { KernelName } from './kernel.ts';
import { TRAINING_KERNEL } from './training-bytes.ts';
import { NOWHERE } from './training-constants.ts';
import type { TrainingMemory } from './training-memory.ts';
import {
  type AdamWArrays,
  type AdamWFactors,
  type AddRows,
  type HeadBackward,
  hash,
  type MaskKeys,
  type QuantiseRows,
  type TrainingLoops,
  typescriptLoops,
} from './training-twin.ts';
import { instantiate } from './webassembly.ts';

/** Settings of one AdamW step. */
export type AdamWOptions = {
  /** γ */
  readonly learningRate: number;
  /** λ */
  readonly weightDecay: number;
  /** β₁ */
  readonly beta1: number;
  /** β₂ */
  readonly beta2: number;
  /** ε */
  readonly epsilon: number;
  /** t, from 1 */
  readonly step: number;
};

/** What makes a mask of dropout. */
export type DropoutOptions = {
  /** Any whole number from 0 to 2⁵³ − 1. */
  readonly seed: number;
  /** Share that is dropped, in [0, 1); by steps of 2⁻³². */
  readonly rate: number;
};

/** The loops over arrays of one TrainingMemory. What each computes stands in training-twin.ts. */
export type TrainingKernel = {
  /** In which language the loops run. Results are the same to the bit. */
  readonly name: KernelName;
  /** One step of AdamW, in place. */
  adamW(arrays: AdamWArrays, options: AdamWOptions): void;
  /** Σ x², in float64. */
  sumOfSquares(x: Float32Array): number;
  /** x ← factor·x */
  scale(x: Float32Array, factor: number): void;
  /** y ← y + factor·x */
  addScaled(y: Float32Array, x: Float32Array, factor: number): void;
  /** Adds the gradients of the active products of the head to those of its two factors. */
  headBackward(pairs: HeadBackward): void;
  /** table[indices[i]] ← table[indices[i]] + rows[i] */
  addRows(rows: AddRows): void;
  /** Writes 1 for each element that is kept, 0 for each that is dropped. The same seed gives the same mask. */
  dropoutMask(out: Uint8Array, options: DropoutOptions): void;
  /** Writes the 8-bit codes and bounds of a decoder's rows: the bits of the model's `termBounds`. */
  quantiseRows(rows: QuantiseRows): void;
};

/** The kernel of this name; the TypeScript one where WebAssembly or its SIMD is missing. */
export function createTrainingKernel(memory: TrainingMemory, name: KernelName = 'wasm'): TrainingKernel {
  const wasm = name === 'wasm' ? wasmLoops(memory) : undefined;
  return { name: wasm ? 'wasm' : 'typescript', ...checkedKernel(memory, wasm ?? typescriptLoops) };
}

function wasmLoops({ wasm }: TrainingMemory): TrainingLoops | undefined {
  const functionOf = wasm && instantiate(TRAINING_KERNEL, wasm);
  if (!functionOf) return undefined;
  const [adamW, sumOfSquares, scale, addScaled] = ['adamW', 'sumOfSquares', 'scale', 'addScaled'].map(functionOf);
  const [headBackward, addRows] = ['headBackward', 'addRows'].map(functionOf);
  const [dropoutMask, quantiseRows] = ['dropoutMask', 'quantiseRows'].map(functionOf);
  return {
    adamW: (p, f) =>
      adamW(
        ...addresses(p.weights, p.gradients, p.moments, p.variances),
        p.weights.length,
        ...[f.decay, f.momentShare, f.varianceKeep, f.varianceShare, f.stepSize, f.correction, f.epsilon],
      ),
    sumOfSquares: (x) => Number(sumOfSquares(x.byteOffset, x.length)),
    scale: (x, factor) => scale(x.byteOffset, x.length, factor),
    addScaled: (y, x, factor) => addScaled(...addresses(y, x), y.length, factor),
    headBackward: (p) =>
      headBackward(
        p.count,
        ...addresses(p.terms, p.rows, p.gradients, p.decoder),
        p.dDecoder?.byteOffset ?? NOWHERE,
        ...addresses(p.inputs, p.dInputs),
        p.size,
      ),
    addRows: (p) => addRows(p.indices.byteOffset, p.indices.length, ...addresses(p.rows, p.table), p.size),
    dropoutMask: (out, keys) => dropoutMask(out.byteOffset, out.length, keys.first, keys.second, keys.threshold),
    quantiseRows: (p) =>
      quantiseRows(...[p.rows.byteOffset, p.scales.length, p.size], ...addresses(p.codes, p.scales, p.norms, p.errors)),
  };
}

function addresses(...arrays: readonly NumberArray[]): number[] {
  return arrays.map((array) => array.byteOffset);
}

type NumberArray = Float32Array | Int32Array | Uint8Array;

function checkedKernel(memory: TrainingMemory, loops: TrainingLoops): Omit<TrainingKernel, 'name'> {
  const inMemory = (arrays: Readonly<Record<string, NumberArray>>) => checkMemory(memory, arrays);
  return {
    adamW({ weights, gradients, moments, variances }, options) {
      inMemory({ weights, gradients, moments, variances });
      checkLengths(weights.length, { gradients, moments, variances });
      loops.adamW({ weights, gradients, moments, variances }, factorsOf(options));
    },
    sumOfSquares(x) {
      inMemory({ x });
      return loops.sumOfSquares(x);
    },
    scale(x, factor) {
      inMemory({ x });
      loops.scale(x, factor);
    },
    addScaled(y, x, factor) {
      inMemory({ y, x });
      checkLengths(y.length, { x });
      loops.addScaled(y, x, factor);
    },
    headBackward(pairs) {
      const { count, terms, rows, gradients, decoder, dDecoder, inputs, dInputs, size } = pairs;
      inMemory({ terms, rows, gradients, decoder, inputs, dInputs, ...(dDecoder && { dDecoder }) });
      if (dDecoder) checkLengths(decoder.length, { dDecoder });
      checkLengths(inputs.length, { dInputs });
      checkPairCount(count, { terms, rows, gradients });
      checkRows(terms.subarray(0, count), 'terms', numRows(decoder, size));
      checkRows(rows.subarray(0, count), 'rows', numRows(inputs, size));
      loops.headBackward(pairs);
    },
    addRows(p) {
      const { indices, rows, table, size } = p;
      inMemory({ indices, rows, table });
      checkLengths(indices.length * size, { rows });
      checkRows(indices, 'indices', numRows(table, size));
      loops.addRows(p);
    },
    dropoutMask(out, options) {
      inMemory({ out });
      loops.dropoutMask(out, keysOf(options));
    },
    quantiseRows(p) {
      const { rows, size, codes, scales, norms, errors } = p;
      inMemory({ rows, codes, scales, norms, errors });
      checkLengths(rows.length, { codes });
      checkLengths(numRows(rows, size), { scales, norms, errors });
      loops.quantiseRows(p);
    },
  };
}

/** Bias corrections and the like in float64; the loops round each once. */
function factorsOf({ learningRate, weightDecay, beta1, beta2, epsilon, step }: AdamWOptions): AdamWFactors {
  assert(Number.isInteger(step) && step >= 1, `AdamW's steps count from 1, not ${step}`);
  return {
    decay: 1 - learningRate * weightDecay,
    momentShare: 1 - beta1,
    varianceKeep: beta2,
    varianceShare: 1 - beta2,
    stepSize: learningRate / (1 - beta1 ** step),
    correction: Math.sqrt(1 - beta2 ** step),
    epsilon,
  };
}

/** Two keys that depend on all 53 bits of the seed. */
function keysOf({ seed, rate }: DropoutOptions): MaskKeys {
  assert(Number.isSafeInteger(seed) && seed >= 0, `the seed of a mask is a whole number from 0, not ${seed}`);
  assert(rate >= 0 && rate < 1, `a rate of dropout is at least 0 and below 1, not ${rate}`);
  const upper = hash(Math.floor(seed / 2 ** 32) + GOLDEN);
  const first = hash((seed % 2 ** 32) + upper);
  return { first, second: hash(first + GOLDEN) ^ upper, threshold: Math.floor(rate * 2 ** 32) };
}

/** 2³² divided by the golden ratio: keeps keys of small seeds from the hash's only fixed point, 0. */
const GOLDEN = 0x9e3779b9;

function checkMemory(memory: TrainingMemory, arrays: Readonly<Record<string, NumberArray>>): void {
  for (const [name, array] of Object.entries(arrays))
    if (array.buffer !== memory.buffer) throw new ShapeError(`${name} does not lie in the memory of the kernel`);
}

function checkLengths(length: number, arrays: Readonly<Record<string, NumberArray>>): void {
  for (const [name, array] of Object.entries(arrays))
    if (array.length !== length) throw new ShapeError(`${name} has ${array.length} elements, expected ${length}`);
}

function checkPairCount(count: number, arrays: Readonly<Record<string, NumberArray>>): void {
  for (const [name, { length }] of Object.entries(arrays))
    if (!(Number.isInteger(count) && count >= 0 && count <= length))
      throw new ShapeError(`${count} pairs cannot be read from ${name}, which has ${length} elements`);
}

/** Rows of a table; sizes that do not divide it are refused. */
function numRows(table: Float32Array, size: number): number {
  const rows = table.length / size;
  if (!(Number.isInteger(size) && size > 0 && Number.isInteger(rows)))
    throw new ShapeError(`${table.length} elements are not rows of ${size}`);
  return rows;
}

function checkRows(indices: Int32Array, name: string, end: number): void {
  const i = indices.findIndex((row) => row < 0 || row >= end);
  if (i >= 0) throw new ShapeError(`${name}[${i}] is row ${indices[i]} of a table of ${end} rows`);
}
