/**
 * The query encoder: tokens looked up in a table, no model. Knows nothing of indexes or documents.
 */
import type { SparseVector } from '../core/index.ts';
import { type IdfTable, requireSize } from './idf.ts';
import type { Tokenizer } from './tokenizer.ts';

/** All that turns a query into a vector. */
export type QuerySide = {
  /** Text to term ids. */
  readonly tokenizer: Tokenizer;
  /** Term ids to weights. */
  readonly idf: IdfTable;
};

/** A term of a query, for people. */
export type QueryTerm = {
  /** As the vocabulary spells it. */
  readonly token: string;
  /** relu(idf), positive. */
  readonly weight: number;
};

/** A query as the engines take it and as people read it. */
export type EncodedQuery = {
  /** Weights by ascending term id. */
  readonly vector: SparseVector;
  /** The same terms in order of first occurrence in the text. */
  readonly terms: readonly QueryTerm[];
};

/**
 * Encodes a query.
 *
 *     q[j] = relu(idf[j])   if token j occurs in the query (a set: no term frequency), else 0;  special tokens 0
 *
 * Terms of weight 0 are left out.
 */
export function encodeQuery({ tokenizer, idf }: QuerySide, text: string): EncodedQuery {
  const { vocabulary } = tokenizer;
  requireSize(idf, vocabulary);
  const ids = [...new Set(tokenizer.encode(text))].filter((j) => idf.values[j] > 0 && !vocabulary.specialIds.has(j));
  const terms = ids.map((j) => ({ token: vocabulary.tokens[j], weight: idf.values[j] }));
  const ascending = Uint32Array.from(ids).sort();
  return { vector: { terms: ascending, weights: Float32Array.from(ascending, (j) => idf.values[j]) }, terms };
}
