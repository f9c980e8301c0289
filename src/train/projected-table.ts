/** Weights of query terms that are a projection of the word embeddings: a few hundred numbers to learn, not one a term. */
import { assert, ConfigError } from '../core/index.ts';
import type { Matrix } from '../losses/index.ts';
import { rowOf } from '../losses/index.ts';
import type { Parameter } from './network/parameters.ts';
import type { QueryTable } from './query-table.ts';
import { ridge } from './ridge.ts';

/** What the weights are made of. */
export type Projection = {
  /** w, [H] */
  readonly weight: Pick<Parameter, 'weights' | 'gradients'>;
  /** b, [1] */
  readonly bias: Pick<Parameter, 'weights' | 'gradients'>;
  /** E, [V, H], which stays as it is */
  readonly embeddings: Matrix;
  /** c, a factor of all weights, which is not learned */
  readonly scale: number;
};

/**
 * Li-LSR's table.
 *
 *     q_j = c·log(1 + relu(u_j))     u_j = wᵀE_j + b          ∂q_j/∂u_j = c/(1 + u_j) where u_j > 0
 *
 * Nardini et al., SIGIR 2025, https://arxiv.org/abs/2505.01452: Li-LSR, a score for each token from its embedding. Of the
 * paper we had the abstract and descriptions by others. Differences: c is 1 there (fitProjection says why not here); E is
 * the base model's and does not learn with w and b, whether or not the network's own embeddings do. A term whose u is not
 * above 0 has no slope, but moves with the others.
 */
export function projectedTable({ weight, bias, embeddings, scale: c }: Projection): QueryTable {
  const projected = (term: number): number => project(rowOf(embeddings, term), weight.weights) + bias.weights[0]; // u_j
  const weightOf = (term: number): number => c * Math.log1p(Math.max(0, projected(term))); //                        q_j
  return {
    weightsOf: (terms) => Float32Array.from(terms, weightOf),
    addGradients: (terms, dWeights) => {
      assert(weight.gradients !== undefined && bias.gradients !== undefined, 'the projection is not trained');
      for (let k = 0; k < terms.length; k++) {
        const u = projected(terms[k]);
        if (!(u > 0)) continue;
        const dU = (dWeights[k] * c) / (1 + u); // ∂L/∂u_j
        const row = rowOf(embeddings, terms[k]); // E_j, [H]
        for (let h = 0; h < row.length; h++) weight.gradients[h] += dU * row[h];
        bias.gradients[0] += dU;
      }
    },
    values: () => Float32Array.from({ length: embeddings.rows }, (_, term) => weightOf(term)),
  };
}

function project(row: Float32Array, w: Float32Array): number {
  let sum = 0;
  for (let h = 0; h < row.length; h++) sum += w[h] * row[h];
  return sum;
}

/** What a projection begins as. */
export type FittedProjection = {
  readonly w: Float64Array;
  readonly b: number;
  readonly scale: number;
  /** Share of the table's variance by d that the fit explains: 1 is all. */
  readonly explained: number;
  /** Mean |q_j − idf_j| by d. */
  readonly meanError: number;
};

/** ρ̂ of the fit: rows are many times as many as columns, so that it only keeps the system well-posed. */
const PENALTY = 1e-2;

/**
 * w and b whose weights come near a given table, by ridge regression.
 *
 *     wᵀE_j + b ≈ exp(idf_j/c) − 1          c = mean idf / log 2          d_j = exp(−idf_j/2)
 *
 * Terms count by d, which is the root of how often a term occurs, as its IDF has it. All alike, the fit goes to the thousands
 * of tokens that no text has, and of MiniLM "the" begins with 4.7 in place of 0.05; with d it is 0.9.
 *
 * The factor c brings the mean term to u = 1. Without it an IDF of 8 is u = 3000, where a step of w by the learning rate
 * changes nothing, and a common term next to it would have to be told apart in the fourth digit.
 *
 * @param terms that are fitted: all but special ones
 */
export function fitProjection(idf: Float32Array, embeddings: Matrix, terms: Uint32Array): FittedProjection {
  const targets = Float64Array.from(terms, (term) => Math.max(0, idf[term])); // [n]
  const d = targets.map((weight) => Math.exp(-weight / 2)); //                    [n]
  const total = d.reduce((sum, own) => sum + own, 0);
  const meanOf = (value: (i: number) => number): number => d.reduce((sum, own, i) => sum + own * value(i), 0) / total;
  const mean = meanOf((i) => targets[i]);
  if (!(mean > 0)) throw new ConfigError('no query term has a weight above 0: there is no table to begin with');
  const scale = mean / Math.LN2; //                                              c
  const y = targets.map((weight) => Math.expm1(weight / scale)); //              u, [n]
  const { w, b } = ridge({ x: embeddings, rows: terms, y, d, penalty: PENALTY });
  const weight = { weights: Float32Array.from(w), gradients: undefined };
  const bias = { weights: Float32Array.of(b), gradients: undefined };
  const fitted = projectedTable({ weight, bias, embeddings, scale }).weightsOf(terms); // q, [n]
  const variance = meanOf((i) => (targets[i] - mean) ** 2);
  const unexplained = meanOf((i) => (targets[i] - fitted[i]) ** 2);
  const explained = variance > 0 ? 1 - unexplained / variance : 1;
  return { w, b, scale, explained, meanError: meanOf((i) => Math.abs(targets[i] - fitted[i])) };
}
