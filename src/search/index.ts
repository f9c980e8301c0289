/** The index: how vectors become bytes, and how bytes are searched. Runs in a browser. */

export type { AnalysisOptions } from './bm25/analyse.ts';
export { analyse } from './bm25/analyse.ts';
export { bm25Format } from './bm25/format.ts';
export { PassingBm25 } from './bm25/passing.ts';
export type { Bm25SearcherOptions } from './bm25/searcher.ts';
export { Bm25Searcher } from './bm25/searcher.ts';
export type { Bm25Parameters } from './bm25/similarity.ts';
export { BM25_DEFAULTS } from './bm25/similarity.ts';
export { bytesSource, writtenBytes } from './bytes-source.ts';
export { countBits, emptyBitmap, fullBitmap, hasBit, intersect, setBit } from './documents/bitmap.ts';
export { BlockReader } from './documents/block-reader.ts';
export type { Block, BlockCodec, BlockRange, BlockTable } from './documents/blocks.ts';
export { parseBlock } from './documents/blocks.ts';
export { checkDeclaredFields, checkStoredDocument } from './documents/check-document.ts';
export type { BooleanColumn, Column, KeywordColumn, NumberColumn } from './documents/columns.ts';
export type { Origin, StoredDocument } from './documents/document.ts';
export type { DocumentsReaderOptions } from './documents/documents-reader.ts';
export { DocumentsReader } from './documents/documents-reader.ts';
export type { DocumentsOptions, DocumentsSummary } from './documents/documents-writer.ts';
export { writeDocuments } from './documents/documents-writer.ts';
export type { FieldSchema, FieldType } from './documents/fields.ts';
export { parseFieldSchema } from './documents/fields.ts';
export type { FieldCondition, Filter, FilterNode, FilterValue, RangeOperator } from './documents/filter.ts';
export { parseFilter } from './documents/filter.ts';
export type { CompiledFilter, FilterColumn, FilteredDocuments } from './documents/filter-bitmap.ts';
export { compileFilter, evaluateFilter } from './documents/filter-bitmap.ts';
export type { GroupByPageOptions, PageHit, PageHits } from './documents/group-by-page.ts';
export { groupByPage } from './documents/group-by-page.ts';
export { mergeDocuments } from './documents/merge-documents.ts';
export type { Pages } from './documents/pages.ts';
export type { RescoredTopK, RescoreFloatOptions } from './documents/rescore-float.ts';
export { rescoreFloat } from './documents/rescore-float.ts';
export type { FileKind, SectionFile } from './documents/section-file.ts';
export type { StringTable } from './documents/string-table.ts';
export type { VectorsSummary } from './documents/vectors-file.ts';
export { mergeVectors, VectorsReader, verifyVectors, writeVectors } from './documents/vectors-file.ts';
export { verifyDocuments } from './documents/verify-documents.ts';
export { checkK, DEFAULT_K, MAX_K } from './hits.ts';
export type { SparseCollection } from './sparse/build.ts';
export { collectCodes, writeSparseSegment } from './sparse/build.ts';
export type { IntegerTopK, QueryWeights, SparseCodes } from './sparse/codes.ts';
export { MAX_CODE, quantiseQuery, quantiseVector, quantiseWeights, TERM_LIMIT } from './sparse/codes.ts';
export type { SegmentDirectory } from './sparse/directory.ts';
export { rowAt } from './sparse/directory.ts';
export type { ExhaustiveOptions } from './sparse/exhaustive.ts';
export { exhaustiveTopK } from './sparse/exhaustive.ts';
export type { Postings } from './sparse/record.ts';
export type {
  ResidencyMode,
  SharedSearch,
  SharedSegment,
  SparseSearcherOptions,
} from './sparse/searcher.ts';
export { SparseSearcher } from './sparse/searcher.ts';
export type { RecordKind, SegmentShape, TermRow } from './sparse/segment-layout.ts';
export { DEFAULT_WINDOW_SIZE, isDense, MAX_SEGMENT_DOCS } from './sparse/segment-layout.ts';
export { SegmentReader } from './sparse/segment-reader.ts';
export { SegmentWriter } from './sparse/segment-writer.ts';
export { sparseFormat } from './sparse/sparse-format.ts';
export type {
  Bitmap,
  ByteSink,
  ByteSource,
  IndexKind,
  MergeInput,
  SearchSegment,
  SegmentFormat,
  SegmentSearcher,
  SegmentSummary,
  Standing,
  StandingOptions,
  TermProduct,
  TopK,
  TopKOptions,
} from './types.ts';
