/**
 * What an index of ours looks like on a server: its settings, its mapping, and the note in the mapping by which we know
 * it again. Builders of plain JSON with types; who sends it is somebody else.
 *
 *     id, page, group, chunk     keywords; group is the page, or the id where there is none: answers are collapsed by it
 *     title, text                texts for BM25, with the parameters of our own
 *     url, fields                kept and given back, not searched
 *     filter                     declared fields, for filters
 *     order, numTerms, job       order of addition (ties), terms (mean length), which ingest wrote it (resume)
 *     vector                     the learned terms; the name can be chosen
 */
import { z } from 'zod';
import { ConfigError, describeIssues, type JsonObject, UsageError } from '../core/index.ts';
import { BM25_DEFAULTS, type FieldSchema, parseFieldSchema } from '../search/index.ts';
import { propertyOfField } from './names.ts';
import { requireFeature, type ServerDescription } from './server-version.ts';

/**
 * How tokens are named in a rank_features field: `escaped` as names.ts has it, which every kind of query finds; `plain` as
 * they are, which other programs and the server's own analyzer expect.
 */
export type TokenNames = 'escaped' | 'plain';

/** A field of learned terms for exact search, on every server. Keeps 9 significant bits of a weight. */
export type RankFeaturesField = { readonly type: 'rank_features'; readonly names: TokenNames };

/**
 * A field of learned terms for approximate search (Seismic); server 3.3 or newer. Terms are integer ids, below 32,768
 * until 3.6.
 */
export type SparseVectorField = {
  readonly type: 'sparse_vector';
  /** Largest weight of documents that 8 bits hold; larger ones become this. */
  readonly documentCeiling: number;
  /** The same for queries. */
  readonly queryCeiling: number;
  /** Documents of a segment from which on it is searched approximately; below, as rank_features are. */
  readonly approximateThreshold: number;
};

/** The field that holds the vectors. */
export type VectorField = RankFeaturesField | SparseVectorField;

/** What an index of ours is, as its mapping notes it. */
export type IndexDescription = {
  /** Name of the field that holds the vectors. */
  readonly field: string;
  readonly vector: VectorField;
  /** Declared fields, for filters. */
  readonly fields: FieldSchema;
  /** Whose vectors it holds: identity and name as `Model` tells them. Null where others made the index, see `isOurs`. */
  readonly model: { readonly identity: string; readonly name: string } | null;
  /** Whether the server keeps the vectors as they were sent, for explanations and parity checks. */
  readonly storeVectors: boolean;
};

/** Whether lzero made an index: then documents have the fields above. Of others only the field of vectors is known. */
export function isOurs({ model }: Pick<IndexDescription, 'model'>): boolean {
  return model !== null;
}

/** How the index is spread and refreshed. */
export type IndexSettings = {
  readonly shards?: number | undefined;
  /** Copies of each shard; 0 where left out: a single node cannot have any. */
  readonly replicas?: number | undefined;
  /** When additions are seen without a commit; never where left out. */
  readonly refreshInterval?: string | undefined;
};

/** The body of `PUT /INDEX`. */
export type IndexBody = {
  readonly settings: { readonly index: JsonObject };
  readonly mappings: {
    readonly dynamic: false;
    readonly _meta: { readonly lzero: JsonObject };
    readonly _source?: { readonly excludes: readonly string[] };
    readonly properties: Readonly<Record<string, JsonObject>>;
  };
};

/** Version of the note; it grows when documents are laid out in another way. */
const LAYOUT = 1;

/** Name of the field of vectors where nobody chooses. */
export const DEFAULT_FIELD = 'vector';

/** Ids of terms from here on collide in approximate search up to 3.6. */
export const MAX_SPARSE_VECTOR_TERMS = 32_768;

/** Names that a field of vectors may not take. */
const OWN_PROPERTIES = [
  'id',
  'page',
  'group',
  'chunk',
  'title',
  'text',
  'url',
  'fields',
  'filter',
  'order',
  'numTerms',
  'job',
];

