/**
 * Matrices in 4-bit codes: tables with a row for each term, [V, H], and the feed-forward part of layers, which together are
 * most of a small model. A 4-bit code chooses one of 16 fixed 8-bit codes, and a row has a scale, or each group of its weights:
 *
 *     w_jk ≈ s_j·L[n_jk]        n ∈ 0…15        L = −64 … −9, −3, 3, 9 … 64
 *
 * L are the levels that lose least of normally distributed weights, 0.0095 of their variance, in whole steps: ±0.1284, 0.3881,
 * 0.6568, 0.9424, 1.256, 1.618, 2.069 and 2.733 standard deviations, times 64 / 2.733. Levels at equal distances lose 0.0115.
 * J. Max, IRE Trans. Inf. Theory 6 (1960), table I for N = 16, https://doi.org/10.1109/TIT.1960.1057548; the test computes
 * them anew.
 *
 * s_j has the least squared error Σ_k (w_jk − s_j·L[n_jk])², under one condition: the largest weight of the row or group is at
 * ±64. So 4 bits of the matrix that was read have the same n again, and int8 of rows with one scale has the scales and codes that
 * were stored (codes.ts).
 *
 * Rows of feed-forward matrices have a few weights far beyond the others, and one scale for 1,536 of them loses 3 to 7 % of their
 * variance; a scale for each group of 48 loses 1 %, for a tenth more bytes. Rows of tables are normal, and lose 1 % as they are.
 */
import { ConfigError, ShapeError } from '../../core/index.ts';
import { CODE_LIMIT, type QuantisedRows } from './codes.ts';

/** The codes that matrices can be stored in. */
export const CODES = ['8bit', '4bit'] as const;
/** One of them. */
export type Codes = (typeof CODES)[number];

/** What the matrices of a model are stored in; all that are not named here are in 8 bits. */
export type MatrixCodes = {
  /** Tables with a row for each term: word embeddings, and a decoder that is not they. */
  readonly tables: Codes;
  /** Both matrices of the feed-forward part of every layer: two thirds of its weights. */
  readonly feedForward: Codes;
};

/** What they are to be stored in; if not given as in the source, or in 8 bits. */
export type AskedCodes = { readonly [Part in keyof MatrixCodes]?: MatrixCodes[Part] | undefined };

/** The parts that are stored in 4 bits, for people. */
export function partsInFourBits({ tables, feedForward }: AskedCodes): string[] {
  return [
    ...(tables === '4bit' ? ['tables of terms'] : []),
    ...(feedForward === '4bit' ? ['feed-forward layers'] : []),
  ];
}

/** Half of the levels; the others are their negatives. */
const POSITIVE_LEVELS = [3, 9, 15, 22, 29, 38, 48, CODE_LIMIT];
/** L, by 4-bit code. */
export const LEVELS: Int8Array = Int8Array.from([
  ...POSITIVE_LEVELS.map((level) => -level).reverse(),
  ...POSITIVE_LEVELS,
]);
/** The code of the smallest positive level; codes of positive weights are not below it. */
const FIRST_POSITIVE = 8;

/** Where each level above the first begins, in half steps: 2|x| ≥ a + b lies beyond the middle of a and b. */
const BORDERS = POSITIVE_LEVELS.slice(1).map((level, i) => level + POSITIVE_LEVELS[i]);
const LAST_BORDER = BORDERS[BORDERS.length - 1];
/** Half steps → the place of the nearest positive level, and that level. */
const PLACE_AT = Uint8Array.from(
  { length: LAST_BORDER + 1 },
  (_, halfSteps) => BORDERS.filter((border) => halfSteps >= border).length,
);
const LEVEL_AT = PLACE_AT.map((place) => POSITIVE_LEVELS[place]);

/** Steps that the largest weight of a row has at least: beyond the last border, 56, with room for rounding. */
const LARGEST_AT = 57;
/** Standard deviation in steps. */
const DEVIATION = CODE_LIMIT / 2.733;
/** Turns of levels by scale and scale by levels; later ones change little. */
const MAX_TURNS = 8;
/** An error of a smaller share of Σ w² is float32's: the row comes from a matrix in 4 bits. */
const EXACT = 1e-12;
/** Rows below this are 0; the scales of all others are well above those that codes.ts calls 0. */
const SMALLEST = 2 ** -100;

/** Weights that share a scale, at most, in matrices of the feed-forward part. */
const LARGEST_GROUP = 48;

