/**
 * Declared fields: what may be filtered on. An index declares name and type once; values come from the `fields` of a
 * document. Knows nothing of how they are stored.
 */
import { ConfigError, InputError } from '../../core/index.ts';
import type { StoredDocument } from './document.ts';
import { isWellFormed } from './string-table.ts';

/** Types of declared fields. A keyword is a string or a list of strings. */
export type FieldType = 'keyword' | 'number' | 'boolean';

/** The declared fields of an index. */
export type FieldSchema = Readonly<Record<string, FieldType>>;

const FIELD_TYPES: readonly string[] = ['keyword', 'number', 'boolean'] satisfies readonly FieldType[];

/** Words of the filter language, which no field may have for a name. */
export const RESERVED_NAMES: readonly string[] = ['and', 'or', 'not'];

/** Checks a schema that comes from a user or a manifest. Names come out sorted. */
export function parseFieldSchema(value: unknown): FieldSchema {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ConfigError('fields: expected an object of names and types, such as {"lang": "keyword"}');
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, type]) => [requireName(name), requireType(name, type)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function requireName(name: string): string {
  if (name === '' || !isWellFormed(name))
    throw new ConfigError(`fields: ${JSON.stringify(name)} cannot be the name of a field`);
  if (RESERVED_NAMES.includes(name) || name === '__proto__')
    throw new ConfigError(`fields: ${JSON.stringify(name)} cannot be the name of a field: it is a word of filters`);
  return name;
}

function requireType(name: string, type: unknown): FieldType {
  if (isFieldType(type)) return type;
  throw new ConfigError(`fields: ${JSON.stringify(name)} has the unknown type ${JSON.stringify(type)}`, {
    hint: `types are ${FIELD_TYPES.join(', ')}`,
  });
}

function isFieldType(type: unknown): type is FieldType {
  return typeof type === 'string' && FIELD_TYPES.includes(type);
}

/** Distinct keywords of a document; an InputError names document and field where they are something else. */
export function keywordsOf(document: StoredDocument, name: string): readonly string[] {
  const value = fieldOf(document, name);
  if (value === undefined) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const keywords = list.filter((item) => typeof item === 'string');
  if (keywords.length < list.length) throw wrongValue(document, name, 'a string or a list of strings');
  if (!keywords.every(isWellFormed)) throw wrongValue(document, name, 'strings without half a surrogate pair');
  return [...new Set(keywords)];
}

/** The number of a document, or undefined. */
export function numberOf(document: StoredDocument, name: string): number | undefined {
  const value = fieldOf(document, name);
  if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value;
  throw wrongValue(document, name, 'a number');
}

/** The truth value of a document, or undefined. */
export function booleanOf(document: StoredDocument, name: string): boolean | undefined {
  const value = fieldOf(document, name);
  if (value === undefined || typeof value === 'boolean') return value;
  throw wrongValue(document, name, 'true or false');
}

/** JSON's null counts as missing, as many exporters write it. */
function fieldOf({ fields }: StoredDocument, name: string): unknown {
  return fields !== undefined && Object.hasOwn(fields, name) ? (fields[name] ?? undefined) : undefined;
}

function wrongValue(document: StoredDocument, name: string, expected: string): InputError {
  const got = JSON.stringify(document.fields?.[name]) ?? 'something that is not JSON';
  const shown = got.length > 80 ? `${got.slice(0, 80)}…` : got;
  return new InputError(
    `document ${JSON.stringify(document.id)}, field ${JSON.stringify(name)}: expected ${expected}, got ${shown}`,
    { hint: 'the index declares this field; leave it out where a document has none' },
  );
}
