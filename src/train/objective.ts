/**
 * What training minimises, from pooled logits to their gradient:
 *
 *     L = Σ_r α_r·L_rank,r(s) + λ(step)·R(v)          s = q·w,  w = act(z),  v = act'(z)
 *
 * act' is another activation than act in the decoupled variants (Shen et al., SIGIR 2025,
 * https://doi.org/10.1145/3726302.3730192, § 5.4: de-ℓ0, inv-de-ℓ0) and the same elsewhere. Each part of the sum is given
 * by its own name. Knows nothing of networks, data or steps of an optimiser.
 */
import { assert, type SparseVector } from '../core/index.ts';
import type { BatchShape, Matrix, QueryTerms, Ranking, Regularisation } from '../losses/index.ts';
import {
  activeTerms,
  addScoreGradients,
  dfFlops,
  flops,
  infoNce,
  kl,
  l1,
  lambdaAt,
  marginMse,
  matrix,
  scores,
  termMse,
} from '../losses/index.ts';
import type { Activation } from '../model/index.ts';
import { activateAll, addActivationGradient } from '../model/index.ts';
import type { RankTerm, SparsityConfig } from './config.ts';

/** What is minimised. */
export type Objective = {
  /** act, also that of the finished model. */
  readonly activation: Activation;
  readonly rank: readonly RankTerm[];
  readonly sparsity: SparsityConfig;
};

/** What a batch asks of the network. */
export type ObjectiveBatch = BatchShape & {
  readonly queries: readonly QueryTerms[];
  /** M other queries, which only kl over the whole batch looks at. */
  readonly moreQueries?: readonly QueryTerms[] | undefined;
  /** The lexical part of each document: scores have it, and nobody learns it. */
  readonly lexical?: readonly SparseVector[] | undefined;
  /** Teacher scores, [Q, G] */
  readonly teacher?: Matrix | undefined;
  /** The same of every document for every query, others included: [Q + M, B] */
  readonly batchTeacher?: Matrix | undefined;
  /** A sparse teacher's vectors of the documents. */
  readonly teacherVectors?: readonly SparseVector[] | undefined;
  /** For each query, documents of others that answer it, too: no negatives of it. */
  readonly otherAnswers?: readonly ReadonlySet<number>[] | undefined;
  /** Optimiser steps done, from 0. */
  readonly step: number;
  /** Share of documents that have each term, [V]; df-flops needs it. */
  readonly documentShares?: Float32Array | undefined;
  /** Where z has a sample of the terms: how many each of them stands for, [V] */
  readonly standsFor?: Float32Array | undefined;
  /** Whether the weights of query terms are learned. */
  readonly learnsQueries?: boolean | undefined;
};

/** The value, its parts and its gradients. */
export type ObjectiveResult = {
  /** L */
  readonly loss: number;
  /** Each ranking loss by its name, before its factor α. */
  readonly rank: Readonly<Record<string, number>>;
  /** R, before λ. */
  readonly sparsity: number;
  /** λ(step) */
  readonly lambda: number;
  /** Mean number of active terms of a document. */
  readonly docLen: number;
  /** Share of documents that the mask leaves in peace; 0 without a mask. */
  readonly maskedShare: number;
  /** Documents without any active term. */
  readonly numEmpty: number;
  /** ‖w‖₀, active terms of each document, [B] */
  readonly docLens: Uint32Array;
  /** ∂L/∂z, [B, V] */
  readonly dZ: Matrix;
  /** ∂L/∂q beside each query's weights, the M others behind the Q, where they are learned. */
  readonly dQueryWeights: readonly Float32Array[] | undefined;
};

/** Computes the objective of a batch. `z` [B, V] are pooled logits, special terms already at 0. */
export function objective(
  z: Matrix,
  batch: ObjectiveBatch,
  { activation, rank, sparsity }: Objective,
): ObjectiveResult {
  const w = { ...z, data: activateAll(z.data, activation) }; //       w, [B, V]
  const dW = matrix(z.rows, z.cols); //                               ∂L/∂w, [B, V]
  const dQueryWeights = batch.learnsQueries
    ? allQueries(batch).map(({ terms }) => new Float32Array(terms.length))
    : undefined;
  const scored = withLexical(w, batch.lexical); //                    w with the lexical part, [B, V]
  const losses = rank.map((term) => {
    const loss =
      term.loss === 'term-mse'
        ? addTermLoss(term.weight, { w, dW }, batch)
        : addRankLoss({ ...term, loss: term.loss }, { w: scored, dW, dQueryWeights }, batch);
    return { loss, part: term.weight * loss };
  });
  const dZ = matrix(z.rows, z.cols); //                               ∂L/∂z, [B, V]
  addActivationGradient(z.data, activation, { dW: dW.data, dZ: dZ.data });
  const regulariser = addSparsity({ z, w, dZ }, batch, { activation, sparsity });
  const rankSum = losses.reduce((sum, { part }) => sum + part, 0);
  return {
    loss: rankSum + regulariser.lambda * regulariser.loss,
    rank: Object.fromEntries(losses.map(({ loss }, i) => [termName(rank, i), loss])),
    sparsity: regulariser.loss,
    lambda: regulariser.lambda,
    ...lengths(w, sparsity.threshold, batch.standsFor),
    dZ,
    dQueryWeights,
  };
}

function allQueries({ queries, moreQueries = [] }: ObjectiveBatch): readonly QueryTerms[] {
  return [...queries, ...moreQueries];
}

