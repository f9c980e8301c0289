/**
 * The inner loops of training in plain TypeScript, which says what they compute; assembly/training.ts is the same in
 * WebAssembly, with the same results to the bit (of a NaN only that it is one). For that, every float32 operation is
 * rounded by itself, in the order written here: a product and a sum are never fused. Nothing is checked here; see
 * training-kernel.ts.
 */
import {
  CODE_LIMIT,
  CODE_ZERO,
  HASH_A,
  HASH_B,
  LEAST_MOMENT,
  LEAST_VARIANCE,
  ROUNDING,
  SAFETY,
  SMALLEST,
} from './training-constants.ts';

/** One group of parameters and what AdamW keeps of it; all of one length. */
export type AdamWArrays = {
  readonly weights: Float32Array;
  readonly gradients: Float32Array;
  /** m, first moment */
  readonly moments: Float32Array;
  /** v, second moment */
  readonly variances: Float32Array;
};

/** The numbers of one step, formed in float64 and rounded once. */
export type AdamWFactors = {
  /** 1 − γλ */
  readonly decay: number;
  /** 1 − β₁ */
  readonly momentShare: number;
  /** β₂ */
  readonly varianceKeep: number;
  /** 1 − β₂ */
  readonly varianceShare: number;
  /** γ / (1 − β₁ᵗ) */
  readonly stepSize: number;
  /** √(1 − β₂ᵗ) */
  readonly correction: number;
  /** ε */
  readonly epsilon: number;
};

/** The active (document, term) pairs of a batch and the two factors of their products u·e. */
export type HeadBackward = {
  /** How many pairs of the three arrays count. */
  readonly count: number;
  /** Row of the decoder, per pair. */
  readonly terms: Int32Array;
  /** Row of the inputs, per pair: the position that won the maximum. */
  readonly rows: Int32Array;
  /** g, gradient of the product, per pair. */
  readonly gradients: Float32Array;
  /** E, [V, size] */
  readonly decoder: Float32Array;
  /** Gradient of E, added to; undefined where it is not wanted. */
  readonly dDecoder: Float32Array | undefined;
  /** u, [N, size] */
  readonly inputs: Float32Array;
  /** Gradient of u, added to. */
  readonly dInputs: Float32Array;
  readonly size: number;
};

/** Rows to be added to rows of a table. */
export type AddRows = {
  /** Row of the table, per row. */
  readonly indices: Int32Array;
  /** [indices.length, size] */
  readonly rows: Float32Array;
  /** [V, size], added to. */
  readonly table: Float32Array;
  readonly size: number;
};

/** Rows, and room for their codes of 7 bits. */
export type QuantiseRows = {
  /** w, [n, size] */
  readonly rows: Float32Array;
  readonly size: number;
  /** c + 64, [n, size] */
  readonly codes: Uint8Array;
  /** s, [n] */
  readonly scales: Float32Array;
  /** ‖w‖, a thousandth too large, [n] */
  readonly norms: Float32Array;
  /** ‖w − s·c‖ and the room that float32 needs, [n] */
  readonly errors: Float32Array;
};

/** What makes a mask: two keys of 32 bits, and the hash below which an element is dropped. */
export type MaskKeys = { readonly first: number; readonly second: number; readonly threshold: number };

/** The loops in one language. */
export type TrainingLoops = {
  adamW(arrays: AdamWArrays, factors: AdamWFactors): void;
  sumOfSquares(x: Float32Array): number;
  scale(x: Float32Array, factor: number): void;
  addScaled(y: Float32Array, x: Float32Array, factor: number): void;
  headBackward(pairs: HeadBackward): void;
  addRows(rows: AddRows): void;
  dropoutMask(out: Uint8Array, keys: MaskKeys): void;
  quantiseRows(rows: QuantiseRows): void;
};

/** The loops in TypeScript. */
export const typescriptLoops: TrainingLoops = {
  adamW,
  sumOfSquares,
  scale,
  addScaled,
  headBackward,
  addRows,
  dropoutMask,
  quantiseRows,
};

/**
 * One step of AdamW.
 *
 *     w ← (1 − γλ)·w
 *     m ← m + (1 − β₁)·(g − m)
 *     v ← β₂·v + (1 − β₂)·g²
 *     w ← w − γ/(1 − β₁ᵗ) · m / (√v / √(1 − β₂ᵗ) + ε)
 *
 * Loshchilov and Hutter, ICLR 2019, https://arxiv.org/abs/1711.05101 (algorithm 2), in the order of PyTorch's
 * `torch.optim.AdamW` on a CPU. PyTorch rounds the product and the sum of the second and third lines once, not twice,
 * where the processor can; for β₁ ≤ ½ it writes the second from the other end, g − β₁·(g − m).
 *
 * m and v that are next to nothing become 0, which PyTorch leaves out. The moments of a word that has not come for some
 * nine hundred steps would decay into denormal numbers and, by rounding, stay there; processors take some thirty times as
 * long over those. The weights do not notice: γ·LEAST_MOMENT/ε is far below their last bit.
 */
