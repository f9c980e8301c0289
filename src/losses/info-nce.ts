/** InfoNCE: the positive document against negatives, without a teacher. */
import { ShapeError } from '../core/index.ts';
import type { Matrix } from './matrix.ts';
import { checkNotEmpty, formatShape, matrix, rowOf } from './matrix.ts';
import type { Ranking } from './ranking.ts';
import { logSoftmax } from './softmax.ts';

/** Which documents are negatives. */
export type InfoNceOptions = {
  /** Whether the documents of other queries are negatives too; scores are [Q, B] then, else [Q, G]. */
  readonly inBatchNegatives?: boolean;
  /** Whether among those are the other queries' positives. Where queries are alike, they may answer this one too. */
  readonly otherPositives?: boolean;
  /** For each query, columns that are no negatives of it, such as its positive once more. */
  readonly leftOut?: readonly ReadonlySet<number>[] | undefined;
  /** τ */
  readonly temperature?: number;
};

/**
 * InfoNCE: cross-entropy of picking the positive out of a query's candidates C_n.
 *
 *     ℓ = −(1/Q) Σ_n log( exp(s_n⁺/τ) / Σ_{c ∈ C_n} exp(s_nc/τ) )
 *
 *     own documents only        C_n = {(n,g)},                   s⁺ in column 0 of [Q, G]
 *     in-batch negatives        C_n = {(n,0)} ∪ {(m,g) : g ≥ 1}, s⁺ in column n·G of [Q, B]
 *     … with other positives    C_n = {(m,g)}, all
 *
 * less the columns left out.
 *
 * Van den Oord, Li, Vinyals, 2018, https://arxiv.org/abs/1807.03748. The first two are `InfoNCELoss` of
 * zhichao-aws/opensearch-sparse-model-tuning-sample (386e5fa1), the third is SparseMultipleNegativesRankingLoss of
 * sentence-transformers 6.2, all with τ = 1. `InBatchPairwiseNLL` of naver/splade (fdfc025f) is none of them: the other
 * queries' positives, but only the own negative. Where C_n is the positive alone, ℓ = 0 and nothing is learnt.
 *
 * @param scores s, [Q, G] or [Q, B]
 */
export function infoNce(
  scores: Matrix,
  { inBatchNegatives = false, otherPositives = true, leftOut = [], temperature = 1 }: InfoNceOptions = {},
): Ranking {
  checkNotEmpty(scores, 'the scores');
  const { rows: Q, cols } = scores;
  const G = inBatchNegatives ? cols / Q : cols;
  if (!Number.isInteger(G)) throw new ShapeError(`in-batch scores have Q·G columns, got ${formatShape(scores)}`);
  const dScores = matrix(Q, cols); // ∂ℓ/∂s, [Q, G] or [Q, B]
  let sum = 0; //                     Q·ℓ
  for (let n = 0; n < Q; n++) {
    const row = rowOf(scores, n); //                                 s_n, [G] or [B]
    const positive = inBatchNegatives ? n * G : 0; //                column of s_n⁺
    const C = candidates(cols, { positive, G, otherPositives }).filter((c) => !leftOut[n]?.has(c)); // C_n, [|C_n|]
    const s = C.map((c) => row[c]); //                               s_nc, [|C_n|]
    const logq = logSoftmax(s, temperature); //                      log q_n = log softmax(s/τ), [|C_n|]
    const gradients = rowOf(dScores, n); //                          ∂ℓ/∂s_nc = (q_nc − 1[c = ⁺])/(τ·Q), 0 outside C_n
    C.forEach((c, k) => {
      gradients[c] = (Math.exp(logq[k]) - (c === positive ? 1 : 0)) / (temperature * Q);
      if (c === positive) sum -= logq[k];
    });
  }
  return { loss: sum / Q, dScores };
}

/** Columns of C_n. Positives stand at multiples of G. */
function candidates(
  cols: number,
  { positive, G, otherPositives }: { positive: number; G: number; otherPositives: boolean },
): number[] {
  const columns = Array.from({ length: cols }, (_, c) => c);
  return otherPositives ? columns : columns.filter((c) => c === positive || c % G !== 0);
}
