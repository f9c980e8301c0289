/**
 * Relevance judgements (qrels): which documents answer which query, and how well. Knows nothing of metrics.
 *
 * Judgements are kept as they stand in the file. What a negative one means is the evaluation's business.
 */
import { InputError } from '../core/index.ts';
import { BadLine, quote } from './bad-line.ts';
import { displayName } from './byte-source.ts';
import { columnsOf, integerOf } from './columns.ts';
import { type ReadOptions, type Records, readRecords } from './records.ts';

/** Relevance of the judged documents, by query id, then by document id. */
export type Qrels = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** One line of a file of judgements. */
export type Judgement = {
  /** Query and document together: no pair is judged twice. */
  readonly id: string;
  readonly queryId: string;
  readonly documentId: string;
  /** 0 is not relevant, more is better; below 0 counts as not judged. */
  readonly relevance: number;
};

/**
 * Reads judgements one by one:
 *
 *     query  0  document  relevance          TREC: four columns between spaces or tabs, the second is not read
 *     query-id ⇥ corpus-id ⇥ score           BEIR: three columns between tabs; a first line of names is passed over
 */
export function readJudgements(file: string, options: ReadOptions = {}): Records<Judgement> {
  const records = readRecords(async () => ({ file, parse: parseJudgement }), options);
  return { report: records.report, [Symbol.asyncIterator]: () => withoutHeader(records) };
}

async function* withoutHeader(records: Records<Judgement>): AsyncGenerator<Judgement> {
  for await (const judgement of records) {
    if (judgement === HEADER) records.report.numRead--;
    else yield judgement;
  }
}

/** Reads a whole file of judgements. A file without any is an InputError. */
export async function readQrels(file: string, options: ReadOptions = {}): Promise<Qrels> {
  const qrels = new Map<string, Map<string, number>>();
  for await (const { queryId, documentId, relevance } of readJudgements(file, options)) {
    const judged = qrels.get(queryId) ?? new Map<string, number>();
    qrels.set(queryId, judged.set(documentId, relevance));
  }
  if (qrels.size === 0) throw new InputError(`${displayName(file)} has no judgements`, { hint: 'check the path' });
  return qrels;
}

/** Stands for the names over a BEIR table. Its id is one that no line can have. */
const HEADER: Judgement = { id: '\n', queryId: '', documentId: '', relevance: 0 };

function parseJudgement(line: string, lineNumber: number): Judgement | BadLine {
  const columns = columnsOf(line);
  if (columns.length !== 3 && columns.length !== 4) return wrongColumns(columns.length);
  const [queryId, documentId, relevance] = columns.length === 3 ? columns : [columns[0], columns[2], columns[3]];
  const value = integerOf(relevance);
  if (value === undefined && lineNumber === 1 && columns.length === 3) return HEADER;
  if (value === undefined)
    return new BadLine('wrong-type', `the relevance is ${quote(relevance)}, expected a whole number`);
  if (queryId === '' || documentId === '') return new BadLine('missing-field', 'an id is empty');
  return { id: `${queryId} ${documentId}`, queryId, documentId, relevance: value };
}

function wrongColumns(count: number): BadLine {
  const looksLikeRun = count === 6 ? '; six are those of a run' : '';
  return new BadLine(
    'wrong-columns',
    `expected query, 0, document, relevance (or query, document, relevance between tabs), got ${count} columns${looksLikeRun}`,
  );
}
