/** A JSON object on one line, and its id: what document, query and vector files have in common. */
import { messageOf } from '../core/index.ts';
import { BadLine } from './bad-line.ts';

/** A parsed JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Parses a line that must hold one JSON object, in which no key occurs twice. */
export function parseObject(text: string): JsonObject | BadLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return new BadLine('not-json', `not JSON: ${messageOf(error)}`);
  }
  if (!isObject(value)) return new BadLine('not-an-object', `expected a JSON object, got ${kindOf(value)}`);
  if (countColons(text) !== countMembers(value)) return new BadLine('repeated-key', 'a key occurs twice in one object');
  return value;
}

/** True for what JSON writes in braces. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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

/** Members that all objects of a value hold. Without recursion: JSON may nest deeper than the stack. */
function countMembers(value: JsonObject): number {
  let count = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const node = open.pop();
    if (Array.isArray(node)) for (const item of node) if (typeof item === 'object') open.push(item);
    if (isObject(node)) {
      const keys = Object.keys(node); // with a look-up for each, less than half the time of Object.values
      count += keys.length;
      for (const key of keys) if (typeof node[key] === 'object') open.push(node[key]);
    }
  }
  return count;
}

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** Members that sound JSON text spells out: its colons outside of strings. */
function countColons(json: string): number {
  let count = 0;
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(json, at);
    else if (unit === COLON) count++;
  }
  return count;
}

/** Position of the quote that closes the string opened at `start`. */
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end;
}

function isEscaped(json: string, at: number): boolean {
  let first = at;
  while (json.charCodeAt(first - 1) === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}
