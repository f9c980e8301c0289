/**
 * A document as the index keeps it, and the line of JSON that its stored fields become. Ids and pages are kept outside
 * the line, where they can be read without unpacking text.
 */
import { InputError, isJsonObject, messageOf } from '../../core/index.ts';
import { isWellFormed } from './string-table.ts';

/**
 * Where a document came from, for whoever brings an index up to date with its source: what has changed there, and what is
 * gone. Searches do not show it.
 */
export type Origin = {
  /** What the document is a part of, such as a folder of pages. */
  readonly source: string;
  /** Equal for equal content of its page. */
  readonly hash: string;
  /** How many parts the page has: with fewer, somebody was stopped in the middle of it. */
  readonly numParts: number;
};

/** A document with its stored fields. */
export type StoredDocument = {
  /** The caller's name for it, unique in the index. */
  readonly id: string;
  readonly title?: string | undefined;
  readonly text?: string | undefined;
  readonly url?: string | undefined;
  /** JSON of the caller. Declared fields (FieldSchema) are taken from here. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
  /** Id of the page that this is a chunk of. */
  readonly page?: string | undefined;
  /** Position of the chunk in its page, from 0. */
  readonly chunk?: number | undefined;
  /** Where it came from. */
  readonly origin?: Origin | undefined;
};

/** What a line holds. */
export type StoredFields = Omit<StoredDocument, 'id' | 'page'>;

/** Longest line, in UTF-16 units: its UTF-8 is then below 2²⁸ bytes, which every runtime can hold as one string. */
const MAX_LINE = 2 ** 26;

/** Throws an InputError that names the document where one of its parts cannot be kept. */
export function checkDocument(document: StoredDocument): void {
  const { id, title, text, url, fields, page, chunk, origin } = document;
  requireId(id, 'the id of a document');
  const name = `document ${JSON.stringify(id)}`;
  const fail = (problem: string): Error => new InputError(`${name}: ${problem}`);
  optional('title', title, isString, fail);
  optional('text', text, isString, fail);
  optional('url', url, isString, fail);
  optional('fields', fields, isJsonObject, fail);
  optional('chunk', chunk, isPosition, fail);
  optional('origin', origin, isOrigin, fail);
  if (page !== undefined) requireId(page, `${name}: its page`);
}

function requireId(id: unknown, what: string): void {
  if (typeof id !== 'string' || id === '') throw new InputError(`${what} must be a string that is not empty`);
  if (!isWellFormed(id)) throw new InputError(`${what}, ${JSON.stringify(id)}, has half of a surrogate pair`);
}

/** The stored fields as one line of JSON. */
export function lineOf({ id, title, text, url, fields, chunk, origin }: StoredDocument): string {
  const line = stringify({ title, text, url, fields, chunk, origin }, id);
  if (line.length <= MAX_LINE) return line;
  throw new InputError(`document ${JSON.stringify(id)}: its fields take ${line.length} characters of JSON`, {
    hint: `a document has at most ${MAX_LINE}: cut it into chunks`,
  });
}

/** Reads a line; throws what `fail` makes of the problem where it is not one. */
export function parseLine(line: string, fail: (problem: string) => Error): StoredFields {
  const { title, text, url, fields, chunk, origin, ...unknown } = parseObject(line, fail);
  const [extra] = Object.keys(unknown);
  if (extra !== undefined) throw fail(`unknown stored field ${JSON.stringify(extra)}`);
  return {
    ...optional('title', title, isString, fail),
    ...optional('text', text, isString, fail),
    ...optional('url', url, isString, fail),
    ...optional('fields', fields, isJsonObject, fail),
    ...optional('chunk', chunk, isPosition, fail),
    ...optional('origin', origin, isOrigin, fail),
  };
}

function stringify(value: object, id: string): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new InputError(`document ${JSON.stringify(id)}: its fields are not JSON: ${messageOf(cause)}`, { cause });
  }
}

function parseObject(line: string, fail: (problem: string) => Error): Readonly<Record<string, unknown>> {
  const value = parse(line, fail);
  if (isJsonObject(value)) return value;
  throw fail('the stored fields are not a JSON object');
}

function parse(line: string, fail: (problem: string) => Error): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw fail(`the stored fields are not JSON: ${messageOf(cause)}`);
  }
}

function optional<Name extends string, Value>(
  name: Name,
  value: unknown,
  is: (value: unknown) => value is Value,
  fail: (problem: string) => Error,
): { readonly [key in Name]?: Value } {
  if (value === undefined) return {};
  if (!is(value)) throw fail(`the stored field ${JSON.stringify(name)} is of a wrong type`);
  const entry: { [key in Name]?: Value } = {};
  entry[name] = value;
  return entry;
}

const isString = (value: unknown): value is string => typeof value === 'string';
const isPosition = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

function isOrigin(value: unknown): value is Origin {
  if (!isJsonObject(value)) return false;
  const { source, hash, numParts, ...others } = value;
  return isString(source) && isString(hash) && isPosition(numParts) && Object.keys(others).length === 0;
}
