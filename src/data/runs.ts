/**
 * Run files: what a system found for each query. Reads TREC's six columns and MS MARCO's tables, writes TREC's. Knows
 * nothing of judgements.
 *
 *     query  Q0  document  rank  score  tag           TREC, between spaces or tabs; only query, document and score
 *                                                     count, and what follows the tag is not read, as in trec_eval
 *     query ⇥ document ⇥ rank [⇥ score]               MS MARCO; without a score the rank orders, as score −rank
 */
import { InputError } from '../core/index.ts';
import { BadLine, quote } from './bad-line.ts';
import { displayName } from './byte-source.ts';
import { columnsOf, hasWhiteSpace, numberOf } from './columns.ts';
import { type ReadOptions, type Records, readRecords } from './records.ts';
import { type Hit, rankHits } from './run-order.ts';

/** Hits by query id, in the order of the file. */
export type Run = ReadonlyMap<string, readonly Hit[]>;

/** One line of a run file. */
export type RunLine = {
  /** Query and document together: no document is found twice for a query. */
  readonly id: string;
  readonly queryId: string;
  readonly hit: Hit;
};

/** Reads the lines of a run file (also .gz; `-` is standard input) one by one. */
export function readRunLines(file: string, options: ReadOptions = {}): Records<RunLine> {
  return readRecords(async () => ({ file, parse: parseRunLine }), options);
}

/** Reads a whole run into memory, about 100 bytes a hit. The lines of a query need not stand together. */
export async function readRun(file: string, options: ReadOptions = {}): Promise<Run> {
  const run = new Map<string, Hit[]>();
  for await (const { queryId, hit } of readRunLines(file, options)) {
    const hits = run.get(queryId);
    if (hits) hits.push(hit);
    else run.set(queryId, [hit]);
  }
  if (run.size === 0) throw new InputError(`${displayName(file)} has no hits`, { hint: 'check the path' });
  return run;
}

function parseRunLine(line: string): RunLine | BadLine {
  const columns = columnsOf(line);
  if (columns.length >= 6) return runLine(columns[0], columns[2], columns[4]);
  const isTable = line.includes('\t') && (columns.length === 3 || columns.length === 4);
  if (!isTable)
    return new BadLine(
      'wrong-columns',
      `expected query, Q0, document, rank, score, tag (or query, document, rank between tabs), got ${columns.length} columns`,
    );
  const [queryId, documentId, rank, score] = columns;
  if (!/^\d+$/.test(rank)) return new BadLine('wrong-type', `the rank is ${quote(rank)}, expected a whole number`);
  return runLine(queryId, documentId, score ?? `-${rank}`);
}

function runLine(queryId: string, documentId: string, score: string): RunLine | BadLine {
  if (queryId === '' || documentId === '') return new BadLine('missing-field', 'an id is empty');
  const value = numberOf(score);
  if (value === undefined) return new BadLine('wrong-type', `the score is ${quote(score)}, expected a finite number`);
  return { id: `${queryId} ${documentId}`, queryId, hit: { id: documentId, score: value } };
}

/**
 * The lines of one query in a TREC run file, without newlines: in trec_eval's order, ranks from 1, scores in the fewest
 * digits that read back as the same number.
 *
 * @param tag the name of the system, in the last column
 */
export function formatRun(queryId: string, hits: readonly Hit[], tag: string): string[] {
  const [query, system] = [column(queryId), column(tag)];
  return rankHits(hits).map(({ id, score }, i) => `${query} Q0 ${column(id)} ${i + 1} ${scoreText(score)} ${system}`);
}

function column(text: string): string {
  if (text !== '' && !hasWhiteSpace(text)) return text;
  throw new InputError(`${quote(text)} cannot stand in a TREC run file, whose columns end at white space`, {
    hint: 'use ids and names without white space',
  });
}

function scoreText(score: number): string {
  if (Number.isFinite(score)) return Object.is(score, -0) ? '0' : String(score);
  throw new InputError(`a run file cannot hold the score ${score}`);
}
