/** Whether a folder holds what the registry says: a truncated corpus would give wrong figures in silence. */
import { join } from 'node:path';
import { DownloadError, InputError, messageOf } from '../../core/index.ts';
import { BadLine } from '../bad-line.ts';
import { readBytes } from '../byte-source.ts';
import { countLines } from '../count-lines.ts';
import { readLines } from '../lines.ts';
import type { RegisteredCollection } from './types.ts';

/** Counts documents and judged queries of a BEIR folder and compares them with what is known. */
export async function verifyCollection(
  folder: string,
  { name, split, numDocs, numQueries }: RegisteredCollection,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    check(name, 'documents', numDocs, (await countLines(join(folder, 'corpus.jsonl'), { signal })) ?? 0);
    check(
      name,
      `judged queries in ${split}`,
      numQueries,
      await countJudged(join(folder, 'qrels', `${split}.tsv`), signal),
    );
    await countLines(join(folder, 'queries.jsonl'), { signal }); // that it is there
  } catch (cause) {
    if (!(cause instanceof InputError)) throw cause;
    throw new DownloadError(`what was fetched of ${name} is not a whole collection: ${messageOf(cause)}`, { cause });
  }
}

function check(name: string, what: string, expected: number, found: number): void {
  if (found !== expected)
    throw new DownloadError(`${name} should have ${expected} ${what}, what was fetched has ${found}`, {
      hint: 'the collection was changed by its publisher, or the archive is another one',
    });
}

/** Queries of a BEIR qrels table: distinct first columns, below the header. */
async function countJudged(file: string, signal: AbortSignal | undefined): Promise<number> {
  const queries = new Set<string>();
  for await (const lines of readLines(readBytes(file, { signal })))
    for (const { number, text } of lines) {
      if (text instanceof BadLine) throw new InputError(`${file}:${number}: ${text.message}`);
      const tab = text.indexOf('\t');
      if (number > 1 && tab > 0) queries.add(text.slice(0, tab));
    }
  return queries.size;
}
