/**
 * Scores the documents of one segment, window by window: exact, and without looking at most postings of common terms.
 *
 * MaxScore (Turtle and Flood, "Query evaluation: strategies and optimizations", Information Processing & Management 31(6),
 * 1995) over windows of documents, term at a time, those first that can add most. A document enters the window with its
 * first term, if this and all terms to come can lift it above the threshold. So terms at the low end that together cannot
 * do this bring none; they only add to documents that are there. A document that is not let in may enter with a later term,
 * and then lacks a part of its score; but its full score is not above the threshold, so it is dropped at the end.
 */
import { hasBit } from '../documents/bitmap.ts';
import type { Bitmap } from '../types.ts';
import { NO_DOC, ScoredCursor, type ScoredPostings } from './scored-postings.ts';
import type { Window } from './window.ts';

/** Makes bounds safe against rounding of their sums. */
const SLACK = 1 + 1e-12;

/** Who takes documents: window by window in ascending order, within a window in any. */
export type Collector = {
  /** Documents that do not score above need not be brought. May rise. */
  readonly threshold: number;
  add(doc: number, score: number): void;
};

/** Which documents count. */
export type Selection = {
  readonly deleted: Bitmap | undefined;
  readonly filter: Bitmap | undefined;
};

/** One segment, one query. */
export class SegmentSearch {
  readonly #numDocs: number;
  readonly #selection: Selection;
  readonly #window: Window;
  /** By ascending bound. */
  readonly #cursors: readonly ScoredCursor[];
  /** #reach[i]: what terms 0 … i − 1 can add together. */
  readonly #reach: Float64Array;

  constructor(
    lists: readonly ScoredPostings[],
    options: { readonly numDocs: number; readonly selection: Selection; readonly window: Window },
  ) {
    this.#numDocs = options.numDocs;
    this.#selection = options.selection;
    this.#window = options.window;
    const bounded = lists.map((list) => ({ list, bound: list.scorer.bound(list.head) }));
    bounded.sort((a, b) => a.bound - b.bound);
    this.#cursors = bounded.map(({ list }) => new ScoredCursor(list));
    this.#reach = new Float64Array(lists.length + 1);
    bounded.forEach(({ bound }, i) => {
      this.#reach[i + 1] = (this.#reach[i] + bound) * SLACK;
    });
  }

  /** Brings all documents that are above the collector's threshold. */
  run(collector: Collector, firstDoc: number): void {
    for (let first = 0; ; ) {
      while (first < this.#cursors.length && this.#reach[first + 1] <= collector.threshold) first++;
      const base = this.#nextDoc(first);
      if (base === NO_DOC) return;
      this.#fill(base, first, collector.threshold);
      this.#empty(collector, firstDoc);
    }
  }

  /** The first document that the terms from `first` on still have. */
  #nextDoc(first: number): number {
    let next = NO_DOC;
    for (let i = first; i < this.#cursors.length; i++) next = Math.min(next, this.#cursors[i].doc);
    return next;
  }

  /** Leaves in the window the documents above the threshold. Terms before `first` cannot bring one there by themselves. */
  #fill(base: number, first: number, threshold: number): void {
    const [window, cursors, reach] = [this.#window, this.#cursors, this.#reach];
    window.begin(base);
    for (let i = cursors.length - 1; i >= first; i--) window.add(cursors[i], (threshold - reach[i]) / SLACK);
    window.drop(reach[first], threshold);
    for (let i = first - 1; i >= 0 && window.count > 0; i--) {
      window.addToFound(cursors[i], this.#numDocs);
      window.drop(reach[i], threshold);
    }
  }

  #empty(collector: Collector, firstDoc: number): void {
    const { found, sums, count, base } = this.#window;
    const { deleted, filter } = this.#selection;
    for (let i = 0; i < count; i++) {
      const doc = base + found[i];
      if (deleted && hasBit(deleted, doc)) continue;
      if (filter && !hasBit(filter, doc)) continue;
      collector.add(firstDoc + doc, Math.fround(sums[found[i]]));
    }
    this.#window.clear();
  }
}
