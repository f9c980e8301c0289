/** How many lines an input has, so that progress can tell the time left. */
import { type ByteSourceOptions, readBytes, STDIN } from './byte-source.ts';
import { inputFile, isPageFolder } from './documents.ts';

const NEWLINE = 0x0a;

/**
 * Lines of an input of documents; undefined for streams, compressed files and folders of pages, which would have to be read twice.
 *
 * `signal` stops the counting with an InterruptedError
 */
export async function countLines(
  input: string,
  { signal }: Pick<ByteSourceOptions, 'signal'> = {},
): Promise<number | undefined> {
  if (input === STDIN || (await isPageFolder(input))) return undefined;
  const file = await inputFile(input);
  if (file.endsWith('.gz')) return undefined;
  let count = 0;
  let last = NEWLINE;
  for await (const chunk of readBytes(file, { signal })) {
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) count++;
    last = chunk[chunk.length - 1];
  }
  return last === NEWLINE ? count : count + 1;
}
