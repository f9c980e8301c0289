/**
 * Lines of training data, by format. Which of them texts or ids stand in is decided by `Texts`.
 *
 *     scored     {"query", "docs": […], "scores": […]}
 *     triples    query ⇥ positive ⇥ negative …               or {"query", "positive", "negative"}
 *     pairs      query ⇥ positive                            or {"query", "positive"}, or {"query", "title"?, "text"}
 *                Each in JSON may have "moreQueries": […], other queries about the same documents; and "ids": true, as
 *                `lzero mine --ids` writes it: then it is refused where texts are read from the lines.
 *     documents  {"title"?, "text"}                          documents as they are, which nobody asked for
 *     judged     query-id ⇥ document-id ⇥ relevance          judgements of a collection: those above 0 are pairs
 *
 * Public data sets and where their layouts were looked up:
 *
 * - opensearch-project/msmarco-hard-negatives, which the paper's code trains on: {"query": id, "docs": [100 ids], "scores"},
 *   ids of BEIR's MS MARCO. prepare_msmarco_hard_negatives.py of zhichao-aws/opensearch-sparse-model-tuning-sample at
 *   3cf4f45a puts texts in place of the ids, for the data that its configs/config_l0.yaml names; the columns follow from
 *   there and from `KnowledgeDistillDataset`. (The data set itself, Parquet, was not opened.) Written out as JSON lines it
 *   is `scored`, with a collection; so is …-llm-scores once one of its teachers is written as "scores".
 * - the same repository's files for InfoNCE (README.md, `PosNegsDataset`): {"query", "pos", "negs": […]}. It is `triples`.
 * - sentence-transformers/msmarco-hard-negatives: {"qid", "pos": [ids], "neg": {"bm25": [ids], …}} (its dataset card). It
 *   is `triples`, with a collection. Systems take turns, best first, so that a prefix has the hardest of each.
 */
import { isJsonObject, type JsonObject } from '../../core/index.ts';
import { BadLine, quote } from '../bad-line.ts';
import { columnsOf, integerOf } from '../columns.ts';
import { kindOf, parseObject } from '../json-line.ts';
import { documentsOf, type Example, type LabelledDocuments, type RankedList } from './example.ts';
import type { Texts } from './texts.ts';

/** The example of a line that is not blank; undefined for lines that rightly have none. */
export type ParseExample = (line: string, lineNumber: number) => Example | undefined | BadLine;

/** Reads lines of a format whose texts are found by `texts`. */
export type ExampleParser = (texts: Texts) => ParseExample;

/** {"query", "docs", "scores"?}: documents are ranked by score, those of equal scores as they stand. */
export const parseScored: ExampleParser = (texts) => (line) => {
  const record = parseJson(line, texts);
  return record instanceof BadLine ? record : rankedOf(record, texts);
};

function rankedOf(record: JsonObject, texts: Texts): RankedList | BadLine {
  const query = texts.query(record.query);
  if (query instanceof BadLine) return query;
  const docs = listOf(record.docs, 'docs', (value) => texts.document(value));
  if (docs instanceof BadLine) return docs;
  const more = moreQueriesOf(record, texts);
  if (more instanceof BadLine) return more;
  if (record.scores === undefined || record.scores === null) return { kind: 'ranked', query, ...more, docs };
  const scores = listOf(record.scores, 'scores', scoreOf);
  if (scores instanceof BadLine) return scores;
  if (scores.length !== docs.length)
    return new BadLine('wrong-type', `${docs.length} documents, but ${scores.length} scores`);
  return { kind: 'ranked', query, ...more, ...ranked(docs, scores) };
}

/** The other queries of a line, where it has any. */
function moreQueriesOf({ moreQueries }: JsonObject, texts: Texts): { moreQueries?: string[] } | BadLine {
  if (moreQueries === undefined || moreQueries === null) return {};
  const read = listOf(moreQueries, 'moreQueries', (value) => texts.query(value));
  return read instanceof BadLine ? read : { moreQueries: read };
}

/** {"query" | "qid", "positive" | "pos", "negative" | "negatives" | "neg" | "negs"}: one document or a list. */
export const parseJsonTriple: ExampleParser = (texts) => (line) => {
  const record = parseJson(line, texts);
  if (record instanceof BadLine) return record;
  return labelled(texts, labelsOf(record));
};

