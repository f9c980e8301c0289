/**
 * Several teachers as one:
 *
 *     t_g = c · (1/T) Σ_i (s_ig − min_g s_ig) / (max_g s_ig − min_g s_ig + ε)          ε = 1e-6, c = 30
 *
 * over the documents g of one query. Shen, Geng, Yang, SIGIR 2025, https://doi.org/10.1145/3726302.3730192, distil an
 * ensemble of a dense and a sparse teacher; scores and scale as `BiEncoderWrapper.get_scores_batch` of
 * zhichao-aws/opensearch-sparse-model-tuning-sample (5034368e). Knows nothing of models.
 */
import { assert } from '../core/index.ts';

/** ε */
const SMALLEST_RANGE = 1e-6;

/** What becomes of raw scores. */
export type EnsembleOptions = {
  /** min-max: the formula. none: the mean of the scores as they are, times the scale. */
  readonly normalise: 'min-max' | 'none';
  /** c */
  readonly scale: number;
};

/** The paper's. */
export const PAPER_ENSEMBLE: EnsembleOptions = { normalise: 'min-max', scale: 30 };

/**
 * The scores of an ensemble for one query.
 *
 * @param scores s, one row a teacher, [T, G]
 */
export function ensembleScores(
  scores: readonly (readonly number[])[],
  { normalise, scale }: EnsembleOptions = PAPER_ENSEMBLE,
): number[] {
  const [first] = scores;
  assert(first !== undefined && scores.every(({ length }) => length === first.length), 'teachers score the same list');
  const rows = normalise === 'min-max' ? scores.map(withinRange) : scores; // [T, G]
  return first.map((_, g) => (scale / rows.length) * rows.reduce((sum, row) => sum + row[g], 0)); // t, [G]
}

/** (s − min)/(max − min + ε), [G] */
function withinRange(row: readonly number[]): number[] {
  const min = row.reduce((least, s) => Math.min(least, s), Number.POSITIVE_INFINITY); // a row may be a whole collection
  const range = row.reduce((most, s) => Math.max(most, s), Number.NEGATIVE_INFINITY) - min + SMALLEST_RANGE;
  return row.map((s) => (s - min) / range);
}
