/** Finds the best documents of some segments by BM25. Knows nothing of files. */
import { assert, IndexFormatError, IndexStateError } from '../../core/index.ts';
import { hasBit } from '../documents/bitmap.ts';
import { checkK } from '../hits.ts';
import type {
  Bitmap,
  SearchSegment,
  SegmentSearcher,
  Standing,
  StandingOptions,
  TermProduct,
  TopK,
  TopKOptions,
} from '../types.ts';
import { BestHits } from './best-hits.ts';
import { KeptLists } from './kept-lists.ts';
import { PostingsCursor, type PostingsHead } from './postings.ts';
import { ScoredPostings } from './scored-postings.ts';
import { Bm25Segment } from './segment.ts';
import { type Collector, SegmentSearch } from './segment-search.ts';
import {
  BM25_DEFAULTS,
  type Bm25Parameters,
  checkParameters,
  inverseDocumentFrequency,
  inverseNorms,
} from './similarity.ts';
import { TermScorer } from './term-scorer.ts';
import { Window } from './window.ts';

/** Heads of postings kept per segment; forgotten all at once when full. */
const KEPT_HEADS = 4096;
/** Bytes of scored postings kept per posting of a segment; its own take two to three. */
const KEPT_LIST_BYTES = 2;

/** How a searcher works. */
export type Bm25SearcherOptions = Partial<Bm25Parameters> & {
  /** Read postings whenever a query needs them instead of holding them in memory. */
  readonly lean?: boolean | undefined;
};

/** A segment in its place among the others. */
type Placed = {
  readonly segment: Bm25Segment;
  readonly deleted: Bitmap | undefined;
  /** Number of its first document over all segments. */
  readonly firstDoc: number;
  /** Heads of terms asked for before; null where the segment has no such term. */
  readonly heads: Map<string, PostingsHead | null>;
  /** Scored postings of such terms. */
  readonly lists: KeptLists;
};

/** A word of the query that some document has. */
type QueryTerm = {
  readonly term: string;
  readonly scorer: TermScorer;
  /** By segment. */
  readonly heads: readonly (PostingsHead | null)[];
};

/**
 * Exact BM25 over segments, with Lucene's scores. Statistics are those of all segments together; as in Lucene, a deleted
 * document counts in them until a merge leaves it out, and a document without words does not count. A word that stands n
 * times in the query counts n-fold.
 */
export class Bm25Searcher implements SegmentSearcher<readonly string[]> {
  readonly #lean: boolean;
  readonly #window = new Window();
  readonly #encoder = new TextEncoder();
  #parameters: Bm25Parameters;
  #segments: readonly Placed[] = [];
  #keys: readonly string[] = [];
  #numFilled = 0;
  #inverseNorms: Float32Array = new Float32Array(256);

  constructor({ k1 = BM25_DEFAULTS.k1, b = BM25_DEFAULTS.b, lean = false }: Bm25SearcherOptions = {}) {
    this.#parameters = checkParameters({ k1, b });
    this.#lean = lean;
  }

  /** k1 and b; may be set between two searches. */
  get parameters(): Bm25Parameters {
    return this.#parameters;
  }

  /** k1 and b of the searches from here on. */
  set parameters(parameters: Bm25Parameters) {
    this.#parameters = checkParameters(parameters);
    this.#prepareNorms();
  }

  get memoryBytes(): number {
    return this.#segments.reduce((sum, { segment, lists }) => sum + segment.memoryBytes + lists.sizeBytes, 0);
  }

