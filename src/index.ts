/** lzero: inference-free learned sparse retrieval. */
export type {
  AddOptions,
  AddReport,
  CreateIndexOptions,
  EngineDocument,
  EngineQuery,
  Explanation,
  Hit,
  IndexOptions,
  IndexSearchOptions,
  Product,
  SearchAnswer,
} from './engines/index.ts';
export { createIndex, Index, openIndex } from './engines/index.ts';
export type { DocumentToEncode, EncodedDocument, EncodeOptions, Model } from './model/index.ts';
export { loadModel } from './model/index.ts';