/** The body that makes an index. Refuses what this server cannot have. */
export function indexBody(
  description: IndexDescription,
  server: ServerDescription,
  { shards = 1, replicas = 0, refreshInterval = '-1' }: IndexSettings = {},
): IndexBody {
  const { field, vector, fields, storeVectors } = description;
  if (!/^[A-Za-z][A-Za-z0-9_-]*$/.test(field) || OWN_PROPERTIES.includes(field))
    throw new UsageError(`${JSON.stringify(field)} cannot be the name of the field of vectors`, {
      hint: `letters, digits, - and _, and none of ${OWN_PROPERTIES.join(', ')}`,
    });
  if (vector.type === 'sparse_vector') requireFeature(server, 'sparse_vector');
  return {
    settings: {
      index: {
        number_of_shards: shards,
        number_of_replicas: replicas,
        refresh_interval: refreshInterval,
        similarity: { default: { type: 'BM25', k1: BM25_DEFAULTS.k1, b: BM25_DEFAULTS.b } },
        ...(vector.type === 'sparse_vector' ? { sparse: true } : {}),
      },
    },
    mappings: {
      dynamic: false,
      _meta: { lzero: { layout: LAYOUT, ...description } },
      ...(storeVectors ? {} : { _source: { excludes: [field] } }),
      properties: { ...ownProperties(fields), [field]: vectorMapping(vector) },
    },
  };
}

function ownProperties(fields: FieldSchema): Record<string, JsonObject> {
  const keyword = { type: 'keyword' }; // one that is too long is refused with its reason; ignore_above would hide it
  const types = { keyword, number: { type: 'double' }, boolean: { type: 'boolean' } };
  return {
    id: keyword,
    page: keyword,
    group: keyword,
    chunk: { type: 'integer' },
    title: { type: 'text', analyzer: 'english' },
    text: { type: 'text', analyzer: 'english' },
    url: { type: 'keyword', index: false, doc_values: false },
    fields: { type: 'object', enabled: false },
    filter: {
      dynamic: false,
      properties: Object.fromEntries(
        Object.entries(fields).map(([name, type]) => [propertyOfField(name), types[type]]),
      ),
    },
    order: { type: 'long' },
    numTerms: { type: 'integer' },
    job: { type: 'keyword' },
  };
}

function vectorMapping(vector: VectorField): JsonObject {
  if (vector.type === 'rank_features') return { type: 'rank_features' };
  const { documentCeiling, queryCeiling, approximateThreshold } = vector;
  return {
    type: 'sparse_vector',
    method: {
      name: 'seismic',
      parameters: {
        approximate_threshold: approximateThreshold,
        quantization_ceiling_ingest: documentCeiling,
        quantization_ceiling_search: queryCeiling,
      },
    },
  };
}

/** The name of a declared field in queries. */
export function filterPath(name: string): string {
  return `filter.${propertyOfField(name)}`;
}

const ceiling = z.number().positive();
const noteSchema = z.object({
  layout: z.literal(LAYOUT),
  field: z.string().min(1),
  vector: z.discriminatedUnion('type', [
    z.object({ type: z.literal('rank_features'), names: z.enum(['escaped', 'plain']) }),
    z.object({
      type: z.literal('sparse_vector'),
      documentCeiling: ceiling,
      queryCeiling: ceiling,
      approximateThreshold: z.number().int().nonnegative(),
    }),
  ]),
  fields: z.record(z.string(), z.enum(['keyword', 'number', 'boolean'])),
  model: z.object({ identity: z.string(), name: z.string() }).nullable(),
  storeVectors: z.boolean(),
});

/** Reads the note of a mapping; undefined where the index is not ours. */
export function readDescription(mapping: JsonObject, index: string): IndexDescription | undefined {
  const { _meta: meta } = mapping;
  const note = typeof meta === 'object' && meta !== null && 'lzero' in meta ? meta.lzero : undefined;
  if (note === undefined) return undefined;
  const parsed = noteSchema.safeParse(note);
  if (!parsed.success)
    throw new ConfigError(
      `${index}: its mapping has a note of lzero that this version cannot read: ${describeIssues(parsed.error.issues)}`,
      {
        hint: 'it was made by another version: fill a new index',
      },
    );
  const { layout, ...description } = parsed.data;
  return { ...description, fields: parseFieldSchema(description.fields) };
}

/**
 * A ceiling for 8 bits from measured weights: their largest. A lower one would cut weights, which costs more answers (0.75
 * of ten best were kept where many were cut) than coarser steps do (0.987 where none was).
 */
export function ceilingOf(vectors: Iterable<{ readonly weights: Float32Array }>): number {
  let largest = 0;
  for (const { weights } of vectors) for (const weight of weights) if (weight > largest) largest = weight;
  if (largest === 0) throw new UsageError('a ceiling is measured on vectors, and these have no weights');
  return largest;
}