function adamW({ weights, gradients, moments, variances }: AdamWArrays, factors: AdamWFactors): void {
  const decay = Math.fround(factors.decay);
  const momentShare = Math.fround(factors.momentShare);
  const varianceKeep = Math.fround(factors.varianceKeep);
  const varianceShare = Math.fround(factors.varianceShare);
  const stepSize = Math.fround(factors.stepSize);
  const correction = Math.fround(factors.correction);
  const epsilon = Math.fround(factors.epsilon);
  const [leastMoment, leastVariance] = [LEAST_MOMENT, LEAST_VARIANCE].map(Math.fround);
  for (let i = 0; i < weights.length; i++) {
    const g = gradients[i];
    const m = orZero(Math.fround(moments[i] + Math.fround(momentShare * Math.fround(g - moments[i]))), leastMoment);
    const square = Math.fround(Math.fround(varianceShare * g) * g);
    const v = orZero(Math.fround(Math.fround(varianceKeep * variances[i]) + square), leastVariance);
    const denominator = Math.fround(Math.fround(Math.fround(Math.sqrt(v)) / correction) + epsilon);
    moments[i] = m;
    variances[i] = v;
    weights[i] = Math.fround(decay * weights[i]) - Math.fround(Math.fround(stepSize * m) / denominator);
  }
}

/** x, or 0 where |x| is below `least`; NaN stays. */
function orZero(x: number, least: number): number {
  return Math.abs(x) < least ? 0 : x;
}

/**
 * Σ x² in float64, where squares of float32 numbers are exact: only the order of the sums counts. Eight lanes take whole
 * groups of eight, then come the sums of lanes that lie two, then one apart in a register, then the rest one by one.
 */
function sumOfSquares(x: Float32Array): number {
  const lanes = new Float64Array(8);
  const whole = x.length - (x.length % 8);
  for (let i = 0; i < whole; i += 8) for (let lane = 0; lane < 8; lane++) lanes[lane] += x[i + lane] * x[i + lane];
  const even = lanes[0] + lanes[2] + (lanes[4] + lanes[6]);
  const odd = lanes[1] + lanes[3] + (lanes[5] + lanes[7]);
  let sum = even + odd;
  for (let i = whole; i < x.length; i++) sum += x[i] * x[i];
  return sum;
}

/** x ← factor·x */
function scale(x: Float32Array, factor: number): void {
  const f = Math.fround(factor);
  for (let i = 0; i < x.length; i++) x[i] *= f;
}

/** y ← y + factor·x */
function addScaled(y: Float32Array, x: Float32Array, factor: number): void {
  const f = Math.fround(factor);
  for (let i = 0; i < y.length; i++) y[i] += Math.fround(f * x[i]);
}

/**
 * Gradients of the products z = u_r·e_t that won a maximum, pair by pair in the order given:
 *
 *     du_r ← du_r + g·e_t        de_t ← de_t + g·u_r
 */
function headBackward(pairs: HeadBackward): void {
  const { count, terms, rows, gradients, decoder, dDecoder, inputs, dInputs, size } = pairs;
  for (let i = 0; i < count; i++) {
    const g = gradients[i];
    const term = terms[i] * size;
    const row = rows[i] * size;
    for (let h = 0; h < size; h++) dInputs[row + h] += Math.fround(g * decoder[term + h]);
    if (dDecoder) for (let h = 0; h < size; h++) dDecoder[term + h] += Math.fround(g * inputs[row + h]);
  }
}

/** table[indices[i]] ← table[indices[i]] + rows[i], in the order of i: indices may repeat. */
function addRows({ indices, rows, table, size }: AddRows): void {
  for (let i = 0; i < indices.length; i++) {
    const from = i * size;
    const to = indices[i] * size;
    for (let h = 0; h < size; h++) table[to + h] += rows[from + h];
  }
}

/**
 * A mask of dropout: 1 keeps, 0 drops. Element i depends on its number and the keys alone, so that a mask can be made
 * again for the backward pass, in any order and in pieces of any size:
 *
 *     keep_i = hash(hash(i + k₁) ⊕ k₂) ≥ threshold
 *
 * One round would not do: masks of two seeds would be the same sequence, shifted.
 */
function dropoutMask(out: Uint8Array, { first, second, threshold }: MaskKeys): void {
  for (let i = 0; i < out.length; i++) out[i] = hash(hash(i + first) ^ second) >>> 0 >= threshold ? 1 : 0;
}

/**
 * A bijection of 32 bits in which every bit depends on every other: the finaliser of core's `Random`, found by search
 * for the least bias (https://github.com/skeeto/hash-prospector, two rounds).
 */
export function hash(x: number): number {
  let z = Math.imul(x ^ (x >>> 16), HASH_A);
  z = Math.imul(z ^ (z >>> 15), HASH_B);
  return z ^ (z >>> 15);
}

/** Codes and bounds of a decoder's rows; what they are for, and the formulas, stand in src/model/term-bounds.ts. */
function quantiseRows(target: QuantiseRows): void {
  for (let row = 0; row < target.scales.length; row++) quantiseRow(target, row);
}

/** The sums run in the order of h; in WebAssembly two rows share a register, which keeps it. */
function quantiseRow({ rows, size, codes, scales, norms, errors }: QuantiseRows, row: number): void {
  const begin = row * size;
  const end = begin + size;
  let largest = 0;
  for (let i = begin; i < end; i++) largest = Math.max(largest, Math.abs(rows[i]));
  const step = largest > SMALLEST ? Math.fround(largest / CODE_LIMIT) : 1;
  const perStep = 1 / step;
  const zero = CODE_ZERO; // an imported name is looked up at every use: six times slower in the loop
  let norm2 = 0;
  let error2 = 0;
  for (let i = begin; i < end; i++) {
    const w = rows[i];
    const code = Math.trunc(w * perStep + zero + 0.5);
    const rest = w - (code - zero) * step;
    codes[i] = code;
    norm2 += w * w;
    error2 += rest * rest;
  }
  scales[row] = step;
  norms[row] = Math.sqrt(norm2) * SAFETY;
  errors[row] = (Math.sqrt(error2) + size * ROUNDING * Math.sqrt(norm2)) * SAFETY;
}
