/**
 * The one place that knows which kinds of index there are: payload, format and documents of a segment by the settings of
 * the index. What comes in is checked here, at the door: a document that fails when its segment is written would take
 * its neighbours with it.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { IndexStateError, InputError, type SparseVector } from '../core/index.ts';
import {
  type BlockCodec,
  BlockReader,
  type ByteSink,
  type ByteSource,
  bm25Format,
  checkStoredDocument,
  DocumentsReader,
  type MergeInput,
  mergeDocuments,
  mergeVectors,
  type SegmentFormat,
  type SparseCodes,
  type StoredDocument,
  sparseFormat,
  TERM_LIMIT,
  verifyDocuments,
  verifyVectors,
  writeDocuments,
  writeVectors,
} from '../search/index.ts';
import { CachedSource, PageCache } from './cached-source.ts';
import type { SegmentPart } from './layout.ts';
import type { StoreSettings } from './manifest.ts';

/** What is indexed of a document: codes of a learned vector, or analysed words in order. */
export type IndexPayload = SparseCodes | readonly string[];

/** A document for the index. The index takes it over: do not change it, nor the arrays in it, afterwards. */
export type NewDocument = {
  readonly document: StoredDocument;
  readonly payload: IndexPayload;
  /** Float weights, where the index keeps them. */
  readonly vector?: SparseVector | undefined;
};

/** The format of the postings of an index. */
export function formatOf({ kind }: Pick<StoreSettings, 'kind'>): SegmentFormat<IndexPayload> {
  return kind === 'sparse' ? sparseFormat : bm25Format;
}

/** Deflate without header, from zlib. */
const CODEC: BlockCodec = {
  compress: (bytes) => deflateRawSync(bytes),
  decompress: (bytes, rawBytes) => {
    // One piece with a byte to spare: a full one would be followed by an empty one, and several would be joined.
    const chunkSize = Math.max(64, rawBytes + 1);
    const raw = inflateRawSync(bytes, { maxOutputLength: Math.max(1, rawBytes), chunkSize });
    if (raw.length !== rawBytes) throw new RangeError(`expected ${rawBytes} bytes, got ${raw.length}`);
    return raw;
  },
};

/** Opens a documents file. Of ids and small tables it keeps as much in memory as the cache permits. */
export function openDocuments(source: ByteSource, cache: PageCache = new PageCache(2 ** 20)): DocumentsReader {
  return new DocumentsReader(new CachedSource(source, cache), { codec: CODEC });
}

/** Reads lines of documents for another thread. */
export function openBlocks(): BlockReader {
  return new BlockReader(CODEC);
}

/** What the documents of a segment become besides postings. */
export const documentsFormat = {
  write: (documents: readonly NewDocument[], { fields }: StoreSettings, sink: ByteSink) =>
    writeDocuments(
      documents.map(({ document }) => document),
      { fields, sink, codec: CODEC },
    ),
  merge: (inputs: readonly MergeInput[], { fields }: StoreSettings, sink: ByteSink) =>
    mergeDocuments(inputs, { fields, sink, codec: CODEC }),
  verify: (source: ByteSource) => verifyDocuments(source, { codec: CODEC }),
};

const NO_VECTOR: SparseVector = { terms: new Uint32Array(0), weights: new Float32Array(0) };

/** The same for float vectors. */
export const vectorsFormat = {
  write: (documents: readonly NewDocument[], sink: ByteSink) =>
    writeVectors(
      documents.map(({ vector }) => vector ?? NO_VECTOR),
      sink,
    ),
  merge: mergeVectors,
  verify: verifyVectors,
};

/** Reads a whole file of a segment and believes nothing; an IndexFormatError at the first fault. */
export function verifyPart(
  part: SegmentPart,
  source: ByteSource,
  settings: Pick<StoreSettings, 'kind'>,
): { readonly numDocs: number; readonly numPostings?: number } {
  if (part === 'postings') return formatOf(settings).verify(source);
  return part === 'documents' ? documentsFormat.verify(source) : vectorsFormat.verify(source);
}

/** Checks a document and gives it back; an error names it where the index cannot take it. */
export function checkNewDocument(added: NewDocument, settings: StoreSettings): NewDocument {
  const { document, payload, vector } = added;
  checkStoredDocument(document, settings.fields);
  const name = `document ${JSON.stringify(document.id)}`;
  checkPayload(payload, settings, name);
  if ((vector !== undefined) !== settings.storeVectors)
    throw new IndexStateError(
      settings.storeVectors ? `${name} has no float vector` : `${name} has a float vector, the index keeps none`,
      { hint: 'whether an index keeps float vectors is decided when it is made' },
    );
  if (vector) checkVector(vector, name);
  return added;
}

function checkPayload(payload: IndexPayload, { kind }: StoreSettings, name: string): void {
  if (isWords(payload) !== (kind === 'bm25'))
    throw new IndexStateError(`${name}: expected ${kind === 'bm25' ? 'words' : 'codes of a vector'} to index`);
  if (isWords(payload)) return;
  const { terms, codes } = payload;
  const fail = (problem: string) => new InputError(`${name}: ${problem}`);
  if (terms.length !== codes.length) throw fail(`${terms.length} terms and ${codes.length} codes`);
  for (let i = 0; i < terms.length; i++) {
    if (i > 0 && terms[i] <= terms[i - 1]) throw fail(`term ${terms[i]} is out of order`);
    if (terms[i] >= TERM_LIMIT) throw fail(`term ${terms[i]} is not below ${TERM_LIMIT}`);
    if (codes[i] === 0) throw fail(`term ${terms[i]} has code 0; codes are 1 to 255`);
  }
}

function isWords(payload: IndexPayload): payload is readonly string[] {
  return Array.isArray(payload);
}

function checkVector({ terms, weights }: SparseVector, name: string): void {
  const fail = (problem: string) => new InputError(`${name}: ${problem}`);
  if (terms.length !== weights.length) throw fail(`${terms.length} terms and ${weights.length} weights`);
  for (let i = 0; i < terms.length; i++) {
    if (i > 0 && terms[i] <= terms[i - 1]) throw fail(`term ${terms[i]} is out of order`);
    if (!(weights[i] > 0 && weights[i] < Number.POSITIVE_INFINITY))
      throw fail(`term ${terms[i]} has weight ${weights[i]}; weights are positive and finite`);
  }
}
