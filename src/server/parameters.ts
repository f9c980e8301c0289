/** The query string of an address as the value that a body would have had, so that one schema checks both. */
import { parseJson } from '../core/index.ts';
import { badRequest } from './request-error.ts';

/** How the text of a parameter is read. */
type ParameterKind = 'text' | 'number' | 'boolean' | 'json' | 'list';

/** A parameter: its name in an address, in a body, and how it is read. */
export type Parameter = { readonly name: string; readonly property: string; readonly kind: ParameterKind };

/** Every parameter that some address has. */
const PARAMETERS: readonly Parameter[] = [
  { name: 'q', property: 'query', kind: 'text' },
  { name: 'vector', property: 'vector', kind: 'json' },
  { name: 'k', property: 'k', kind: 'number' },
  { name: 'filter', property: 'filter', kind: 'json' },
  { name: 'explain', property: 'explain', kind: 'boolean' },
  { name: 'snippets', property: 'snippets', kind: 'boolean' },
  { name: 'exact', property: 'exact', kind: 'boolean' },
  { name: 'parts', property: 'parts', kind: 'boolean' },
  { name: 'idsOnly', property: 'idsOnly', kind: 'boolean' },
  { name: 'rank', property: 'rank', kind: 'boolean' },
  { name: 'commit', property: 'commit', kind: 'boolean' },
  { name: 'id', property: 'id', kind: 'text' },
];

/** The ids of a deletion: `?id=a&id=b`. */
const IDS: Parameter = { name: 'id', property: 'ids', kind: 'list' };

/** The parameters of a request with these properties. */
export function parametersOf(properties: readonly string[]): readonly Parameter[] {
  return [...PARAMETERS, IDS].filter(({ property }) => properties.includes(property));
}

/** The value that a query string stands for. What it cannot be is left for the schema to complain of. */
export function askedValue(
  given: URLSearchParams,
  parameters: readonly Parameter[],
): Readonly<Record<string, unknown>> {
  const value: Record<string, unknown> = {};
  for (const name of new Set(given.keys())) {
    const parameter = parameters.find((one) => one.name === name);
    if (!parameter)
      throw badRequest(
        `there is no parameter ${JSON.stringify(name.slice(0, 100))} here`,
        `parameters are ${parameters.map((one) => one.name).join(', ') || 'none'}`,
      );
    value[parameter.property] = readAll(given.getAll(name), parameter);
  }
  return value;
}

function readAll(texts: readonly string[], { name, kind }: Parameter): unknown {
  if (kind === 'list') return texts;
  if (texts.length > 1) throw badRequest(`the parameter ${name} is there ${texts.length} times`);
  const [text] = texts;
  if (kind === 'number') return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  if (kind === 'boolean') return text === 'true' || text === 'false' ? text === 'true' : text;
  return kind === 'json' ? parseJson(text, (problem) => badRequest(`the parameter ${name} is ${problem}`)) : text;
}
