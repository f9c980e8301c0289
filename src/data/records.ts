/**
 * The discipline that all readers of records share: lines in order, blank ones passed over, a bad one is an error with
 * file and line or is counted, ids are unique. What a line means is the format's business.
 */
import { InputError, InterruptedError } from '../core/index.ts';
import { BadLine, type Problem, quote, ReadReport } from './bad-line.ts';
import { type ByteSourceOptions, displayName, readBytes } from './byte-source.ts';
import { IdSet } from './id-set.ts';
import { type LineOptions, readLines } from './lines.ts';

/** How to read. */
export type ReadOptions = ByteSourceOptions &
  LineOptions & {
    /** Leave bad lines out and count them, instead of stopping at the first. */
    readonly skipBad?: boolean | undefined;
    /** Told of each bad line that is left out. */
    readonly onBad?: ((problem: Problem) => void) | undefined;
  };

/** Records to iterate over once, and the tally of what was met. */
export type Records<T> = AsyncIterable<T> & { readonly report: ReadReport };

/** A file and how its lines are read. */
export type RecordSource<T> = {
  readonly file: string;
  /** The record of a line that is not blank. */
  readonly parse: (text: string, lineNumber: number) => T | BadLine;
  /** Records to count as empty and leave out. */
  readonly isEmpty?: (record: T) => boolean;
  /** Whether the first line, which is not blank, names columns and is passed over. */
  readonly isHeader?: ((line: string) => boolean | BadLine) | undefined;
};

/** Reads the records of a source that is looked up when the iteration starts. */
export function readRecords<T extends { readonly id: string }>(
  resolve: () => Promise<RecordSource<T>>,
  options: ReadOptions,
): Records<T> {
  const report = new ReadReport();
  return { report, [Symbol.asyncIterator]: () => iterateRecords(resolve, report, options) };
}

/** Reads records as `readRecords` does, into a report that the caller has. */
export async function* iterateRecords<T extends { readonly id: string }>(
  resolve: () => Promise<RecordSource<T>>,
  report: ReadReport,
  options: ReadOptions,
): AsyncGenerator<T> {
  const { file, parse, isEmpty = () => false, isHeader = () => false } = await resolve();
  const ids = new IdSet();
  for await (const lines of readLines(readBytes(file, options), options)) {
    for (const { number, text } of lines) {
      if (options.signal?.aborted) throw new InterruptedError();
      if (typeof text === 'string' && isBlank(text)) continue;
      const header = number === 1 && typeof text === 'string' && isHeader(text);
      if (header === true) continue;
      const parsed = text instanceof BadLine ? text : header || parse(text, number);
      const record = parsed instanceof BadLine ? parsed : unlessSeen(parsed, ids);
      if (record instanceof BadLine) reject({ file: displayName(file), line: number, ...record }, report, options);
      else if (isEmpty(record)) report.numEmpty++;
      else {
        report.numRead++;
        yield record;
      }
    }
  }
}

function unlessSeen<T extends { readonly id: string }>(record: T, ids: IdSet): T | BadLine {
  return ids.add(record.id) ? record : new BadLine('duplicate-id', `id ${quote(record.id)} was seen before`);
}

function reject(problem: Problem, report: ReadReport, options: ReadOptions): void {
  if (!options.skipBad)
    throw new InputError(`${problem.file}:${problem.line}: ${problem.message}`, {
      hint: 'mend the line, or leave bad lines out with --skip-bad',
    });
  report.add(problem);
  options.onBad?.(problem);
}

/** True for text without anything but white space. */
export function isBlank(text: string): boolean {
  return !/\S/.test(text);
}
