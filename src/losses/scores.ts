/** Scores of queries against documents, and the way of a gradient back to both. Knows nothing of ranking losses. */
import { ShapeError } from '../core/index.ts';
import type { Matrix } from './matrix.ts';
import { checkNotEmpty, formatShape, matrix, rowOf } from './matrix.ts';

/**
 * A query's terms, each once, with their weights relu(idf) or 1. Like a sparse vector, but a weight may be 0: a learned
 * IDF can get there.
 */
export type QueryTerms = { readonly terms: Uint32Array; readonly weights: Float32Array };

/** Whom a query is compared with: its own G documents, or all B of the batch. */
export type Candidates = 'own' | 'batch';

/** What a gradient by the scores comes from. */
export type ScoredBatch = {
  readonly queries: readonly QueryTerms[];
  /** [B, V] */
  readonly w: Matrix;
  /** ∂ℓ/∂s, [Q, G] or [Q, B] */
  readonly dScores: Matrix;
};

/** Where gradients are added to. */
export type ScoreGradients = {
  /** ∂ℓ/∂w, [B, V] */
  readonly dW: Matrix;
  /** ∂ℓ/∂q, beside each query's weights; left out where IDF is not learned. */
  readonly dQueryWeights?: readonly Float32Array[] | undefined;
};

/**
 * Scores of queries.
 *
 *     s_nc = Σ_j q_nj·w_rj          own: r = n·G + c, [Q, G]          batch: r = c, [Q, B]
 *
 * Shen et al., SIGIR 2025, https://doi.org/10.1145/3726302.3730192, § 3: the inner product. IDF is in q only; Equation 1
 * taken literally has it in w as well, and would square it.
 *
 * @param queries q, Q of them
 * @param w term weights, [B, V]; for `own` documents B = Q·G
 */
export function scores(queries: readonly QueryTerms[], w: Matrix, candidates: Candidates): Matrix {
  checkQueries(queries, w);
  const Q = queries.length;
  const s = matrix(Q, candidates === 'batch' ? w.rows : ownDocuments(Q, w)); // [Q, G] or [Q, B]
  queries.forEach(({ terms, weights }, n) => {
    const first = firstRow(s, w, n);
    for (let c = 0; c < s.cols; c++) {
      const row = (first + c) * w.cols; // where w_r begins
      let sum = 0; //                      s_nc
      for (let k = 0; k < terms.length; k++) sum += weights[k] * w.data[row + terms[k]];
      s.data[n * s.cols + c] = sum;
    }
  });
  return s;
}

/**
 * Adds the gradients that come back through scores.
 *
 *     ∂ℓ/∂w_rj += Σ_n ∂ℓ/∂s_nc·q_nj          ∂ℓ/∂q_nj += Σ_c ∂ℓ/∂s_nc·w_rj
 *
 * Whether the scores were of own documents or of the batch, the shape of ∂ℓ/∂s says; for one query they are the same.
 */
export function addScoreGradients({ queries, w, dScores }: ScoredBatch, { dW, dQueryWeights }: ScoreGradients): void {
  checkQueries(queries, w);
  checkGradients({ queries, w, dScores }, { dW, dQueryWeights });
  queries.forEach((query, n) => {
    const first = firstRow(dScores, w, n);
    const dS = rowOf(dScores, n); // ∂ℓ/∂s_n, [G] or [B]
    addToDocuments(dW, query, { dS, first });
    if (dQueryWeights !== undefined) addToQuery(dQueryWeights[n], query, { w, dS, first });
  });
}

/** A query's ∂ℓ/∂s, and the row of w that its first element belongs to. */
type ScoreSlopes = { readonly dS: Float32Array; readonly first: number };

/** ∂ℓ/∂w_rj += ∂ℓ/∂s_nc·q_nj of one query n. */
function addToDocuments({ data, cols }: Matrix, { terms, weights }: QueryTerms, { dS, first }: ScoreSlopes): void {
  for (let c = 0; c < dS.length; c++) {
    const row = (first + c) * cols; // where ∂ℓ/∂w_r begins
    for (let k = 0; k < terms.length; k++) data[row + terms[k]] += dS[c] * weights[k];
  }
}

/** ∂ℓ/∂q_nj += Σ_c ∂ℓ/∂s_nc·w_rj of one query n. */
function addToQuery(dQ: Float32Array, { terms }: QueryTerms, { w, dS, first }: ScoreSlopes & { w: Matrix }): void {
  for (let k = 0; k < terms.length; k++) {
    let sum = 0;
    for (let c = 0; c < dS.length; c++) sum += dS[c] * w.data[(first + c) * w.cols + terms[k]];
    dQ[k] += sum;
  }
}

/** Row of w that column 0 of query n stands for. */
function firstRow(s: Matrix, w: Matrix, n: number): number {
  return s.cols === w.rows ? 0 : n * s.cols;
}

function checkQueries(queries: readonly QueryTerms[], w: Matrix): void {
  checkNotEmpty(w, 'the batch');
  if (queries.length === 0) throw new ShapeError('scores need at least one query');
  queries.forEach(({ terms, weights }, n) => {
    if (terms.length !== weights.length)
      throw new ShapeError(`query ${n} has ${terms.length} terms and ${weights.length} weights`);
    const beyond = terms.find((term) => term >= w.cols);
    if (beyond !== undefined)
      throw new ShapeError(`query ${n} has term ${beyond}, documents have ${w.cols} terms: ${formatShape(w)}`);
  });
}

/** Documents per query; throws where they cannot be shared out. */
function ownDocuments(numQueries: number, w: Matrix): number {
  const docsPerQuery = w.rows / numQueries; // G
  if (!Number.isInteger(docsPerQuery))
    throw new ShapeError(`${numQueries} queries cannot have the same number of documents each in ${formatShape(w)}`);
  return docsPerQuery;
}

function checkGradients({ queries, w, dScores }: ScoredBatch, { dW, dQueryWeights }: ScoreGradients): void {
  const numQueries = queries.length;
  if (dScores.rows !== numQueries || (dScores.cols !== w.rows && dScores.cols !== ownDocuments(numQueries, w)))
    throw new ShapeError(
      `scores of ${numQueries} queries and documents ${formatShape(w)} have no gradient ${formatShape(dScores)}`,
    );
  if (dW.rows !== w.rows || dW.cols !== w.cols)
    throw new ShapeError(`weights are ${formatShape(w)}, their gradient ${formatShape(dW)}`);
  if (dQueryWeights === undefined) return;
  if (dQueryWeights.length !== numQueries)
    throw new ShapeError(`${numQueries} queries have as many gradients of weights, got ${dQueryWeights.length}`);
  queries.forEach(({ weights }, n) => {
    if (dQueryWeights[n].length !== weights.length)
      throw new ShapeError(`query ${n} has ${weights.length} weights, its gradient ${dQueryWeights[n].length}`);
  });
}
