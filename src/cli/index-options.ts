/** Options that the commands on indexes share, and their values as the library takes them. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { errorCode, IndexStateError, isJsonObject, parseJson, UsageError } from '../core/index.ts';
import { type Index, type IndexOptions, openIndex } from '../engines/index.ts';
import { type LoadOptions, loadModel, type Model } from '../model/index.ts';
import type { FieldSchema, Filter } from '../search/index.ts';
import { positiveInteger } from './model-options.ts';

/** Adds the options that say how an input is read. */
export function addSourceOptions(command: Command): Command {
  return command
    .option('--vectors <file>', 'vectors made before, as `lzero encode` writes them')
    .addOption(
      new Option('--format <name>', 'format of the lines, if the name does not tell').choices(['jsonl', 'tsv']),
    )
    .option('--skip-bad', 'leave out lines and pages that cannot be read, and report them')
    .option('--chunk [tokens]', 'cut documents into parts (default for pages: what the model reads)', positiveInteger)
    .option('--no-chunk', 'keep documents whole (default, but for pages)')
    .option('--overlap <tokens>', 'tokens that a part repeats of the one before (default: an eighth)', wholeNumber)
    .option('--base-url <url>', 'what stands before the paths of pages in their addresses');
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError('expected a whole number.');
}

/** A number from 0 on from the command line. */
export function notNegative(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError('expected a number, 0 or above.');
}

/** A number from 0 to 1 from the command line. */
export function share(text: string): number {
  const value = notNegative(text);
  if (value <= 1) return value;
  throw new InvalidArgumentError('expected a number from 0 to 1.');
}

/** Reads "lang:keyword,year:number". */
export function parseFields(text: string): FieldSchema {
  const entries = text.split(',').map((entry) => {
    const [name, type] = entry.split(':').map((part) => part.trim());
    if (type === 'keyword' || type === 'number' || type === 'boolean') return [name, type] as const;
    throw new InvalidArgumentError('expected name:type, …; types are keyword, number and boolean.');
  });
  return Object.fromEntries(entries);
}

/** Reads a filter from JSON; what it says is checked where it is used. */
export function parseFilter(text: string): Filter {
  const value = parseJson(text, (problem) => new InvalidArgumentError(`${problem}.`));
  if (isFilter(value)) return value;
  throw new InvalidArgumentError('expected an object such as {"lang": "en", "year": {"gte": 2020}}.');
}

function isFilter(value: unknown): value is Filter {
  return isJsonObject(value);
}

/** Opens an index to search it, does something with it, and closes it. */
export async function withIndex<T>(
  folder: string,
  options: IndexOptions,
  work: (index: Index) => Promise<T>,
): Promise<T> {
  const index = await openIndex(folder, options);
  try {
    return await work(index);
  } finally {
    await index.close();
  }
}

/** Vectors of which nobody said where they come from. */
export const UNNAMED_VECTORS = { identity: 'vectors', name: 'vectors' };

/** The model that an index was made with, loaded from where it was then; undefined where it needs none. */
export async function modelOf(index: Index, options: LoadOptions = {}): Promise<Model | undefined> {
  const { model } = index.settings;
  if (!model) return undefined;
  if (model.identity === UNNAMED_VECTORS.identity)
    throw new IndexStateError(`${index.folder} holds vectors of a model that it does not know`, {
      hint: 'encode the documents with that model (lzero encode), and add them with --vectors',
    });
  try {
    return await loadModel(model.name, options);
  } catch (cause) {
    if (errorCode(cause) === '') throw cause;
    throw new IndexStateError(`the model of ${index.folder} is not at ${model.name} any more`, {
      hint: 'name its folder with --model',
      cause,
    });
  }
}

/** Refuses what cannot be given together. */
export function refuseTogether(given: Readonly<Record<string, unknown>>): void {
  const names = Object.entries(given).flatMap(([name, value]) =>
    value === undefined || value === false ? [] : [name],
  );
  if (names.length > 1) throw new UsageError(`${names.join(' and ')} do not go together`);
}
