/** Documents, queries and vectors in, lines out: streaming, checked, and safe to stop. */
export type { BadReason, Problem } from './bad-line.ts';
export { ReadReport } from './bad-line.ts';
export type { ByteSourceOptions } from './byte-source.ts';
export { countLines } from './count-lines.ts';
export type { Document, DocumentOptions } from './documents.ts';
export { documentText, documentTexts, inputFile, readDocuments } from './documents.ts';
export { IdSet } from './id-set.ts';
export type { LineFormat } from './input-file.ts';
export type { LineOutput, LineOutputOptions, LineSink } from './line-output.ts';
export { openLineOutput, writeLines } from './line-output.ts';
export type { LineOptions } from './lines.ts';
export type { JobIdentity } from './partial-file.ts';
export type { Query, QueryOptions } from './queries.ts';
export { readQueries } from './queries.ts';
export type { ReadOptions, Records } from './records.ts';
export type { VectorRecord } from './vectors.ts';
export { formatVector, readVectors } from './vectors.ts';
