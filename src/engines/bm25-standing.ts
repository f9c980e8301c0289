/**
 * Where a document of a learned index would stand under BM25. The words are taken from the stored texts at each call, so
 * it needs nothing on disk and takes as long as reading them all.
 */
import { analyse, BM25_DEFAULTS, Bm25Searcher, bm25Format, bytesSource, type StoredDocument } from '../search/index.ts';
import type { Index } from './embedded-index.ts';

/** Score and rank under BM25. */
export type Bm25Standing = {
  readonly score: number;
  /** Among documents, or pages, with a word of the query; undefined where this one has none. */
  readonly rank: number | undefined;
};

/** Where a document or page stands; undefined where the index has none of that id. */
export function bm25Standing(index: Index, query: string, id: string): Bm25Standing | undefined {
  const payloads: string[][] = [];
  const docIds = new Map<string, number[]>();
  for (const document of index.documents()) {
    const page = document.page ?? document.id;
    docIds.set(page, [...(docIds.get(page) ?? []), payloads.length]);
    if (page !== document.id) docIds.set(document.id, [payloads.length]);
    payloads.push(wordsOf(document));
  }
  const asked = docIds.get(id);
  if (!asked) return undefined;
  const searcher = searcherOf(payloads);
  const words = analyse(query);
  const best = asked.map((docId) => searcher.standing(words, docId)).reduce((a, b) => (b.score > a.score ? b : a));
  return { score: best.score, rank: best.rank };
}

function wordsOf({ title = '', text = '' }: StoredDocument): string[] {
  return analyse(`${title} ${text}`);
}

function searcherOf(payloads: readonly string[][]): Bm25Searcher {
  const pieces: Uint8Array[] = [];
  bm25Format.write(payloads, { write: (bytes) => pieces.push(Uint8Array.from(bytes)) });
  const searcher = new Bm25Searcher(BM25_DEFAULTS);
  const source = bytesSource(concat(pieces), 'words of the stored texts');
  searcher.setSegments([{ key: 'all', source, numDocs: payloads.length, deleted: undefined }]);
  return searcher;
}

function concat(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
