/** How many lines an input has, so that progress can tell the time left. */
import { createReadStream } from 'node:fs';
import { STDIN } from './byte-source.ts';
import { findInputFile } from './input-file.ts';

const NEWLINE = 10;

/** Lines of an input of documents; undefined for streams and compressed files, which would have to be read twice. */
export async function countLines(input: string): Promise<number | undefined> {
  if (input === STDIN) return undefined;
  const { file } = await findInputFile(input, 'corpus.jsonl');
  if (file.endsWith('.gz')) return undefined;
  let count = 0;
  let last = NEWLINE;
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) {
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) count++;
    last = chunk[chunk.length - 1];
  }
  return last === NEWLINE ? count : count + 1;
}
