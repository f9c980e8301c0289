/** Documents, queries and vectors in, lines out: streaming, checked, and safe to stop. */
export { documentText } from '../text/index.ts';
export type { BadReason, Problem } from './bad-line.ts';
export { BadLine, quote, ReadReport } from './bad-line.ts';
export type { ByteSourceOptions } from './byte-source.ts';
export { readBytes, STDIN } from './byte-source.ts';
export type { Collection, CollectionFiles, CollectionOptions } from './collection.ts';
export { openCollection } from './collection.ts';
export { columnsOf, integerOf } from './columns.ts';
export { countLines } from './count-lines.ts';
export type { Document, DocumentOptions } from './documents.ts';
export { documentTexts, inputFile, isPageFolder, readDocuments } from './documents.ts';
export type { Asked, Documents, Example, LabelledDocuments, RankedList } from './examples/example.ts';
export { documentsOf } from './examples/example.ts';
export type { ExampleParser, ParseExample, UnscoredList } from './examples/parse-line.ts';
export {
  documentsAlone,
  parseJsonDocument,
  parseJsonPair,
  parseJsonTriple,
  parseJudged,
  parseList,
  parseScored,
  parseTablePair,
  parseTableTriple,
} from './examples/parse-line.ts';
export type { TextFiles, TextOptions, Texts } from './examples/texts.ts';
export { filesOfTexts, readTexts, TEXTS_OF_LINES } from './examples/texts.ts';
export { IdSet, MAX_COMPARED_IDS } from './id-set.ts';
export type { InputFile, LineFormat } from './input-file.ts';
export { findInputFile } from './input-file.ts';
export { inputIdentity } from './input-identity.ts';
export { kindOf, parseObject } from './json-line.ts';
export type { LineOutput, LineOutputOptions, LineSink, OutputPlace } from './line-output.ts';
export { checkLineOutput, openLineOutput, writeLines } from './line-output.ts';
export type { Line, LineOptions } from './lines.ts';
export { readLines } from './lines.ts';
export type { Chunk, ChunkOptions, ChunkPlace, ChunkSource } from './pages/chunk.ts';
export { chunkDocument, chunkPage, countingOf } from './pages/chunk.ts';
export type { CountTokens } from './pages/cut-text.ts';
export type { HtmlOptions } from './pages/html-blocks.ts';
export type { Attributes } from './pages/html-elements.ts';
export type { Selects } from './pages/html-marks.ts';
export { MAX_WEIGHT, parseSelectors } from './pages/html-marks.ts';
export type { Heading, Page, PageFields, Paragraph } from './pages/page.ts';
export { pageText, pageUrl } from './pages/page.ts';
export type { PagePlan } from './pages/plan-pages.ts';
export { planPages } from './pages/plan-pages.ts';
export type { PageFormat, PageOptions, Pages } from './pages/read-pages.ts';
export { pageFormat, readPages } from './pages/read-pages.ts';
export type { Counts, FileIdentity, JobIdentity } from './partial-file.ts';
export { fileIdentity } from './partial-file.ts';
export type { Judgement, Qrels } from './qrels.ts';
export { readJudgements, readQrels } from './qrels.ts';
export type { Query, QueryOptions } from './queries.ts';
export { readQueries } from './queries.ts';
export type { ReadOptions, Records } from './records.ts';
export { isBlank } from './records.ts';
export { EMBEDDED_COLLECTION } from './registry/embedded-collection.ts';
export type { FetchedCollection, FetchOptions } from './registry/fetch-collection.ts';
export { fetchCollection } from './registry/fetch-collection.ts';
export type { ReadParquet } from './registry/parquet.ts';
export { COLLECTIONS, findCollections } from './registry/registry.ts';
export type { CollectionSource, RegisteredCollection, SourceFile } from './registry/types.ts';
export type { Hit } from './run-order.ts';
export { compareHits, rankHits } from './run-order.ts';
export type { Run, RunLine } from './runs.ts';
export { formatRun, readRun, readRunLines } from './runs.ts';
export type { VectorRecord } from './vectors.ts';
export { formatVector, readVectors } from './vectors.ts';