function labelsOf(record: JsonObject): Labels {
  const negatives = record.negative ?? record.negatives ?? record.neg ?? record.negs;
  return {
    query: record.query ?? record.qid,
    positives: asList(record.positive ?? record.pos),
    negatives: isJsonObject(negatives) && !('text' in negatives) ? inTurns(negatives) : asList(negatives),
    record,
  };
}

/** {"query" | "qid", "positive" | "pos"}, or {"query", "title"?, "text"}. */
export const parseJsonPair: ExampleParser = (texts) => (line) => {
  const record = parseJson(line, texts);
  if (record instanceof BadLine) return record;
  const { title, text } = record;
  const positive = record.positive ?? record.pos ?? (text === undefined ? undefined : { title: title ?? '', text });
  return labelled(texts, { query: record.query ?? record.qid, positives: asList(positive), negatives: [], record });
};

/** query ⇥ positive ⇥ negative ⇥ more negatives */
export const parseTableTriple: ExampleParser = (texts) => (line, lineNumber) => {
  const [query, positive, ...negatives] = line.split('\t');
  if (negatives.length === 0) return wrongColumns('query, positive, negative', line);
  if (isHeader(line, lineNumber)) return undefined;
  return labelled(texts, { query, positives: [positive], negatives });
};

/** query ⇥ positive */
export const parseTablePair: ExampleParser = (texts) => (line, lineNumber) => {
  const [query, positive, ...rest] = line.split('\t');
  if (positive === undefined || rest.length > 0) return wrongColumns('query, positive', line);
  if (isHeader(line, lineNumber)) return undefined;
  return labelled(texts, { query, positives: [positive], negatives: [] });
};

/** {"title"?, "text"}, whatever else the line has. */
export const parseJsonDocument: ExampleParser = (texts) => (line) => {
  const record = parseJson(line, texts);
  if (record instanceof BadLine) return record;
  const text = texts.document(record);
  return text instanceof BadLine ? text : { kind: 'documents', docs: [text] };
};

/** The documents of lines of any format, without what was asked for them. */
export function documentsAlone(parser: ExampleParser): ExampleParser {
  return (texts) => {
    const parse = parser(texts);
    return (line, lineNumber) => {
      const example = parse(line, lineNumber);
      if (example === undefined || example instanceof BadLine) return example;
      return { kind: 'documents', docs: documentsOf(example) };
    };
  };
}

/** Judgements as BEIR (three columns) and TREC (four) have them. */
export const parseJudged: ExampleParser = (texts) => (line, lineNumber) => {
  const columns = columnsOf(line);
  if (columns.length !== 3 && columns.length !== 4) return wrongColumns('query, document, relevance', line);
  const [query, document, relevance] = columns.length === 3 ? columns : [columns[0], columns[2], columns[3]];
  const value = integerOf(relevance);
  if (value === undefined && lineNumber === 1) return undefined; // names of the columns
  if (value === undefined)
    return new BadLine('wrong-type', `the relevance is ${quote(relevance)}, expected a whole number`);
  return value > 0 ? labelled(texts, { query, positives: [document], negatives: [] }) : undefined;
};

/** A list whose scores are to be made: its texts, and what the line has in their place, in the same order. */
export type UnscoredList = {
  readonly id: unknown;
  readonly query: string;
  readonly docs: readonly string[];
  readonly written: { readonly query: unknown; readonly docs: readonly unknown[] };
};

/** A ranked list or labelled documents in JSON, whichever the line holds. Scores that are there do not count. */
export function parseList(texts: Texts): (line: string) => UnscoredList | BadLine {
  return (line) => {
    const record = parseJson(line, texts);
    if (record instanceof BadLine) return record;
    const isRanked = record.docs !== undefined;
    const labels = labelsOf(record);
    const example = isRanked ? rankedOf({ ...record, scores: undefined }, texts) : labelled(texts, labels);
    if (example instanceof BadLine) return example;
    const written = isRanked ? record.docs : [labels.positives, labels.negatives].flat();
    const query = isRanked ? record.query : labels.query;
    const docs = Array.isArray(written) ? written : [];
    return { id: record.id, query: example.query, docs: documentsOf(example), written: { query, docs } };
  };
}