  setSegments(segments: readonly SearchSegment[]): void {
    const known = new Map(this.#segments.map((placed, i) => [this.#keys[i], placed]));
    let firstDoc = 0;
    this.#segments = segments.map(({ key, source, numDocs, deleted }) => {
      const before = known.get(key);
      const segment = before?.segment ?? new Bm25Segment(source, { resident: !this.#lean });
      if (segment.numDocs !== numDocs)
        throw new IndexFormatError(`${source.label}: ${segment.numDocs} documents, expected ${numDocs}`);
      firstDoc += numDocs;
      const heads = before?.heads ?? new Map();
      const lists = before?.lists ?? new KeptLists(this.#lean ? 0 : KEPT_LIST_BYTES * segment.numPostings);
      return { segment, deleted, firstDoc: firstDoc - numDocs, heads, lists };
    });
    this.#keys = segments.map(({ key }) => key);
    this.#numFilled = this.#segments.reduce((sum, { segment }) => sum + segment.numFilled, 0);
    this.#prepareNorms();
  }

  /** The best documents for these words; a word that is repeated counts as often. */
  search(query: readonly string[], { k, filter }: TopKOptions): TopK {
    checkK(k);
    const hits = new BestHits(k);
    this.#collect(this.#queryTerms(query), hits, filter);
    return hits.finish();
  }

  standing(query: readonly string[], docId: number, { rank = true }: StandingOptions = {}): Standing {
    const at = this.#segments.findIndex(({ segment, firstDoc }) => docId < firstDoc + segment.numDocs);
    if (at < 0 || !(Number.isInteger(docId) && docId >= 0))
      throw new IndexStateError(`there is no document with the number ${docId}`);
    const { deleted, firstDoc } = this.#segments[at];
    const terms = this.#queryTerms(query);
    const gone = deleted !== undefined && hasBit(deleted, docId - firstDoc);
    const products = gone ? [] : terms.flatMap((term) => this.#product(term, at, docId - firstDoc));
    const score = Math.fround(products.reduce((sum, { product }) => sum + product, 0));
    if (products.length === 0) return { score: 0, rank: undefined, products };
    return { score, rank: rank ? this.#rank(terms, score, docId) : undefined, products };
  }

  #rank(terms: readonly QueryTerm[], score: number, docId: number): number {
    const better = new BetterCounter(score, docId);
    this.#collect(terms, better, undefined);
    return better.count + 1;
  }

  #collect(terms: readonly QueryTerm[], collector: Collector, filter: TopKOptions['filter']): void {
    this.#segments.forEach((placed, at) => {
      const { segment, deleted, firstDoc } = placed;
      const lists = terms.flatMap((term) => this.#scored(placed, term, term.heads[at]));
      if (lists.length === 0) return;
      const selection = { deleted, filter: filter?.[at] };
      new SegmentSearch(lists, { numDocs: segment.numDocs, selection, window: this.#window }).run(collector, firstDoc);
    });
  }

  #scored({ segment, lists }: Placed, { term, scorer }: QueryTerm, head: PostingsHead | null): ScoredPostings[] {
    if (!head) return [];
    const kept = lists.get(term, scorer.weight);
    if (kept) return [kept];
    const isKept = lists.takes(head);
    const list = new ScoredPostings(segment, head, { scorer, isKept });
    if (isKept) lists.set(term, list);
    return [list];
  }

  #product({ term, scorer, heads }: QueryTerm, at: number, doc: number): TermProduct[] {
    const { segment } = this.#segments[at];
    const head = heads[at];
    if (!head) return [];
    const cursor = new PostingsCursor(head, segment.place);
    cursor.advance(doc);
    if (cursor.doc !== doc) return [];
    const [tf, length] = [cursor.tfs[cursor.position], segment.lengths[doc]];
    const [docWeight, product] = [scorer.saturation(tf, length), scorer.score(tf, length)];
    return [{ term, queryWeight: scorer.weight, docWeight, product }];
  }

  /** The distinct words of a query that some document has, in order. */
  #queryTerms(words: readonly string[]): QueryTerm[] {
    const counts = new Map<string, number>();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    const terms: QueryTerm[] = [];
    for (const [term, count] of counts) {
      const heads = this.#segments.map((placed) => this.#head(placed, term));
      const df = heads.reduce((sum, head) => sum + (head?.df ?? 0), 0);
      if (df === 0) continue;
      const weight = Math.fround(count * inverseDocumentFrequency(this.#numFilled, df));
      terms.push({ term, scorer: new TermScorer(weight, this.#inverseNorms), heads });
    }
    return terms;
  }

  #head({ segment, heads }: Placed, term: string): PostingsHead | null {
    const known = heads.get(term);
    if (known !== undefined) return known;
    const entry = segment.dictionary.find(this.#encoder.encode(term));
    const head = entry ? segment.head(entry) : null;
    if (heads.size >= KEPT_HEADS) heads.clear();
    if (!this.#lean || !head) heads.set(term, head);
    return head;
  }

  /** Norms for new segments or parameters. Lists that were scored with the old ones go. */
  #prepareNorms(): void {
    for (const { lists } of this.#segments) lists.clear();
    const sumLengths = this.#segments.reduce((sum, { segment }) => sum + segment.sumLengths, 0);
    if (this.#numFilled > 0)
      this.#inverseNorms = inverseNorms({ numFilled: this.#numFilled, sumLengths }, this.#parameters);
  }
}

/** Counts the documents that stand before one. */
class BetterCounter implements Collector {
  /** Below all sums that round to the score, so that equal scores are brought, too; what rounds to less is not counted. */
  readonly threshold: number;
  readonly #score: number;
  readonly #doc: number;
  count = 0;

  constructor(score: number, doc: number) {
    assert(score >= 0, `score ${score}`);
    this.threshold = score > 0 ? score * (1 - 2 ** -23) : -1;
    this.#score = score;
    this.#doc = doc;
  }

  add(doc: number, score: number): void {
    if (score > this.#score || (score === this.#score && doc < this.#doc)) this.count++;
  }
}
