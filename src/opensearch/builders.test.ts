/** The JSON that is sent: mappings, queries, filters, pipelines and addresses, each with what it refuses. */
import { beforeAll, describe, expect, it } from 'vitest';
import { sparseVector } from '../core/index.ts';
import { loadModel, type Model } from '../model/index.ts';
import { Vocabulary } from '../text/index.ts';
import { parseAddress } from './address.ts';
import { bulkLines } from './bulk-writer.ts';
import { documentSource, serverId, vectorOfSource } from './documents.ts';
import { filterQuery, withoutTerms } from './filter-query.ts';
import { ceilingOf, type IndexDescription, indexBody, readDescription, type VectorField } from './index-body.ts';
import { normalisationPipeline, twoPhasePipeline } from './pipelines.ts';
import { analyzerQuery, filtered, hybridQuery, neuralSparseQuery, rankFeatureQuery } from './queries.ts';
import type { ServerDescription } from './server-version.ts';

const SERVER: ServerDescription = {
  version: '3.6.0',
  distribution: 'opensearch',
  plugins: ['opensearch-knn', 'opensearch-neural-search', 'opensearch-ml'],
};
const ESCAPED: VectorField = { type: 'rank_features', names: 'escaped' };
const PLAIN: VectorField = { type: 'rank_features', names: 'plain' };
const APPROXIMATE: VectorField = {
  type: 'sparse_vector',
  documentCeiling: 2.5,
  queryCeiling: 9,
  approximateThreshold: 10,
};
const described = (vector: VectorField, rest: Partial<IndexDescription> = {}): IndexDescription => ({
  field: 'vector',
  vector,
  fields: {},
  model: { identity: 'x', name: 'bow' },
  storeVectors: true,
  ...rest,
});

let model: Model;
beforeAll(async () => {
  model = await loadModel('bow');
});
const idOf = (token: string): number | undefined => model.tokenizer.vocabulary.idOf(token);

