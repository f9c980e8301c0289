/**
 * What the parts of the index agree on: bytes in, bytes out, a kind of segment, and whoever searches segments. Knows
 * nothing of files, threads or models.
 */

/**
 * A set of documents of one segment: bit `d & 7` of byte `d >> 3`. At least ⌈numDocs / 8⌉ bytes; bits beyond are 0.
 */
export type Bitmap = Uint8Array;

/** Where finished bytes go, in order. */
export type ByteSink = {
  /** Takes over the bytes before it returns: the caller may reuse the array. */
  write(bytes: Uint8Array): void;
};

/** Bytes that can be read anywhere. Reads are synchronous: an index is local, or its ranges have been fetched before. */
export type ByteSource = {
  /** What messages call it, usually a file name. */
  readonly label: string;
  readonly sizeBytes: number;
  /** Exactly these bytes, as a view or a copy that must not be written to; an IndexFormatError where they are not all there. */
  read(offset: number, length: number): Uint8Array;
  /** The same into memory that is there, which spares a copy; where a source cannot, it is left out. */
  readInto?(offset: number, target: Uint8Array): void;
};

/** One segment to be merged. */
export type MergeInput = {
  readonly source: ByteSource;
  /** Documents to leave out. */
  readonly deleted: Bitmap | undefined;
};

/** What a finished segment holds. */
export type SegmentSummary = {
  readonly numDocs: number;
  readonly numPostings: number;
};

/**
 * One kind of segment (learned sparse vectors, or words for BM25): how its documents become bytes and stay whole.
 * `Payload` is what is indexed of one document.
 */
export type SegmentFormat<Payload> = {
  readonly kind: IndexKind;
  /** Bytes a payload takes in a write buffer, about; the builder starts a new segment when they add up. */
  sizeOf(payload: Payload): number;
  /** For the write-ahead log. */
  encodePayload(payload: Payload): Uint8Array;
  /** Reads what `encodePayload` wrote; an IndexFormatError for anything else. */
  decodePayload(bytes: Uint8Array): Payload;
  /** Writes one segment of these documents, numbered from 0 in this order. */
  write(payloads: readonly Payload[], sink: ByteSink): SegmentSummary;
  /** Writes one segment of the documents of several that are not deleted, in their order. */
  merge(inputs: readonly MergeInput[], sink: ByteSink): SegmentSummary;
  /** In how many documents each term stands, deleted ones included. */
  frequencies(source: ByteSource): Iterable<readonly [term: number | string, numDocs: number]>;
  /** Bytes of the list of each term, as a search that needs all of it reads them; what finds the list is not counted. */
  listSizes(source: ByteSource): Iterable<readonly [term: number | string, sizeBytes: number]>;
  /** Reads everything and checks every checksum and bound; an IndexFormatError at the first fault. */
  verify(source: ByteSource): SegmentSummary;
};

/** Kinds of index. */
export type IndexKind = 'sparse' | 'bm25';

/** One segment to be searched. `key` names its bytes: the same key is the same bytes for ever. */
export type SearchSegment = {
  readonly key: string;
  readonly source: ByteSource;
  readonly numDocs: number;
  readonly deleted: Bitmap | undefined;
};

/** How to search. */
export type TopKOptions = {
  /** Hits wanted, 1 … 10,000. */
  readonly k: number;
  /** For each segment the documents that may be returned; undefined: all. */
  readonly filter?: readonly (Bitmap | undefined)[] | undefined;
};

/** The best documents, best first; equal scores by ascending document number. */
export type TopK = {
  /** Document numbers over all segments: those of the first segment, then those of the second, … */
  readonly docIds: Uint32Array;
  readonly scores: Float64Array;
};

/** One term of a query that a document has. Products of a document add up to its score. */
export type TermProduct = {
  /** Term id for sparse vectors, the analysed word for BM25. */
  readonly term: number | string;
  readonly queryWeight: number;
  readonly docWeight: number;
  readonly product: number;
};

/** Where a document stands for a query. */
export type Standing = {
  readonly score: number;
  /** From 1, among all documents that match; undefined where the document does not match. */
  readonly rank: number | undefined;
  readonly products: readonly TermProduct[];
};

/** What of a standing is wanted. */
export type StandingOptions = {
  /** The rank takes a look at every document that matches; false leaves it out. True where not given. */
  readonly rank?: boolean | undefined;
};

/** Whoever finds the best documents of some segments. `Query` is a sparse vector or a list of analysed words. */
export type SegmentSearcher<Query> = {
  /** The segments to search from now on, in order of document number. Known keys are not loaded again. */
  setSegments(segments: readonly SearchSegment[]): void;
  /** The best documents. */
  search(query: Query, options: TopKOptions): TopK;
  /** Score, products and exact rank of one document. */
  standing(query: Query, docId: number, options?: StandingOptions): Standing;
  /** Bytes held in memory. */
  readonly memoryBytes: number;
};
