/** Queries to run: lines of text, tables, or BEIR's queries.jsonl. Knows nothing of tokens or of judgements. */
import { BadLine } from './bad-line.ts';
import { findInputFile, type LineFormat } from './input-file.ts';
import { idOf, optionalString, parseObject, requiredString } from './json-line.ts';
import { isBlank, type ReadOptions, type RecordSource, type Records, readRecords } from './records.ts';
import { isTableHeader } from './table-header.ts';
import { parseVector } from './vectors.ts';

/** A query and its id. */
export type Query = {
  readonly id: string;
  /** Empty where a query is only a vector. */
  readonly text: string;
  /** Weights by token, where somebody encoded the query before. */
  readonly vector?: Readonly<Record<string, number>>;
};

/** How to read queries. */
export type QueryOptions = ReadOptions & {
  /** Format of the lines, where the name does not tell or tells wrong. */
  readonly format?: LineFormat | undefined;
};

/**
 * Reads the queries of an input:
 *
 *     a folder                          its queries.jsonl or queries.jsonl.gz (BEIR)
 *     .jsonl, .ndjson (also .gz)        {"_id", "text"} a line, or {"_id", "vector": {token: weight}}
 *     .tsv (also .gz)                   id ⇥ text; a first line that names them (id, qid, query_id, …, text or query) is
 *                                       passed over
 *     any other file, and -             the same JSON lines where the first is one, else one query a line, whose id is
 *                                       the number of its line
 *
 * Queries of white space only are left out and counted as empty (of plain text they are blank lines: passed over).
 */
export function readQueries(input: string, options: QueryOptions = {}): Records<Query> {
  return readRecords(() => findQueries(input, options.format), options);
}

async function findQueries(input: string, format?: LineFormat): Promise<RecordSource<Query>> {
  const found = await findInputFile(input, 'queries.jsonl');
  const isEmpty = ({ text, vector }: Query): boolean => isBlank(text) && vector === undefined;
  const known = format ?? (found.format === 'text' ? undefined : found.format);
  const isHeader = known === 'tsv' ? (line: string) => isTableHeader(line, [['text'], ['query']]) : undefined;
  return { file: found.file, parse: known ? PARSERS[known] : parserByFirstLine(), isEmpty, isHeader };
}

/** Text, unless the first line is a JSON query: read as text, it would give answers that nobody asked for. */
function parserByFirstLine(): RecordSource<Query>['parse'] {
  let chosen: RecordSource<Query>['parse'] | undefined;
  return (line, lineNumber) => {
    const isJson = (): boolean => line.trimStart().startsWith('{') && !(parseJsonQuery(line) instanceof BadLine);
    chosen ??= PARSERS[isJson() ? 'jsonl' : 'text'];
    return chosen(line, lineNumber);
  };
}

const PARSERS: Readonly<Record<LineFormat, RecordSource<Query>['parse']>> = {
  jsonl: parseJsonQuery,
  tsv: parseTableRow,
  text: (line, lineNumber) => ({ id: String(lineNumber), text: line.trim() }),
};

function parseJsonQuery(line: string): Query | BadLine {
  const record = parseObject(line);
  if (record instanceof BadLine) return record;
  const id = idOf(record);
  if (id instanceof BadLine) return id;
  if (record.vector === undefined) {
    const text = requiredString(record, 'text');
    return text instanceof BadLine ? text : { id, text };
  }
  const text = optionalString(record, 'text') ?? '';
  if (text instanceof BadLine) return text;
  const parsed = parseVector(line);
  if (parsed instanceof BadLine) return parsed;
  return { id, text, vector: Object.fromEntries(parsed.tokens.map((token, i) => [token, parsed.weights[i]])) };
}

function parseTableRow(line: string): Query | BadLine {
  const [id, text, ...rest] = line.split('\t');
  if (text === undefined || rest.length > 0)
    return new BadLine('wrong-columns', `expected id and text between tabs, got ${line.split('\t').length} columns`);
  if (id === '') return new BadLine('missing-field', 'the first column, the id, is empty');
  return { id, text };
}