describe('mappings', () => {
  it('rank_features: one property for the vectors, and a note that is read again', () => {
    const description = described(ESCAPED, { fields: { 'a.b': 'number', lang: 'keyword' } });
    const body = indexBody(description, SERVER, { shards: 3, replicas: 1 });
    expect(body.settings.index).toMatchObject({ number_of_shards: 3, number_of_replicas: 1, refresh_interval: '-1' });
    expect(body.mappings.properties.vector).toEqual({ type: 'rank_features' });
    expect(body.mappings.properties.filter).toMatchObject({
      properties: { lang: {}, '%%a%002Eb': { type: 'double' } },
    });
    expect(readDescription(JSON.parse(JSON.stringify(body.mappings)), 'x')).toEqual(description);
  });

  it('sparse_vector: ceilings are sent, and an old server is refused', () => {
    const { settings, mappings } = indexBody(described(APPROXIMATE), SERVER);
    expect(settings.index).toMatchObject({ sparse: true });
    expect(mappings.properties.vector).toMatchObject({
      type: 'sparse_vector',
      method: {
        name: 'seismic',
        parameters: { quantization_ceiling_ingest: 2.5, quantization_ceiling_search: 9, approximate_threshold: 10 },
      },
    });
    expect(() => indexBody(described(APPROXIMATE), { ...SERVER, version: '3.2.0' })).toThrow(/needs OpenSearch 3\.3/);
  });

  it('without stored vectors the field is left out of _source', () => {
    expect(indexBody(described(ESCAPED, { storeVectors: false }), SERVER).mappings._source).toEqual({
      excludes: ['vector'],
    });
  });

  it.each(['text', 'a.b', '', '_x', 'a"b'])('the field of vectors cannot be called %j', (field) => {
    expect(() => indexBody(described(ESCAPED, { field }), SERVER)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });

  it('a note that this version cannot read is an error, a mapping without one is not ours', () => {
    expect(readDescription({}, 'x')).toBeUndefined();
    expect(() => readDescription({ _meta: { lzero: { layout: 99 } } }, 'x')).toThrow(/another version|cannot read/);
  });

  it('a ceiling is the largest measured weight', () => {
    expect(ceilingOf([sparseVector([1, 2], [0.5, 2.5]), sparseVector([1], [1])])).toBe(2.5);
    expect(() => ceilingOf([])).toThrow(/no weights/);
  });
});

describe('queries', () => {
  const terms = [
    { token: 'bread', weight: 2 },
    { token: '.', weight: 0.5 },
  ];

  it('neural_sparse has names of tokens as the field has them', () => {
    expect(neuralSparseQuery(terms, described(ESCAPED), { idOf })).toEqual({
      neural_sparse: { vector: { query_tokens: { bread: 2, '%%%002E': 0.5 } } },
    });
    expect(neuralSparseQuery(terms, described(PLAIN), { idOf })).toEqual({
      neural_sparse: { vector: { query_tokens: { bread: 2, '.': 0.5 } } },
    });
  });

  it('sparse_vector has integer ids, below 32,768', () => {
    const approximate = { k: 10, top_n: 5, heap_factor: 1.2 };
    expect(neuralSparseQuery(terms, described(APPROXIMATE), { idOf, approximate })).toEqual({
      neural_sparse: {
        vector: {
          query_tokens: { [String(idOf('bread'))]: 2, [String(idOf('.'))]: 0.5 },
          method_parameters: approximate,
        },
      },
    });
    expect(() => neuralSparseQuery(terms, described(APPROXIMATE), { idOf: () => 32_768 })).toThrow(/below 32768/);
  });

  it('rank_feature clauses: a token with a dot is escaped, or refused where names are plain', () => {
    expect(rankFeatureQuery(terms, described(ESCAPED)).bool.should[1]).toEqual({
      rank_feature: { field: 'vector.%%%002E', boost: 0.5, linear: {} },
    });
    expect(() => rankFeatureQuery(terms, described(PLAIN))).toThrow(/would match nothing/);
    expect(() => rankFeatureQuery(terms, described(APPROXIMATE))).toThrow(/sparse_vector/);
  });

  it.each([0, -1, 64.1, Number.NaN, Number.POSITIVE_INFINITY])('a query weight of %s is refused', (weight) => {
    expect(() => neuralSparseQuery([{ token: 'a', weight }], described(ESCAPED), { idOf })).toThrow(/up to 64/);
  });

  it('1,024 tokens are taken, 1,025 are refused', () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => ({ token: `t${i}`, weight: 1 }));
    expect(() => neuralSparseQuery(many(1024), described(ESCAPED), { idOf })).not.toThrow();
    expect(() => neuralSparseQuery(many(1025), described(ESCAPED), { idOf })).toThrow(/1025 tokens/);
  });

  // That a model with its tokens and weights passes is test/opensearch/ml-model.test.ts's: it takes the table.
  it("the server's analyzer is refused for another table, and for names that it does not know", () => {
    const asked = { querySide: model, server: SERVER };
    expect(() => analyzerQuery('hello', described(PLAIN), asked)).toThrow(/tokens have other weights/);
    expect(() => analyzerQuery('hello', described(ESCAPED), asked)).toThrow(/names them in another way/);
    const old = { ...asked, server: { ...SERVER, version: '2.19.0' } };
    expect(() => analyzerQuery('hello', described(PLAIN), old)).toThrow(/3\.1/);
  });

  it('a filter goes around a query, and into each part of a hybrid', () => {
    const filter = { term: { a: 1 } };
    const [one, two] = [{ match: { a: 1 } }, { match: { b: 1 } }];
    expect(filtered(one, undefined)).toBe(one);
    expect(filtered(one, filter)).toEqual({ bool: { must: [one], filter: [filter] } });
    expect(filtered(hybridQuery([one, two]), filter)).toEqual({
      hybrid: { queries: [one, two].map((query) => ({ bool: { must: [query], filter: [filter] } })) },
    });
    expect(() => hybridQuery([one])).toThrow(/two to five/);
  });

  it('pipelines refuse numbers that the server would', () => {
    expect(() => twoPhasePipeline({ pruneRatio: 1.5 })).toThrow(/0 to 1/);
    expect(() => twoPhasePipeline({ expansionRate: 0.5 })).toThrow(/at least 1/);
    expect(() => normalisationPipeline({ weights: [0.7, 0.7] })).toThrow(/add up to 1/);
    expect(() => normalisationPipeline({ weights: [1, 0] })).toThrow(/below 1/); // whole numbers: error 500 of the server
    expect(normalisationPipeline({ weights: [0.7, 0.3] })).toMatchObject({ phase_results_processors: [{}] });
  });
});

describe('filters', () => {
  const fields = { lang: 'keyword', 'a.b': 'number', draft: 'boolean' } as const;

  it('have the meaning of the embedded index: see filter.ts of search', () => {
    expect(filterQuery(undefined, fields)).toBeUndefined();
    expect(filterQuery({ lang: 'en' }, fields)).toEqual({ terms: { 'filter.lang': ['en'] } });
    expect(filterQuery({ 'a.b': { gte: 1, lt: 5 } }, fields)).toEqual({
      bool: { filter: [{ range: { 'filter.%%a%002Eb': { gte: 1 } } }, { range: { 'filter.%%a%002Eb': { lt: 5 } } }] },
    });
    expect(filterQuery({ draft: { exists: false } }, fields)).toEqual({
      bool: { must_not: [{ exists: { field: 'filter.draft' } }] },
    });
    expect(filterQuery({ or: [] }, fields)).toEqual({ match_none: {} });
    expect(filterQuery({}, fields)).toEqual({ match_all: {} });
    expect(filterQuery({ lang: { in: [] } }, fields)).toEqual({ match_none: {} });
  });

  it('are written without terms for the search of clusters, and left out where they would have too many clauses', () => {
    const term = (value: string) => ({ term: { 'filter.lang': value } });
    const either = { bool: { should: [term('de'), term('en')], minimum_should_match: 1 } };
    const filter = filterQuery({ not: { lang: { in: ['en', 'de'] } } }, { lang: 'keyword' });
    expect(filter && withoutTerms(filter)).toEqual({ bool: { must_not: [either] } });
    const many = (count: number) => ({ terms: { x: Array.from({ length: count }, (_, i) => i) } });
    expect(withoutTerms(many(1024))).toBeDefined();
    expect(withoutTerms({ bool: { filter: [many(1024), { exists: { field: 'y' } }] } })).toBeUndefined();
    expect(withoutTerms({ ids: { values: ['a'] } })).toBeUndefined();
  });

  it('by an undeclared field are refused', () => {
    expect(() => filterQuery({ colour: 'red' }, fields)).toThrow(/colour/);
  });
});

