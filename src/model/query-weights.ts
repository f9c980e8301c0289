/** The weights of query terms, from wherever a model folder has them. What they do to a query is text/query.ts's. */
import { dirname, join } from 'node:path';
import { CheckpointError, ConfigError, IdfError, printable, quoted } from '../core/index.ts';
import type { IdfTable, Tokenizer } from '../text/index.ts';
import { noIdf, parseIdf } from '../text/index.ts';
import { BAG_OF_WORDS } from './embedded-model.ts';
import { readTextFile } from './layouts/module-files.ts';
import type { QueryWeights, SourceModel } from './layouts/source-model.ts';
import { IDF_FILE, isSiamese } from './settings.ts';
import { openTensorFile } from './tensors/open-tensor-file.ts';

/** A model whose query weights are wanted. */
type Owner = Pick<SourceModel, 'folder' | 'settings' | 'queryWeights'> & { readonly tokenizer: Tokenizer };

/** Where the weights were found at last, with them. */
export type FoundWeights = { readonly idf: IdfTable; readonly queryWeights: QueryWeights };

/** Reads a model's query weights; `chosen` is a table, or 'none', to use in place of them. */
export async function readQueryWeights(owner: Owner, chosen: string | undefined): Promise<FoundWeights> {
  const { settings, tokenizer, queryWeights } = owner;
  if (settings.idf === 'none') return weightOne(tokenizer);
  if (chosen !== undefined)
    return { idf: await readIdf(chosen, tokenizer), queryWeights: { kind: 'table', path: chosen } };
  switch (queryWeights.kind) {
    case 'none':
      return weightOne(tokenizer);
    case 'table':
      return { idf: await readTable(queryWeights, tokenizer), queryWeights };
    case 'tensor':
      return {
        idf: await readWeightTensor(dirname(queryWeights.path), queryWeights.name, tokenizer),
        queryWeights,
      };
    case 'default':
      return await readDefault(owner);
    default:
      return queryWeights satisfies never;
  }
}

function weightOne({ vocabulary }: Tokenizer): FoundWeights {
  return { idf: noIdf(vocabulary), queryWeights: { kind: 'none' } };
}

/**
 * The embedded table, which fits BERT's uncased vocabulary only. Where it does not fit, a Siamese model does without one:
 * its queries are meant to be encoded.
 */
async function readDefault({ folder, settings, tokenizer }: Owner): Promise<FoundWeights> {
  try {
    return { idf: await readIdf(join(BAG_OF_WORDS, IDF_FILE), tokenizer), queryWeights: { kind: 'default' } };
  } catch (cause) {
    if (!(cause instanceof IdfError)) throw cause;
    if (isSiamese(settings)) return weightOne(tokenizer);
    throw new ConfigError(`${folder}: there is no ${IDF_FILE}, and the embedded one is for another vocabulary`, {
      hint: 'give query weights: --idf FILE (lzero model idf makes one), or --idf none for weight 1',
      cause,
    });
  }
}

/** How many tokens weigh less than 0. Special ones weigh 0 whatever a table says, and do not count. */
export function numBelowZero({ values }: IdfTable, { vocabulary }: Pick<Tokenizer, 'vocabulary'>): number {
  return values.filter((weight, j) => weight < 0 && !vocabulary.specialIds.has(j)).length;
}

/**
 * Whether other programs look queries up in the model's own table, weights below 0 as they are: not where the table is only
 * ours, which counts them as 0, nor where queries are encoded.
 */
export function isLookedUpByOthers({ layout, settings }: Pick<SourceModel, 'layout' | 'settings'>): boolean {
  return (layout === 'sentence-transformers' || layout === 'opensearch') && !isSiamese(settings);
}

/** Reads an IDF table for a tokenizer; 'none' gives every token weight 1. */
export async function readIdf(path: string, tokenizer: Tokenizer): Promise<IdfTable> {
  if (path === 'none') return noIdf(tokenizer.vocabulary);
  return await readTable({ kind: 'table', path }, tokenizer);
}

type Table = Extract<QueryWeights, { kind: 'table' }>;

async function readTable({ path, missing }: Table, { vocabulary }: Tokenizer): Promise<IdfTable> {
  const json = await readTableText(path);
  const table = parseIdf(json, vocabulary, path);
  if (missing !== undefined) {
    const named = tokensOf(json);
    vocabulary.tokens.forEach((token, id) => {
      if (!named.has(token)) table.values[id] = missing;
    });
  }
  return table;
}

/** The tokens that a table of query weights names; all others get a weight by rule. */
export async function tokensNamedIn(path: string): Promise<ReadonlySet<string>> {
  return tokensOf(await readTableText(path));
}

function tokensOf(json: string): ReadonlySet<string> {
  return new Set(Object.keys(JSON.parse(json)));
}

/** A table as the text of a JSON object, whichever way it is written. */
async function readTableText(path: string): Promise<string> {
  const text = await readTextFile(path);
  if (text === undefined) {
    throw new ConfigError(`${path}: no such file`, { hint: 'compute one: lzero model idf INPUT -o idf.json' });
  }
  return path.endsWith('.txt') ? tableOfLines(text, path) : text;
}

/** Lines of token, tab, weight as the JSON object that says the same. */
function tableOfLines(text: string, path: string): string {
  const members = text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return [];
    const at = line.lastIndexOf('\t');
    const weight = Number(line.slice(at + 1));
    if (at > 0 && line.slice(at + 1).trim() !== '' && Number.isFinite(weight))
      return [`${JSON.stringify(line.slice(0, at))}: ${weight}`];
    throw new IdfError(`${path}:${i + 1}: expected a token, a tab and a number, got ${quoted(line)}`, {
      hint: 'the file is damaged or no table of token weights: fetch it again',
    });
  });
  return `{${members.join(',')}}`;
}

/** A tensor [V] of the weights in a folder. Rows beyond the vocabulary only fill it up to a round size. */
export async function readWeightTensor(
  folder: string,
  name: string,
  { vocabulary }: Pick<Tokenizer, 'vocabulary'>,
): Promise<IdfTable> {
  const file = await openTensorFile(folder);
  try {
    const shape = file.tensors.get(name)?.shape ?? [];
    if (shape.length !== 1 || shape[0] < vocabulary.size) {
      const got = file.tensors.has(name) ? printable(`[${shape.join(', ')}]`) : 'none';
      throw new CheckpointError(
        `${file.path}: expected a tensor ${name} of [${vocabulary.size}], one weight for each token, got ${got}`,
        { hint: 'the query weights are of another model, or the file is damaged' },
      );
    }
    return { values: (await file.readFloat32(name)).slice(0, vocabulary.size) };
  } finally {
    await file.close();
  }
}
