/**
 * Reads the documents file of a segment. Opening reads the directory only; after that every question costs a few small
 * reads: a million documents open as fast as ten.
 */
import { type IndexFormatError, IndexStateError, parseJson } from '../../core/index.ts';
import type { Bitmap, ByteSource } from '../types.ts';
import { type Block, type BlockCodec, type BlockRange, BlockTable } from './blocks.ts';
import { type Column, openColumns } from './columns.ts';
import { parseLine, type StoredDocument, type StoredFields } from './document.ts';
import { DOCUMENTS_FILE } from './documents-writer.ts';
import { type FieldSchema, parseFieldSchema } from './fields.ts';
import { Lru } from './lru.ts';
import { Pages } from './pages.ts';
import { SectionFile } from './section-file.ts';
import { StringTable } from './string-table.ts';

/** How to read a documents file. */
export type DocumentsReaderOptions = {
  /** Unpacks blocks. Who unpacks them itself (`blockOf`, `parseBlock`, `documentIn`) may give one that throws. */
  readonly codec: Pick<BlockCodec, 'decompress'>;
  /** Unpacked blocks that are kept, about 16 KiB each. */
  readonly cachedBlocks?: number;
  /** Filters whose documents are kept, one bit a document each. */
  readonly cachedFilters?: number;
};

/** The documents of one segment. */
export class DocumentsReader {
  readonly numDocs: number;
  /** The declared fields that this segment was written with. */
  readonly fields: FieldSchema;
  /** Ids by document number, and back. */
  readonly ids: StringTable;
  readonly pages: Pages;
  readonly file: SectionFile;
  readonly #columns: ReadonlyMap<string, Column>;
  readonly #codec: Pick<BlockCodec, 'decompress'>;
  readonly #blocks: Lru<number, Block>;
  readonly #filters: Lru<string, Bitmap>;
  #table: BlockTable | undefined;

  constructor(source: ByteSource, { codec, cachedBlocks = 32, cachedFilters = 16 }: DocumentsReaderOptions) {
    this.file = new SectionFile(source, DOCUMENTS_FILE);
    const { numDocs, fields } = readHead(this.file);
    this.numDocs = numDocs;
    this.fields = fields;
    this.ids = new StringTable(this.file, 'ids');
    if (this.ids.size !== numDocs)
      throw this.file.error('ids.offsets', `expected ${numDocs} ids, there are ${this.ids.size}`);
    this.pages = new Pages(this.file, numDocs);
    this.#columns = openColumns(this.file, fields, numDocs);
    this.#codec = codec;
    this.#blocks = new Lru(cachedBlocks);
    this.#filters = new Lru(cachedFilters);
  }

  /** The id of a document. */
  idOf(docId: number): string {
    return this.ids.stringAt(this.#require(docId));
  }

  /** The number of the document with this id, or undefined. */
  docIdOf(id: string): number | undefined {
    return this.ids.numberOf(id);
  }

  /** The page that a document is a chunk of; its own id where it is none. */
  pageOf(docId: number): string {
    return this.pages.pageOf(this.#require(docId)) ?? this.idOf(docId);
  }

  /** The documents of a page, ascending: its chunks, or the document itself. */
  docsOfPage(page: string): number[] {
    const chunks = this.pages.chunksOf(page);
    const whole = this.docIdOf(page);
    if (whole === undefined || this.pages.pageOf(whole) !== undefined) return chunks;
    return [...chunks, whole].sort((a, b) => a - b);
  }

  /** A document with its stored fields. */
  document(docId: number): StoredDocument {
    const range = this.blockOf(docId);
    return this.documentIn(
      this.#blocks.get(range.index, () => this.blocks.read(range, this.#codec)),
      docId,
    );
  }

  /** Where the block of a document is: for whoever fetches and unpacks it without a codec. */
  blockOf(docId: number): BlockRange {
    return this.blocks.rangeOf(this.#require(docId));
  }

  /** A document of an unpacked block. */
  documentIn(block: Block, docId: number): StoredDocument {
    const page = this.pages.pageOf(docId);
    return { id: this.idOf(docId), ...this.#storedFields(block, docId), ...(page === undefined ? {} : { page }) };
  }

  /** The column of a declared field. */
  column(name: string): Column {
    const column = this.#columns.get(name);
    if (column) return column;
    throw new IndexStateError(`${this.file.source.label} has no field ${JSON.stringify(name)}`, {
      hint: 'the segment was written before the field was declared: build the index anew',
    });
  }

  /** All columns. */
  columns(): Iterable<Column> {
    return this.#columns.values();
  }

  /** The documents that a filter lets through, kept for the next time. @param key the same key is the same filter */
  filtered(key: string, compute: () => Bitmap): Bitmap {
    return this.#filters.get(key, compute);
  }

  /** The directory of blocks, loaded at the first use. */
  get blocks(): BlockTable {
    this.#table ??= new BlockTable(this.file, this.numDocs);
    return this.#table;
  }

  /** Bytes held in memory, about. */
  get memoryBytes(): number {
    let bytes = (this.#table?.memoryBytes ?? 0) + this.pages.memoryBytes;
    for (const { lines } of this.#blocks.values()) for (const line of lines) bytes += line.length;
    for (const bitmap of this.#filters.values()) bytes += bitmap.length;
    return bytes;
  }

  #storedFields({ firstDoc, lines }: Block, docId: number): StoredFields {
    return parseLine(lines[docId - firstDoc], (problem) => this.file.error('blocks', `document ${docId}: ${problem}`));
  }

  #require(docId: number): number {
    if (Number.isInteger(docId) && docId >= 0 && docId < this.numDocs) return docId;
    throw new Error(`bug: document ${docId} of ${this.numDocs} in ${this.file.source.label}`);
  }
}

function readHead(file: SectionFile): { readonly numDocs: number; readonly fields: FieldSchema } {
  const fail = (problem: string): IndexFormatError => file.error('head', problem);
  const head = parseJson(new TextDecoder().decode(file.whole('head')), fail);
  if (typeof head !== 'object' || head === null || !('numDocs' in head) || !('fields' in head))
    throw fail('expected numDocs and fields');
  const { numDocs } = head;
  if (typeof numDocs !== 'number' || !Number.isInteger(numDocs) || numDocs < 0)
    throw fail(`expected a number of documents, got ${JSON.stringify(numDocs)}`);
  return { numDocs, fields: readFields(head.fields, fail) };
}

function readFields(value: unknown, fail: (problem: string) => IndexFormatError): FieldSchema {
  try {
    return parseFieldSchema(value);
  } catch (cause) {
    throw fail(cause instanceof Error ? cause.message : 'fields: unreadable');
  }
}
