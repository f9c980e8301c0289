/** Front matter of Markdown: YAML between lines of ---, TOML between lines of +++. Never fails: what it cannot read is left out. */

import { parse } from 'yaml';
import { isJsonObject } from '../../core/index.ts';
import type { PageFields } from './page.ts';

/** Longer ones are no front matter, but two rules far apart. */
const MAX_UNITS = 64 * 1024;

/** A Markdown file in its two parts. */
export type FrontMatter = {
  readonly fields: PageFields;
  /** What comes after. */
  readonly body: string;
};

/** Splits front matter from the text. Of its keys those with simple values are kept: text, numbers, true and false, lists of text. */
export function splitFrontMatter(markdown: string): FrontMatter {
  const fence = /^(---|\+\+\+)[ \t]*\r?\n/.exec(markdown);
  if (!fence) return { fields: {}, body: markdown };
  const close = fence[1] === '---' ? /^(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/m : /^\+\+\+[ \t]*(?:\r?\n|$)/m;
  const rest = markdown.slice(fence[0].length);
  const end = close.exec(rest.slice(0, MAX_UNITS));
  if (!end) return { fields: {}, body: markdown };
  const source = rest.slice(0, end.index);
  const values = fence[1] === '---' ? (readYaml(source) ?? readLines(source)) : readLines(source);
  return { fields: simpleFields(values), body: rest.slice(end.index + end[0].length) };
}

/** undefined where it is not a mapping in YAML: an unquoted colon in a title is enough. */
function readYaml(source: string): object | undefined {
  try {
    const value: unknown = parse(source, { logLevel: 'error' });
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `key: value` and `key = "value"`, line by line. */
function readLines(source: string): object {
  const pairs: [string, string | number | boolean][] = [];
  for (const line of source.split('\n')) {
    const match = /^([\w-]+)\s?[:=]\s?(.+)$/.exec(line.trim());
    if (match) pairs.push([match[1], simpleValue(match[2].trim())]);
  }
  return Object.fromEntries(pairs);
}

function simpleValue(text: string): string | number | boolean {
  const quoted = /^(["'])(.*)\1$/.exec(text);
  if (quoted) return quoted[2];
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

function simpleFields(values: object): PageFields {
  const fields: [string, string | number | boolean | readonly string[]][] = [];
  for (const [key, value] of Object.entries(values)) {
    if (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) fields.push([key, value]);
    else if (Array.isArray(value) && value.every((item) => typeof item === 'string')) fields.push([key, value]);
  }
  return Object.fromEntries(fields);
}