describe('documents', () => {
  const context = (vector: VectorField, rest: Partial<IndexDescription> = {}) => ({
    description: described(vector, rest),
    vocabulary: model.tokenizer.vocabulary,
    place: { order: 7, job: 'j' },
  });

  it('a token that objects take for something else is sent', () => {
    const { tokens } = model.tokenizer.vocabulary;
    const vocabulary = new Vocabulary([...tokens, '__proto__'], [], 'test');
    const vector = sparseVector([tokens.length], [1.5]);
    const source = documentSource({ id: 'a' }, vector, { ...context(PLAIN), vocabulary });
    expect(source).toContain(':{"__proto__":1.5}}');
  });

  const vectorOf = (weights: Record<string, number>) =>
    sparseVector(
      Object.keys(weights).map((token) => idOf(token) ?? -1),
      Object.values(weights),
    );

  it('hold text, fields, order and weights; the vector is read again to the bit', () => {
    const vector = vectorOf({ bread: 1.2345678, '.': 0.3 });
    const fields = { lang: 'en', other: { 'x.y': 1 } };
    const source = documentSource(
      { id: 'a', text: 'T', fields },
      vector,
      context(ESCAPED, { fields: { lang: 'keyword' } }),
    );
    expect(source).not.toContain('\n');
    const parsed = JSON.parse(source);
    expect(parsed).toMatchObject({
      id: 'a',
      group: 'a',
      text: 'T',
      fields,
      filter: { lang: 'en' },
      order: 7,
      job: 'j',
      numTerms: 2,
    });
    expect(vectorOfSource(parsed, described(ESCAPED), { vocabulary: model.tokenizer.vocabulary })).toEqual(vector);
  });

  it('an empty vector is left out, since one would spoil a sparse_vector field', () => {
    expect(JSON.parse(documentSource({ id: 'a' }, sparseVector([], []), context(APPROXIMATE)))).not.toHaveProperty(
      'vector',
    );
  });

  it('a weight that the server would refuse is named with document and token', () => {
    const tiny = { terms: Uint32Array.of(idOf('bread') ?? 0), weights: Float32Array.of(1e-40) };
    expect(() => documentSource({ id: 'a' }, tiny, context(ESCAPED))).toThrow(/document "a": the token "bread"/);
  });

  it('a declared field of another type is refused', () => {
    const typed = context(ESCAPED, { fields: { year: 'number' } });
    expect(() => documentSource({ id: 'a', fields: { year: 'x' } }, sparseVector([], []), typed)).toThrow(/year/);
  });

  it('ids of more than 512 bytes are sent as a hash, others as they are', () => {
    expect(serverId('ä'.repeat(256))).toBe('ä'.repeat(256));
    expect(serverId('ä'.repeat(257))).toMatch(/^sha256:[\da-f]{64}$/);
    expect(() => serverId('')).toThrow(/empty id/);
  });

  it('a bulk has a line for what to do, one for the document, and ends in a newline', () => {
    expect(
      bulkLines([
        { kind: 'index', id: 'a"b', source: '{"x":1}' },
        { kind: 'delete', id: 'c' },
      ]),
    ).toBe('{"index":{"_id":"a\\"b"}}\n{"x":1}\n{"delete":{"_id":"c"}}\n');
  });
});

describe('addresses', () => {
  it('have a server, an index and perhaps credentials', () => {
    expect(parseAddress('http://localhost:9200/docs')).toEqual({ url: 'http://localhost:9200', index: 'docs' });
    expect(parseAddress('https://me:p%40ss@host/prefix/docs')).toEqual({
      url: 'https://host/prefix',
      index: 'docs',
      credentials: { kind: 'basic', user: 'me', password: 'p@ss' },
    });
  });

  it.each([
    'localhost:9200/x',
    'ftp://a/b',
    'http://h/',
    'http://h/UPPER',
    'http://h/_x',
    'http://h/a*',
    'http://h/a?b=1',
    'http://h/a,b',
  ])('%s is refused', (address) => {
    expect(() => parseAddress(address)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });

  it('a password never is part of an error', () => {
    for (const address of ['ftp://me:secret@host/docs', 'me:secret@host:9200/docs', 'https://me:p/secret@host/docs'])
      expect(() => parseAddress(address)).toThrow(
        expect.not.objectContaining({ message: expect.stringContaining('secret') }),
      );
  });
});
