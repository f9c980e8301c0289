/** MarginMSE: the distances between documents as the teacher sees them, not only their order. */
import { ShapeError } from '../core/index.ts';
import type { Matrix } from './matrix.ts';
import { formatShape, matrix, rowOf } from './matrix.ts';
import type { Ranking } from './ranking.ts';
import { checkedTeacher } from './ranking.ts';

/**
 * Squared error of the margins between a query's first document and each of its others.
 *
 *     ℓ = 1/(Q·(G−1)) Σ_n Σ_{g≥1} δ_ng²          δ_ng = (s_n0 − s_ng) − (t_n0 − t_ng)
 *
 * Hofstätter et al., 2020, https://arxiv.org/abs/2010.02666, for G = 2. With more documents all are compared with the
 * first, as `MarginMSELoss` of zhichao-aws/opensearch-sparse-model-tuning-sample (386e5fa1) and of sentence-transformers
 * 6.2; `DistilMarginMSE` of naver/splade (fdfc025f) has G = 2. The former divides the scores by a temperature: here the
 * teacher's scale is that of the data.
 *
 * @param scores s, [Q, G]
 * @param teacher t, [Q, G]
 */
export function marginMse(scores: Matrix, teacher: Matrix | undefined): Ranking {
  const t = checkedTeacher(scores, teacher, 'MarginMSE');
  if (scores.cols < 2)
    throw new ShapeError(`a margin needs two documents per query, got scores ${formatShape(scores)}`);
  const { rows: Q, cols: G } = scores;
  const numMargins = Q * (G - 1);
  const dScores = matrix(Q, G); // ∂ℓ/∂s, [Q, G]
  let sum = 0; //                  Q·(G−1)·ℓ
  for (let n = 0; n < Q; n++) {
    const [s, teach, gradients] = [rowOf(scores, n), rowOf(t, n), rowOf(dScores, n)]; // s_n, t_n, ∂ℓ/∂s_n, [G]
    let first = 0; //                                                                    ∂ℓ/∂s_n0 = −Σ_{g≥1} ∂ℓ/∂s_ng
    for (let g = 1; g < G; g++) {
      const delta = s[0] - s[g] - (teach[0] - teach[g]); // δ_ng
      sum += delta * delta;
      gradients[g] = (-2 * delta) / numMargins;
      first += (2 * delta) / numMargins;
    }
    gradients[0] = first;
  }
  return { loss: sum / numMargins, dScores };
}
