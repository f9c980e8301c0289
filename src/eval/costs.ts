/**
 * What a sparse system costs: multiply-adds per query and document, and the lengths of both. From vectors before any
 * rounding to 8 bits, special tokens already dropped. Knows nothing of where vectors come from.
 */
import type { SparseVector } from '../core/index.ts';

/** Costs of a system on a collection. */
export type Costs = {
  /** Multiply-adds of one query with one document, on average. */
  readonly flops: number;
  /** Terms of a document, on average. */
  readonly docLen: number;
  /** Terms of a query, on average. */
  readonly queryLen: number;
};

/**
 * Counts in how many vectors each term stands:
 *
 *     p(j) = share of the vectors whose weight j is above 0
 */
export class TermCounter {
  /** Vectors counted. */
  numVectors = 0;
  /** Entry j: vectors that have term j. Grows by doubling. */
  #counts = new Uint32Array(1 << 15);
  #numTerms = 0;

  /** Counts one vector. */
  add({ terms }: Pick<SparseVector, 'terms'>): void {
    this.numVectors++;
    this.#numTerms += terms.length;
    if (terms.length === 0) return;
    this.#reach(terms[terms.length - 1]); // ascending: the largest
    for (let i = 0; i < terms.length; i++) this.#counts[terms[i]]++;
  }

  /** Counts vectors of which only the number for each term is known: the document frequencies of an index. */
  addFrequencies(numVectors: number, frequencies: Iterable<readonly [term: number, count: number]>): void {
    this.numVectors += numVectors;
    for (const [term, count] of frequencies) {
      this.#reach(term);
      this.#counts[term] += count;
      this.#numTerms += count;
    }
  }

  /** Σ_j p(j): the mean number of terms; 0 of no vectors. */
  get meanLength(): number {
    return this.numVectors === 0 ? 0 : this.#numTerms / this.numVectors;
  }

  /** Σ_j p(j)·other.p(j); 0 where one side has no vectors. */
  overlap(other: TermCounter): number {
    if (this.numVectors === 0 || other.numVectors === 0) return 0;
    const [a, b] = [this.#counts, other.#counts];
    let sum = 0;
    for (let j = Math.min(a.length, b.length) - 1; j >= 0; j--) sum += a[j] * b[j];
    return sum / this.numVectors / other.numVectors;
  }

  #reach(term: number): void {
    if (term < this.#counts.length) return;
    const larger = new Uint32Array(2 ** Math.ceil(Math.log2(term + 1)));
    larger.set(this.#counts);
    this.#counts = larger;
  }
}

/**
 * The costs of queries and documents:
 *
 *     FLOPS = Σ_j p_q(j)·p_d(j)          Doc_Len = Σ_j p_d(j)          query length = Σ_j p_q(j)
 *
 * Binary counts, not weights. Formal et al., SPLADE, SIGIR 2021, https://arxiv.org/abs/2107.05720 (their FLOPS is
 * this estimate of the mean number of operations). Queries are the judged ones of the split.
 */
export function costsOf(queries: TermCounter, documents: TermCounter): Costs {
  return {
    flops: queries.overlap(documents), //      Σ_j p_q(j)·p_d(j)
    docLen: documents.meanLength, //           Σ_j p_d(j)
    queryLen: queries.meanLength, //           Σ_j p_q(j)
  };
}
