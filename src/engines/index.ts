/** One face over everything that can be searched: the embedded index, and several engines joined. */
export type { Bm25Standing } from './bm25-standing.ts';
export { bm25Standing } from './bm25-standing.ts';
export type { IndexDocument } from './check-documents.ts';
export { checkDocument, checkStream } from './check-documents.ts';
export type { AddOptions, AddReport, CreateIndexOptions, IndexOptions, IndexSearchOptions } from './embedded-index.ts';
export { createIndex, Index, openIndex } from './embedded-index.ts';
export { requireSharedVocabulary, weightsByToken } from './encoded-queries.ts';
export type {
  Account,
  Engine,
  EngineDocument,
  EngineQuery,
  EngineStats,
  ExplainOptions,
  Explanation,
  Hit,
  HitSnippet,
  Product,
  SearchAnswer,
  SearchOptions,
  TextPlace,
} from './engine.ts';
export type { FusedId, Fusion, ScoredId } from './fusion.ts';
export { fuse, partProducts } from './fusion.ts';
export type { HybridOptions } from './hybrid.ts';
export { hybridEngine } from './hybrid.ts';
export type { Documents, IndexingOptions } from './index-documents.ts';
export type { ParsedQuery, QueryLanguage } from './query-language.ts';
export type { HitSnippetMaker } from './snippets.ts';
export { hitSnippets } from './snippets.ts';
export type { TokenWeights, VectorFailure } from './token-weights.ts';
export { isTokenWeights, vectorOfTokens } from './token-weights.ts';
