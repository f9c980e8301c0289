/**
 * The small files that describe a model, in a folder and the folders inside it: what each says, whoever reads it. Does
 * not decide which of them counts: that is the business of src/model/layouts.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '../../core/index.ts';

/** Names of files that say something about how vectors are made. */
const DESCRIPTIONS: ReadonlySet<string> = new Set([
  'lzero.json',
  'config.json',
  'tokenizer.json',
  'vocab.txt',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'sentence_bert_config.json',
  'modules.json',
  'config_sentence_transformers.json',
  'router_config.json',
  'idf.json',
  'query_token_weights.txt',
]);

/** sentence-transformers puts modules into folders, and a router's modules into folders of these. */
const MAX_DEPTH = 2;
/** Larger ones are something else under this name. */
const MAX_BYTES = 2 ** 27;

/** One of them. */
export type DescriptionFile = {
  /** From the model's folder, with slashes: `1_SpladePooling/config.json`. */
  readonly path: string;
  /** Its folder, in the same way; '' for the model's. */
  readonly place: string;
  readonly name: string;
  readonly text: string;
};

/** Reads them all, those of the model's own folder first. */
export async function readDescriptions(folder: string): Promise<DescriptionFile[]> {
  const found: DescriptionFile[] = [];
  let places = [''];
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    const listed = await Promise.all(places.map((place) => listPlace(folder, place)));
    for (const { files } of listed) for (const file of files) found.push(file);
    places = listed.flatMap(({ inner }) => inner);
  }
  return found;
}

async function listPlace(folder: string, place: string): Promise<{ files: DescriptionFile[]; inner: string[] }> {
  const files: DescriptionFile[] = [];
  const inner: string[] = [];
  for (const name of (await readdir(join(folder, place))).sort()) {
    const path = place === '' ? name : `${place}/${name}`;
    const stats = await stat(join(folder, path)).catch(() => undefined); // links of a hub's cache are followed
    if (stats?.isDirectory() && !name.startsWith('.')) inner.push(path);
    if (!stats?.isFile() || !DESCRIPTIONS.has(name) || stats.size > MAX_BYTES) continue;
    files.push({ path, place, name, text: await readFile(join(folder, path), 'utf8') });
  }
  return { files, inner };
}

/** What a file says; undefined where it is no JSON object. */
export function objectOf({ text }: DescriptionFile): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // the check of files says so
  }
}

/** The files of a name, each with what it says. */
export function objectsNamed(
  files: readonly DescriptionFile[],
  name: string,
): { readonly path: string; readonly place: string; readonly json: JsonObject }[] {
  return files.flatMap((file) => {
    const json = file.name === name ? objectOf(file) : undefined;
    return json === undefined ? [] : [{ path: file.path, place: file.place, json }];
  });
}
