/**
 * Documents to index: BEIR folders, JSON lines, tables. Reads them one by one in constant memory (but for the hashes of
 * the ids seen); knows nothing of tokens or models.
 */
import { InputError } from '../core/index.ts';
import { BadLine } from './bad-line.ts';
import { STDIN } from './byte-source.ts';
import { findInputFile, type LineFormat } from './input-file.ts';
import { idOf, optionalString, parseObject, requiredString } from './json-line.ts';
import { isBlank, type ReadOptions, type RecordSource, type Records, readRecords } from './records.ts';

/** A document as its collection has it. */
export type Document = {
  readonly id: string;
  readonly text: string;
  readonly title?: string;
};

/** How to read documents. */
export type DocumentOptions = ReadOptions & {
  /** Format of the lines, where the name does not tell or tells wrong. */
  readonly format?: 'jsonl' | 'tsv' | undefined;
};

/** What is encoded of a document: (title + " " + text), trimmed. */
export function documentText({ title = '', text }: Pick<Document, 'title' | 'text'>): string {
  return `${title} ${text}`.trim();
}

/** What is encoded of each document, in their order. */
export async function* documentTexts(
  documents: AsyncIterable<Document>,
): AsyncGenerator<{ readonly id: string; readonly text: string }> {
  for await (const document of documents) yield { id: document.id, text: documentText(document) };
}

/** What a BEIR folder calls its documents. */
const NAME_IN_FOLDER = 'corpus.jsonl';

/** The file that an input of documents stands for: of a BEIR folder its corpus, of `-` and of a file itself. */
export async function inputFile(input: string): Promise<string> {
  return (await findInputFile(input, NAME_IN_FOLDER)).file;
}

/**
 * Reads the documents of an input:
 *
 *     a folder                          its corpus.jsonl or corpus.jsonl.gz (BEIR)
 *     .jsonl, .ndjson (also .gz)        {"_id", "title"?, "text"} a line; "id" is taken where "_id" is missing
 *     .tsv (also .gz)                   id ⇥ text, or id ⇥ title ⇥ text: each line by its number of columns
 *     -                                 JSON lines from standard input
 *
 * Documents with neither title nor text are left out and counted as empty. Blank lines are passed over.
 */
export function readDocuments(input: string, options: DocumentOptions = {}): Records<Document> {
  return readRecords(() => findDocuments(input, options.format), options);
}

async function findDocuments(input: string, format?: LineFormat): Promise<RecordSource<Document>> {
  const found = await findInputFile(input, NAME_IN_FOLDER);
  const known = format ?? found.format ?? (input === STDIN ? 'jsonl' : undefined);
  if (known === 'jsonl') return { file: found.file, parse: parseJsonDocument, isEmpty };
  if (known === 'tsv') return { file: found.file, parse: parseTableRow, isEmpty };
  throw new InputError(`${input}: the name does not tell the format of the documents`, {
    hint: 'documents come as .jsonl, .jsonl.gz, .ndjson, .tsv, a BEIR folder, or JSON lines on standard input (-)',
  });
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
  return title === undefined ? { id, text } : { id, text, title };
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
