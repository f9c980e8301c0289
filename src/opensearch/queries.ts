/**
 * Queries of learned terms as OpenSearch takes them, with the limits that it has. Plain JSON with types: the official
 * client has none for these.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type JsonObject, UsageError } from '../core/index.ts';
import type { QuerySide, QueryTerm } from '../text/index.ts';
import type { VectorField } from './index-body.ts';
import { MAX_SPARSE_VECTOR_TERMS } from './index-body.ts';
import { featureOfToken } from './names.ts';
import { requireFeature, type ServerDescription } from './server-version.ts';

/** Weights of query tokens are above 0 and at most this: the server refuses others. */
export const MAX_QUERY_WEIGHT = 64;
/** Tokens of a query: each is a clause, and a bool query has no more (`indices.query.bool.max_clause_count`). */
export const MAX_QUERY_TOKENS = 1024;

/** Dot product with weighted tokens, by the neural-search plugin. */
export type NeuralSparseQuery = {
  readonly neural_sparse: Readonly<
    Record<
      string,
      {
        readonly query_tokens: Readonly<Record<string, number>>;
        /** Of sparse_vector fields. */
        readonly method_parameters?: ApproximateParameters;
      }
    >
  >;
};

/** How a sparse_vector field is searched where it is searched approximately. */
export type ApproximateParameters = {
  /** Documents that are looked for in each segment; 10 where left out, however many hits are asked for. */
  readonly k?: number;
  /**
   * What documents must fit. Where at most `k` of a segment do, all of them are scored; else the k best are looked for, and those
   * that do not fit are left out. Without `terms` and `ids`, see `withoutTerms`; one that fits no document of a segment is ignored
   * there (3.6), so it has to be a `post_filter`, too.
   */
  readonly filter?: JsonObject;
  /** Query tokens that are used, the heaviest; 10 where left out. */
  readonly top_n?: number;
  /** Above 1 more clusters are looked into. */
  readonly heap_factor?: number;
};

/** The same by what every server has. */
export type RankFeatureQuery = {
  readonly bool: {
    readonly should: readonly {
      readonly rank_feature: { readonly field: string; readonly boost: number; readonly linear: Record<never, never> };
    }[];
  };
};

/** Words that the server cuts and weighs itself. */
export type AnalyzerQuery = {
  readonly neural_sparse: Readonly<Record<string, { readonly query_text: string; readonly analyzer: 'bert-uncased' }>>;
};

/** Words that a model on the server cuts and weighs: see ml-model.ts. */
export type ModelQuery = {
  readonly neural_sparse: Readonly<Record<string, { readonly query_text: string; readonly model_id: string }>>;
};

/** Several queries whose scores are normalised and added up by a pipeline. */
export type HybridQuery = { readonly hybrid: { readonly queries: readonly QueryBody[] } };

/** Any query that is built here. */
export type QueryBody = NeuralSparseQuery | RankFeatureQuery | AnalyzerQuery | ModelQuery | HybridQuery | JsonObject;

/** Where the terms of a query are looked for. */
export type QueryTarget = { readonly field: string; readonly vector: VectorField };

/** How term ids are known, for sparse_vector fields. */
export type TermIds = (token: string) => number | undefined;

/** neural_sparse with the weights of tokens. Needs server 2.14 with neural-search. */
export function neuralSparseQuery(
  terms: readonly QueryTerm[],
  { field, vector }: QueryTarget,
  { idOf, approximate }: { readonly idOf: TermIds; readonly approximate?: ApproximateParameters | undefined },
): NeuralSparseQuery {
  checkTerms(terms);
  const nameOf = (token: string): string =>
    vector.type === 'sparse_vector' ? termName(token, idOf) : nameIn(vector, token);
  const tokens = Object.fromEntries(terms.map(({ token, weight }) => [nameOf(token), weight]));
  const parameters = vector.type === 'sparse_vector' && approximate ? { method_parameters: approximate } : {};
  return { neural_sparse: { [field]: { query_tokens: tokens, ...parameters } } };
}

/** A bool of rank_feature clauses: the same scores on servers without plugins, for rank_features fields. */
export function rankFeatureQuery(terms: readonly QueryTerm[], { field, vector }: QueryTarget): RankFeatureQuery {
  if (vector.type !== 'rank_features')
    throw new UsageError('rank_feature clauses search rank_features, this field is a sparse_vector', {
      hint: 'search it with neural_sparse',
    });
  checkTerms(terms);
  const should = terms.map(({ token, weight }) => {
    const name = nameIn(vector, token);
    if (name.includes('.'))
      throw new UsageError(
        `a rank_feature clause cannot name the token ${JSON.stringify(token)}: it would match nothing`,
        {
          hint: 'search with neural_sparse, or fill an index with escaped names',
        },
      );
    return { rank_feature: { field: `${field}.${name}`, boost: weight, linear: {} } };
  });
  return { bool: { should } };
}

/**
 * What the bert-uncased analyzer has: analysis/bert-uncased.zip of ml-commons 3.6.0, tokenizer.json and idf.json. Tokens and
 * weights by sha256, of the lines of vocab.txt and of the float32 of all tokens but the special ones.
 */
const ANALYZER = {
  tokens: '0f052197aac305fe42f378b5c61554b7bacb34b8be4af83fec2cfdcdffbc9973',
  weights: '67094d7f2fdbb27c0605a4daa9b3ddd1c059f81610bb8e7f2c0f3ca0b2cd6fae',
  words: {
    normalization: { cleanText: true, handleChineseChars: true, stripAccents: true, lowercase: true },
    maxCharsPerWord: 100,
    continuingPrefix: '##',
    unknownToken: '[UNK]',
    literalTokens: ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'],
  },
};

