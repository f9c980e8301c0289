/** KL divergence from a teacher's ranking: the ranking loss of the published models. */
import type { Matrix } from './matrix.ts';
import { matrix, rowOf } from './matrix.ts';
import type { Ranking } from './ranking.ts';
import { checkedTeacher } from './ranking.ts';
import { logSoftmax } from './softmax.ts';

/** How sharp the two distributions are. */
export type KlOptions = {
  /** τ */
  readonly temperature?: number;
  /** τ_t, where the teacher's scores spread otherwise than the student's */
  readonly teacherTemperature?: number;
};

/**
 * KL divergence of the student's distribution over documents from the teacher's.
 *
 *     p = softmax(t/τ_t)     q = softmax(s/τ)          τ_t = τ unless given
 *     ℓ = (1/Q) Σ_n Σ_g p_ng·(log p_ng − log q_ng)
 *
 * Lin, Yang, Lin, 2020, https://arxiv.org/abs/2010.11386, distil rankings so; Shen et al., SIGIR 2025, leave
 * L_rank of their Equation 2 open. As `KLDivLoss` of zhichao-aws/opensearch-sparse-model-tuning-sample (386e5fa1) and `DistilKLLoss` of
 * naver/splade (fdfc025f, τ = 1). sentence-transformers multiplies by τ², which changes the balance with FLOPS.
 *
 * The scores may be those of any candidates: [Q, G], or [Q, B] where the teacher has scored the whole batch. One candidate
 * alone teaches nothing: ℓ = 0.
 *
 * @param scores s, [Q, G]
 * @param teacher t, [Q, G]
 */
export function kl(
  scores: Matrix,
  teacher: Matrix | undefined,
  { temperature = 1, teacherTemperature = temperature }: KlOptions = {},
): Ranking {
  const t = checkedTeacher(scores, teacher, 'KL');
  const Q = scores.rows;
  const dScores = matrix(Q, scores.cols); // ∂ℓ/∂s, [Q, G]
  let sum = 0; //                            Q·ℓ
  for (let n = 0; n < Q; n++) {
    const logp = logSoftmax(rowOf(t, n), teacherTemperature); // log p_n, [G]
    const logq = logSoftmax(rowOf(scores, n), temperature); //   log q_n, [G]
    const gradients = rowOf(dScores, n); //                      ∂ℓ/∂s_n = (q_n − p_n)/(τ·Q), [G]
    for (let g = 0; g < logp.length; g++) {
      const p = Math.exp(logp[g]);
      sum += p * (logp[g] - logq[g]);
      gradients[g] = (Math.exp(logq[g]) - p) / (temperature * Q);
    }
  }
  return { loss: sum / Q, dScores };
}