/** w + the lexical part, [B, V]. Its slope by w is 1: what comes back through scores is ∂L/∂w as it is. */
function withLexical(w: Matrix, lexical: readonly SparseVector[] | undefined): Matrix {
  if (lexical === undefined) return w;
  const data = w.data.slice();
  lexical.forEach(({ terms, weights }, b) => {
    terms.forEach((term, i) => {
      data[b * w.cols + term] += weights[i];
    });
  });
  return { ...w, data };
}

/** What a term is logged as: its loss, and a number where an earlier one has the same. */
function termName(rank: readonly RankTerm[], i: number): string {
  const numBefore = rank.slice(0, i).filter(({ loss }) => loss === rank[i].loss).length;
  return numBefore === 0 ? rank[i].loss : `${rank[i].loss}-${numBefore + 1}`;
}

/** Weights, and where the gradients of a loss are added. */
type Gradients = {
  readonly w: Matrix;
  readonly dW: Matrix;
  readonly dQueryWeights?: readonly Float32Array[] | undefined;
};

/** Adds α·∂ℓ/∂w of a loss that looks at the weights themselves; gives ℓ. */
function addTermLoss(weight: number, { w, dW }: Gradients, { teacherVectors }: ObjectiveBatch): number {
  const { loss, dW: own } = termMse(w, teacherVectors);
  for (let i = 0; i < own.data.length; i++) dW.data[i] += weight * own.data[i];
  return loss;
}

/** A loss that looks at scores. */
type ScoreTerm = RankTerm & { readonly loss: Exclude<RankTerm['loss'], 'term-mse'> };

/** Adds α·∂ℓ/∂w of a loss that looks at scores, by way of the scores; gives ℓ. */
function addRankLoss(term: ScoreTerm, { w, dW, dQueryWeights }: Gradients, batch: ObjectiveBatch): number {
  const queries = comparesAll(term) ? allQueries(batch) : batch.queries;
  const { loss, dScores } = rankLoss(term, { queries, w }, batch);
  for (let i = 0; i < dScores.data.length; i++) dScores.data[i] *= term.weight;
  addScoreGradients({ queries, w, dScores }, { dW, dQueryWeights: dQueryWeights?.slice(0, queries.length) });
  return loss;
}

/** Whether a loss looks at queries of which only a teacher knows what they ask for. */
function comparesAll({ loss, inBatchNegatives }: ScoreTerm): boolean {
  return loss === 'kl' && inBatchNegatives;
}

/** What is compared. */
type Compared = { readonly queries: readonly QueryTerms[]; readonly w: Matrix };

function rankLoss(term: ScoreTerm, { queries, w }: Compared, batch: ObjectiveBatch): Ranking {
  const { teacher, batchTeacher, otherAnswers } = batch;
  const { loss, temperature, teacherTemperature = temperature, inBatchNegatives, otherPositives } = term;
  const s = scores(queries, w, inBatchNegatives ? 'batch' : 'own'); // [Q, G] or [Q, B]
  switch (loss) {
    case 'kl':
      return kl(s, inBatchNegatives ? batchTeacher : teacher, { temperature, teacherTemperature });
    case 'margin-mse':
      return marginMse(s, teacher);
    case 'info-nce':
      return infoNce(s, {
        inBatchNegatives,
        otherPositives,
        temperature,
        leftOut: inBatchNegatives ? otherAnswers : undefined,
      });
    default:
      return loss satisfies never;
  }
}

type Logits = { readonly z: Matrix; readonly w: Matrix; readonly dZ: Matrix };

/** Adds λ·∂R/∂z to ∂L/∂z. */
function addSparsity(
  { z, w, dZ }: Logits,
  batch: ObjectiveBatch,
  { activation, sparsity }: Pick<Objective, 'activation' | 'sparsity'>,
): { readonly loss: number; readonly lambda: number } {
  const { flopsOn, lambda: full, ramp, rampShape } = sparsity;
  const seen = flopsOn === 'same' ? activation : flopsOn;
  const v = seen === activation ? w : { ...z, data: activateAll(z.data, seen) }; //  v, [B, V]
  const lambda = lambdaAt(batch.step, { lambda: full, ramp, shape: rampShape });
  const { loss, dW } = regularisation(v, batch, sparsity);
  for (let i = 0; i < dW.data.length; i++) dW.data[i] *= lambda;
  addActivationGradient(z.data, seen, { dW: dW.data, dZ: dZ.data });
  return { loss, lambda };
}

function regularisation(v: Matrix, batch: ObjectiveBatch, sparsity: SparsityConfig): Regularisation {
  const { regulariser, grouping, threshold, dfAlpha: alpha, dfBeta: beta } = sparsity;
  const { documentShares, standsFor } = batch;
  switch (regulariser) {
    case 'flops':
      return flops(v, batch, { grouping, threshold, standsFor });
    case 'df-flops':
      assert(documentShares !== undefined, 'df-flops without shares of documents');
      return dfFlops(v, batch, { grouping, threshold, alpha, beta, documentShares });
    case 'l1':
      return l1(v);
    default:
      return regulariser satisfies never;
  }
}

type Lengths = Pick<ObjectiveResult, 'docLen' | 'maskedShare' | 'numEmpty' | 'docLens'>;

function lengths(w: Matrix, threshold: number | null, standsFor: Float32Array | undefined): Lengths {
  const counts = activeTerms(w, standsFor); // ‖w‖₀, [B]
  const numMasked = threshold === null ? 0 : counts.filter((count) => count <= threshold).length;
  return {
    docLen: counts.reduce((sum, count) => sum + count, 0) / w.rows,
    maskedShare: numMasked / w.rows,
    numEmpty: counts.filter((count) => count === 0).length,
    docLens: counts,
  };
}
