/** What a step learns from. */
import type { Matrix } from '../../losses/index.ts';

/** Q queries with G documents each. */
export type TrainingBatch = {
  readonly queries: readonly string[];
  /** Document (n,g) at n·G + g; the first of each query is its positive where there are no scores. */
  readonly documents: readonly string[];
  /** Teacher scores, [Q, G] */
  readonly teacher?: Matrix | undefined;
};
