/** Every setting of a schema in words: its path, its values, its default, its meaning. For help and documents. */
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../core/index.ts';

/** One setting. */
export type SettingDescription = {
  /** As `--set` takes it: `optim.steps`; members of lists are `data.train[].path`. */
  readonly path: string;
  /** What it may be: `number`, `relu | l0`, … */
  readonly values: string;
  /** As JSON; undefined for one that must be given, or may be left out. */
  readonly default: string | undefined;
  readonly isRequired: boolean;
  readonly meaning: string;
};

/** All settings of a schema of objects, in its order. Of unions of an object and a list of it, the object. */
export function describeSettings(schema: z.ZodType): SettingDescription[] {
  const root: JsonObject = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return [...settingsOf(root, '')];
}

function* settingsOf(node: JsonObject, prefix: string): Generator<SettingDescription> {
  const required = Array.isArray(node.required) ? node.required : [];
  for (const [name, child] of Object.entries(isJsonObject(node.properties) ? node.properties : {})) {
    if (!isJsonObject(child)) continue;
    const path = prefix + name;
    const { section, mark } = sectionOf(child);
    if (!section || mark === '[]') yield settingOf(path, child, required.includes(name));
    if (section) yield* settingsOf(section, `${path}${mark}.`);
  }
}

/** The object inside a setting: itself, or the members of a list. One that stands beside a text is a value of its own. */
function sectionOf(node: JsonObject): { readonly section: JsonObject | undefined; readonly mark: string } {
  const choices = choicesOf(node);
  const direct = choices.find((choice) => isJsonObject(choice.properties));
  if (direct && choices.some(({ type }) => type === 'string')) return { section: undefined, mark: '' };
  if (direct) return { section: direct, mark: '' };
  const list = choices.find(({ items }) => isJsonObject(items) && isJsonObject(items.properties));
  return { section: isJsonObject(list?.items) ? list.items : undefined, mark: '[]' };
}

function choicesOf(node: JsonObject): JsonObject[] {
  const choices = Array.isArray(node.anyOf) ? node.anyOf : [node];
  return choices.filter(isJsonObject);
}

function settingOf(path: string, node: JsonObject, isRequired: boolean): SettingDescription {
  const values = choicesOf(node).map(valuesOf).join(' | ');
  const given = 'default' in node ? JSON.stringify(node.default) : undefined;
  return { path, values, default: given, isRequired, meaning: String(node.description ?? '') };
}

/** The settings as lines of text: a setting, its values and default, its meaning. */
export function renderSettings(settings: readonly SettingDescription[]): string {
  return settings
    .map(({ path, values, default: given, isRequired, meaning }) => {
      const state = given === undefined ? (isRequired ? 'required' : 'optional') : given.replaceAll('"', '');
      return `${path.padEnd(26)} ${`${values} (${state})`.padEnd(46)} ${meaning}`.trimEnd();
    })
    .join('\n');
}

function valuesOf(node: JsonObject): string {
  if (Array.isArray(node.enum)) return node.enum.join(' | ');
  if (node.type === 'array') return 'list';
  if (node.type === 'string') return 'text';
  if (isJsonObject(node.properties)) return `{${Object.keys(node.properties).join(', ')}}`;
  return String(node.type ?? 'anything');
}
