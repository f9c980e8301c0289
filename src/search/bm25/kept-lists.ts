/** Scored postings of terms that were asked for before. Words of queries come back; most time goes into the common ones. */
import { assert } from '../../core/index.ts';
import type { PostingsHead } from './postings.ts';
import { keptBytes, type ScoredPostings } from './scored-postings.ts';

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

  /** Whether a term's list is worth its room: one that fills more than a quarter is not. */
  takes(head: PostingsHead): boolean {
    return 4 * keptBytes(head) <= this.#maxBytes;
  }

  /** The list of a term; undefined where there is none with this weight. */
  get(term: string, weight: number): ScoredPostings | undefined {
    const list = this.#lists.get(term);
    return list?.scorer.weight === weight ? list : undefined;
  }

  /** Keeps a list, instead of the term's list with another weight. */
  set(term: string, list: ScoredPostings): void {
    assert(this.takes(list.head), `a list of ${list.head.df} postings is too long to be kept`);
    const before = this.#lists.get(term);
    this.#sizeBytes += keptBytes(list.head) - (before ? keptBytes(before.head) : 0);
    if (this.#sizeBytes > this.#maxBytes) {
      this.clear();
      this.#sizeBytes = keptBytes(list.head);
    }
    this.#lists.set(term, list);
  }

  /** Forgets all lists. */
  clear(): void {
    this.#lists.clear();
    this.#sizeBytes = 0;
  }
}
