/** What the tests of the training kernels share: arrays in a kernel's memory, and what PyTorch's AdamW computed. */
import { readFileSync } from 'node:fs';
import {
  createTrainingKernel,
  type QuantiseRows,
  type TrainingKernel,
  TrainingMemory,
} from '../../../src/kernels/index.ts';

/** Both forms of the kernels. */
export const NAMES = ['wasm', 'typescript'] as const;

/** A kernel, and arrays one right behind the other in its memory, so that few of them begin at a cache line. */
export class Desk {
  readonly memory = new TrainingMemory(2 ** 21);
  readonly kernel: TrainingKernel;
  #end = 4;

  constructor(name: (typeof NAMES)[number]) {
    this.kernel = createTrainingKernel(this.memory, name);
  }

  /** Takes all arrays back. */
  clear(): this {
    new Uint8Array(this.memory.buffer, 0, this.#end).fill(0);
    this.#end = 4;
    return this;
  }

  #place(bytes: number): number {
    const at = this.#end;
    this.#end = Math.ceil((at + bytes) / 4) * 4;
    return at;
  }

  /** Numbers, copied into the memory. */
  floats(values: ArrayLike<number>): Float32Array {
    const array = new Float32Array(this.memory.buffer, this.#place(4 * values.length), values.length);
    array.set(values);
    return array;
  }

  /** Integers, copied into the memory. */
  ints(values: ArrayLike<number>): Int32Array {
    const array = new Int32Array(this.memory.buffer, this.#place(4 * values.length), values.length);
    array.set(values);
    return array;
  }

  /** Room for bytes. */
  bytes(length: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, this.#place(length), length);
  }

  /** Rows, and room for their codes. */
  rowsToQuantise(values: ArrayLike<number>, size: number): QuantiseRows {
    const [scales, norms, errors] = Array.from({ length: 3 }, () => this.floats(zeros(values.length / size)));
    return { rows: this.floats(values), size, codes: this.bytes(values.length), scales, norms, errors };
  }
}

/** So many zeros. */
export function zeros(length: number): number[] {
  return new Array(length).fill(0);
}

/** Settings, gradients and results of 20 steps; made by scripts/golden-kernels.py. */
type Golden = {
  readonly cases: readonly {
    readonly learningRate: number;
    readonly weightDecay: number;
    readonly beta1: number;
    readonly beta2: number;
    readonly epsilon: number;
    readonly warmUp: number;
    readonly start: readonly number[];
    readonly gradients: readonly (readonly number[])[];
    readonly weights: readonly (readonly number[])[];
    readonly moments: readonly number[];
    readonly variances: readonly number[];
  }[];
};

/** PyTorch's AdamW. */
export const golden: Golden = JSON.parse(readFileSync(new URL('adamw.json', import.meta.url), 'utf8'));
