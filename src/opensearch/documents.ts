/** Documents as the server keeps them, and hits as they come back. */
import { createHash } from 'node:crypto';
import {
  formatFloat32,
  InputError,
  isJsonObject,
  type JsonObject,
  type SparseVector,
  sparseVector,
} from '../core/index.ts';
import type { EngineDocument, Hit } from '../engines/index.ts';
import { checkDeclaredFields, type FieldSchema } from '../search/index.ts';
import type { Vocabulary } from '../text/index.ts';
import { type IndexDescription, MAX_SPARSE_VECTOR_TERMS, type VectorField } from './index-body.ts';
import { featureOfToken, propertyOfField, tokenOfFeature } from './names.ts';
import { isStorable } from './stored-weight.ts';

/** Longest `_id` of OpenSearch. */
const MAX_ID_BYTES = 512;

/** The server's id of a document: its own, or where that is too long, a hash of it. */
export function serverId(id: string): string {
  if (id === '') throw new InputError('a document has an empty id');
  if (Buffer.byteLength(id) <= MAX_ID_BYTES) return id;
  return `sha256:${createHash('sha256').update(id).digest('hex')}`;
}

/** What is written beside a document. */
export type DocumentPlace = {
  /** Order of addition, from 0: equal scores stand in it. */
  readonly order: number;
  /** Which ingest wrote it. */
  readonly job?: string | undefined;
};

/** A document as it is sent: a JSON text of one line. */
export function documentSource(
  document: EngineDocument,
  vector: SparseVector,
  {
    description,
    vocabulary,
    place,
  }: { readonly description: IndexDescription; readonly vocabulary: Vocabulary; readonly place: DocumentPlace },
): string {
  const { id, title, text, url, fields, page, chunk } = document;
  checkDeclaredFields({ id, fields }, description.fields);
  const rest = JSON.stringify({
    id,
    ...(page === undefined ? {} : { page }),
    group: page ?? id,
    ...(chunk === undefined ? {} : { chunk }),
    ...(title === undefined ? {} : { title }),
    ...(text === undefined ? {} : { text }),
    ...(url === undefined ? {} : { url }),
    ...(fields === undefined ? {} : { fields, filter: declaredValues(fields, description.fields) }),
    order: place.order,
    numTerms: vector.terms.length,
    ...(place.job === undefined ? {} : { job: place.job }),
  });
  // An empty one as the first of a segment makes a sparse_vector field unusable; nobody misses it in rank_features.
  if (vector.terms.length === 0) return rest;
  const features = featuresText(vector, { id, vocabulary, field: description.vector });
  return `${rest.slice(0, -1)},${JSON.stringify(description.field)}:${features}}`;
}

/** A document as it was given, as JSON: for whoever mends what could not be sent. */
export function givenSource(document: EngineDocument): string {
  return JSON.stringify(document, (_, value: unknown) => (ArrayBuffer.isView(value) ? Object.values(value) : value));
}

function declaredValues(fields: JsonObject, declared: FieldSchema): JsonObject {
  const values = Object.keys(declared).flatMap((name) => {
    const value = Object.hasOwn(fields, name) ? (fields[name] ?? undefined) : undefined;
    return value === undefined ? [] : [[propertyOfField(name), value] as const];
  });
  return Object.fromEntries(values);
}

type FeatureContext = { readonly id: string; readonly vocabulary: Vocabulary; readonly field: VectorField };

/**
 * Weights by the names that the field has for terms, as JSON. Written by hand: an object of hundreds of names, made only to
 * be turned into text, costs the client several times as much, and more than half of what the server has to do.
 */
function featuresText({ terms, weights }: SparseVector, { id, vocabulary, field }: FeatureContext): string {
  const keys = keysOf(vocabulary, field);
  const parts: string[] = [];
  for (let i = 0; i < terms.length; i++) {
    const key = keys[terms[i]];
    if (key === undefined)
      throw new InputError(`document ${JSON.stringify(id)} has term ${terms[i]}; the model has ${vocabulary.size}`);
    if (!isStorable(weights[i])) {
      const token = JSON.stringify(vocabulary.tokens[terms[i]]);
      throw new InputError(`document ${JSON.stringify(id)}: the token ${token} has weight ${weights[i]}`, {
        hint: 'OpenSearch takes positive, finite weights from 2⁻¹²⁶ on',
      });
    }
    if (field.type === 'sparse_vector' && terms[i] >= MAX_SPARSE_VECTOR_TERMS)
      throw new InputError(
        `document ${JSON.stringify(id)} has term ${terms[i]}; a sparse_vector field takes ids below ${MAX_SPARSE_VECTOR_TERMS}`,
        {
          hint: 'use a rank_features field for this vocabulary',
        },
      );
    parts.push(key + formatFloat32(weights[i]));
  }
  return `{${parts.join(',')}}`;
}

