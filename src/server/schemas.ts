/** Requests and answers as schemas: requests are checked by them, and the OpenAPI document is made of them. */
import { z } from 'zod';
import { isJsonObject } from '../core/index.ts';
import type { Filter } from '../search/index.ts';

/** The version of every answer; it grows when a field changes its meaning or goes away. */
export const SCHEMA_VERSION = 1;

const schemaVersion = z.literal(SCHEMA_VERSION);
const count = z.int().min(0);
const flag = (text: string) => z.boolean().optional().describe(text);

const jsonObject = z
  .custom<Readonly<Record<string, unknown>>>(isJsonObject, 'expected an object')
  .meta({ type: 'object' });

const filter = z
  .custom<Filter>(isJsonObject, 'expected an object such as {"lang": "en"}')
  .meta({ type: 'object', description: 'conditions on declared fields', examples: [{ year: { gte: 2020 } }] });

const tokenWeights = z
  .record(z.string(), z.number())
  .meta({ description: 'weights by token, in place of a text', examples: [{ header: 2.5, sticky: 1 }] });

const query = {
  query: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'the text to search for', examples: ['keep the header on top'] }),
  vector: tokenWeights.optional(),
};

/** A search. */
export const searchRequest = z.strictObject({
  ...query,
  k: z.int().min(1).max(10_000).optional().describe('hits; 10 where left out'),
  filter: filter.optional(),
  explain: flag('add the products that make each score'),
  snippets: flag('add the passage that shows why a document was found'),
  exact: flag('order by float weights; the index must keep them'),
  parts: flag('find parts of pages instead of pages'),
  idsOnly: flag('leave out titles, texts, addresses and fields'),
});

/** A question why a document stands where it stands. */
export const explainRequest = z.strictObject({
  ...query,
  id: z.string().min(1).describe('the document'),
  rank: flag('false leaves the rank out, which takes longer than all the rest'),
});

/** A look at one document. */
export const documentRequest = z.strictObject({ id: z.string().min(1).describe('the document') });

const newDocument = z
  .strictObject({
    id: z.string().min(1),
    title: z.string().optional(),
    text: z.string().optional(),
    url: z.string().optional(),
    fields: jsonObject.optional(),
    page: z.string().optional().describe('id of the page that this is a part of'),
    chunk: z.int().min(0).optional().describe('which part of the page'),
    vector: tokenWeights.optional(),
  })
  .meta({ examples: [{ id: 'a', title: 'Sticky', text: 'With position: sticky a header stays at the top.' }] });

const commit = flag('make it, and all before it, visible to searches with this request');

/** Documents to add. */
export const addRequest = z.strictObject({ documents: z.array(newDocument).min(1), commit });

/** Documents to delete. */
export const deleteRequest = z.strictObject({
  ids: z.array(z.string().min(1)).min(1).max(1000).describe('ids of documents or pages'),
  commit,
});

/** Nothing is asked. */
export const emptyRequest = z.strictObject({});

const product = z.strictObject({
  token: z.string(),
  queryWeight: z.number(),
  docWeight: z.number(),
  product: z.number(),
});
const term = z.strictObject({ token: z.string(), weight: z.number() });
const place = z.array(count).length(2).describe('from, to, in UTF-16 units');

const hit = z.strictObject({
  rank: z.int().min(1),
  id: z.string(),
  score: z.number(),
  title: z.string().optional(),
  text: z.string().optional(),
  url: z.string().optional(),
  fields: jsonObject.optional(),
  chunk: count.optional(),
  explain: z.array(product).optional(),
  snippet: z
    .strictObject({
      text: z.string(),
      highlights: z.array(place),
      titleHighlights: z.array(place),
      isCut: z.strictObject({ before: z.boolean(), after: z.boolean() }),
      expansion: z.array(z.string()).describe('tokens of the meaning, which the text does not have'),
    })
    .optional(),
});

const asked = z.union([z.string(), tokenWeights]).describe('as it was asked');

/** What a search gives. */
export const searchAnswer = z.strictObject({
  schemaVersion,
  index: z.string(),
  query: asked,
  tookMs: z.number().describe('time of the search alone'),
  terms: z.array(term),
  hits: z.array(hit),
});

const account = {
  score: z.number(),
  rank: z.int().nullable().describe('null where no term matches, or where it was not asked for'),
  explain: z.array(product),
  missing: z.array(term).describe('terms of the query that the document lacks'),
};

/** Why a document stands where it stands. */
export const explainAnswer = z.strictObject({
  schemaVersion,
  index: z.string(),
  query: asked,
  id: z.string(),
  ...account,
  engines: z
    .array(z.strictObject({ name: z.string(), ...account }))
    .optional()
    .describe('of rrf:A+B: score, rank and products in each index'),
});

/** A document as it is stored. */
export const documentAnswer = z.strictObject({
  schemaVersion,
  index: z.string(),
  document: z.looseObject({ id: z.string() }),
});

/** What an addition did. */
export const addAnswer = z.strictObject({
  schemaVersion,
  index: z.string(),
  numAdded: count,
  numReplaced: count.describe('of those, documents whose id was there before'),
  numTruncated: count.describe('documents of which the model read only the beginning'),
  committed: z.boolean(),
});

/** What a deletion did. */
export const deleteAnswer = z.strictObject({
  schemaVersion,
  index: z.string(),
  numDeleted: count,
  committed: z.boolean(),
});

/** What a commit did. */
export const commitAnswer = z.strictObject({ schemaVersion, index: z.string(), generation: count, numDocs: count });

const indexFigures = {
  name: z.string(),
  kind: z.enum(['sparse', 'bm25']),
  isWritable: z.boolean(),
  generation: count.describe('counts commits and merges'),
  numDocs: count,
  numDeleted: count.describe('deleted documents that the next merge drops'),
  numSegments: count,
  numPostings: count,
  sizeBytes: z.record(z.string(), count),
  bytesPerPosting: z.number().nullable(),
  docLen: z.number().nullable().describe('mean number of terms of a document'),
  memoryBytes: count,
  model: z.string().nullable(),
  fields: z.record(z.string(), z.string()),
  storeVectors: z.boolean(),
};

/** One index. */
export const indexAnswer = z.strictObject({ schemaVersion, ...indexFigures });

/** All indexes. */
export const indexesAnswer = z.strictObject({ schemaVersion, indexes: z.array(z.strictObject(indexFigures)) });

/** How the server is. */
export const healthAnswer = z.strictObject({ status: z.enum(['ok', 'stopping']) });

/** What every refused request gets. */
export const errorAnswerSchema = z.strictObject({
  error: z.strictObject({
    code: z.string().describe('stable, in capitals'),
    message: z.string(),
    hint: z.string().optional().describe('what to do about it'),
  }),
});