/** Weights that share a scale there: the most that rows can be divided into evenly, two codes a byte. */
export function groupSizeOf(rowSize: number): number {
  for (let size = LARGEST_GROUP; size > 0; size -= 2) if (rowSize % size === 0) return size;
  return rowSize;
}

/** Rows in 4-bit codes, or groups of their weights. */
export type PackedRows = {
  /** n, two a byte, the first one in the low half: [R, H/2] */
  readonly packed: Uint8Array<ArrayBuffer>;
  /** s, [R] */
  readonly scales: Float32Array<ArrayBuffer>;
  /** H, even */
  readonly rowSize: number;
};

/** Packs the rows of a matrix of finite values, [R, H]. */
export function packRows(values: Float32Array, rowSize: number): PackedRows {
  if (rowSize % 2 !== 0)
    throw new ConfigError(`rows of ${rowSize} weights cannot be stored in 4-bit codes, two of which fill a byte`, {
      hint: 'leave them in 8 bits, without --tables 4bit and --feed-forward 4bit',
    });
  const numRows = values.length / rowSize;
  if (!Number.isInteger(numRows)) throw new ShapeError(`${values.length} weights are not rows of ${rowSize}`);
  const packed = new Uint8Array(values.length / 2);
  const scales = new Float32Array(numRows);
  for (let row = 0; row < numRows; row++) {
    const weights = values.subarray(row * rowSize, (row + 1) * rowSize);
    scales[row] = fittedScale(weights);
    pack(weights, scales[row], packed.subarray((row * rowSize) / 2, ((row + 1) * rowSize) / 2));
  }
  return { packed, scales, rowSize };
}

/** L[n] and s: the matrix in 8-bit codes. */
export function unpackRows({ packed, scales, rowSize }: PackedRows): QuantisedRows {
  const codes = new Int8Array(packed.length * 2);
  for (let i = 0; i < packed.length; i++) {
    codes[2 * i] = LEVELS[packed[i] & 15];
    codes[2 * i + 1] = LEVELS[packed[i] >> 4];
  }
  return { codes, scales, rowSize };
}

/**
 * s of one row: levels by scale and scale by levels in turns, neither of which can make the error larger. They end in the next
 * best place, so they begin twice: with the largest weight at ±64, and with the spread that the levels are made for.
 */
function fittedScale(weights: Float32Array): number {
  let largest = 0;
  let energy = 0; // Σ w²
  for (let i = 0; i < weights.length; i++) {
    largest = Math.max(largest, Math.abs(weights[i]));
    energy += weights[i] * weights[i];
  }
  if (largest < SMALLEST) return 0;
  const most = largest / LARGEST_AT;
  let best = { scale: 0, error: Number.POSITIVE_INFINITY };
  for (const start of [largest / CODE_LIMIT, Math.sqrt(energy / weights.length) / DEVIATION]) {
    let scale = Math.fround(Math.min(start, most));
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const { product, square } = atLevels(weights, scale);
      const error = energy - 2 * scale * product + scale * scale * square;
      if (error < best.error) best = { scale, error };
      if (error <= EXACT * energy) return best.scale;
      const next = Math.fround(Math.min(product / square, most));
      if (next === scale) break;
      scale = next;
    }
  }
  return best.scale;
}

/** Σ w·L[n] and Σ L[n]² of a row, with the levels that are nearest at this scale. */
function atLevels(weights: Float32Array, scale: number): { readonly product: number; readonly square: number } {
  const halfStepsPer = 2 / scale;
  let product = 0;
  let square = 0;
  for (let i = 0; i < weights.length; i++) {
    const size = Math.abs(weights[i]);
    const level = LEVEL_AT[Math.trunc(Math.min(size * halfStepsPer, LAST_BORDER))];
    product += size * level;
    square += level * level;
  }
  return { product, square };
}

/** Writes the codes of a row; those of a row of zeros are of +3, which makes +0. */
function pack(weights: Float32Array, scale: number, packed: Uint8Array): void {
  const halfStepsPer = scale === 0 ? 0 : 2 / scale;
  const codeOf = (weight: number) => {
    const place = PLACE_AT[Math.trunc(Math.min(Math.abs(weight) * halfStepsPer, LAST_BORDER))];
    return weight * halfStepsPer < 0 ? FIRST_POSITIVE - 1 - place : FIRST_POSITIVE + place;
  };
  for (let i = 0; i < packed.length; i++) packed[i] = codeOf(weights[2 * i]) | (codeOf(weights[2 * i + 1]) << 4);
}
