/**
 * One source of training data as the configuration names it: which file, how its lines are read, which texts they mean,
 * and how many samples each line gives. Knows nothing of order or batches.
 */
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ConfigError, forSetting, InputError, type SettingPath } from '../../core/index.ts';
import {
  type ExampleParser,
  filesOfTexts,
  findInputFile,
  parseJsonDocument,
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
import { FORMATS, type TrainConfig } from '../config.ts';
import type { StatesConfig } from '../states-config.ts';

/** What trainings of every kind say of their data. */
export type DataConfig = TrainConfig['data'] | StatesConfig['data'];

/** A source as the configuration has it. */
export type SourceConfig = Exclude<DataConfig['train'], string>[number];

/** Where the configuration has what a source is told by a key. */
type SettingOf = (key: keyof SourceConfig) => SettingPath;

/** A source, and where to look when something is wrong with it. */
export type ConfiguredSource = SourceConfig & { readonly settingOf: SettingOf };

/** The files of a source. */
export type SourceFiles = {
  /** As the configuration names it. */
  readonly path: string;
  readonly settingOf: SettingOf;
  /** Whose lines are examples. */
  readonly file: string;
  readonly parser: ExampleParser;
  /** Where the texts are, if lines hold ids. */
  readonly texts: TextFiles | undefined;
  /** The key that names them. */
  readonly textsFrom: 'path' | 'collection';
  readonly mendEncoding: boolean;
  /** How often a sample of this source comes, against the others. */
  readonly weight: number;
};

/** The sources of a configuration, one or several. */
export function sourcesOf(data: DataConfig): readonly ConfiguredSource[] {
  const { train, format, split, collection, mendEncoding = false } = data;
  if (typeof train !== 'string')
    return train.map((source, i) => ({ ...source, settingOf: (key) => ['data', 'train', i, key] }));
  if (format === undefined)
    throw new ConfigError('data.format is missing', { hint: `write one of ${FORMATS.join(', ')}` });
  const settingOf: SettingOf = (key) => ['data', key === 'path' ? 'train' : key];
  return [{ path: train, format, split, collection, mendEncoding, weight: 1, settingOf }];
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
export async function findSource(source: ConfiguredSource, folder: string | undefined): Promise<SourceFiles> {
  const place = (path: string): string => (folder === undefined ? path : resolve(folder, path));
  const { path, weight, mendEncoding, settingOf } = source;
  return await forSetting(settingOf('path'), async () => {
    if (path === STDIN)
      throw new ConfigError('training data cannot come from standard input', {
        hint: 'it is read many times: name a file',
      });
    const found = (await isFolder(place(path)))
      ? await findCollection(source, place(path))
      : await findFile(source, place);
    return { path, weight, mendEncoding, settingOf, ...found };
  });
}

type FoundFiles = Pick<SourceFiles, 'file' | 'parser' | 'texts' | 'textsFrom'>;

async function findFile(source: ConfiguredSource, place: (path: string) => string): Promise<FoundFiles> {
  const { path, collection, split, mendEncoding } = source;
  if (split !== undefined)
    throw hasNoUse(source, 'split', `${path} is a file: a split is of a collection's judgements`);
  if (mendEncoding && collection === undefined)
    throw hasNoUse(source, 'mendEncoding', `${path} has its texts in its lines: only those of a collection are mended`);
  if (source.format === 'documents') refuseIds(source);
  const { file, format: lines } = await findInputFile(place(path), '');
  const parser = parserOf(source.format, lines, file);
  return { file, parser, texts: textFiles(collection, place), textsFrom: 'collection' };
}

async function findCollection(source: ConfiguredSource, folder: string): Promise<FoundFiles> {
  const { path, format, split = 'train', settingOf } = source;
  if (format === 'documents') return await findCorpus(source, folder);
  if (format !== 'pairs')
    throw new InputError(`${path} is a folder, ${format} are read from a file`, {
      hint: 'name a .jsonl file; a collection in BEIR layout gives pairs, or documents',
    });
  refuseIds(source);
  const file = await forSetting(settingOf('split'), () => judgements(folder, split));
  return { file, parser: parseJudged, texts: { documents: folder, queries: folder }, textsFrom: 'path' };
}

/** The documents of a collection, without its judgements. */
async function findCorpus(source: ConfiguredSource, folder: string): Promise<FoundFiles> {
  const { path, split, mendEncoding } = source;
  if (split !== undefined) throw hasNoUse(source, 'split', `the documents of ${path} are read, not its judgements`);
  if (mendEncoding) throw hasNoUse(source, 'mendEncoding', `${path} is read line by line`);
  refuseIds(source);
  const { file } = await findInputFile(folder, 'corpus.jsonl');
  return { file, parser: parseJsonDocument, texts: undefined, textsFrom: 'path' };
}

/** Documents are texts, not ids of others. */
function refuseIds(source: ConfiguredSource): void {
  const { path, collection } = source;
  if (collection !== undefined) throw hasNoUse(source, 'collection', `${path} has its own texts`);
}

/** Whoever writes a setting expects something of it: one that would do nothing is an error. */
function hasNoUse({ settingOf }: ConfiguredSource, key: keyof SourceConfig, why: string): ConfigError {
  return new ConfigError(`${why}, so ${key} has no meaning`, { hint: `leave ${key} out`, setting: settingOf(key) });
}

/** All files that decide what a source gives. */
export async function filesOf({ file, texts, textsFrom, settingOf }: SourceFiles): Promise<string[]> {
  return [file, ...(texts ? await forSetting(settingOf(textsFrom), () => filesOfTexts(texts)) : [])];
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

const PARSERS: Readonly<Record<SourceConfig['format'], Readonly<Record<string, ExampleParser>>>> = {
  scored: { jsonl: parseScored },
  triples: { jsonl: parseJsonTriple, tsv: parseTableTriple },
  pairs: { jsonl: parseJsonPair, tsv: parseTablePair },
  documents: { jsonl: parseJsonDocument },
};

function parserOf(format: SourceConfig['format'], lines: string | undefined, file: string): ExampleParser {
  const parser = lines === undefined ? undefined : PARSERS[format][lines];
  if (parser) return parser;
  const known = Object.keys(PARSERS[format]).map((extension) => `.${extension}`);
  throw new InputError(`${file}: ${format} are read from ${known.join(' and ')} files (each also .gz)`, {
    hint: 'write other files out as JSON lines first; of a Hugging Face data set: dataset.to_json("train.jsonl")',
  });
}
