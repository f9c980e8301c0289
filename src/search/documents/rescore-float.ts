/**
 * The float-exact mode: candidates by the codes of the index, then rescored from the stored floats, until no document
 * that was not asked for can be among the best.
 *
 *     float(d) = Σ_{t∈q∩d} q_t·w_t          u8(d) = Σ_{t∈q∩d} q̂_t·ŵ_t
 *     ŵ_t = scale·c_t,  c_t = min(255, max(1, round(w_t/scale)))          q̂_t = unit·Q_t, Q_t ≥ 1 an integer
 *
 * With W a weight that no document exceeds, for every document and term
 *
 *     w_t ≤ ŵ_t + ε      ε = max(scale/2, W − 255·scale)                                                     (1)
 *     ŵ_t ≤ M            M = min(255·scale, max(scale, W + scale/2))                                         (2)
 *     q_t ≤ q̂_t + δ_t    δ_t = max(0, q_t − q̂_t), known once the query is                                    (3)
 *
 * (1): where the code is the rounded quotient, |w_t − ŵ_t| ≤ scale/2. Where the floor raised it to 1, w_t < scale/2 < ŵ_t:
 * the error may be as large as scale, but on the side that does no harm here. Where it was clamped to 255, ŵ_t =
 * 255·scale and w_t ≤ W. (2): a code is at most 255, and a rounded one is at most scale/2 above its weight. Therefore
 *
 *     float(d) ≤ Σ_{t∈q∩d} q_t·(ŵ_t + ε) ≤ Σ_{t∈q∩d} (q̂_t + δ_t)·ŵ_t + ε·Σ_{t∈q} q_t
 *              ≤ u8(d) + M·Σ_{t∈q} δ_t + ε·Σ_{t∈q} q_t                                                       (4)
 *
 * Candidates come by falling u8, so a document that is not among them has at most the u8 of the last. If the k-th best
 * float among the candidates is larger than (4) for that u8, the k best are complete, ties included, because it is
 * strictly larger. Otherwise twice as many are asked for. Codes and Q_t are at least 1, so whatever has a float score has
 * a u8 score: when fewer candidates come than were asked for, nothing is left.
 *
 * Rounding of f64. Everything in (4) is positive. A computed float(d) is above its true value by a factor of at most
 * (1 + 2⁻⁵³)ⁿ⁺¹, n terms; the quotient w_t/scale before rounding and the difference in δ_t are off by at most 256·2⁻⁵³ of
 * scale and 2⁻⁵³ of q̂_t, which is 510·2⁻⁵³ of ε·q_t. A factor of 1 + (n + 1024)·2⁻⁵² on the whole covers all of it.
 */
import { dot, type SparseVector } from '../../core/index.ts';
import { MAX_K } from '../hits.ts';
import type { TopK } from '../types.ts';

/** What rescoring needs. */
export type RescoreFloatOptions = {
  /** Documents wanted. */
  readonly k: number;
  /** The query as floats, q_t. */
  readonly query: SparseVector;
  /** The integers that the kernel multiplies with, Q_t, one per term of the query. */
  readonly queryCodes: ArrayLike<number>;
  /** What an integer of the query is worth: q̂_t = unit·Q_t. */
  readonly unit: number;
  /** What a code of a document is worth. */
  readonly scale: number;
  /** W: no weight of any segment is larger (VectorsReader.maxWeight). */
  readonly maxWeight: number;
  /** The best documents by codes, best first, with scores u8(d). */
  readonly candidates: (k: number) => TopK | Promise<TopK>;
  /** The stored float vector of a document. */
  readonly vectorOf: (docId: number) => SparseVector;
  /** Every document that may be returned; asked for where `maxCandidates` do not settle it. */
  readonly documents: () => Iterable<number>;
  /** The most that `candidates` can be asked for. */
  readonly maxCandidates?: number;
};

/** The best documents by float, and what it took. */
export type RescoredTopK = TopK & {
  /** Documents whose float vector was read. */
  readonly numRescored: number;
};

/** Exactly the k best documents by float score, equal ones by ascending document number. */
export async function rescoreFloat(options: RescoreFloatOptions): Promise<RescoredTopK> {
  const { k, candidates, maxCandidates = MAX_K } = options;
  const best = new BestDocs(k);
  const bound = boundOf(options);
  let numRescored = 0;
  for (let wanted = Math.min(2 * k, maxCandidates); ; wanted = Math.min(2 * wanted, maxCandidates)) {
    const { docIds, scores } = await candidates(wanted);
    for (; numRescored < docIds.length; numRescored++) rescore(docIds[numRescored], best, options); // the rest is known
    const isExhausted = docIds.length < wanted;
    if (isExhausted || best.kthScore > bound(scores[docIds.length - 1])) return { ...best.topK(), numRescored };
    if (wanted === maxCandidates) return scanAll(options);
  }
}

/** (4): what a document of this u8 score can have as a float. */
function boundOf({ query, queryCodes, unit, scale, maxWeight }: RescoreFloatOptions): (u8: number) => number {
  const ε = Math.max(scale / 2, maxWeight - 255 * scale);
  const M = Math.min(255 * scale, Math.max(scale, maxWeight + scale / 2));
  const Δ = query.weights.reduce((sum, q, i) => sum + Math.max(0, q - unit * queryCodes[i]), 0); // Σ δ_t
  const Q = query.weights.reduce((sum, q) => sum + q, 0); //                                        Σ q_t
  const rounding = 1 + (query.terms.length + 1024) * 2 ** -52;
  return (u8) => (u8 + M * Δ + ε * Q) * rounding;
}

function rescore(docId: number, best: BestDocs, { query, vectorOf }: RescoreFloatOptions): void {
  const score = dot(query, vectorOf(docId));
  if (score > 0) best.add(docId, score);
}

/** The way out where the bound does not close: weights far beyond the scale, or thousands of equal scores. */
function scanAll(options: RescoreFloatOptions): RescoredTopK {
  const best = new BestDocs(options.k);
  let numRescored = 0;
  for (const docId of options.documents()) {
    rescore(docId, best, options);
    numRescored++;
  }
  return { ...best.topK(), numRescored };
}

type Hit = { readonly docId: number; readonly score: number };

/** The k best of many, equal scores by ascending document number. Keeps at most max(2k, 1024). */
class BestDocs {
  readonly #k: number;
  #hits: Hit[] = [];

  constructor(k: number) {
    this.#k = k;
  }

  add(docId: number, score: number): void {
    this.#hits.push({ docId, score });
    if (this.#hits.length > Math.max(2 * this.#k, 1024)) this.#prune();
  }

  /** The k-th best score, −∞ where there are fewer. */
  get kthScore(): number {
    this.#prune();
    return this.#hits.length === this.#k ? this.#hits[this.#k - 1].score : Number.NEGATIVE_INFINITY;
  }

  topK(): TopK {
    this.#prune();
    return {
      docIds: Uint32Array.from(this.#hits, ({ docId }) => docId),
      scores: Float64Array.from(this.#hits, ({ score }) => score),
    };
  }

  #prune(): void {
    this.#hits = this.#hits.sort((a, b) => b.score - a.score || a.docId - b.docId).slice(0, this.#k);
  }
}
