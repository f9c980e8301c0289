/** Making and opening indexes on a server: what is there, whose vectors it holds, and who may use it. */
import { IndexStateError, isJsonObject, type JsonObject } from '../core/index.ts';
import { type FieldSchema, parseFieldSchema } from '../search/index.ts';
import { ServerError } from './errors.ts';
import {
  DEFAULT_FIELD,
  type IndexDescription,
  type IndexSettings,
  indexBody,
  readDescription,
  type VectorField,
} from './index-body.ts';
import { OpenSearchIndex, type OpenSearchOptions } from './opensearch-index.ts';
import type { Server } from './server.ts';

/** What an index on a server is to be. */
export type CreateOpenSearchOptions = OpenSearchOptions & {
  /** What holds the vectors; rank_features with escaped names where left out. */
  readonly vector?: VectorField | undefined;
  /** Fields of the documents that filters may use. */
  readonly fields?: FieldSchema | undefined;
  /** False keeps only what is searched: fewer bytes, and no explanations. */
  readonly storeVectors?: boolean | undefined;
  readonly settings?: IndexSettings | undefined;
};

/** Makes an index on a server. IndexStateError where there is one of that name. */
export async function createOpenSearchIndex(
  server: Server,
  index: string,
  options: CreateOpenSearchOptions,
): Promise<OpenSearchIndex> {
  const { model, vector = { type: 'rank_features', names: 'escaped' }, fields = {}, storeVectors = true } = options;
  const description: IndexDescription = {
    field: options.field ?? DEFAULT_FIELD,
    vector,
    fields: parseFieldSchema(fields),
    model: { identity: await model.identity(), name: model.name },
    storeVectors,
  };
  const body = indexBody(description, await server.describe(), options.settings);
  try {
    const path = `/${encodeURIComponent(index)}`;
    await server.ask({ method: 'PUT', path, body: JSON.stringify(body) }, { once: true });
  } catch (error) {
    if (!(error instanceof ServerError) || error.reasonType !== 'resource_already_exists_exception') throw error;
    throw new IndexStateError(`${server.url}/${index} exists already`, {
      hint: 'fill it as it is, delete it first, or build a new one behind its name with --replace',
      cause: error,
    });
  }
  return await openOpenSearchIndex(server, index, { ...options, field: undefined });
}

/** Opens an index on a server, or behind an alias. */
export async function openOpenSearchIndex(
  server: Server,
  index: string,
  options: OpenSearchOptions,
): Promise<OpenSearchIndex> {
  const description = await describeIndex(server, index, options.field);
  const { model } = options;
  if (description.model && description.model.identity !== (await model.identity()))
    throw new IndexStateError(
      `${server.url}/${index} holds vectors of the model ${description.model.name}; ${model.name} is another`,
      { hint: 'vectors of different models cannot be compared: use the same model, or fill another index' },
    );
  return new OpenSearchIndex(server, index, { ...options, description, server: await server.describe() });
}

/** What an index is, by the note in its mapping, or, of an index that others made, by the type of its field. */
export async function describeIndex(server: Server, index: string, field?: string): Promise<IndexDescription> {
  const { status, body } = await server.ask(
    { method: 'GET', path: `/${encodeURIComponent(index)}/_mapping` },
    { accept: [404] },
  );
  const [first] = Object.values(body);
  const mapping = isJsonObject(first) ? first.mappings : undefined;
  if (status === 404 || !isJsonObject(mapping))
    throw new IndexStateError(`${server.url} has no index ${index}`, { hint: 'make it with lzero opensearch create' });
  // Models may differ, and what is deleted behind such a name is deleted in all of them.
  const names = Object.keys(body);
  if (names.length > 1)
    throw new IndexStateError(`${server.url}/${index} is an alias of several indexes: ${names.join(', ')}`, {
      hint: 'name one of them',
    });
  const noted = readDescription(mapping, index);
  if (noted && (field === undefined || field === noted.field)) return noted;
  return foreignIndex(mapping, { index, field });
}

function foreignIndex(
  { properties, _source: source }: JsonObject,
  { index, field }: { readonly index: string; readonly field: string | undefined },
): IndexDescription {
  const typed = Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, property]) =>
    isJsonObject(property) && (property.type === 'rank_features' || property.type === 'sparse_vector') ? [name] : [],
  );
  if (field === undefined || !typed.includes(field))
    throw new IndexStateError(
      `${index} was not made by lzero${field === undefined ? '' : `, and has no vectors in ${field}`}`,
      {
        hint:
          typed.length > 0
            ? `name the field of its vectors with --field: ${typed.join(', ')}`
            : 'it has no field of type rank_features',
      },
    );
  const property = isJsonObject(properties) ? properties[field] : undefined;
  const vector = isJsonObject(property) ? foreignField(property) : undefined;
  if (!vector) throw new Error('bug: a field of vectors without a mapping');
  return { field, vector, fields: {}, model: null, storeVectors: isKept(field, source) };
}

/** A mapping leaves out what nobody has set: then it is what OpenSearch's documentation gives (3.3 to 3.6). */
const USUAL = { quantization_ceiling_ingest: 3, quantization_ceiling_search: 16, approximate_threshold: 1_000_000 };

function foreignField({ type, method }: JsonObject): VectorField {
  if (type !== 'sparse_vector') return { type: 'rank_features', names: 'plain' };
  const set = isJsonObject(method) && isJsonObject(method.parameters) ? method.parameters : {};
  const parameter = (name: keyof typeof USUAL): number => (set[name] === undefined ? USUAL[name] : Number(set[name]));
  return {
    type: 'sparse_vector',
    documentCeiling: parameter('quantization_ceiling_ingest'),
    queryCeiling: parameter('quantization_ceiling_search'),
    approximateThreshold: parameter('approximate_threshold'),
  };
}

/** Whether `_source` of a mapping keeps a field, and what is in it, as it was sent. */
function isKept(field: string, source: unknown): boolean {
  if (!isJsonObject(source)) return true;
  const has = (patterns: unknown): boolean => Array.isArray(patterns) && patterns.some((one) => covers(one, field));
  const { enabled, includes, excludes } = source;
  const isIncluded = !Array.isArray(includes) || includes.length === 0 || has(includes);
  return enabled !== false && enabled !== 'false' && isIncluded && !has(excludes);
}

/** Patterns have `*`, and name the field, or all within it. */
function covers(pattern: unknown, field: string): boolean {
  const parts = String(pattern).split('*');
  const words = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const matcher = new RegExp(`^${words.join('.*')}$`, 's');
  return matcher.test(field) || matcher.test(`${field}.x`);
}
