/** From what a user names (a BEIR folder, a file, `-`) to the file that is read and the format of its lines. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError } from '../core/index.ts';
import { exists } from '../files/index.ts';
import { readFailure, STDIN } from './byte-source.ts';

/** Formats of lines: a JSON object, columns between tabs, plain text. */
export type LineFormat = 'jsonl' | 'tsv' | 'text';

/** A file and the format of its lines; undefined where the name does not tell. */
export type InputFile = { readonly file: string; readonly format: LineFormat | undefined };

/**
 * Finds the file behind `input`.
 *
 * @param nameInFolder the file that a BEIR folder has for this, without .gz
 */
export async function findInputFile(input: string, nameInFolder: string): Promise<InputFile> {
  const file = input !== STDIN && (await isFolder(input)) ? await fileInFolder(input, nameInFolder) : input;
  return { file, format: formatOf(file) };
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (cause) {
    throw readFailure(path, cause);
  }
}

async function fileInFolder(folder: string, name: string): Promise<string> {
  for (const candidate of [join(folder, name), join(folder, `${name}.gz`)])
    if (await exists(candidate)) return candidate;
  throw new InputError(`no ${name} in ${folder}`, {
    hint: `a collection is a folder with ${name} or ${name}.gz, as in BEIR; or name a .jsonl, .jsonl.gz or .tsv file`,
  });
}

function formatOf(file: string): LineFormat | undefined {
  const extension = file.replace(/\.gz$/, '').match(/\.[^./\\]*$/)?.[0];
  if (extension === '.jsonl' || extension === '.ndjson') return 'jsonl';
  if (extension === '.tsv') return 'tsv';
  if (extension === '.txt') return 'text';
  return undefined;
}
