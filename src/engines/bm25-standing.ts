/**
 * Where a document of a learned index would stand under BM25. The words are taken from the stored texts at each call, so
 * it needs nothing on disk and takes as long as reading them all.
 */
import { analyse, BM25_DEFAULTS, Bm25Searcher, bm25Format, bytesSource, MAX_K, writtenBytes } from '../search/index.ts';
import { documentText } from '../text/index.ts';
import type { Index } from './embedded-index.ts';

/** Score and rank under BM25. */
export type Bm25Standing = {
  readonly score: number;
  /** Among documents, or pages, with a word of the query; undefined where this one has none. */
  readonly rank: number | undefined;
};

/**
 * Where a document or page stands; undefined where the index has none of that id, or keeps no texts. Behind 10,000 parts
 * the rank of a page is that among parts.
 */
export function bm25Standing(index: Index, query: string, id: string): Bm25Standing | undefined {
  const payloads: string[][] = [];
  const pages: string[] = [];
  const asked: number[] = [];
  let isPart = false;
  for (const document of index.documents()) {
    const page = document.page ?? document.id;
    if (id === page || id === document.id) asked.push(payloads.length);
    if (id === document.id && id !== page) isPart = true;
    payloads.push(analyse(documentText(document)));
    pages.push(page);
  }
  if (asked.length === 0 || payloads.every(({ length }) => length === 0)) return undefined;
  const searcher = searcherOf(payloads);
  const words = analyse(query);
  const best = asked.map((docId) => searcher.standing(words, docId)).reduce((a, b) => (b.score > a.score ? b : a));
  const { score, rank } = best;
  if (rank === undefined || rank > MAX_K || isPart) return { score, rank };
  const { docIds } = searcher.search(words, { k: rank }); // the last of them is the page's best part
  return { score, rank: new Set(Array.from(docIds, (docId) => pages[docId])).size };
}

function searcherOf(payloads: readonly string[][]): Bm25Searcher {
  const bytes = writtenBytes((sink) => bm25Format.write(payloads, sink));
  const searcher = new Bm25Searcher(BM25_DEFAULTS);
  const source = bytesSource(bytes, 'words of the stored texts');
  searcher.setSegments([{ key: 'all', source, numDocs: payloads.length, deleted: undefined }]);
  return searcher;
}
