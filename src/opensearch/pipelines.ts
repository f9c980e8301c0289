/** Search pipelines, sent along with a query: nothing has to be stored on the server. */
import { type JsonObject, UsageError } from '../core/index.ts';

/** How a query is done in two steps: heavy tokens find candidates, all tokens rank them. */
export type TwoPhaseOptions = {
  /** Tokens lighter than this share of the heaviest wait for the second step. */
  readonly pruneRatio?: number | undefined;
  /** Candidates for each hit that is wanted. */
  readonly expansionRate?: number | undefined;
  /** Candidates at most. */
  readonly maxWindowSize?: number | undefined;
};

/**
 * The two-phase pipeline of neural_sparse; server 2.15. Documents that have light tokens only are not found. Not for
 * sparse_vector fields in approximate mode.
 */
export function twoPhasePipeline({
  pruneRatio = 0.4,
  expansionRate = 5,
  maxWindowSize = 10_000,
}: TwoPhaseOptions = {}): JsonObject {
  if (!(pruneRatio >= 0 && pruneRatio <= 1)) throw new UsageError(`pruneRatio is from 0 to 1, got ${pruneRatio}`);
  if (!(expansionRate >= 1)) throw new UsageError(`expansionRate is at least 1, got ${expansionRate}`);
  if (!(maxWindowSize >= 50)) throw new UsageError(`maxWindowSize is at least 50, got ${maxWindowSize}`);
  return {
    request_processors: [
      {
        neural_sparse_two_phase_processor: {
          enabled: true,
          two_phase_parameter: {
            prune_ratio: pruneRatio,
            expansion_rate: expansionRate,
            max_window_size: maxWindowSize,
          },
        },
      },
    ],
  };
}

/** How the scores of a hybrid become one. */
export type NormalisationOptions = {
  /** How scores of one query are made comparable. */
  readonly technique?: 'min_max' | 'l2' | undefined;
  /** One for each query, above 0 and below 1; they add up to 1. A whole number is an error 500 of the server (3.6). */
  readonly weights: readonly number[];
};

/** The pipeline that normalises and adds up the scores of a hybrid; server 2.10. */
export function normalisationPipeline({ technique = 'min_max', weights }: NormalisationOptions): JsonObject {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (weights.some((weight) => !(weight > 0 && weight < 1)) || Math.abs(sum - 1) > 1e-6)
    throw new UsageError(`the weights of a hybrid are above 0, below 1 and add up to 1, got ${weights.join(', ')}`);
  return {
    phase_results_processors: [
      {
        'normalization-processor': {
          normalization: { technique },
          combination: { technique: 'arithmetic_mean', parameters: { weights } },
        },
      },
    ],
  };
}
