/** The part of the embedded collection that `lzero model check` measures on. The same in every run. */
import { documentTexts, EMBEDDED_COLLECTION, openCollection } from '../data/index.ts';
import type { CheckTexts } from '../model/index.ts';

/** Every n-th query and passage, 26 and 61: few enough for large models, enough for top tens. */
const QUERY_STEP = 6;
const PASSAGE_STEP = 4;
/** Every n-th of these goes into test vectors, which people read. */
const VECTOR_STEP = 5;

/** Queries and passages to measure on. */
export async function sampleTexts(): Promise<CheckTexts> {
  const collection = await openCollection(EMBEDDED_COLLECTION);
  const documents: string[] = [];
  for await (const { text } of documentTexts(collection.documents())) documents.push(text);
  return {
    queries: everyNth(
      collection.queries.map(({ text }) => text),
      QUERY_STEP,
    ),
    documents: everyNth(documents, PASSAGE_STEP),
  };
}

/** Those of them that test vectors are made of. */
export function vectorTexts({ queries, documents }: CheckTexts): CheckTexts {
  return { queries: everyNth(queries, VECTOR_STEP), documents: everyNth(documents, VECTOR_STEP) };
}

function everyNth<T>(items: readonly T[], n: number): T[] {
  return items.filter((_, i) => i % n === 0);
}
