/**
 * JSON from outside: parsed with an error of the caller's kind, repeated keys found, a schema's complaints in one line.
 * Knows nothing of files, nor of the library behind the schemas.
 */
import { messageOf } from './errors.ts';
import { printable } from './quoted.ts';

/** A JSON object whose members are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object that JSON could have: neither null nor a list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses JSON; where it is none, throws what `fail` makes of the problem ("not JSON: …"). */
export function parseJson(text: string, fail: (problem: string, cause: unknown) => Error): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw fail(printable(`not JSON: ${messageOf(cause)}`), cause); // the engine repeats some of the text
  }
}

/** What a schema found, "a.b: message; c: message"; the place of the whole is 'file'. */
export function describeIssues(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
): string {
  const problems = issues.map(({ path, message }) => `${path.map(String).join('.') || 'file'}: ${message}`);
  return printable(problems.join('; ')); // keys are as the file has them
}

/**
 * Whether some object of a JSON text has a key twice, of which JSON.parse keeps the last without a word.
 *
 * @param parsed what JSON.parse made of `text`
 */
export function hasRepeatedKeys(text: string, parsed: unknown): boolean {
  return countColons(text) !== countMembers(parsed);
}

/** Members that all objects of a value hold. Without recursion: JSON may nest deeper than the stack. */
function countMembers(value: unknown): number {
  let count = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const node = open.pop();
    if (Array.isArray(node)) for (const item of node) if (typeof item === 'object') open.push(item);
    if (isJsonObject(node)) {
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
