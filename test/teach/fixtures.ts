/** What the tests of src/teach share. */
import type { Document } from '../../src/data/index.ts';
import { DocumentPool, type Scorer } from '../../src/teach/index.ts';

/** A pool of texts by id. */
export function poolOf(texts: Readonly<Record<string, string>>): DocumentPool {
  return new DocumentPool(Object.entries(texts).map(([id, text]): Document => ({ id, text })));
}

/** A real scorer of the simplest kind: the number that ends a text is its score, whatever the query. */
export function numberScorer(): Scorer & { readonly asked: string[] } {
  const scoreOf = (text: string): number => Number(/-?[\d.]+$/.exec(text)?.[0] ?? 0);
  const asked: string[] = [];
  return {
    name: 'numbers',
    identity: '0'.repeat(64),
    asked,
    vocabulary: undefined,
    vectorsOf: undefined,
    denseVectorsOf: undefined,
    scoreLists: async (lists, { onProgress } = {}) => {
      let numEncoded = 0;
      return lists.map(({ docs }) => {
        asked.push(...docs);
        for (const _ of docs) onProgress?.(++numEncoded);
        return docs.map(scoreOf);
      });
    },
    overAll: async (documents, { onProgress } = {}) => {
      for (const i of documents.keys()) onProgress?.(i + 1);
      return async () => documents.map(scoreOf);
    },
    likeness: async (documents) => (i, j) => -Math.abs(scoreOf(documents[i]) - scoreOf(documents[j])),
    learnQueries: async () => {},
    close: async () => {},
  };
}
