/** A JSON object on one line, and its id: what document, query and vector files have in common. */
import { hasRepeatedKeys, isJsonObject, type JsonObject, messageOf } from '../core/index.ts';
import { BadLine } from './bad-line.ts';

/** Parses a line that must hold one JSON object, in which no key occurs twice. */
export function parseObject(text: string): JsonObject | BadLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return new BadLine('not-json', `not JSON: ${messageOf(error)}`);
  }
  if (!isJsonObject(value)) return new BadLine('not-an-object', `expected a JSON object, got ${kindOf(value)}`);
  if (hasRepeatedKeys(text, value)) return new BadLine('repeated-key', 'a key occurs twice in one object');
  return value;
}

/** The id of a record: `_id`, or `id` where there is no `_id`. An integer is taken as its digits. */
export function idOf(record: JsonObject): string | BadLine {
  const id = record._id ?? record.id;
  if (id === undefined || id === null || id === '') return new BadLine('missing-field', 'no "_id"');
  if (typeof id === 'string') return id;
  if (typeof id !== 'number') return new BadLine('wrong-type', `"_id" is ${kindOf(id)}, expected a string`);
  // 12345678901234567890 has lost its last digits by now: as an id it would be another one.
  if (!Number.isSafeInteger(id)) return new BadLine('wrong-type', `"_id" is ${id}, expected a string or an integer`);
  return String(id);
}

/** A text that may be missing or null. */
export function optionalString(record: JsonObject, key: string): string | undefined | BadLine {
  const value = record[key];
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string'
    ? value
    : new BadLine('wrong-type', `"${key}" is ${kindOf(value)}, expected a string`);
}

/** An object that may be missing or null. */
export function optionalObject(record: JsonObject, key: string): JsonObject | undefined | BadLine {
  const value = record[key];
  if (value === undefined || value === null) return undefined;
  return isJsonObject(value) ? value : new BadLine('wrong-type', `"${key}" is ${kindOf(value)}, expected an object`);
}

/** A text that must be there. */
export function requiredString(record: JsonObject, key: string): string | BadLine {
  return optionalString(record, key) ?? new BadLine('missing-field', `no "${key}"`);
}

/** What a JSON value is, for a message. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return `a ${typeof value}`;
}
