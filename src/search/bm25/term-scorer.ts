/** One term of a query: its weight, its scores by (tf, length byte), and the most it can add to a document. */
import { type PostingsHead, TF_CAP } from './postings.ts';
import { saturation, termScore } from './similarity.ts';

/** Frequencies whose scores are kept; more are rare, and computed each time. */
export const TABLE_TFS = 8;
/** Stands in the table where a score has not been computed yet; no score is negative. */
export const UNKNOWN = -1;

/** Memory for the scores of one term, to be used again and again: making it anew for each query costs more than searching. */
export function scoreTable(): Float32Array {
  return new Float32Array(TABLE_TFS << 8);
}

/** Knows what a posting is worth. Scores are computed when first asked for, since few of a table ever are. */
export class TermScorer {
  /** c_t · idf_t */
  readonly weight: number;
  readonly #inverseNorms: Float32Array;
  /** Scores, at `((tf − 1) << 8) | length`. */
  readonly table: Float32Array;

  /**
   * @param inverseNorms 1/K for every length byte
   * @param table memory from `scoreTable`, of this scorer alone as long as it is used
   */
  constructor(weight: number, inverseNorms: Float32Array, table: Float32Array) {
    this.weight = weight;
    this.#inverseNorms = inverseNorms;
    this.table = table.fill(UNKNOWN);
  }

  /** What a posting adds to its document's score. */
  score(tf: number, length: number): number {
    if (tf > TABLE_TFS) return termScore(this.weight, tf, this.#inverseNorms[length]);
    const at = ((tf - 1) << 8) | length;
    const known = this.table[at];
    if (known !== UNKNOWN) return known;
    this.table[at] = termScore(this.weight, tf, this.#inverseNorms[length]);
    return this.table[at];
  }

  /** The weight's factor in a posting's score, for explanations. */
  saturation(tf: number, length: number): number {
    return saturation(tf, this.#inverseNorms[length]);
  }

  /** No posting of this term is worth more. */
  bound({ pairs }: PostingsHead): number {
    if (!pairs) return this.weight;
    let bound = 0;
    for (let i = 0; i < pairs.length; i += 2) bound = Math.max(bound, this.#pairBound(pairs[i], pairs[i + 1]));
    return bound;
  }

  #pairBound(tf: number, length: number): number {
    return tf === TF_CAP ? this.weight : this.score(tf, length);
  }
}