/** `"name":` of every term, made once for a vocabulary and a kind of name. */
const madeKeys = new WeakMap<Vocabulary, Map<string, readonly string[]>>();

function keysOf(vocabulary: Vocabulary, field: VectorField): readonly string[] {
  const kind = field.type === 'sparse_vector' ? 'ids' : field.names;
  const known = madeKeys.get(vocabulary) ?? new Map<string, readonly string[]>();
  madeKeys.set(vocabulary, known);
  const keys =
    known.get(kind) ?? vocabulary.tokens.map((token, term) => `${JSON.stringify(featureName(field, term, token))}:`);
  known.set(kind, keys);
  return keys;
}

function featureName(field: VectorField, term: number, token: string): string {
  if (field.type === 'sparse_vector') return String(term);
  return field.names === 'escaped' ? featureOfToken(token) : token;
}

/** The vector that a stored document has; names that the vocabulary lacks are left to `onUnknown`. */
export function vectorOfSource(
  source: JsonObject,
  { field, vector }: Pick<IndexDescription, 'field' | 'vector'>,
  {
    vocabulary,
    onUnknown = () => {},
  }: { readonly vocabulary: Vocabulary; readonly onUnknown?: (name: string) => void },
): SparseVector | undefined {
  const stored = source[field];
  if (!isJsonObject(stored)) return undefined;
  const terms: number[] = [];
  const weights: number[] = [];
  for (const [name, weight] of Object.entries(stored)) {
    const term = termOf(name, vector, vocabulary);
    if (term === undefined || typeof weight !== 'number') onUnknown(name);
    else {
      terms.push(term);
      weights.push(weight);
    }
  }
  return sparseVector(terms, weights);
}

function termOf(name: string, field: VectorField, vocabulary: Vocabulary): number | undefined {
  if (field.type === 'sparse_vector') return Number(name) < vocabulary.size ? Number(name) : undefined;
  return vocabulary.idOf(field.names === 'escaped' ? tokenOfFeature(name) : name);
}

/** A hit of the server. */
export type FoundDocument = {
  readonly serverId: string;
  readonly score: number;
  readonly source: JsonObject;
};

/** Reads the hits of an answer. */
export function foundDocuments(body: JsonObject): FoundDocument[] {
  const outer = isJsonObject(body.hits) ? body.hits.hits : undefined;
  if (!Array.isArray(outer)) return [];
  return outer.flatMap((hit: unknown) => {
    if (!isJsonObject(hit) || typeof hit._id !== 'string') return [];
    return [
      {
        serverId: hit._id,
        score: typeof hit._score === 'number' ? hit._score : 0,
        source: isJsonObject(hit._source) ? hit._source : {},
      },
    ];
  });
}

/** What a hit shows, without rank. In an index of others `id` and `page` may be anything: there the server's id counts. */
export function hitOf(
  { serverId: found, score, source }: FoundDocument,
  { asPage, isOurs }: { readonly asPage: boolean; readonly isOurs: boolean },
): Omit<Hit, 'rank'> {
  const own = (isOurs ? stringOf(source.id) : undefined) ?? found;
  const page = isOurs ? stringOf(source.page) : undefined;
  const [title, text, url] = [source.title, source.text, source.url].map(stringOf);
  return {
    id: asPage ? (page ?? own) : own,
    score,
    ...(title === undefined ? {} : { title }),
    ...(text === undefined ? {} : { text }),
    ...(url === undefined ? {} : { url }),
    ...(isJsonObject(source.fields) ? { fields: source.fields } : {}),
    ...(typeof source.chunk === 'number' ? { chunk: source.chunk } : {}),
  };
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
