/**
 * How a line of training data names its texts: as they are, or by ids of a collection. Holds the texts of a collection in
 * memory (see text-store.ts): training jumps between documents at random. Knows nothing of the layout of lines.
 */
import { isUtf8 } from 'node:buffer';
import { isJsonObject } from '../../core/index.ts';
import { documentText } from '../../text/index.ts';
import { BadLine, quote } from '../bad-line.ts';
import { inputFile, readDocuments } from '../documents.ts';
import { findInputFile } from '../input-file.ts';
import { kindOf } from '../json-line.ts';
import { readQueries } from '../queries.ts';
import { isBlank, type ReadOptions } from '../records.ts';
import { TextStore } from './text-store.ts';

/** From what a line has to the text that is meant. */
export type Texts = {
  /** Whether lines hold ids in place of texts. */
  readonly areIds: boolean;
  /** A query, of a JSON value. */
  query(value: unknown): string | BadLine;
  /** A document, of a JSON value. */
  document(value: unknown): string | BadLine;
};

/** Lines hold the texts themselves; a document may also be {"title"?, "text"}. */
export const TEXTS_OF_LINES: Texts = {
  areIds: false,
  query: (value) => (typeof value === 'string' ? unlessBlank(value, 'query') : wrongType('query', value, 'a text')),
  document(value) {
    if (typeof value === 'string') return unlessBlank(value, 'document');
    if (!isJsonObject(value)) return wrongType('document', value, 'a text, or an object with "title" and "text"');
    const { title = '', text } = value;
    if (typeof title !== 'string' || typeof text !== 'string')
      return new BadLine('wrong-type', 'a document has no "text", or a "title" that is no text');
    return unlessBlank(documentText({ title, text }), 'document');
  },
};

/** Where the texts of a collection are. */
export type TextFiles = {
  /** A BEIR folder, or anything that documents are read from. */
  readonly documents: string;
  /** A BEIR folder, or anything that queries are read from. */
  readonly queries: string;
};

/** How to read the texts of a collection. */
export type TextOptions = ReadOptions & {
  /** Put documents right that are UTF-8 taken for Latin-1. */
  readonly mendEncoding: boolean;
  /** Told how many documents are read. */
  readonly onDocuments?: ((numDocs: number) => void) | undefined;
};

const TOLD_EVERY = 1000;

/** Reads the texts of a collection: lines hold ids, as texts or as whole numbers. */
export async function readTexts(files: TextFiles, options: TextOptions): Promise<Texts> {
  const queries = new TextStore();
  for await (const { id, text } of readQueries(files.queries, options)) queries.add(id, text);
  const documents = new TextStore();
  for await (const document of readDocuments(files.documents, options)) {
    const text = documentText(document);
    documents.add(document.id, options.mendEncoding ? mended(text) : text);
    if (documents.size % TOLD_EVERY === 0) options.onDocuments?.(documents.size);
  }
  options.onDocuments?.(documents.size);
  return {
    areIds: true,
    query: (value) => lookUp(queries, value, `query of ${files.queries}`),
    document: (value) => lookUp(documents, value, `document of ${files.documents}`),
  };
}

/** The files behind a collection's texts. */
export async function filesOfTexts({ documents, queries }: TextFiles): Promise<string[]> {
  return [await inputFile(documents), (await findInputFile(queries, 'queries.jsonl')).file];
}

/**
 * A text whose characters are the bytes of UTF-8, decoded; any other text as it is. BEIR's copy of MS MARCO has such
 * passages, and the authors train on them mended (transform_str in prepare_msmarco_hard_negatives.py of
 * zhichao-aws/opensearch-sparse-model-tuning-sample at 3cf4f45a).
 */
export function mended(text: string): string {
  if (!/[\x80-\xff]/.test(text) || /[^\0-\xff]/.test(text)) return text;
  const bytes = Buffer.from(text, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : text;
}

function lookUp(store: TextStore, value: unknown, what: string): string | BadLine {
  if (typeof value !== 'string' && !Number.isSafeInteger(value)) return wrongType(what, value, 'an id');
  const text = store.get(String(value));
  return text ?? new BadLine('missing-field', `${quote(String(value))} is no ${what}`);
}

function unlessBlank(text: string, what: string): string | BadLine {
  return isBlank(text) ? new BadLine('missing-field', `a ${what} is empty`) : text;
}

function wrongType(what: string, value: unknown, expected: string): BadLine {
  if (value === undefined) return new BadLine('missing-field', `no ${what}`);
  return new BadLine('wrong-type', `a ${what} is ${kindOf(value)}, expected ${expected}`);
}
