/**
 * The best pages instead of the best chunks: a page scores as its best chunk. Exact, because hits come in order: the
 * first chunk of a page that comes is its best, and pages come in the order of their best chunks. So it is enough to ask
 * for more hits until k pages have been seen. Knows nothing of segments.
 */
import { MAX_K } from '../hits.ts';
import type { TopK } from '../types.ts';

/** A page and its best chunk. */
export type PageHit = {
  readonly page: string;
  /** The chunk with the highest score, of equal ones the first. */
  readonly docId: number;
  readonly score: number;
};

/** What grouping needs. */
export type GroupByPageOptions = {
  /** Pages wanted. */
  readonly k: number;
  /** The best `k` documents, best first. */
  readonly search: (k: number) => TopK | Promise<TopK>;
  /** The page of a document; a document that is no chunk is its own. */
  readonly pageOf: (docId: number) => string;
  /** The most that `search` can be asked for. */
  readonly maxHits?: number;
};

/** The best pages, best first. */
export type PageHits = {
  readonly hits: readonly PageHit[];
  /**
   * False where fewer than k pages were found although there may be more: `maxHits` documents belong to so few. Those
   * found are the best all the same.
   */
  readonly complete: boolean;
};

/** The k best pages: asks for 2k documents, then for twice as many, until k pages are there or no document is left. */
export async function groupByPage({ k, search, pageOf, maxHits = MAX_K }: GroupByPageOptions): Promise<PageHits> {
  for (let wanted = Math.min(2 * k, maxHits); ; wanted = Math.min(2 * wanted, maxHits)) {
    const found = await search(wanted);
    const hits = bestPerPage(found, pageOf, k);
    const complete = hits.length === k || found.docIds.length < wanted;
    if (complete || wanted === maxHits) return { hits, complete };
  }
}

/** The first k pages among some hits. */
function bestPerPage({ docIds, scores }: TopK, pageOf: (docId: number) => string, k: number): PageHit[] {
  const best = new Map<string, PageHit>();
  for (let i = 0; i < docIds.length && best.size < k; i++) {
    const page = pageOf(docIds[i]);
    if (!best.has(page)) best.set(page, { page, docId: docIds[i], score: scores[i] });
  }
  return [...best.values()];
}
