/** From what a network gives for a document to its vector: the end of every encoder. */
import type { SparseVector } from '../core/index.ts';
import type { Activation } from './activation.ts';
import { activate } from './activation.ts';
import type { PruneRule } from './prune.ts';
import { prune } from './prune.ts';

/** What the model folder says about turning a network's row over the vocabulary into weights. */
export type WeightRules = {
  /** Undefined where the network has applied it. */
  readonly activation: Activation | undefined;
  readonly prune: PruneRule;
  /** Term ids whose weight is always 0. */
  readonly droppedTerms: ReadonlySet<number>;
  /** Terms that the tokenizer knows. Numbers beyond them only fill the row up to a round size. */
  readonly numTerms: number;
};

/** Active terms of one row, activated and pruned. */
export function documentWeights(row: Float32Array, rules: WeightRules): SparseVector {
  const { activation, droppedTerms, numTerms } = rules;
  const terms: number[] = [];
  const weights: number[] = [];
  for (let j = 0; j < numTerms; j++) {
    if (!(row[j] > 0) || droppedTerms.has(j)) continue;
    terms.push(j);
    weights.push(activation === undefined ? row[j] : activate(row[j], activation));
  }
  return prune({ terms: Uint32Array.from(terms), weights: Float32Array.from(weights) }, rules.prune);
}
