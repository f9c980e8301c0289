/**
 * Every address of the API: what it takes, what it gives, who may ask. The app serves this table, and the OpenAPI document
 * is made of it, so neither can have what the other lacks.
 */
import { basename, isAbsolute } from 'node:path';
import type { z } from 'zod';
import type { Account, EngineQuery, IndexSearchOptions } from '../engines/index.ts';
import { DEFAULT_K } from '../search/index.ts';
import type { Catalogue } from './catalogue.ts';
import type { ServerLimits } from './limits.ts';
import { type Parameter, parametersOf } from './parameters.ts';
import { badRequest, notFound, RequestError } from './request-error.ts';
import {
  addAnswer,
  addRequest,
  commitAnswer,
  deleteAnswer,
  deleteRequest,
  documentAnswer,
  documentRequest,
  emptyRequest,
  explainAnswer,
  explainRequest,
  healthAnswer,
  indexAnswer,
  indexesAnswer,
  SCHEMA_VERSION,
  searchAnswer,
  searchRequest,
} from './schemas.ts';
import type { ServedIndex } from './served-index.ts';
import type { Right } from './tokens.ts';

/** What endpoints are answered from. */
export type Service = {
  readonly catalogue: Catalogue;
  readonly limits: ServerLimits;
  /** Whether the server is about to end. */
  readonly isStopping: () => boolean;
  /** All metrics as text. */
  readonly metricsText: () => Promise<string>;
  /** The OpenAPI document. */
  readonly openApi: object;
};

/** One request. */
export type Call = {
  readonly service: Service;
  /** The index that the address names. */
  readonly index: string | undefined;
  /** Of a write: fires when it has taken too long. */
  readonly signal?: AbortSignal | undefined;
};

/** One address and method. */
export type Endpoint = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** As OpenAPI writes it: `/v1/indexes/{index}/search`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** What a token must give, where there are tokens; undefined: anybody may ask. */
  readonly right: Right | undefined;
  /** Where the request stands. */
  readonly takes: 'parameters' | 'body' | 'nothing';
  readonly request: z.ZodObject;
  /** The same in an address. */
  readonly parameters: readonly Parameter[];
  /** What is answered; undefined where it is text. */
  readonly answer: z.ZodType | undefined;
  /** Checks a request and answers it. */
  readonly answerTo: (value: unknown, call: Call) => Promise<object | string>;
};

type EndpointParts<Request extends z.ZodObject> = Omit<Endpoint, 'request' | 'parameters' | 'answerTo'> & {
  readonly request: Request;
  readonly handle: (asked: z.infer<Request>, call: Call) => Promise<object | string>;
};

function endpoint<Request extends z.ZodObject>(parts: EndpointParts<Request>): Endpoint {
  const { request, handle } = parts;
  const parameters = parametersOf(Object.keys(request.shape));
  return { ...parts, parameters, answerTo: async (value, call) => await handle(checked(request, value), call) };
}

function checked<Request extends z.ZodObject>(schema: Request, value: unknown): z.infer<Request> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [{ path, message }] = parsed.error.issues;
  throw badRequest(`${path.map(String).join('.') || 'the request'}: ${message}`);
}

const INDEX = '/v1/indexes/{index}';