/**
 * neural_sparse with the server's own bert-uncased analyzer, which cuts words as bert-base-uncased does and weighs them
 * with an IDF table of its own. Refused unless the model's are the same, and for escaped names, which it does not know.
 * Needs server 3.1 with the ML plugin.
 */
export function analyzerQuery(
  text: string,
  { field, vector }: QueryTarget,
  { querySide, server }: { readonly querySide: QuerySide; readonly server: ServerDescription },
): AnalyzerQuery {
  requireFeature(server, 'analyzer');
  requirePlainNames(vector, 'the bert-uncased analyzer');
  const difference = analyzerDifference(querySide);
  if (difference !== undefined)
    throw new UsageError(`the bert-uncased analyzer of the server weighs queries in another way: ${difference}`, {
      hint: 'let lzero weigh the tokens, which is the default',
    });
  return { neural_sparse: { [field]: { query_text: text, analyzer: 'bert-uncased' } } };
}

/**
 * neural_sparse with a model that the server runs: `registerModel` of a `tokenizerModel`, whose id this takes, weighs as we
 * do. Needs server 2.11 with the ML plugin.
 */
export function modelQuery(
  text: string,
  { field, vector }: QueryTarget,
  { modelId, server }: { readonly modelId: string; readonly server: ServerDescription },
): ModelQuery {
  requireFeature(server, 'ml-model');
  requirePlainNames(vector, 'a model of the server');
  return { neural_sparse: { [field]: { query_text: text, model_id: modelId } } };
}

function requirePlainNames(vector: VectorField, who: string): void {
  if (vector.type === 'rank_features' && vector.names === 'plain') return;
  throw new UsageError(`${who} looks tokens up as they are, this index names them in another way`, {
    hint: 'fill a rank_features index with plain names, or let lzero weigh the tokens',
  });
}

/** A server does not give away its table as a whole, so it is known by what it hashes to. */
function analyzerDifference({ tokenizer, idf }: QuerySide): string | undefined {
  const { tokens, specialIds } = tokenizer.vocabulary;
  if (sha256(tokens.join('\n')) !== ANALYZER.tokens) return 'the vocabularies differ';
  if (!isDeepStrictEqual(tokenizer.wordPiece, ANALYZER.words)) return 'words are cut in another way';
  const weights = Float32Array.from(idf.values, (weight, id) => (specialIds.has(id) ? 0 : Math.max(0, weight)));
  return sha256(weights) === ANALYZER.weights ? undefined : 'tokens have other weights';
}

function sha256(content: string | Float32Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** BM25 over title and text, for hybrids. */
export function bm25Query(text: string): JsonObject {
  return { multi_match: { query: text, fields: ['title', 'text'], type: 'most_fields' } };
}

/** Queries joined; the pipeline of `normalisationPipeline` adds them up. Needs server 2.10 with neural-search. */
export function hybridQuery(queries: readonly QueryBody[]): HybridQuery {
  if (queries.length < 2 || queries.length > 5)
    throw new UsageError(`a hybrid joins two to five queries, got ${queries.length}`);
  return { hybrid: { queries } };
}

/**
 * A query with a filter that does not count for scores. Not for sparse_vector fields: the search of clusters gives k documents
 * of which the filter takes some away, and takes no notice of `must_not` (3.6). There it belongs in `ApproximateParameters`.
 */
export function filtered(query: QueryBody, filter: JsonObject | undefined): QueryBody {
  if (!filter) return query;
  if (isHybrid(query)) return { hybrid: { queries: query.hybrid.queries.map((part) => filtered(part, filter)) } };
  return { bool: { must: [query], filter: [filter] } };
}

function isHybrid(query: QueryBody): query is HybridQuery {
  return 'hybrid' in query;
}

function nameIn(vector: Extract<VectorField, { type: 'rank_features' }>, token: string): string {
  return vector.names === 'escaped' ? featureOfToken(token) : token;
}

function termName(token: string, idOf: TermIds): string {
  const id = idOf(token);
  if (id === undefined) throw new UsageError(`the model has no token ${JSON.stringify(token)}`);
  if (id >= MAX_SPARSE_VECTOR_TERMS)
    throw new UsageError(
      `the token ${JSON.stringify(token)} has id ${id}; a sparse_vector field has ids below ${MAX_SPARSE_VECTOR_TERMS}`,
      { hint: 'use a rank_features field for this vocabulary' },
    );
  return String(id);
}

function checkTerms(terms: readonly QueryTerm[]): void {
  if (terms.length > MAX_QUERY_TOKENS)
    throw new UsageError(`a query of ${terms.length} tokens: OpenSearch takes ${MAX_QUERY_TOKENS} clauses`, {
      hint: 'shorten the query, or keep its heaviest tokens',
    });
  const wrong = terms.find(({ weight }) => !(weight > 0 && weight <= MAX_QUERY_WEIGHT));
  if (wrong)
    throw new UsageError(
      `the query token ${JSON.stringify(wrong.token)} weighs ${wrong.weight}; OpenSearch takes weights above 0 up to ${MAX_QUERY_WEIGHT}`,
      { hint: 'scale all weights of the query down: the order of answers stays' },
    );
}
