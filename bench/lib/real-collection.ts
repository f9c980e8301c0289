/** Vectors and queries that a real model made, in the form of synthetic ones; and which of the two a command line asks for. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SparseVector, sparseVector } from '../../src/core/index.ts';
import { documentTexts, readDocuments, readQueries, readVectors } from '../../src/data/index.ts';
import { createTokenizer, encodeQuery, IdfCounter } from '../../src/text/index.ts';
import { LARGEST_WEIGHT, type SyntheticCollection, syntheticCollection } from './synthetic.ts';

/** Where they are. */
export type RealVectors = {
  /** What `lzero encode` wrote. */
  readonly vectors: string;
  /** The collection that was encoded; its queries are weighted by its IDF. */
  readonly collection: string;
  /** The model's folder, for its tokenizer. */
  readonly model: string;
  readonly numQueries: number;
};

/** A collection that a model encoded. */
export type RealCollection = SyntheticCollection & { readonly largestWeight: number };

/** What a command line says: a number of documents to draw, or where vectors are. */
export type CollectionOptions = Partial<Record<'vectors' | 'collection' | 'model', string>> & {
  readonly docs: string;
  readonly queries: string;
  readonly seed?: string;
};

/** The real collection where the options name one, else a synthetic one. */
export async function givenCollection(options: CollectionOptions): Promise<RealCollection> {
  const { docs, queries, seed = '1', vectors, collection, model } = options;
  const numQueries = Number(queries);
  if (vectors && collection && model) return await realCollection({ vectors, collection, model, numQueries });
  const drawn = syntheticCollection({ numDocs: Number(docs), numQueries, seed: Number(seed) });
  return { ...drawn, largestWeight: LARGEST_WEIGHT };
}

/** Vectors and queries that somebody's model made. */
export async function realCollection({ vectors, collection, model, numQueries }: RealVectors): Promise<RealCollection> {
  const tokenizer = await createTokenizer({
    tokenizerJson: readFileSync(join(model, 'tokenizer.json'), 'utf8'),
    label: model,
  });
  const idf = new IdfCounter(tokenizer);
  for await (const { text } of documentTexts(readDocuments(collection))) idf.add(text);
  const documents: SparseVector[] = [];
  const idOf = (token: string): number => {
    const id = tokenizer.vocabulary.idOf(token);
    if (id === undefined) throw new Error(`${vectors}: the token ${token} is not in the vocabulary of ${model}`);
    return id;
  };
  for await (const { tokens, weights } of readVectors(vectors)) documents.push(sparseVector(tokens.map(idOf), weights));
  const queries: SparseVector[] = [];
  const querySide = { tokenizer, idf: idf.table() };
  for await (const { text } of readQueries(collection))
    if (queries.length < numQueries) queries.push(encodeQuery(querySide, text).vector);
  const offsets = offsetsOf(documents);
  const all = {
    terms: Uint16Array.from(documents.flatMap(({ terms }) => [...terms])),
    weights: Float32Array.from(documents.flatMap(({ weights }) => [...weights])),
  };
  const largestWeight = all.weights.reduce((largest, weight) => Math.max(largest, weight), 0);
  return { numDocs: documents.length, offsets, ...all, queries, largestWeight };
}

/** Where each vector begins, and where the last ends. */
export function offsetsOf(vectors: readonly SparseVector[]): Uint32Array {
  const offsets = new Uint32Array(vectors.length + 1);
  vectors.forEach(({ terms }, i) => {
    offsets[i + 1] = offsets[i] + terms.length;
  });
  return offsets;
}
