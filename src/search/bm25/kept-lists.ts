/** Scored postings of terms that were asked for before. Words of queries come back; most time goes into the common ones. */
import type { ScoredPostings } from './scored-postings.ts';
import type { TermScorer } from './term-scorer.ts';

/** The lists of one segment, up to some bytes; forgotten all at once when full. */
export class KeptLists {
  readonly #maxBytes: number;
  readonly #lists = new Map<string, ScoredPostings>();
  #sizeBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes held in memory. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** The list of a term; undefined where there is none with the scores of this scorer. */
  get(term: string, { weight, inverseNorms }: TermScorer): ScoredPostings | undefined {
    const list = this.#lists.get(term);
    return list?.scorer.weight === weight && list.scorer.inverseNorms === inverseNorms ? list : undefined;
  }

  /** Keeps a list, instead of the term's list with other scores. One that fills more than a quarter is not kept. */
  set(term: string, list: ScoredPostings): void {
    if (4 * list.sizeBytes > this.#maxBytes) return;
    this.#sizeBytes += list.sizeBytes - (this.#lists.get(term)?.sizeBytes ?? 0);
    if (this.#sizeBytes > this.#maxBytes) {
      this.#lists.clear();
      this.#sizeBytes = list.sizeBytes;
    }
    this.#lists.set(term, list);
  }
}
