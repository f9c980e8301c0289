/** The weights of query terms under training, whatever they are made of, and the plain ones: a number for each term. */
import { assert } from '../core/index.ts';
import type { Parameter } from './network/parameters.ts';

/** Weights of query terms. */
export type QueryTable = {
  /** Of these terms, each 0 or more. */
  weightsOf(terms: Uint32Array): Float32Array;
  /** Adds to the gradients of what the weights are made of. `dWeights` is ∂L/∂q beside the terms. */
  addGradients(terms: Uint32Array, dWeights: Float32Array): void;
  /** Of all terms: the finished model's table, [V]. */
  values(): Float32Array;
};

/**
 * A weight for each term, learned or not.
 *
 *     q_j = relu(idf_j)          ∂L/∂idf_j = ∂L/∂q_j where idf_j > 0
 *
 * Terms that learning has brought to 0 stay in queries, with weight 0.
 */
export function freeTable({ weights: idf, gradients }: Pick<Parameter, 'weights' | 'gradients'>): QueryTable {
  return {
    weightsOf: (terms) => Float32Array.from(terms, (term) => Math.max(0, idf[term])),
    addGradients: (terms, dWeights) => {
      assert(gradients !== undefined, 'the weights of query terms are not trained');
      terms.forEach((term, k) => {
        if (idf[term] > 0) gradients[term] += dWeights[k];
      });
    },
    values: () => idf.map((weight) => Math.max(0, weight)),
  };
}
