/**
 * The small files that describe a model, in a folder and the folders inside it: what each says, whoever reads it. Does
 * not decide which of them counts: that is the business of src/model/layouts.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CheckpointError, isJsonObject, type JsonObject, messageOf } from '../../core/index.ts';

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

/** Whether files of this name say how vectors are made. */
export function isDescription(name: string): boolean {
  return DESCRIPTIONS.has(name);
}

/** sentence-transformers puts modules into folders, and a router's modules into folders of these. */
const MAX_DEPTH = 2;
/** Larger ones are something else under such a name. */
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

/** What a folder holds of them. */
export type Descriptions = {
  readonly files: readonly DescriptionFile[];
  /** Files and folders that could not be read, each with the reason. */
  readonly unreadable: readonly string[];
};

/** Reads them all, those of the model's own folder first. */
export async function readDescriptions(folder: string): Promise<Descriptions> {
  const files: DescriptionFile[] = [];
  const unreadable: string[] = [];
  let places = [''];
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    const listed = await Promise.all(places.map((place) => listPlace(folder, place, unreadable)));
    for (const { found } of listed) for (const file of found) files.push(file);
    places = listed.flatMap(({ inner }) => inner);
  }
  return { files, unreadable };
}

type Listed = { readonly found: readonly DescriptionFile[]; readonly inner: readonly string[] };

async function listPlace(folder: string, place: string, unreadable: string[]): Promise<Listed> {
  const orUnreadable = async <T>(path: string, reading: Promise<T>): Promise<T | undefined> => {
    try {
      return await reading;
    } catch (error) {
      unreadable.push(`${path}: cannot be read: ${messageOf(error)}`);
      return undefined;
    }
  };
  const found: DescriptionFile[] = [];
  const inner: string[] = [];
  for (const name of ((await orUnreadable(place || folder, readdir(join(folder, place)))) ?? []).sort()) {
    const path = place === '' ? name : `${place}/${name}`;
    const stats = await stat(join(folder, path)).catch(() => undefined); // links of a hub's cache are followed
    if (stats?.isDirectory() && !name.startsWith('.')) inner.push(path);
    if (!stats?.isFile() || !isDescription(name)) continue;
    const text = await orUnreadable(path, readDescription(join(folder, path), stats.size));
    if (text !== undefined) found.push({ path, place, name, text });
  }
  return { found, inner };
}

async function readDescription(path: string, sizeBytes: number): Promise<string> {
  if (sizeBytes > MAX_BYTES) throw new CheckpointError(`${sizeBytes} bytes, more than any such file has`);
  return await readFile(path, 'utf8');
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