/** The table. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...searchEndpoints(INDEX, ''),
  ...searchEndpoints('/v1', 'Only'),
  endpoint({
    method: 'GET',
    path: '/v1/indexes',
    operationId: 'listIndexes',
    summary: 'all indexes, with what they hold',
    right: 'read',
    takes: 'parameters',
    request: emptyRequest,
    answer: indexesAnswer,
    handle: async (_, { service: { catalogue } }) => ({
      schemaVersion: SCHEMA_VERSION,
      indexes: await Promise.all(catalogue.indexes.map(figuresOf)),
    }),
  }),
  endpoint({
    method: 'GET',
    path: INDEX,
    operationId: 'indexStats',
    summary: 'what an index holds and takes',
    right: 'read',
    takes: 'parameters',
    request: emptyRequest,
    answer: indexAnswer,
    handle: async (_, { service: { catalogue }, index }) => ({
      schemaVersion: SCHEMA_VERSION,
      ...(await figuresOf(catalogue.find(index))),
    }),
  }),
  endpoint({
    method: 'GET',
    path: `${INDEX}/documents`,
    operationId: 'getDocument',
    summary: 'one document as it is stored',
    right: 'read',
    takes: 'parameters',
    request: documentRequest,
    answer: documentAnswer,
    handle: getDocument,
  }),
  endpoint({
    method: 'POST',
    path: `${INDEX}/documents`,
    operationId: 'addDocuments',
    summary: 'add documents, all or none; the same id replaces. Durable when answered, found after a commit',
    right: 'write',
    takes: 'body',
    request: addRequest,
    answer: addAnswer,
    handle: addDocuments,
  }),
  endpoint({
    method: 'DELETE',
    path: `${INDEX}/documents`,
    operationId: 'deleteDocuments',
    summary: 'delete documents. Durable when answered, gone after a commit',
    right: 'write',
    takes: 'parameters',
    request: deleteRequest,
    answer: deleteAnswer,
    handle: deleteDocuments,
  }),
  endpoint({
    method: 'POST',
    path: `${INDEX}/commit`,
    operationId: 'commit',
    summary: 'make all that was added and deleted visible to searches',
    right: 'write',
    takes: 'parameters',
    request: emptyRequest,
    answer: commitAnswer,
    handle: commitChanges,
  }),
  endpoint({
    method: 'GET',
    path: '/health/live',
    operationId: 'live',
    summary: 'whether the process answers',
    right: undefined,
    takes: 'nothing',
    request: emptyRequest,
    answer: healthAnswer,
    handle: async (_, { service }) => ({ status: service.isStopping() ? 'stopping' : 'ok' }),
  }),
  endpoint({
    method: 'GET',
    path: '/health/ready',
    operationId: 'ready',
    summary: 'whether requests may be sent here; 503 when the server is about to end',
    right: undefined,
    takes: 'nothing',
    request: emptyRequest,
    answer: healthAnswer,
    handle: ready,
  }),
  endpoint({
    method: 'GET',
    path: '/metrics',
    operationId: 'metrics',
    summary: 'counters and gauges in the text format of Prometheus',
    right: 'read',
    takes: 'nothing',
    request: emptyRequest,
    answer: undefined,
    handle: async (_, { service }) => await service.metricsText(),
  }),
  endpoint({
    method: 'GET',
    path: '/openapi.json',
    operationId: 'openApi',
    summary: 'this description',
    right: undefined,
    takes: 'nothing',
    request: emptyRequest,
    answer: undefined,
    handle: async (_, { service }) => service.openApi,
  }),
];

/** Searching and explaining, each by address and by body; under `/v1` for a server of one index. */
function searchEndpoints(prefix: string, suffix: string): Endpoint[] {
  const ways = [
    { method: 'GET', takes: 'parameters', by: '' },
    { method: 'POST', takes: 'body', by: 'ByBody' },
  ] as const;
  const only = suffix === '' ? '' : ', where one index is served';
  return ways.flatMap(({ method, takes, by }) => [
    endpoint({
      method,
      path: `${prefix}/search`,
      operationId: `search${suffix}${by}`,
      summary: `the best documents for a query${only || '; {index} may be rrf:A+B, several joined by reciprocal rank fusion'}`,
      right: 'read',
      takes,
      request: searchRequest,
      answer: searchAnswer,
      handle: search,
    }),
    endpoint({
      method,
      path: `${prefix}/explain`,
      operationId: `explain${suffix}${by}`,
      summary: `why a document stands where it stands${only}`,
      right: 'read',
      takes,
      request: explainRequest,
      answer: explainAnswer,
      handle: explain,
    }),
  ]);
}

async function search(asked: z.infer<typeof searchRequest>, { service, index }: Call): Promise<object> {
  const { catalogue, limits } = service;
  const query = queryOf(asked, limits);
  const { k = DEFAULT_K, filter, explain, snippets, exact, parts, idsOnly } = asked;
  if (k > limits.maxK) throw badRequest(`k is ${k}; this server gives ${limits.maxK} hits at most`);
  const options: IndexSearchOptions = { k, filter, explain, snippets, exact, parts, idsOnly };
  const began = performance.now();
  const { terms, hits } = await catalogue.use(index, (engine) => engine.search(query, options));
  const tookMs = performance.now() - began;
  return { ...heading(query, { catalogue, index }), tookMs, terms, hits };
}

