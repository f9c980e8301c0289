/** One term of a query: its weight, what a posting of it is worth, and the most it can add to a document. */
import { type PostingsHead, TF_CAP } from './postings.ts';
import { saturation, termScore } from './similarity.ts';

/** Knows what a posting is worth. */
export class TermScorer {
  /** c_t · idf_t */
  readonly weight: number;
  /** 1/K for every length byte, [256]. */
  readonly inverseNorms: Float32Array;

  constructor(weight: number, inverseNorms: Float32Array) {
    this.weight = weight;
    this.inverseNorms = inverseNorms;
  }

  /** What a posting adds to its document's score. */
  score(tf: number, length: number): number {
    return termScore(this.weight, tf, this.inverseNorms[length]);
  }

  /** The weight's factor in a posting's score, for explanations. */
  saturation(tf: number, length: number): number {
    return saturation(tf, this.inverseNorms[length]);
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
