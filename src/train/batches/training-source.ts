/**
 * One source of training data as the configuration names it: which file, how its lines are read, which texts they mean,
 * and how many samples each line gives. Knows nothing of order or batches.
 */
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ConfigError, InputError } from '../../core/index.ts';
import {
  type ExampleParser,
  filesOfTexts,
  findInputFile,
  parseJsonPair,
  parseJsonTriple,
  parseJudged,
  parseScored,
  parseTablePair,
  parseTableTriple,
  STDIN,
  type TextFiles,
} from '../../data/index.ts';
import { exists } from '../../files/index.ts';
import type { TrainConfig, TrainingFormat } from '../config.ts';

/** A source as the configuration has it. */
export type SourceConfig = Exclude<TrainConfig['data']['train'], string>[number];

/** The files of a source. */
export type SourceFiles = {
  /** As the configuration names it. */
  readonly path: string;
  /** Whose lines are examples. */
  readonly file: string;
  readonly parser: ExampleParser;
  /** Where the texts are, if lines hold ids. */
  readonly texts: TextFiles | undefined;
  readonly mendEncoding: boolean;
  /** How often a sample of this source comes, against the others. */
  readonly weight: number;
};

/** The sources of a configuration, one or several. */
export function sourcesOf(data: TrainConfig['data']): readonly SourceConfig[] {
  const { train, format, split = 'train', collection, mendEncoding = false } = data;
  if (typeof train !== 'string') return train;
  if (format === undefined) throw new ConfigError('data.format is missing', { hint: 'write scored, triples or pairs' });
  return [{ path: train, format, split, collection, mendEncoding, weight: 1 }];
}

/** Refuses formats that cannot give samples of this size. */
export function checkFormat({ path, format }: SourceConfig, docsPerQuery: number): void {
  if (format === 'pairs' && docsPerQuery > 1)
    throw new ConfigError(`${path}: pairs have one document a query, docsPerQuery is ${docsPerQuery}`, {
      hint: 'write docsPerQuery: 1 and in-batch negatives, or mine negatives and train on triples',
    });
  if (format === 'scored' && docsPerQuery === 1)
    throw new ConfigError(`${path}: with docsPerQuery: 1 every document of a list would count as the right one`, {
      hint: 'write docsPerQuery: 2 or more',
    });
}

/**
 * Finds the files of a source.
 *
 * @param folder where relative paths begin; without it, where the process is
 */
export async function findSource(source: SourceConfig, folder: string | undefined): Promise<SourceFiles> {
  const place = (path: string): string => (folder === undefined ? path : resolve(folder, path));
  const { path, weight, mendEncoding } = source;
  const shared = { path, weight, mendEncoding };
  if (path === STDIN)
    throw new ConfigError('training data cannot come from standard input', {
      hint: 'it is read many times: name a file',
    });
  if (await isFolder(place(path))) return { ...shared, ...(await findCollection(source, place(path))) };
  const { file, format: lines } = await findInputFile(place(path), '');
  return { ...shared, file, parser: parserOf(source.format, lines, file), texts: textFiles(source.collection, place) };
}

type FoundFiles = Pick<SourceFiles, 'file' | 'parser' | 'texts'>;

async function findCollection({ path, format, collection, split }: SourceConfig, folder: string): Promise<FoundFiles> {
  if (format !== 'pairs')
    throw new InputError(`${path} is a folder, ${format} are read from a file`, {
      hint: 'name a .jsonl file; a collection in BEIR layout gives pairs',
    });
  if (collection !== undefined)
    throw new ConfigError(`${path} has its own texts: collection has no meaning`, { hint: 'leave collection out' });
  const texts = { documents: folder, queries: folder };
  return { file: await judgements(folder, split), parser: parseJudged, texts };
}

/** All files that decide what a source gives. */
export async function filesOf({ file, texts }: SourceFiles): Promise<string[]> {
  return [file, ...(texts ? await filesOfTexts(texts) : [])];
}

/** False for what cannot be looked at, too: the reader of files says why. */
async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

async function judgements(folder: string, split: string): Promise<string> {
  const file = join(folder, 'qrels', `${split}.tsv`);
  for (const candidate of [file, `${file}.gz`]) if (await exists(candidate)) return candidate;
  throw new InputError(`${folder} has no judgements for split ${split}: no ${file}`, {
    hint: 'choose another with split; a collection is a folder with corpus.jsonl, queries.jsonl and qrels/train.tsv',
  });
}

function textFiles(collection: SourceConfig['collection'], place: (path: string) => string): TextFiles | undefined {
  if (collection === undefined) return undefined;
  const { documents, queries } =
    typeof collection === 'string' ? { documents: collection, queries: collection } : collection;
  return { documents: place(documents), queries: place(queries) };
}

const PARSERS: Readonly<Record<TrainingFormat, Readonly<Record<string, ExampleParser>>>> = {
  scored: { jsonl: parseScored },
  triples: { jsonl: parseJsonTriple, tsv: parseTableTriple },
  pairs: { jsonl: parseJsonPair, tsv: parseTablePair },
};

function parserOf(format: TrainingFormat, lines: string | undefined, file: string): ExampleParser {
  const parser = lines === undefined ? undefined : PARSERS[format][lines];
  if (parser) return parser;
  const known = Object.keys(PARSERS[format]).map((extension) => `.${extension}`);
  throw new InputError(`${file}: ${format} are read from ${known.join(' and ')} files (each also .gz)`, {
    hint: 'write other files out as JSON lines first; of a Hugging Face data set: dataset.to_json("train.jsonl")',
  });
}
