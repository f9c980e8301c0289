/**
 * How a query becomes what an index is searched with: weighted terms for learned vectors, analysed words for BM25. Needs
 * no model: all of it is in the index.
 */
import { IndexStateError, sparseVector, UsageError } from '../core/index.ts';
import { analyse } from '../search/index.ts';
import type { IndexQuery, StoreReader } from '../store/index.ts';
import { decodeQuerySide, encodeQuery, type QuerySide, type QueryTerm } from '../text/index.ts';
import type { EngineQuery } from './engine.ts';

/** A query as the index takes it, and as people read it. */
export type ParsedQuery = { readonly query: IndexQuery; readonly terms: readonly QueryTerm[] };

/** Reads the queries of one index. */
export type QueryLanguage = {
  parse(query: EngineQuery): ParsedQuery;
  /** How people spell a term of an explanation. */
  tokenOf(term: number | string): string;
  /** Tokenizer and IDF, where the index has them. */
  readonly querySide: QuerySide | undefined;
};

/** The language of an index. */
export function queryLanguageOf(reader: StoreReader): QueryLanguage {
  return reader.settings.kind === 'bm25' ? words : learnedTerms(requireQuerySide(reader));
}

function requireQuerySide(reader: StoreReader): QuerySide {
  const bytes = reader.querySide();
  if (bytes) return decodeQuerySide(bytes);
  throw new IndexStateError('the index has no query side: its queries would need a model');
}

/** Weights of a BM25 query are the numbers of times that a word occurs in it. */
const words: QueryLanguage = {
  parse: (query) => {
    if (typeof query !== 'string')
      throw new UsageError('a BM25 index is searched with words', { hint: 'give the query as text' });
    const analysed = analyse(query);
    const counts = new Map<string, number>();
    for (const word of analysed) counts.set(word, (counts.get(word) ?? 0) + 1);
    return { query: analysed, terms: Array.from(counts, ([token, weight]) => ({ token, weight })) };
  },
  tokenOf: String,
  querySide: undefined,
};

function learnedTerms(querySide: QuerySide): QueryLanguage {
  const { vocabulary } = querySide.tokenizer;
  return {
    parse: (query) => {
      if (typeof query !== 'string') return parseVector(query.vector, querySide);
      const { vector, terms } = encodeQuery(querySide, query);
      return { query: vector, terms };
    },
    tokenOf: (term) => vocabulary.tokens[Number(term)],
    querySide,
  };
}

function parseVector(weights: Readonly<Record<string, number>>, { tokenizer }: QuerySide): ParsedQuery {
  const terms = Object.entries(weights).map(([token, weight]) => ({ token, weight }));
  const ids = terms.map(({ token, weight }) => {
    const id = tokenizer.vocabulary.idOf(token);
    if (id === undefined)
      throw new UsageError(`the query has the token ${JSON.stringify(token)}, the index knows none`);
    if (!(weight > 0 && Number.isFinite(weight)))
      throw new UsageError(`the token ${JSON.stringify(token)} has weight ${weight}; weights are positive and finite`);
    return id;
  });
  const query = sparseVector(
    ids,
    terms.map(({ weight }) => weight),
  );
  return { query, terms };
}
