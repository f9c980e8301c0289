/**
 * Check of lengths: where documents are cut, by all files that state it, and where sentence-transformers cuts queries,
 * which lzero reads whole. What a tokenizer's own files say counts only where nothing else settles the length: lzero.json
 * does for lzero, and sentence_bert_config.json for sentence-transformers, which both cut by it and overrule the tokenizer.
 */
import { isAbsolute, join, relative, sep } from 'node:path';
import { isJsonObject, type JsonObject } from '../../core/index.ts';
import type { Tokenizer } from '../../text/index.ts';
import type { ModelFolder } from '../model-folder.ts';
import { MIN_ENCODE_LENGTH, type ModelSettings } from '../settings.ts';
import { objectsNamed } from './description-files.ts';
import { largest } from './effect.ts';
import { type CheckResult, differs, type Effect, notApplicable, ok } from './report.ts';
import type { Subject } from './subject.ts';

/** Lengths from here on mean "no limit": transformers writes 1e30. */
const NO_LIMIT = 1_000_000;

/** Where files state how many tokens are read. */
const LENGTHS: readonly (readonly [file: string, ...keys: string[]])[] = [
  ['lzero.json', 'encodeLength'],
  ['tokenizer_config.json', 'model_max_length'],
  ['sentence_bert_config.json', 'max_seq_length'],
  ['tokenizer.json', 'truncation', 'max_length'],
];

/** Files that the length of a model overrules, where a file settles it. */
const OVERRULED: ReadonlySet<string> = new Set(['tokenizer_config.json', 'tokenizer.json']);

type Stated = { readonly file: string; readonly where: string; readonly place: string; readonly length: number };

/** A length that others cut at, in words, and what that does. */
type OtherLength = { readonly words: string; readonly effect: Effect | undefined };

/** Whether all files cut a document at the same length, and nobody cuts a query. */
export async function checkMaxLength(subject: Subject): Promise<CheckResult> {
  const id = 'max-length';
  const { model } = subject;
  if (model === undefined) return notApplicable(id, 'the model cannot be read');
  const { settings } = model;
  if (settings.kind === 'bow') return notApplicable(id, 'the model has no network: it reads whole texts');
  const stated = lengthsOf(subject);
  const queryPlace = queryPlaceOf(model);
  const others: OtherLength[] = [];
  const settledBy = model.fixed.get('encodeLength');
  const notes: string[] = [];
  for (const one of stated) {
    if (one.place === queryPlace || one.length === settings.encodeLength) continue;
    if (settledBy !== undefined && OVERRULED.has(one.file))
      notes.push(`${one.where} is ${one.length}: overruled by ${relativeTo(model.folder, settledBy)}`);
    else others.push(await otherDocumentLength(subject, { ...model, settings }, one));
  }
  for (const one of stated) if (one.place === queryPlace) others.push(...(await otherQueryLength(subject, model, one)));
  if (others.length === 0) return ok(id, `${settings.encodeLength} tokens`, ...notes);
  return differs(id, {
    found: [...others.map(({ words }) => words), ...notes],
    effect: largest(others.map(({ effect }) => effect)),
    fix: 'make all files name the length that the model is to be used with',
  });
}

/** The folder of the module that looks queries up, from the model's; undefined where there is none. */
function queryPlaceOf({ folder, queryTokenizerFolder, tokenizerFolder }: ModelFolder): string | undefined {
  if (queryTokenizerFolder === undefined || queryTokenizerFolder === tokenizerFolder) return undefined;
  return relativeTo(folder, queryTokenizerFolder);
}

/** A path inside the model's folder, from there; others as they are. */
function relativeTo(folder: string, path: string): string {
  return isAbsolute(path) === isAbsolute(folder) && path.startsWith(join(folder))
    ? relative(folder, path).split(sep).join('/')
    : path;
}

function lengthsOf({ files }: Subject): Stated[] {
  return LENGTHS.flatMap(([file, ...keys]) =>
    objectsNamed(files, file).flatMap(({ path, place, json }) => {
      const length = valueAt(json, keys);
      const isLimit = typeof length === 'number' && length > 0 && length < NO_LIMIT;
      return isLimit ? [{ file, where: `${path}: ${keys.join('.')}`, place, length }] : [];
    }),
  );
}

function valueAt(json: JsonObject, keys: readonly string[]): unknown {
  return keys.reduce<unknown>((value, key) => (isJsonObject(value) ? value[key] : undefined), json);
}

type NetworkModel = ModelFolder & { readonly settings: Exclude<ModelSettings, { kind: 'bow' }> };

async function otherDocumentLength(
  subject: Subject,
  { settings, config, tokenizer }: NetworkModel,
  { where, length }: Stated,
): Promise<OtherLength> {
  const { documents } = subject.texts;
  const { encodeLength } = settings;
  const possible = Math.min(length, config?.maxPositions ?? length);
  const numCut = (most: number): number =>
    documents.filter((text) => tokenizer.encodeForModel(text, Math.max(most, MIN_ENCODE_LENGTH)).numTokens > most)
      .length;
  return {
    words:
      `${where} is ${length}, the model is read with ${encodeLength}: of ${documents.length} texts ` +
      `${numCut(length)} are cut there, ${numCut(encodeLength)} here`,
    effect: await subject.measure({ settings: { ...settings, encodeLength: possible } }),
  };
}

/** What is found where some query is longer than a table's tokenizer reads. */
async function otherQueryLength(subject: Subject, model: ModelFolder, stated: Stated): Promise<OtherLength[]> {
  const { where, length } = stated;
  const { queries } = subject.texts;
  const numCut = queries.filter((text) => model.tokenizer.encode(text).length > length).length;
  if (numCut === 0) return [];
  return [
    {
      words: `${where} is ${length}: sentence-transformers cuts ${numCut} of ${queries.length} queries there, lzero none`,
      effect: await subject.measure({ tokenizer: cuttingQueries(model.tokenizer, length) }),
    },
  ];
}

/** The tokenizer of somebody who reads only the first tokens of a query. */
function cuttingQueries(tokenizer: Tokenizer, length: number): Tokenizer {
  return { ...tokenizer, encode: (text) => tokenizer.encode(text).subarray(0, length) };
}
