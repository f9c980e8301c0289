/**
 * Documents to index: BEIR folders, folders of pages, JSON lines, tables. Reads them one by one in constant memory (but
 * for the hashes of the ids seen); knows nothing of tokens or models.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError, isJsonObject, type JsonObject } from '../core/index.ts';
import { exists } from '../files/index.ts';
import { documentText } from '../text/index.ts';
import { BadLine, ReadReport } from './bad-line.ts';
import { readFailure, STDIN } from './byte-source.ts';
import { findInputFile } from './input-file.ts';
import { idOf, optionalObject, optionalString, parseObject, requiredString } from './json-line.ts';
import { pageText } from './pages/page.ts';
import { iteratePages } from './pages/read-pages.ts';
import { isBlank, iterateRecords, type ReadOptions, type RecordSource, type Records } from './records.ts';
import { isTableHeader } from './table-header.ts';

/** A document as its collection has it. */
export type Document = {
  readonly id: string;
  readonly text: string;
  readonly title?: string;
  readonly url?: string;
  /** Whatever else belongs to it: the object "fields" of a JSON line, or BEIR's "metadata". */
  readonly fields?: JsonObject;
};

/** How to read documents. */
export type DocumentOptions = ReadOptions & {
  /** Format of the lines, where the name does not tell or tells wrong. */
  readonly format?: 'jsonl' | 'tsv' | undefined;
  /** What is wrong with a document for the caller, if anything: it then is a bad line, or page. */
  readonly check?: ((document: Pick<Document, 'id' | 'fields'>) => string | undefined) | undefined;
};

/** What is encoded of each document, in their order. */
export async function* documentTexts(
  documents: AsyncIterable<Document>,
): AsyncGenerator<{ readonly id: string; readonly text: string }> {
  for await (const document of documents) yield { id: document.id, text: documentText(document) };
}

/** Columns of tables, after the id. */
const TABLES = [['text'], ['title', 'text']];

/** What a BEIR folder calls its documents. */
const NAME_IN_FOLDER = 'corpus.jsonl';

/** Whether an input is a folder of pages: a folder that is not BEIR's. */
export async function isPageFolder(input: string): Promise<boolean> {
  if (input === STDIN) return false;
  try {
    if (!(await stat(input)).isDirectory()) return false;
  } catch (cause) {
    throw readFailure(input, cause);
  }
  const corpora = [join(input, NAME_IN_FOLDER), join(input, `${NAME_IN_FOLDER}.gz`)];
  return !(await Promise.all(corpora.map(exists))).includes(true);
}

/**
 * The file that an input of documents stands for: of a BEIR folder its corpus, of `-`, of a file and of a folder of pages
 * itself.
 */
export async function inputFile(input: string): Promise<string> {
  if (await isPageFolder(input)) return input;
  return (await findInputFile(input, NAME_IN_FOLDER)).file;
}

/**
 * Reads the documents of an input:
 *
 *     a folder                          its corpus.jsonl or corpus.jsonl.gz (BEIR); without them its pages, see `readPages`
 *     .jsonl, .ndjson (also .gz)        {"_id", "title"?, "text"} a line; "id" is taken where "_id" is missing
 *     .tsv (also .gz)                   id ⇥ text, or id ⇥ title ⇥ text: each line by its number of columns; a first line
 *                                       that names them (id, _id, doc_id, docid, pid, …, title, text) is passed over
 *     -                                 JSON lines from standard input
 *
 * Documents with neither title nor text are left out and counted as empty. Blank lines are passed over.
 */
export function readDocuments(input: string, options: DocumentOptions = {}): Records<Document> {
  const report = new ReadReport();
  return { report, [Symbol.asyncIterator]: () => iterate(input, options, report) };
}

async function* iterate(input: string, options: DocumentOptions, report: ReadReport): AsyncGenerator<Document> {
  if (await isPageFolder(input)) yield* pagesAsDocuments(input, options, report);
  else yield* iterateRecords(() => findDocuments(input, options), report, options);
}

/** Pages whole; who wants them in pieces that a model can read takes `readPages` and `chunkPage`. */
async function* pagesAsDocuments(
  folder: string,
  options: DocumentOptions,
  report: ReadReport,
): AsyncGenerator<Document> {
  for await (const page of iteratePages(folder, { ...options, report, unread: new Set() }))
    yield { id: page.id, title: page.title, text: pageText(page), url: page.url, fields: page.fields };
}

async function findDocuments(input: string, options: DocumentOptions): Promise<RecordSource<Document>> {
  const found = await findInputFile(input, NAME_IN_FOLDER);
  const known = options.format ?? found.format ?? (input === STDIN ? 'jsonl' : undefined);
  if (known === 'jsonl') return { file: found.file, parse: checked(parseJsonDocument, options), isEmpty };
  if (known === 'tsv')
    return {
      file: found.file,
      parse: checked(parseTableRow, options),
      isEmpty,
      isHeader: (line) => isTableHeader(line, TABLES),
    };
  throw new InputError(`${input}: the name does not tell the format of the documents`, {
    hint:
      'say which with --format jsonl or --format tsv; by their names are known: .jsonl, .ndjson, .tsv (each also .gz), ' +
      'a BEIR folder, a folder of pages, and - for JSON lines on standard input',
  });
}

type ParseDocument = RecordSource<Document>['parse'];

/** The same, with the caller's own check. */
function checked(parse: ParseDocument, { check }: DocumentOptions): ParseDocument {
  if (!check) return parse;
  return (line, lineNumber) => {
    const document = parse(line, lineNumber);
    const problem = document instanceof BadLine ? undefined : check(document);
    return problem === undefined ? document : new BadLine('wrong-type', problem);
  };
}

function isEmpty({ title = '', text }: Document): boolean {
  return isBlank(text) && isBlank(title);
}

function parseJsonDocument(line: string): Document | BadLine {
  const record = parseObject(line);
  if (record instanceof BadLine) return record;
  const id = idOf(record);
  if (id instanceof BadLine) return id;
  const text = requiredString(record, 'text');
  if (text instanceof BadLine) return text;
  const title = optionalString(record, 'title');
  if (title instanceof BadLine) return title;
  const url = optionalString(record, 'url');
  if (url instanceof BadLine) return url;
  const fields = optionalObject(
    record,
    isJsonObject(record.metadata) && record.fields === undefined ? 'metadata' : 'fields',
  );
  if (fields instanceof BadLine) return fields;
  return {
    id,
    text,
    ...(title === undefined ? {} : { title }),
    ...(url === undefined ? {} : { url }),
    ...(fields === undefined || Object.keys(fields).length === 0 ? {} : { fields }),
  };
}

function parseTableRow(line: string): Document | BadLine {
  const columns = line.split('\t');
  if (columns.length !== 2 && columns.length !== 3)
    return new BadLine(
      'wrong-columns',
      `expected id, text or id, title, text between tabs, got ${columns.length} columns`,
    );
  const [id, second, third] = columns;
  if (id === '') return new BadLine('missing-field', 'the first column, the id, is empty');
  return third === undefined ? { id, text: second } : { id, title: second, text: third };
}
