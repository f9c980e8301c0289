/**
 * Where a document of a learned index would stand under BM25. The stored texts pass by twice at each call, so it needs
 * nothing on disk and no memory to speak of, and takes as long as reading them.
 */
import { analyse, BM25_DEFAULTS, PassingBm25 } from '../search/index.ts';
import { documentText } from '../text/index.ts';
import type { Index } from './embedded-index.ts';

/** Score and rank under BM25. */
export type Bm25Standing = {
  readonly score: number;
  /** Among documents, or pages, with a word of the query; undefined where this one has none. */
  readonly rank: number | undefined;
};

/** The best of the parts that were asked for. */
type Asked = { readonly score: number; readonly docId: number };

/** Where a document or page stands; undefined where the index has none of that id, or keeps no texts. */
export function bm25Standing(index: Index, query: string, id: string): Bm25Standing | undefined {
  const bm25 = new PassingBm25(analyse(query), BM25_DEFAULTS);
  const asked = new Map<number, readonly string[]>();
  let [docId, hasWords, isPart] = [0, false, false];
  for (const document of index.documents()) {
    const words = analyse(documentText(document));
    bm25.count(words);
    if (words.length > 0) hasWords = true;
    if (id === document.id || id === document.page) asked.set(docId, words);
    if (id === document.id && document.page !== undefined && id !== document.page) isPart = true;
    docId++;
  }
  if (asked.size === 0 || !hasWords) return undefined;
  const best = bestOf(bm25, asked);
  if (!best) return { score: 0, rank: undefined };
  return { score: best.score, rank: 1 + countBetter(index, bm25, best, { isPart, id }) };
}

function bestOf(bm25: PassingBm25, asked: ReadonlyMap<number, readonly string[]>): Asked | undefined {
  let best: Asked | undefined;
  for (const [docId, words] of asked) {
    const score = bm25.score(words);
    if (score !== undefined && (!best || score > best.score)) best = { score, docId };
  }
  return best;
}

/** How many documents stand before it; of pages, how many others have a part that does, unless a part was asked for. */
function countBetter(
  index: Index,
  bm25: PassingBm25,
  { score, docId: askedDoc }: Asked,
  { isPart, id }: { readonly isPart: boolean; readonly id: string },
): number {
  const pages = new Set<string>();
  let [count, docId] = [0, 0];
  for (const document of index.documents()) {
    const its = bm25.score(analyse(documentText(document)));
    const isBetter = its !== undefined && (its > score || (its === score && docId < askedDoc));
    docId++;
    if (!isBetter) continue;
    if (isPart || document.page === undefined) count++;
    else if (document.page !== id) pages.add(document.page);
  }
  return count + pages.size;
}
