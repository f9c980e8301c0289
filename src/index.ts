/** lzero: inference-free learned sparse retrieval. */
export type { SparseVector } from './core/index.ts';
export { sparseVector } from './core/index.ts';
export type {
  AddOptions,
  AddReport,
  CreateIndexOptions,
  EngineDocument,
  EngineQuery,
  Explanation,
  Hit,
  HitSnippet,
  IndexOptions,
  IndexSearchOptions,
  Product,
  SearchAnswer,
  TextPlace,
  TokenWeights,
} from './engines/index.ts';
export { createIndex, Index, openIndex } from './engines/index.ts';
export type { DocumentToEncode, EncodedDocument, EncodeOptions, Model } from './model/index.ts';
export { loadModel } from './model/index.ts';
export type { FieldSchema, Filter, StoredDocument } from './search/index.ts';
export type { StoreStats, UserState, WriterOptions } from './store/index.ts';
