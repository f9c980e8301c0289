/**
 * Upper bounds for the decoder's products, so that terms that cannot be active are never computed in float32.
 *
 *     w_j = s_j·c_j + f_j        codes c of 7 bits, one scale per term, rest f
 *     u_i = s·p_i + e_i          codes p of 8 bits, one scale per document, rest e
 *
 *     u_i·w_j = s·s_j·(p_i·c_j) + s·p_i·f_j + e_i·w_j
 *             ≤ s·s_j·(p_i·c_j) + ‖s·p_i‖·‖f_j‖ + ‖e_i‖·‖w_j‖           (Cauchy–Schwarz)
 *
 * The first term is exact in integers (term-products.ts). The two norms are stored a thousandth too large; ‖f_j‖ also by
 * H·2⁻²³·‖w_j‖, since rows that their codes hold exactly have f = 0 and would leave no room for what float32 loses in the
 * first term and in the product itself.
 */
import { ShapeError } from '../core/index.ts';

/** The 8-bit side of a decoder. */
export type TermBounds = {
  readonly hiddenSize: number;
  /** c + CODE_ZERO, [V, H] */
  readonly codes: Uint8Array;
  /** s_j, [V] */
  readonly scales: Float32Array;
  /** ‖w_j‖, [V] */
  readonly norms: Float32Array;
  /** ‖f_j‖, [V] */
  readonly errors: Float32Array;
};

/** What is added to a code of w to make it unsigned. */
export const CODE_ZERO = 64;
/** Largest |c|. */
const CODE_LIMIT = 63;
/** Largest |p|. */
export const ACTIVATION_LIMIT = 127;
/** Room for float32's rounding of the norms. */
const SAFETY = 1.001;
/** Room for float32's rounding of a product, as a share of ‖u‖·‖w_j‖ for each of its H terms: twice the worst case. */
const ROUNDING = 2 ** -23;
/** Rows below this have no codes: their scale would be denormal and too coarse. All of such a row is rest. */
const SMALLEST = 1e-30;

/** Makes the bounds of a decoder, w as [V, H]. */
export function termBounds(w: Float32Array, hiddenSize: number): TermBounds {
  const numTerms = w.length / hiddenSize;
  if (!Number.isInteger(numTerms)) throw new ShapeError(`${w.length} decoder weights are not rows of ${hiddenSize}`);
  const bounds = {
    hiddenSize,
    codes: new Uint8Array(w.length),
    scales: new Float32Array(numTerms),
    norms: new Float32Array(numTerms),
    errors: new Float32Array(numTerms),
  };
  for (let j = 0; j < numTerms; j++) quantiseRow(w, j, bounds);
  return bounds;
}

/** One term. Codes are rounded by cutting off the fraction of x/s + CODE_ZERO + ½, which is positive: twice as fast. */
function quantiseRow(w: Float32Array, j: number, { hiddenSize, codes, scales, norms, errors }: TermBounds): void {
  const begin = j * hiddenSize;
  const end = begin + hiddenSize;
  let largest = 0;
  for (let i = begin; i < end; i++) largest = Math.max(largest, Math.abs(w[i]));
  const scale = largest > SMALLEST ? Math.fround(largest / CODE_LIMIT) : 1;
  const perStep = 1 / scale;
  let norm2 = 0;
  let error2 = 0;
  for (let i = begin; i < end; i++) {
    const x = w[i];
    const code = Math.trunc(x * perStep + CODE_ZERO + 0.5);
    const rest = x - (code - CODE_ZERO) * scale;
    codes[i] = code;
    norm2 += x * x;
    error2 += rest * rest;
  }
  scales[j] = scale;
  norms[j] = Math.sqrt(norm2) * SAFETY;
  errors[j] = (Math.sqrt(error2) + hiddenSize * ROUNDING * Math.sqrt(norm2)) * SAFETY;
}
