/** The k best of documents. */
import type { TopK } from '../types.ts';

/**
 * A heap with the worst hit on top; of hits with equal scores the later document is the worse one. Documents come window by
 * window in ascending order, within a window in any. So what is behind the window at hand loses a tie with the worst hit,
 * and the threshold may keep it out; within the window it may win one.
 */
export class BestHits {
  readonly #k: number;
  readonly #scores: Float64Array;
  readonly #docs: Uint32Array;
  #size = 0;
  /** Documents behind all that came so far can enter with higher scores only. */
  threshold = Number.NEGATIVE_INFINITY;

  constructor(k: number) {
    this.#k = k;
    this.#scores = new Float64Array(k);
    this.#docs = new Uint32Array(k);
  }

  /** Takes a document if it is among the best so far. */
  add(doc: number, score: number): void {
    if (this.#size < this.#k) this.#rise(this.#size++, doc, score);
    else if (this.#isWorse(doc, score, 0)) return;
    else this.#sink(doc, score, this.#size);
    if (this.#size === this.#k) this.threshold = this.#scores[0];
  }

  /** All hits, best first. Empties the heap. */
  finish(): TopK {
    const docIds = new Uint32Array(this.#size);
    const scores = new Float64Array(this.#size);
    for (let rank = this.#size - 1; rank >= 0; rank--) {
      docIds[rank] = this.#docs[0];
      scores[rank] = this.#scores[0];
      this.#sink(this.#docs[rank], this.#scores[rank], rank);
    }
    this.#size = 0;
    return { docIds, scores };
  }

  #rise(from: number, doc: number, score: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isWorse(doc, score, parent)) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#scores[at] = score;
    this.#docs[at] = doc;
  }

  /** Puts a hit on top and lets it sink among the first `size`. */
  #sink(doc: number, score: number, size: number): void {
    let at = 0;
    for (let child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && this.#isWorse(this.#docs[child + 1], this.#scores[child + 1], child)) child++;
      if (this.#isWorse(doc, score, child)) break;
      this.#move(child, at);
      at = child;
    }
    this.#scores[at] = score;
    this.#docs[at] = doc;
  }

  #isWorse(doc: number, score: number, than: number): boolean {
    const other = this.#scores[than];
    return score < other || (score === other && doc > this.#docs[than]);
  }

  #move(from: number, to: number): void {
    this.#scores[to] = this.#scores[from];
    this.#docs[to] = this.#docs[from];
  }
}
