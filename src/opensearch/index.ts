/** OpenSearch: typed settings, documents and queries; an engine on a real server; a proof that its scores are ours. */
export type { Credentials, IndexAddress, ServerAddress } from './address.ts';
export { checkIndexName, parseAddress, parseServerAddress } from './address.ts';
export type { NamedIndex } from './aliases.ts';
export { deleteIndex, pointAlias, resolveName } from './aliases.ts';
export type { BulkAction, BulkOptions, Rejection } from './bulk-writer.ts';
export { BulkWriter, bulkLines } from './bulk-writer.ts';
export type { HybridCandidate, HybridChoice, HybridTrial } from './choose-hybrid.ts';
export { chooseHybrid } from './choose-hybrid.ts';
export type { DocumentPlace, FoundDocument } from './documents.ts';
export { documentSource, foundDocuments, serverId } from './documents.ts';
export { ServerError, UnsupportedServerError } from './errors.ts';
export { filterQuery } from './filter-query.ts';
export type { ConnectionOptions, HttpAnswer, HttpRequest, SendOptions, SignRequest, Transport } from './http.ts';
export type {
  IndexBody,
  IndexDescription,
  IndexSettings,
  RankFeaturesField,
  SparseVectorField,
  TokenNames,
  VectorField,
} from './index-body.ts';
export {
  ceilingOf,
  DEFAULT_FIELD,
  filterPath,
  indexBody,
  MAX_SPARSE_VECTOR_TERMS,
  readDescription,
} from './index-body.ts';
export type { EncoderModelOptions, MlModel, MlModelName } from './ml-model.ts';
export { encoderModel, tokenizerModel } from './ml-model.ts';
export { featureOfToken, propertyOfField, tokenOfFeature } from './names.ts';
export type { Abortable, OfficialClient, OfficialClientOptions } from './official-client.ts';
export { officialClient } from './official-client.ts';
export type { CreateOpenSearchOptions } from './open-index.ts';
export { createOpenSearchIndex, describeIndex, openOpenSearchIndex } from './open-index.ts';
export type {
  OpenSearchAddOptions,
  OpenSearchAddReport,
  OpenSearchIndexParts,
  OpenSearchOptions,
} from './opensearch-index.ts';
export { OpenSearchIndex } from './opensearch-index.ts';
export type { ParityDifference, ParityDocument, ParityOptions, ParityQuery, ParityReport } from './parity.ts';
export { checkParity } from './parity.ts';
export type { NormalisationOptions, TwoPhaseOptions } from './pipelines.ts';
export { normalisationPipeline, twoPhasePipeline } from './pipelines.ts';
export type {
  AnalyzerQuery,
  ApproximateParameters,
  HybridQuery,
  ModelQuery,
  NeuralSparseQuery,
  QueryBody,
  QueryTarget,
  RankFeatureQuery,
  TermIds,
} from './queries.ts';
export {
  analyzerQuery,
  bm25Query,
  filtered,
  hybridQuery,
  MAX_QUERY_TOKENS,
  MAX_QUERY_WEIGHT,
  modelQuery,
  neuralSparseQuery,
  rankFeatureQuery,
} from './queries.ts';
export type { QueryStyle } from './query-style.ts';
export type { RegisterOptions } from './register-model.ts';
export { registerModel, removeModel } from './register-model.ts';
export type { BackoffOptions, RequestOptions, ServerAnswer, ServerOptions } from './server.ts';
export { Backoff, Server } from './server.ts';
export type { ServerDescription, ServerFeature } from './server-version.ts';
export { compareVersions, hasFeature, requireFeature } from './server-version.ts';
export { copiesMade, putSettings, servingSettings } from './serving-settings.ts';
export type { SigV4Options } from './sigv4.ts';
export { sigV4 } from './sigv4.ts';
export { byteWeight, isStorable, MIN_STORED_WEIGHT, STORED_ERROR, storedWeight } from './stored-weight.ts';
