/**
 * Scores the documents of one segment, window by window: exact, and without looking at most postings of common terms.
 *
 * MaxScore (Turtle and Flood, "Query evaluation: strategies and optimizations", Information Processing & Management 31(6),
 * 1995) over windows of documents: terms stand by what they can add at most. Those at the low end that together cannot lift
 * a document above the threshold are not walked through; they are only looked up for documents that the others brought
 * within reach. The others add to one accumulator per document of the window, term at a time.
 *
 * Scores are sums in 64 bits of 32-bit parts, rounded to 32 bits at the end, as in Lucene. Such sums are exact, in whatever
 * order they are added, unless parts differ by more than a factor of about 2²⁹.
 */
import { hasBit } from '../documents/bitmap.ts';
import type { Bitmap } from '../types.ts';
import { BlockBuffers, PostingsCursor, type PostingsHead } from './postings.ts';
import type { Bm25Segment } from './segment.ts';
import { scoreTable, TABLE_TFS, type TermScorer, UNKNOWN } from './term-scorer.ts';

/** Documents of a window: their accumulators stay in the first cache. */
const WINDOW_DOCS = 4096;
/** Makes bounds safe against rounding of their sums. */
const SLACK = 1 + 1e-12;

/** Who takes documents; they come in ascending order. */
export type Collector = {
  /** Documents that cannot score above need not be brought. May rise. */
  readonly threshold: number;
  add(doc: number, score: number): void;
};

/** A term of the query that the segment has. */
export type SegmentTerm = { readonly scorer: TermScorer; readonly head: PostingsHead };

/** Which documents count. */
export type Selection = {
  readonly deleted: Bitmap | undefined;
  readonly filter: Bitmap | undefined;
};

/** The memory of a search, used again by the next. */
export class SearchSpace {
  readonly sums = new Float64Array(WINDOW_DOCS);
  /** Bit per document that has a sum. */
  readonly touched = new Int32Array(WINDOW_DOCS >> 5);
  readonly candidates = new Uint32Array(WINDOW_DOCS);
  readonly candidateSums = new Float64Array(WINDOW_DOCS);
  readonly #tables: Float32Array[] = [];
  readonly #buffers: BlockBuffers[] = [];

  /** Memory for the scores of the query's term number `i`. */
  table(i: number): Float32Array {
    this.#tables[i] ??= scoreTable();
    return this.#tables[i];
  }

  /** Memory for a block of term number `i` of the segment at hand. */
  buffers(i: number): BlockBuffers {
    this.#buffers[i] ??= new BlockBuffers();
    return this.#buffers[i];
  }
}

type Term = { readonly cursor: PostingsCursor; readonly scorer: TermScorer };

/** One segment, one query. */
export class SegmentSearch {
  readonly #segment: Bm25Segment;
  readonly #selection: Selection;
  readonly #space: SearchSpace;
  /** By ascending bound. */
  readonly #terms: readonly Term[];
  /** #reach[i]: what terms 0 … i − 1 can add together. */
  readonly #reach: Float64Array;

  constructor(
    segment: Bm25Segment,
    terms: readonly SegmentTerm[],
    { selection, space }: { readonly selection: Selection; readonly space: SearchSpace },
  ) {
    this.#segment = segment;
    this.#selection = selection;
    this.#space = space;
    const bounded = terms.map(({ scorer, head }) => ({ scorer, head, bound: scorer.bound(head) }));
    bounded.sort((a, b) => a.bound - b.bound);
    this.#terms = bounded.map(({ scorer, head }, i) => ({
      scorer,
      cursor: new PostingsCursor(head, segment.place, space.buffers(i)),
    }));
    this.#reach = new Float64Array(terms.length + 1);
    bounded.forEach(({ bound }, i) => {
      this.#reach[i + 1] = (this.#reach[i] + bound) * SLACK;
    });
  }

  /** Brings all documents that may be above the collector's threshold. */
  run(collector: Collector, firstDoc: number): void {
    for (let first = 0; ; ) {
      while (first < this.#terms.length && this.#reach[first + 1] <= collector.threshold) first++;
      const base = this.#nextDoc(first);
      if (base === Number.POSITIVE_INFINITY) return;
      const end = Math.min(base + WINDOW_DOCS, this.#segment.numDocs);
      for (let i = first; i < this.#terms.length; i++) this.#addTerm(this.#terms[i], base, end);
      const count = this.#gather(base, this.#reach[first], collector.threshold);
      this.#finish(this.#lookUp(first, count, collector.threshold), collector, firstDoc);
    }
  }

  /** The first document that the terms from `first` on still have. */
  #nextDoc(first: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (let i = first; i < this.#terms.length; i++) next = Math.min(next, this.#terms[i].cursor.doc);
    return next;
  }

  #addTerm({ cursor, scorer }: Term, base: number, end: number): void {
    const { sums, touched } = this.#space;
    const { lengths } = this.#segment;
    const { docs, tfs } = cursor;
    const { table } = scorer;
    do {
      const { count } = cursor;
      let i = cursor.position;
      for (; i < count; i++) {
        const doc = docs[i];
        if (doc >= end) break;
        const tf = tfs[i];
        const known = tf <= TABLE_TFS ? table[((tf - 1) << 8) | lengths[doc]] : UNKNOWN; // scorer.score, half as long
        const at = doc - base;
        sums[at] += known === UNKNOWN ? scorer.score(tf, lengths[doc]) : known;
        touched[at >> 5] |= 1 << (at & 31);
      }
      cursor.position = i;
      if (i < count) return;
    } while (cursor.nextBlock());
  }

  /** Clears the window; documents of it that are within reach of the threshold become candidates. Returns how many. */
  #gather(base: number, reach: number, threshold: number): number {
    const { sums, touched, candidates, candidateSums } = this.#space;
    let count = 0;
    for (let word = 0; word < touched.length; word++) {
      for (let bits = touched[word]; bits !== 0; bits &= bits - 1) {
        const at = (word << 5) | (31 - Math.clz32(bits & -bits));
        if (sums[at] + reach > threshold) {
          candidates[count] = base + at;
          candidateSums[count++] = sums[at];
        }
        sums[at] = 0;
      }
      touched[word] = 0;
    }
    return count;
  }

  /** Adds the terms that were not walked through, best first, and drops whoever falls out of reach. */
  #lookUp(numTerms: number, numCandidates: number, threshold: number): number {
    const { candidates, candidateSums } = this.#space;
    const { lengths } = this.#segment;
    let count = numCandidates;
    for (let i = numTerms - 1; i >= 0; i--) {
      const { cursor, scorer } = this.#terms[i];
      const reach = this.#reach[i + 1];
      let kept = 0;
      for (let c = 0; c < count; c++) {
        const doc = candidates[c];
        let sum = candidateSums[c];
        if (sum + reach <= threshold) continue;
        cursor.advance(doc);
        if (cursor.doc === doc) sum += scorer.score(cursor.tfs[cursor.position], lengths[doc]);
        candidates[kept] = doc;
        candidateSums[kept++] = sum;
      }
      count = kept;
    }
    return count;
  }

  #finish(count: number, collector: Collector, firstDoc: number): void {
    const { candidates, candidateSums } = this.#space;
    const { deleted, filter } = this.#selection;
    for (let c = 0; c < count; c++) {
      const score = Math.fround(candidateSums[c]);
      if (score <= collector.threshold) continue;
      const doc = candidates[c];
      if (deleted && hasBit(deleted, doc)) continue;
      if (filter && !hasBit(filter, doc)) continue;
      collector.add(firstDoc + doc, score);
    }
  }
}
