/**
 * How a query becomes what an index is searched with: weighted terms for learned vectors, analysed words for BM25. Needs
 * no model: all of it is in the index.
 */
import { IndexStateError, UsageError } from '../core/index.ts';
import { type AnalysisOptions, analyse } from '../search/index.ts';
import type { IndexQuery, StoreReader, StoreSettings } from '../store/index.ts';
import { decodeQuerySide, encodeQuery, type QuerySide, type QueryTerm } from '../text/index.ts';
import type { EngineQuery } from './engine.ts';
import { isTokenWeights, type TokenWeights, vectorOfTokens } from './token-weights.ts';

/** A query as the index takes it, and as people read it. */
export type ParsedQuery = { readonly query: IndexQuery; readonly terms: readonly QueryTerm[] };

/** Reads the queries of one index. */
export type QueryLanguage = {
  /** A query as the index takes it. */
  parse(query: EngineQuery): ParsedQuery;
  /** How people spell a term of an explanation. */
  tokenOf(term: number | string): string;
  /** Tokenizer and IDF, where the index has them. */
  readonly querySide: QuerySide | undefined;
  /** How words are made of texts, in an index of words. */
  readonly analysis: AnalysisOptions;
};

/** The language of an index. */
export function queryLanguageOf(reader: StoreReader): QueryLanguage {
  return reader.settings.kind === 'bm25' ? words(analysisOf(reader.settings)) : learnedTerms(requireQuerySide(reader));
}

/** How an index of words makes words of texts and queries. */
export function analysisOf({ bm25 }: Pick<StoreSettings, 'bm25'>): AnalysisOptions {
  return { stopWords: bm25?.stopWords ?? true };
}

function requireQuerySide(reader: StoreReader): QuerySide {
  const bytes = reader.querySide();
  if (bytes) return decodeOnce(bytes);
  throw new IndexStateError('the index has no query side: its queries would need a model');
}

/**
 * What was decoded last, for as long as somebody holds it or memory is plenty. The bytes it was decoded from, a few hundred
 * kilobytes for BERT's vocabulary, are held until others take their place.
 */
let decoded: { readonly bytes: Uint8Array; readonly querySide: WeakRef<QuerySide> } | undefined;

/** Decoding takes a tenth of a second, and a process opens an index, or several of one model, again and again. */
function decodeOnce(bytes: Uint8Array): QuerySide {
  const known = decoded && Buffer.compare(decoded.bytes, bytes) === 0 ? decoded.querySide.deref() : undefined;
  if (known) return known;
  const querySide = decodeQuerySide(bytes);
  decoded = { bytes, querySide: new WeakRef(querySide) };
  return querySide;
}

/** Weights of a BM25 query are the numbers of times that a word occurs in it. */
function words(analysis: AnalysisOptions): QueryLanguage {
  return {
    parse: (query) => {
      checkQuery(query);
      if (typeof query !== 'string')
        throw new UsageError('a BM25 index is searched with words', { hint: 'give the query as text' });
      const analysed = analyse(query, analysis);
      const counts = new Map<string, number>();
      for (const word of analysed) counts.set(word, (counts.get(word) ?? 0) + 1);
      return { query: analysed, terms: Array.from(counts, ([token, weight]) => ({ token, weight })) };
    },
    tokenOf: String,
    querySide: undefined,
    analysis,
  };
}

function learnedTerms(querySide: QuerySide): QueryLanguage {
  const { vocabulary } = querySide.tokenizer;
  return {
    parse: (query) => {
      checkQuery(query);
      if (typeof query !== 'string') return parseVector(query.vector, querySide);
      const { vector, terms } = encodeQuery(querySide, query);
      return { query: vector, terms };
    },
    tokenOf: (term) => vocabulary.tokens[Number(term)],
    querySide,
    analysis: {},
  };
}

/** For callers without types. */
function checkQuery(query: unknown): void {
  if (typeof query === 'string') return;
  if (typeof query === 'object' && query !== null && 'vector' in query && isTokenWeights(query.vector)) return;
  throw new UsageError(`a query is a text or { vector: weights by token }, got ${JSON.stringify(query) ?? query}`);
}

function parseVector(weights: TokenWeights, { tokenizer }: QuerySide): ParsedQuery {
  const fail = (problem: string) => new UsageError(`the query ${problem}`);
  const query = vectorOfTokens(weights, tokenizer.vocabulary, fail);
  return { query, terms: Object.entries(weights).map(([token, weight]) => ({ token, weight })) };
}
