/** `--set a.b=value`: one value of a configuration, given on the command line. Knows nothing of schemas. */
import type { SettingPath } from '../core/index.ts';
import { type Problem, readDocument } from './document.ts';

/** One `--set`, read. */
export type Override = {
  readonly path: SettingPath;
  readonly value: unknown /** As typed, with its `--set`. */;
  readonly name: string;
};

/** Reads `a.b=value`, the value as YAML: `3`, `true`, `[1, 2]`, `{ k: v }`, or else a text. Nothing is null. */
export function readOverride(text: string): { readonly override?: Override; readonly problems: readonly Problem[] } {
  const name = `--set ${text}`;
  const equals = text.indexOf('=');
  const path = text.slice(0, Math.max(equals, 0)).trim().split('.');
  if (path.includes('')) return { problems: [{ where: name, message: 'expected key.key=value' }] };
  const written = text.slice(equals + 1);
  if (written.trim() === '') return { override: { path, value: null, name }, problems: [] };
  const { value, problems } = readDocument(written, name);
  if (problems.length > 0) return { problems: problems.map(({ message }) => ({ where: name, message })) };
  return { override: { path, value, name }, problems };
}

/** A copy of `root` with the override in place; missing sections on the way are made. */
export function applyOverride(root: unknown, { path, value, name }: Override): { value: unknown; problem?: Problem } {
  let blocked: string | undefined;
  const replace = (target: unknown, depth: number): unknown => {
    if (depth === path.length) return value;
    const step = path[depth];
    if (Array.isArray(target)) {
      const position = Number(step);
      if (/^\d+$/.test(String(step)) && position <= target.length)
        return Object.assign([...target], { [position]: replace(target[position], depth + 1) });
      blocked = `\`${showPath(path.slice(0, depth))}\` is a list of ${target.length}, and has no place \`${step}\``;
    } else if (target === undefined || target === null || typeof target === 'object') {
      const below: unknown = target && Object.entries(target).find(([key]) => key === step)?.[1];
      return { ...target, [step]: replace(below, depth + 1) };
    } else blocked = `\`${showPath(path.slice(0, depth))}\` is a value, not a section`;
    return target;
  };
  const replaced = replace(root, 0);
  return blocked === undefined ? { value: replaced } : { value: root, problem: { where: name, message: blocked } };
}

/** `data.train.0`, or a name for the root. */
export function showPath(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'the configuration' : path.map(String).join('.');
}
