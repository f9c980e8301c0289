/** The models that ship with the package: their names, and where they are. */
import { fileURLToPath } from 'node:url';

const folderOf = (name: string): string => fileURLToPath(new URL(`../../models/${name}/`, import.meta.url));

/** What is used where nobody names a model. */
export const DEFAULT_MODEL = 'default';

/** Folders by name. A folder of the user's that has such a name is meant by ./default or ./bow. */
const EMBEDDED: ReadonlyMap<string, string> = new Map([
  /** gte-small with a topic head, made by runs/model: what it is and what it was trained on stands in its card. */
  [DEFAULT_MODEL, folderOf('lzero-en')],
  /** No network: every token weighs 1. Its query weights serve models that have none of their own. */
  ['bow', folderOf('bow')],
]);

/** The folder of the bag of words. */
export const BAG_OF_WORDS = folderOf('bow');

/** The folder of an embedded model; undefined for all other names. */
export function embeddedFolder(name: string): string | undefined {
  return EMBEDDED.get(name);
}