type Labels = {
  readonly query: unknown;
  readonly positives: unknown;
  readonly negatives: unknown;
  /** The line, where it is JSON. */
  readonly record?: JsonObject;
};

function labelled(texts: Texts, labels: Labels): LabelledDocuments | BadLine {
  const query = texts.query(labels.query);
  if (query instanceof BadLine) return query;
  const document = (value: unknown): string | BadLine => texts.document(value);
  const positives = listOf(labels.positives, 'positive', document);
  if (positives instanceof BadLine) return positives;
  if (positives.length === 0) return new BadLine('missing-field', 'no positive');
  const negatives = listOf(labels.negatives, 'negatives', document);
  if (negatives instanceof BadLine) return negatives;
  const more = moreQueriesOf(labels.record ?? {}, texts);
  return more instanceof BadLine ? more : { kind: 'labelled', query, ...more, positives, negatives };
}

/** Python writes NaN where JSON has no such number. */
const NOT_A_NUMBER = /[[,:]\s*-?(?:NaN|Infinity)\s*[\],}]/;

function parseJson(line: string, { areIds }: Texts): JsonObject | BadLine {
  const record = parseObject(line);
  if (!(record instanceof BadLine)) return record.ids === true && !areIds ? idsForTexts() : record;
  if (record.reason !== 'not-json' || !NOT_A_NUMBER.test(line)) return record;
  return new BadLine('bad-weight', 'NaN or Infinity stands where a number must be');
}

function idsForTexts(): BadLine {
  const hint = 'name the collection that they are of: --collection of `lzero teach`, data.collection of `lzero train`';
  return new BadLine('wrong-type', 'the line holds ids, not texts', hint);
}

function listOf<T>(value: unknown, name: string, read: (item: unknown) => T | BadLine): T[] | BadLine {
  if (value === undefined || value === null) return new BadLine('missing-field', `no "${name}"`);
  if (!Array.isArray(value)) return new BadLine('wrong-type', `"${name}" is ${kindOf(value)}, expected a list`);
  const items: T[] = [];
  for (const element of value) {
    const item = read(element);
    if (item instanceof BadLine) return item;
    items.push(item);
  }
  return items;
}

function asList(value: unknown): unknown {
  return value === undefined || value === null || Array.isArray(value) ? value : [value];
}

/** A number that a teacher's 32-bit floats can hold. */
function scoreOf(value: unknown): number | BadLine {
  if (typeof value !== 'number') return new BadLine('bad-weight', `a score is ${kindOf(value)}, expected a number`);
  return Number.isFinite(Math.fround(value)) ? value : new BadLine('bad-weight', `a score is ${value}`);
}

/**
 * By descending score. The authors' code takes lists in their order, which for data that was retrieved by one system and
 * scored by another is another ranking; pairs of a good and a worse document need the teacher's.
 */
function ranked(docs: readonly string[], scores: readonly number[]): { docs: string[]; scores: number[] } {
  const order = docs.map((_, i) => i).sort((a, b) => scores[b] - scores[a]);
  return { docs: order.map((i) => docs[i]), scores: order.map((i) => scores[i]) };
}

/** First of each system, second of each, …; each document once. */
function inTurns(bySystem: JsonObject): unknown {
  const systems = Object.values(bySystem).filter((ids) => Array.isArray(ids));
  if (systems.length < Object.keys(bySystem).length) return bySystem; // a list is missing: the caller names the mistake
  const depth = Math.max(0, ...systems.map((ids) => ids.length));
  const turns = Array.from({ length: depth }, (_, rank) => systems.flatMap((ids) => ids.slice(rank, rank + 1)));
  return [...new Set(turns.flat())];
}

const COLUMN_NAMES =
  /^(?:q(?:uery)?[_-]?id|query|(?:pos|neg)(?:itive|ative)?(?:[_-]?\d+)?|p(?:assage|os|neg)?[_-]?id)$/i;

/** Whether the first line names the columns. */
function isHeader(line: string, lineNumber: number): boolean {
  return lineNumber === 1 && line.split('\t').every((name) => COLUMN_NAMES.test(name.trim()));
}

function wrongColumns(expected: string, line: string): BadLine {
  return new BadLine('wrong-columns', `expected ${expected} between tabs, got ${line.split('\t').length} columns`);
}
