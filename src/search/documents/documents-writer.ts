/**
 * Writes the documents file of a segment: ids, pages, stored fields and the columns of declared fields, in one go. What
 * is kept in memory until the end is a few dozen bytes a document, never its text.
 *
 *     blocks, block-table     stored fields (blocks.ts)
 *     ids.*                   id of document 0, 1, … (string-table.ts)
 *     pages.*, page-of-doc    (pages.ts)
 *     field:…                 (columns.ts)
 *     head                    JSON {"numDocs", "fields": {name: type}}
 */
import type { ByteSink } from '../types.ts';
import { type BlockCodec, BlockWriter } from './blocks.ts';
import { type ColumnWriter, columnWriter } from './columns.ts';
import { checkDocument, lineOf, type StoredDocument } from './document.ts';
import type { FieldSchema } from './fields.ts';
import { PagesWriter } from './pages.ts';
import { type FileKind, SectionWriter } from './section-file.ts';
import { StringTableWriter } from './string-table.ts';

/** How to write a documents file. */
export type DocumentsOptions = {
  /** The declared fields of the index. */
  readonly fields: FieldSchema;
  readonly sink: ByteSink;
  readonly codec: BlockCodec;
};

/** What a finished documents file holds. */
export type DocumentsSummary = { readonly numDocs: number };

/** Name and version of the format. */
export const DOCUMENTS_FILE: FileKind = { name: 'documents file', magic: 'LZDO', version: 1 };

/** The parts of a documents file while it is written. A merge fills them from other files, `writeDocuments` from documents. */
export class DocumentParts {
  readonly blocks: BlockWriter;
  readonly ids = new StringTableWriter();
  readonly pages = new PagesWriter();
  readonly columns: ReadonlyMap<string, ColumnWriter>;
  readonly #out: SectionWriter;
  readonly #fields: FieldSchema;

  constructor({ fields, sink, codec }: DocumentsOptions) {
    this.#out = new SectionWriter(sink, DOCUMENTS_FILE);
    this.#fields = fields;
    this.blocks = new BlockWriter(this.#out, codec);
    this.columns = new Map(Object.entries(fields).map(([name, type]) => [name, columnWriter(name, type)]));
  }

  /** Writes what has been collected. */
  finish(): DocumentsSummary {
    this.blocks.finish();
    this.ids.write(this.#out, 'ids', 'the id');
    this.pages.write(this.#out);
    for (const column of this.columns.values()) column.write(this.#out);
    const numDocs = this.ids.size;
    this.#out.section('head', new TextEncoder().encode(JSON.stringify({ numDocs, fields: this.#fields })));
    this.#out.finish();
    return { numDocs };
  }
}

/**
 * Writes the documents of a segment, numbered from 0 in this order. An InputError names a document that cannot be kept:
 * an id that occurs twice, a declared field of a wrong type.
 */
export function writeDocuments(documents: Iterable<StoredDocument>, options: DocumentsOptions): DocumentsSummary {
  const parts = new DocumentParts(options);
  for (const document of documents) {
    checkDocument(document);
    parts.blocks.add(lineOf(document));
    parts.ids.add(document.id);
    parts.pages.add(document.page);
    for (const column of parts.columns.values()) column.add(document);
  }
  return parts.finish();
}