async function explain(asked: z.infer<typeof explainRequest>, { service, index }: Call): Promise<object> {
  const { catalogue, limits } = service;
  const query = queryOf(asked, limits);
  const { id, rank: wantsRank } = asked;
  const found = await catalogue.use(index, (engine) => engine.explain(query, id, { rank: wantsRank }));
  if (!found) throw noDocument(id);
  const engines = found.engines?.map(({ name, ...account }) => ({ name, ...accountOf(account) }));
  return { ...heading(query, { catalogue, index }), id, ...accountOf(found), ...(engines ? { engines } : {}) };
}

function accountOf({ score, rank, products, missing }: Account) {
  return { score, rank: rank ?? null, explain: products, missing };
}

/** How answers to queries begin. */
function heading(query: EngineQuery, { catalogue, index }: { catalogue: Catalogue; index: string | undefined }) {
  return {
    schemaVersion: SCHEMA_VERSION,
    index: index ?? catalogue.find(index).name,
    query: typeof query === 'string' ? query : query.vector,
  };
}

type AskedQuery = Pick<z.infer<typeof searchRequest>, 'query' | 'vector'>;

function queryOf({ query, vector }: AskedQuery, { maxQueryChars }: ServerLimits): EngineQuery {
  if ((query === undefined) === (vector === undefined))
    throw badRequest('give a query or a vector, one of them', '?q=some+words, or {"query": "some words"}');
  if (vector !== undefined) return { vector };
  if (query === undefined || query.length > maxQueryChars)
    throw badRequest(`the query has ${query?.length} characters; this server takes ${maxQueryChars} at most`);
  return query;
}

function noDocument(id: string): RequestError {
  return notFound(`there is no document ${JSON.stringify(id.slice(0, 200))}`);
}

async function getDocument({ id }: z.infer<typeof documentRequest>, { service, index }: Call): Promise<object> {
  const served = service.catalogue.find(index);
  const stored = await served.use(async (open) => open.get(id));
  if (!stored) throw noDocument(id);
  const { origin, ...document } = stored; // where it came from is a path of this machine
  return { schemaVersion: SCHEMA_VERSION, index: served.name, document };
}

async function addDocuments(asked: z.infer<typeof addRequest>, { service, index, signal }: Call): Promise<object> {
  const { documents, commit = false } = asked;
  const { maxDocuments } = service.limits;
  const served = service.catalogue.findWritable(index);
  if (documents.length > maxDocuments)
    throw badRequest(`${documents.length} documents; this server takes ${maxDocuments} at once`);
  return await served.use(async (open) => {
    const { numAdded, numReplaced, numTruncated } = await open.addAll(documents, { signal });
    if (commit) await open.commit();
    const { name } = served;
    return { schemaVersion: SCHEMA_VERSION, index: name, numAdded, numReplaced, numTruncated, committed: commit };
  });
}

async function deleteDocuments(asked: z.infer<typeof deleteRequest>, { service, index }: Call): Promise<object> {
  const { ids, commit = false } = asked;
  const served = service.catalogue.findWritable(index);
  return await served.use(async (open) => {
    const numDeleted = await open.delete(ids);
    if (commit) await open.commit();
    return { schemaVersion: SCHEMA_VERSION, index: served.name, numDeleted, committed: commit };
  });
}

async function commitChanges(_: object, { service, index }: Call): Promise<object> {
  const served = service.catalogue.findWritable(index);
  return await served.use(async (open) => {
    await open.commit();
    const { store } = await open.stats();
    const { generation, numDocs } = store;
    return { schemaVersion: SCHEMA_VERSION, index: served.name, generation, numDocs };
  });
}

async function ready(_: object, { service }: Call): Promise<object> {
  if (!service.isStopping()) return { status: 'ok' };
  throw new RequestError(503, { code: 'STOPPING', message: 'the server is about to end' });
}

/** An index in numbers. */
export async function figuresOf(served: ServedIndex) {
  return await served.use(async (index) => {
    const { docLen = null, store } = await index.stats();
    const { model, fields, storeVectors } = index.settings;
    const { bytesPerPosting = null, ...figures } = store;
    const { name, isWritable } = served;
    return { name, isWritable, ...figures, bytesPerPosting, docLen, model: modelName(model), fields, storeVectors };
  });
}

/** A model folder is a path of this machine: its last part is enough. */
function modelName(model: { readonly name: string } | null): string | null {
  if (!model) return null;
  return isAbsolute(model.name) ? basename(model.name) : model.name;
}
