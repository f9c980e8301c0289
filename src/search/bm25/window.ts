/**
 * The documents of a window and the sums of their scores: where the search spends its time. Work goes with the postings that
 * are added, not with the documents of the window, since most of these have no word of the query.
 *
 * Sums are of 64 bits, their parts of 32, as in Lucene. Such sums are exact, in whatever order they are added, unless parts
 * differ by more than a factor of about 2²⁹.
 */
import type { ScoredCursor } from './scored-postings.ts';

/** Documents of a window: few enough that their sums stay in a near cache. */
const WINDOW_DOCS = 8192;
/** Added with each posting, so that a document has a sum above 0 even where its score rounds to 0; changes no other sum. */
const TOUCH = 2 ** -1000;
/** Looking a document up costs as much as walking over this many postings. */
const LOOK_UP_COST = 16;

/** One window at a time; its memory is used again by the next. */
export class Window {
  /** First document, and the one behind the last. */
  base = 0;
  end = 0;
  /** Documents that have a sum, counted from `base`, in any order; the first `count` are valid. */
  readonly found: Int32Array;
  count = 0;
  /** Sum of each document; 0 where it has none. */
  readonly sums: Float64Array;
  readonly #numDocs: number;
  /** Whether `found` ascends. */
  #inOrder = true;

  constructor(numDocs = WINDOW_DOCS) {
    this.#numDocs = numDocs;
    this.found = new Int32Array(numDocs);
    this.sums = new Float64Array(numDocs);
  }

  /** Starts over at a document. The window must be empty. */
  begin(base: number): void {
    this.base = base;
    this.end = base + this.#numDocs;
    this.#inOrder = true;
  }

  /** Adds a term to the documents that have a sum, and to others where it is worth more than `least`. */
  add(cursor: ScoredCursor, least: number): void {
    const { found, sums, base, end } = this;
    const { docs, scores } = cursor.list;
    let { count } = this;
    cursor.advance(base);
    do {
      const to = cursor.positionOf(end);
      for (let i = cursor.position; i < to; i++) {
        const at = docs[i] - base;
        const before = sums[at];
        if (before === 0) {
          if (scores[i] <= least) continue;
          found[count++] = at;
        }
        sums[at] = before + (scores[i] + TOUCH);
      }
      cursor.position = to;
    } while (cursor.position === cursor.blockEnd && cursor.nextBlock());
    this.#inOrder = this.count === 0 || (this.#inOrder && count === this.count);
    this.count = count;
  }

  /** Adds a term to the documents that have a sum. */
  addToFound(cursor: ScoredCursor, numDocs: number): void {
    const expected = (cursor.list.head.df * this.#numDocs) / numDocs; // postings of the window
    if (this.count * LOOK_UP_COST > expected) this.add(cursor, Number.POSITIVE_INFINITY);
    else this.#lookUp(cursor);
  }

  #lookUp(cursor: ScoredCursor): void {
    const { found, sums, base, count } = this;
    if (!this.#inOrder) found.subarray(0, count).sort();
    this.#inOrder = true;
    for (let i = 0; i < count; i++) {
      const at = found[i];
      cursor.advance(base + at);
      if (cursor.doc === base + at) sums[at] += cursor.list.scores[cursor.position];
    }
  }

  /** Drops documents that do not come above the threshold even with `reach` more. */
  drop(reach: number, threshold: number): void {
    const { found, sums, count } = this;
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const at = found[i];
      if (sums[at] + reach > threshold) found[kept++] = at;
      else sums[at] = 0;
    }
    this.count = kept;
  }

  /** Empties the window. */
  clear(): void {
    for (let i = 0; i < this.count; i++) this.sums[this.found[i]] = 0;
    this.count = 0;
  }
}
