/** What zod found wrong, in the words of somebody who sees the file and not the schema. Knows nothing of files. */
import type { core } from 'zod';
import { nearest, type SettingPath } from '../core/index.ts';
import { knownKeys } from './known-keys.ts';
import { showPath } from './override.ts';

/** Characters of a wrong text that are shown. */
const MAX_SHOWN = 60;

/** One wrong place. `part` says whether the key or its value is to blame. */
export type Finding = { readonly path: SettingPath; readonly part: 'key' | 'value'; readonly message: string };

/** The wrong places that one issue of `schema` stands for. */
export function findings(schema: core.$ZodType, issue: core.$ZodIssue): Finding[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(schema, path);
    return issue.keys.map((key) => ({ path: [...path, key], part: 'key', message: unknownKey(key, path, known) }));
  }
  if (issue.code === 'invalid_union') {
    const closest = closestAlternative(issue.errors);
    if (closest) return closest.flatMap((inner) => findings(schema, { ...inner, path: [...path, ...inner.path] }));
  }
  return [{ path, part: 'value', message: wrongValue(issue, path) }];
}

function unknownKey(key: string, section: SettingPath, known: readonly string[]): string {
  const place = section.length === 0 ? '' : ` in \`${showPath(section)}\``;
  const meant = nearest(key, known);
  if (meant !== undefined) return `unknown key \`${key}\`${place}; did you mean \`${meant}\`?`;
  return known.length === 0
    ? `unknown key \`${key}\`${place}`
    : `unknown key \`${key}\`${place}; known: ${known.join(', ')}`;
}

function wrongValue(issue: core.$ZodIssue, path: SettingPath): string {
  const subject = path.length === 0 ? showPath(path) : `\`${showPath(path)}\``;
  if (issue.input === undefined && issue.code === 'invalid_type')
    return `${subject} is missing: expected ${issue.expected}`;
  const complaint = issue.message.replace(/^(?:Invalid input|Invalid option|Too big|Too small|Unrecognized key): /, '');
  return `${subject}: ${complaint}${suggestedValue(issue)}`;
}

function suggestedValue(issue: core.$ZodIssue): string {
  if (typeof issue.input !== 'string') return '';
  const values = issue.code === 'invalid_value' ? issue.values.filter((value) => typeof value === 'string') : [];
  const meant = nearest(issue.input, values);
  const shown = issue.input.length > MAX_SHOWN ? `${issue.input.slice(0, MAX_SHOWN)}…` : issue.input;
  return `, got ${JSON.stringify(shown)}${meant === undefined ? '' : `; did you mean \`${meant}\`?`}`;
}

/** Of a union's alternatives, the one that the value got furthest into; undefined where it fits none even outwardly. */
function closestAlternative(
  alternatives: readonly (readonly core.$ZodIssue[])[],
): readonly core.$ZodIssue[] | undefined {
  const begun = alternatives.filter((issues) =>
    issues.some(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'),
  );
  return begun.toSorted((a, b) => a.length - b.length)[0];
}
