/** The DF-FLOPS regulariser: FLOPS that asks for short posting lists, by a weight for each term. */
import { ConfigError, ShapeError } from '../core/index.ts';
import { type FlopsOptions, flops, type Regularisation } from './flops.ts';
import type { BatchShape, Matrix } from './matrix.ts';

/** How the share of documents that have a term becomes its weight. */
export type DfWeightOptions = {
  /** α, the share of documents at which the weight is one half; between 0 and 1 */
  readonly alpha?: number | undefined;
  /** β, how steeply the weight grows around it */
  readonly beta?: number | undefined;
};

/** Which DF-FLOPS. */
export type DfFlopsOptions = Omit<FlopsOptions, 'termFactors'> &
  DfWeightOptions & {
    /** x_j = DF_j/|C|, [V], each 0 … 1: the share of documents that have term j. No gradient goes through it. */
    readonly documentShares: Float32Array;
  };

/**
 * DF-FLOPS regulariser: FLOPS in which a term counts the more, the more documents have it.
 *
 *     ℓ = Σ_g Σ_j (c_j·ā_gj)²          c_j = 1 / (1 + (x_j^(log_α 2) − 1)^β)          x_j = DF_j/|C|
 *
 * ā is the mean weight of FLOPS (flops.ts), with its grouping and its mask; c is 0 at x = 0, one half at x = α, 1 at x = 1.
 *
 * Porco et al., SIGIR 2025, https://arxiv.org/abs/2505.15070, with α = 0.1 and β = 10; c is their w_t. Whether it stands
 * inside or outside of the square we could not confirm: we have read the abstract and what others make of the formula, and
 * they differ. Inside is what we take: the slope of a term at x = α is a quarter of that of FLOPS, outside it would be one
 * half. The paper has neither grouping (`grouping: 'none'`) nor mask, and takes DF from the documents of a validation every
 * 100 steps; here the caller says what x is.
 *
 * @param w term weights, [B, V], B = Q·G
 */
export function dfFlops(
  w: Matrix,
  shape: BatchShape,
  { documentShares, alpha, beta, ...options }: DfFlopsOptions,
): Regularisation {
  if (documentShares.length !== w.cols)
    throw new ShapeError(`${w.cols} terms have as many shares of documents, got ${documentShares.length}`);
  const termFactors = dfWeights(documentShares, { alpha, beta }); // c, [V]
  return flops(w, shape, { ...options, termFactors });
}

/** c_j = 1 / (1 + (x_j^(log_α 2) − 1)^β), [V]. */
export function dfWeights(x: Float32Array, { alpha = 0.1, beta = 10 }: DfWeightOptions = {}): Float64Array {
  if (!(alpha > 0 && alpha < 1)) throw new ConfigError(`α is a share between 0 and 1, got ${alpha}`);
  if (!(beta > 0)) throw new ConfigError(`β is above 0, got ${beta}`);
  const exponent = Math.LN2 / Math.log(alpha); // log_α 2, below 0: 0 becomes ∞, and its weight 0
  return Float64Array.from(x, (share) => {
    if (!(share >= 0 && share <= 1)) throw new ShapeError(`shares of documents are 0 … 1, got ${share}`);
    return 1 / (1 + (share ** exponent - 1) ** beta);
  });
}
