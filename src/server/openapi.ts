/** The OpenAPI 3.1 document of the table of endpoints. Its schemas are JSON Schema 2020-12, which zod gives by itself. */
import { z } from 'zod';
import { isJsonObject } from '../core/index.ts';
import type { Endpoint } from './endpoints.ts';
import type { Parameter } from './parameters.ts';
import { errorAnswerSchema } from './schemas.ts';

type Json = Readonly<Record<string, unknown>>;

/** What to describe. */
export type OpenApiOptions = {
  /** Version of the package. */
  readonly version: string;
};

/** The document. */
export function openApiDocument(endpoints: readonly Endpoint[], { version }: OpenApiOptions): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] ??= {};
    paths[endpoint.path][endpoint.method.toLowerCase()] = operationOf(endpoint);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'lzero',
      version,
      description: 'Search by learned sparse vectors: no model runs at query time.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: schemaOf(errorAnswerSchema, 'output') },
    },
  };
}

function operationOf(endpoint: Endpoint): Json {
  const { operationId, summary, right, takes, request } = endpoint;
  const parameters = [...pathParameters(endpoint.path), ...(takes === 'parameters' ? queryParameters(endpoint) : [])];
  return {
    operationId,
    summary,
    tags: [right ?? 'service'],
    ...(right === undefined ? {} : { security: [{ bearer: [] }, {}] }), // {}: a server without tokens asks for none
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(takes === 'body' ? { requestBody: { required: true, content: json(schemaOf(request, 'input')) } } : {}),
    responses: responsesOf(endpoint),
  };
}

function pathParameters(path: string): Json[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters({ request, parameters }: Endpoint): Json[] {
  const { properties, required } = schemaOf(request, 'input');
  const schemas = isJsonObject(properties) ? properties : {};
  return parameters.map((parameter) => ({
    name: parameter.name,
    in: 'query',
    required: Array.isArray(required) && required.includes(parameter.property),
    ...contentOf(parameter, schemas[parameter.property]),
  }));
}

/** An object in an address is written as JSON. */
function contentOf({ kind }: Parameter, schema: unknown): Json {
  if (kind === 'json') return { content: json(schema) };
  return kind === 'list' ? { schema, style: 'form', explode: true } : { schema };
}

function responsesOf({ right, takes, answer, path, summary }: Endpoint): Json {
  const refused = (description: string): Json => ({
    description,
    content: json({ $ref: '#/components/schemas/Error' }),
  });
  return {
    200: { description: summary, content: answer ? json(schemaOf(answer, 'output')) : otherContent(path) },
    400: refused('the request is wrong, and how'),
    ...(right === undefined
      ? {}
      : { 401: refused('a token is needed'), 403: refused('the token gives no right to this') }),
    404: refused('there is no such index or document'),
    ...(right === undefined ? {} : { 429: refused('this client asks too often') }),
    ...(takes === 'body' ? { 413: refused('too many bytes'), 415: refused('not JSON') } : {}),
    ...(right === 'write' ? { 409: refused('another process writes to the index') } : {}),
    422: refused('the index cannot do this: an unknown field, no float weights'),
    503: refused('too much at once, or about to end'),
    504: refused('it took too long'),
  };
}

function otherContent(path: string): Json {
  return path.endsWith('.json') ? json({ type: 'object' }) : { 'text/plain': { schema: { type: 'string' } } };
}

function json(schema: unknown): Json {
  return { 'application/json': { schema } };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}
