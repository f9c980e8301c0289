/** What only a real server can tell: scores, hostile names, resuming, aliases, pipelines, the commands. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { evalCommand } from '../../src/cli/eval.ts';
import { opensearchCommand } from '../../src/cli/opensearch.ts';
import { dot, isJsonObject, type JsonObject, Random, type SparseVector, sparseVector } from '../../src/core/index.ts';
import type { EngineDocument, SearchOptions } from '../../src/engines/index.ts';
import { loadModel, type Model } from '../../src/model/index.ts';
import {
  BulkWriter,
  type CreateOpenSearchOptions,
  checkParity,
  createOpenSearchIndex,
  deleteIndex,
  describeIndex,
  featureOfToken,
  foundDocuments,
  neuralSparseQuery,
  type OpenSearchIndex,
  openOpenSearchIndex,
  type ParityQuery,
  pointAlias,
  putSettings,
  rankFeatureQuery,
  resolveName,
  type Server,
  STORED_ERROR,
  servingSettings,
  tokenOfFeature,
  type VectorField,
} from '../../src/opensearch/index.ts';
import type { Filter } from '../../src/search/index.ts';
import { type Outcome, runCommands } from '../cli/fake-host.ts';
import { Scratch } from '../cli/index-commands.ts';
import { describeOnServer, freshName, realServer, removeIndexes, SERVER_TEST_MS, SERVER_URL } from './real-server.ts';

/** The server refuses a keyword of that length. */
const ODD = [
  { _id: 'good', text: 'bread' },
  { _id: 'bad', text: 'bread', fields: { lang: 'x'.repeat(40_000) } },
];

describeOnServer('on a real server', () => {
  vi.setConfig({ testTimeout: SERVER_TEST_MS, hookTimeout: SERVER_TEST_MS });
  let model: Model;
  const scratch = new Scratch();
  beforeAll(async () => {
    model = await loadModel('bow');
  });
  afterAll(async () => {
    scratch.remove();
    await removeIndexes();
  });

  const create = (options: Partial<CreateOpenSearchOptions> = {}, name = freshName()) =>
    createOpenSearchIndex(realServer(), name, { model, ...options });

  /** Learned vectors without a network: weights as trained models have them, seeded. */
  function randomDocuments(
    count: number,
    { seed = 1, numTerms = 60, numWords = Number.POSITIVE_INFINITY } = {},
  ): (EngineDocument & { vector: SparseVector })[] {
    const random = new Random(seed);
    const { size } = model.tokenizer.vocabulary;
    return Array.from({ length: count }, (_, i) => {
      const terms = new Set<number>();
      // Squares favour small ids: some terms are frequent, as in texts.
      while (terms.size < numTerms)
        terms.add(1000 + Math.floor(random.uniform() ** 2 * Math.min(numWords, size - 1000)));
      const weights = Array.from(terms, () => Math.max(0.01, Math.abs(random.normal())));
      return { id: `d${i}`, vector: sparseVector([...terms], weights) };
    });
  }

  function randomQueries(documents: readonly { readonly vector: SparseVector }[], count: number): ParityQuery[] {
    const random = new Random(7);
    return Array.from({ length: count }, (_, i) => {
      const { terms } = documents[random.below(documents.length)].vector;
      const chosen = new Set(Array.from({ length: 6 }, () => terms[random.below(terms.length)]));
      const vector = sparseVector(
        [...chosen],
        Array.from(chosen, () => 0.5 + 8 * random.uniform()),
      );
      const byToken = Array.from(vector.terms, (term, j) => [
        model.tokenizer.vocabulary.tokens[term],
        vector.weights[j],
      ]);
      return { id: `q${i}`, query: { vector: Object.fromEntries(byToken) }, vector };
    });
  }

  const FIELDS_OF_VECTORS: readonly [string, VectorField, CreateOpenSearchOptions['query']][] = [
    ['rank_features by neural_sparse', { type: 'rank_features', names: 'escaped' }, {}],
    ['rank_features by rank_feature clauses', { type: 'rank_features', names: 'escaped' }, { kind: 'rank_feature' }],
  ];
  it.each(FIELDS_OF_VECTORS)(
    '%s: 1,000 scores are below ours by less than 2⁻⁸, and equal the prediction to 1e-5',
    async (_, vector, query) => {
      const documents = randomDocuments(500);
      const index = await create({ vector, query });
      await index.add(documents);
      await index.commit();
      const report = await checkParity(index, { queries: randomQueries(documents, 100), documents });
      expect(report.error.max).toBeLessThan(STORED_ERROR);
      expect(report.error.max).toBeGreaterThan(STORED_ERROR / 8); // there is something to bound
      expect(report.prediction.max).toBeLessThan(1e-5);
      expect(report.overlap).toBeGreaterThanOrEqual(0.98);
      expect(report).toMatchObject({ numQueries: 100, numUnexplained: 0, isWithinBounds: true });
      await index.close();
    },
  );

  const BELOW: VectorField = {
    type: 'sparse_vector',
    documentCeiling: 4,
    queryCeiling: 16,
    approximateThreshold: 1_000_000,
  };
  it.each<[string, Partial<CreateOpenSearchOptions>]>([
    ['rank_features', {}],
    ['rank_features in two phases', { query: { twoPhase: true } }],
    ['sparse_vector below its threshold', { vector: BELOW }],
    ['sparse_vector with clusters', { vector: { ...BELOW, approximateThreshold: 10 } }],
  ])('%s: a document that differs on the server is found by the check, with its cause', async (_, options) => {
    const documents = randomDocuments(50);
    const index = await create(options);
    const [first, ...rest] = documents;
    const changed = { terms: first.vector.terms, weights: first.vector.weights.map((weight) => weight * 1.5) };
    await index.add([{ ...first, vector: changed }, ...rest]);
    await index.commit();
    const vector = sparseVector([first.vector.terms[0]], [4]);
    const token = model.tokenizer.vocabulary.tokens[first.vector.terms[0]];
    const queries = [{ id: 'q', query: { vector: { [token]: 4 } }, vector }];
    const report = await checkParity(index, { queries, documents });
    expect(report.isWithinBounds).toBe(false);
    expect(report.firstDifference?.cause).toMatch(/its vector differs: .* weighs .* here and .* there/);
    expect(await checkParity(index, { queries, documents: [{ ...first, vector: changed }, ...rest] })).toMatchObject({
      isWithinBounds: true,
      overlap: 1,
    });
    await index.close();
  });

  it('a document that is missing on the server, or weighs less there, is named, not the one that rises in its place', async () => {
    const documents = [4, 3, 2, 1].map((weight, i) => ({ id: `d${i}`, vector: { bread: weight } }));
    const vectorOf = (weight: number) => sparseVector([model.tokenizer.vocabulary.idOf('bread') ?? 0], [weight]);
    const sides = {
      queries: [{ id: 'q', query: { vector: { bread: 1 } }, vector: vectorOf(1) }],
      documents: documents.map(({ id, vector }) => ({ id, vector: vectorOf(vector.bread) })),
    };
    const index = await create();
    await index.add(documents);
    await index.delete(['d1']);
    await index.commit();
    expect(await checkParity(index, sides, { k: 2 })).toMatchObject({
      isWithinBounds: false,
      numUnexplained: 2,
      firstDifference: { id: 'd1', serverScore: undefined, cause: expect.stringContaining('no such document') },
    });
    await index.add([{ id: 'd1', vector: { bread: 0.5 } }]);
    await index.commit();
    expect(await checkParity(index, sides, { k: 2 })).toMatchObject({
      isWithinBounds: false,
      firstDifference: { id: 'd1', ourScore: 3, serverScore: 0.5, cause: expect.stringContaining('weighs 3 here') },
    });
    await index.close();
  });

  it('scores of a hybrid are not checked: they are no sums of weights', async () => {
    const index = await create({ query: { hybridShare: 0.5 } });
    await expect(checkParity(index, { queries: [], documents: [] })).rejects.toMatchObject({ code: 'USAGE' });
    await index.close();
  });

  it('where vectors are not stored, a check that fails does not say why', async () => {
    const index = await create({ storeVectors: false });
    await index.add([{ id: 'a', vector: { bread: 3 } }]);
    await index.commit();
    const vector = sparseVector([model.tokenizer.vocabulary.idOf('bread') ?? 0], [2]);
    const queries = [{ id: 'q', query: { vector: { bread: 2 } }, vector }];
    const report = await checkParity(index, { queries, documents: [{ id: 'a', vector }] });
    expect(report).toMatchObject({ isWithinBounds: false, firstDifference: { ourScore: 4, serverScore: 6 } });
    expect(report.firstDifference?.cause).toContain('does not keep vectors');
    await index.close();
  });

  it('a check that compares nothing has proved nothing', async () => {
    const index = await create();
    const vector = sparseVector([2000], [1]);
    const queries = [{ id: 'q', query: { vector: { [model.tokenizer.vocabulary.tokens[2000]]: 1 } }, vector }];
    const report = await checkParity(index, { queries, documents: [] });
    expect(report).toMatchObject({ numScores: 0, isWithinBounds: false });
    await index.close();
  });

  it('sparse_vector above its threshold is approximate: overlap@10 of at least 0.9 with a measured ceiling, scores of 8 bits as predicted to 1e-5', async () => {
    const documents = randomDocuments(400);
    const largest = Math.max(...documents.flatMap(({ vector: { weights } }) => [...weights]));
    const index = await create({
      vector: { type: 'sparse_vector', documentCeiling: largest, queryCeiling: 9, approximateThreshold: 100 },
    });
    await index.add(documents);
    await index.commit();
    const report = await checkParity(index, { queries: randomQueries(documents, 50), documents }, { minOverlap: 0.9 });
    expect(report.isWithinBounds, JSON.stringify(report)).toBe(true);
    expect(report.prediction.max).toBeLessThan(1e-5); // scored by bytes, as predicted
    expect(report.error.max).toBeGreaterThan(1e-5);
    expect(report.error.bound).toBeNull();
    await index.close();
  });

  describe('sparse_vector above its threshold', () => {
    const FIELDS = { lang: 'keyword', year: 'number' } as const;
    const langOf = (i: number): string | undefined => (i % 3 === 0 ? undefined : i % 20 === 0 ? 'de' : 'en');
    const documents = () =>
      randomDocuments(400, { numTerms: 12, numWords: 40 }).map((document, i) => ({
        ...document,
        fields: { year: i, ...(langOf(i) === undefined ? {} : { lang: langOf(i) }) },
      }));
    const vector: VectorField = {
      type: 'sparse_vector',
      documentCeiling: 4,
      queryCeiling: 16,
      approximateThreshold: 100,
    };
    const approximate = { heap_factor: 5, top_n: 20 };
    let index: OpenSearchIndex;
    let query: ParityQuery;
    beforeAll(async () => {
      index = await create({ vector, fields: FIELDS, query: { approximate } });
      await index.add(documents());
      await index.commit();
      [query] = randomQueries(documents(), 1);
    });
    afterAll(() => index.close());
    /** Documents that share a term with the query, best first. */
    const best = (fits: (i: number) => boolean = () => true): string[] =>
      documents()
        .map(({ id, vector: its }, i) => ({ id, i, score: dot(query.vector, its) }))
        .filter(({ i, score }) => score > 0 && fits(i))
        .sort((a, b) => b.score - a.score)
        .map(({ id }) => id);
    const search = async (options: SearchOptions): Promise<string[]> =>
      (await index.search(query.query, options)).hits.map(({ id }) => id);

    it('gives as many hits as are asked for, not ten a segment', async () => {
      const hits = await search({ k: 100 });
      expect(hits).toHaveLength(100);
      expect(
        best()
          .slice(0, 100)
          .filter((id) => hits.includes(id)).length,
      ).toBeGreaterThanOrEqual(90);
    });

    it.each<[string, Filter, (i: number) => boolean]>([
      ['a keyword', { lang: 'de' }, (i) => langOf(i) === 'de'],
      ['one of several', { lang: { in: ['de', 'fr'] } }, (i) => langOf(i) === 'de'],
      ['a range', { year: { gte: 380 } }, (i) => i >= 380],
      ['a negation', { not: { lang: 'en' } }, (i) => langOf(i) !== 'en'],
      ['a missing value', { lang: { exists: false } }, (i) => langOf(i) === undefined],
      ['a conjunction', { lang: 'en', year: { lt: 30 } }, (i) => langOf(i) === 'en' && i < 30],
      ['what no document has', { lang: 'fr' }, () => false],
      ['a negation of what all have', { year: { exists: false } }, () => false],
    ])('finds all that fit %s, and nothing else', async (_, filter, fits) => {
      const due = best(fits);
      for (const k of [10, 400]) {
        const hits = await search({ k, filter });
        expect(hits.filter((id) => !fits(Number(id.slice(1))))).toEqual([]);
        expect(hits).toHaveLength(Math.min(k, due.length));
        expect(due.slice(0, k).filter((id) => hits.includes(id)).length).toBeGreaterThanOrEqual(0.9 * hits.length);
      }
    });

    it('scores a document that is far from the best, for the check', async () => {
      const last = best().at(-1) ?? '';
      expect([...(await index.scoresOf(query.query, [last])).keys()]).toEqual([last]);
    });

    it('finds pages once, as many as are asked for', async () => {
      const pages = await create({ vector, query: { approximate } });
      const parts = documents().map(({ id, vector: its }, i) => ({ id, page: `p${i % 50}`, chunk: i, vector: its }));
      await pages.add(parts);
      await pages.commit();
      const { hits } = await pages.search(query.query, { k: 40 });
      expect(new Set(hits.map(({ id }) => id)).size).toBe(40);
      await pages.close();
    });
  });

  it('two-phase: overlap@10 of at least 0.9, and whole scores for what it finds', async () => {
    const documents = randomDocuments(300, { numWords: 500 }); // many documents have every term, as in large indexes
    const name = freshName();
    const index = await create({}, name);
    await index.add(documents);
    await index.commit();
    const twoPhase = await openOpenSearchIndex(realServer(), name, { model, query: { twoPhase: true } });
    const report = await checkParity(twoPhase, { queries: randomQueries(documents, 50), documents });
    expect(report.overlap).toBeGreaterThanOrEqual(0.9);
    expect(report.prediction.max).toBeLessThan(1e-5); // those that are found have their whole score
    await index.close();
    await twoPhase.close();
  });

  it('a hybrid joins BM25: with a share of 0.01 the words decide, with 0.99 the terms', async () => {
    const bread = model.tokenizer.vocabulary.idOf('bread') ?? 0;
    const documents: EngineDocument[] = [
      { id: 'terms', text: 'nothing of the kind', vector: sparseVector([bread], [3]) },
      { id: 'words', text: 'bread and more bread', vector: sparseVector([bread], [0.1]) },
    ];
    const name = freshName();
    const index = await create({}, name);
    await index.add(documents);
    await index.commit();
    for (const [hybridShare, best] of [
      [0.01, 'words'],
      [0.99, 'terms'],
    ] as const) {
      const hybrid = await openOpenSearchIndex(realServer(), name, { model, query: { hybridShare } });
      expect((await hybrid.search('bread')).hits[0].id).toBe(best);
      await expect(hybrid.search('bread', { explain: true })).rejects.toThrow(/no sum of products/);
      await hybrid.close();
    }
    await index.close();
  });

  it.each<[string, Partial<CreateOpenSearchOptions>]>([
    ['rank_features', {}],
    [
      'sparse_vector with clusters',
      { vector: { type: 'sparse_vector', documentCeiling: 4, queryCeiling: 16, approximateThreshold: 100 } },
    ],
  ])('%s: a hybrid weighs the words of what fits the filter, whatever else has them', async (_, options) => {
    const bread = model.tokenizer.vocabulary.idOf('bread') ?? 0;
    const others = randomDocuments(200, { numTerms: 12 }).map((document, i) => ({
      ...document,
      text: `${'bread '.repeat(20)} ${i}`, // better by words than all that fit
      fields: { lang: 'en' },
    }));
    const fitting: EngineDocument[] = [
      { id: 'much', text: 'bread, bread and butter', vector: sparseVector([bread], [1]), fields: { lang: 'de' } },
      {
        id: 'some',
        text: 'bread with butter, salt and jam',
        vector: sparseVector([bread], [2]),
        fields: { lang: 'de' },
      },
    ];
    const index = await create({ ...options, fields: { lang: 'keyword' }, query: { hybridShare: 0.3 } });
    await index.add([...others, ...fitting]);
    await index.commit();
    const { hits } = await index.search('bread', { k: 2, filter: { lang: 'de' } });
    expect(hits.map(({ id }) => id)).toEqual(['much', 'some']); // by min-max the first has 1 of words and 0.001 of terms
    expect(hits[0].score).toBeCloseTo(0.7, 2);
    await index.close();
  });

  it('hostile tokens, ids and fields come back as they were', async () => {
    const { vocabulary } = model.tokenizer;
    const dots = vocabulary.tokens
      .flatMap((token, id) => (token.includes('.') || /["'\\\u0080-\uffff]/.test(token) ? [id] : []))
      .slice(0, 60);
    const odd = { 'a.b': 'x', 'q"uote': 1, 'straße ünï': true, '\u0001': 'y' };
    const schema = { 'a.b': 'keyword', 'q"uote': 'number', 'straße ünï': 'boolean', '\u0001': 'keyword' } as const;
    const id = 'id with "quotes", ünïcode/slash?#%.\u0001';
    const long = 'ü'.repeat(600);
    for (const kind of ['neural_sparse', 'rank_feature'] as const) {
      const index = await create({ fields: schema, query: { kind } });
      const vector = sparseVector(
        dots,
        dots.map(() => 1.5),
      );
      await index.add([
        { id, vector, fields: { ...odd, nested: { '..': { deep: [1] } } } },
        { id: long, vector: sparseVector([dots[0]], [1]) },
      ]);
      await index.commit();
      const query = { vector: Object.fromEntries(dots.map((term) => [vocabulary.tokens[term], 1])) };
      const { hits } = await index.search(query, { explain: true });
      expect(hits.map((hit) => hit.id)).toEqual([id, long]);
      expect(hits[0].score).toBeCloseTo(1.5 * dots.length, 3); // every token was found
      expect(new Set(hits[0].explain?.map(({ token }) => token))).toEqual(
        new Set(dots.map((term) => vocabulary.tokens[term])),
      );
      expect(hits[0].fields).toEqual({ ...odd, nested: { '..': { deep: [1] } } });
      for (const [name, value] of Object.entries(odd))
        expect((await index.search(query, { filter: { [name]: value } })).hits.map((hit) => hit.id)).toEqual([id]);
      expect(await index.delete([id, long])).toBe(2);
      await index.close();
    }
  });

  it('names that no token should have are found by both kinds of query, and come back as they were', async () => {
    const tokens = [
      '\u0000',
      '\u0001',
      'a\nb',
      '\t',
      '\u007f',
      '\u0085',
      '.',
      '..',
      'v.x',
      '',
      ' ',
      '"',
      '\\',
      '\ud800',
      '%%',
      '%%a',
      '*',
      '👍',
    ];
    const server = realServer();
    const name = freshName();
    const vector: VectorField = { type: 'rank_features', names: 'escaped' };
    const put = (path: string, body: JsonObject) => server.ask({ method: 'PUT', path, body: JSON.stringify(body) });
    await put(`/${name}`, { mappings: { properties: { v: { type: 'rank_features' } } } });
    for (const [i, token] of tokens.entries())
      await put(`/${name}/_doc/${i}${i === tokens.length - 1 ? '?refresh=true' : ''}`, {
        v: { [featureOfToken(token)]: 2 },
      });
    for (const [i, token] of tokens.entries()) {
      const terms = [{ token, weight: 1.5 }];
      const target = { field: 'v', vector };
      for (const query of [
        neuralSparseQuery(terms, target, { idOf: () => undefined }),
        rankFeatureQuery(terms, target),
      ]) {
        const path = `/${name}/_search`;
        const found = foundDocuments(
          (await server.ask({ method: 'POST', path, body: JSON.stringify({ query }) })).body,
        );
        expect(found.map(({ serverId, score }) => [serverId, score])).toEqual([[String(i), 3]]);
        const [feature] = Object.keys(isJsonObject(found[0].source.v) ? found[0].source.v : {});
        expect(tokenOfFeature(feature)).toBe(token);
      }
    }
    server.close();
  });

  it('tune tries shares and normalisations on the server; a hybrid by l2 has other scores than one by min_max', async () => {
    const address = `${SERVER_URL}/${freshName()}`;
    const corpus = scratch.writeLines('tune/corpus.jsonl', [
      { _id: 'a', text: 'Flour, water and salt become bread.' },
      { _id: 'b', text: 'A bicycle with a flat tyre.' },
      { _id: 'c', text: 'Bread and butter, bread and jam.' },
      { _id: 'd', text: 'Oil the chain of the bicycle.' },
    ]);
    scratch.writeLines('tune/queries.jsonl', [
      { _id: 'q1', text: 'bread and flour' },
      { _id: 'q2', text: 'flat bicycle' },
    ]);
    scratch.write('tune/qrels/test.tsv', 'query-id\tcorpus-id\tscore\nq1\ta\t1\nq2\tb\t1\n');
    await lzeroJson('opensearch', 'ingest', corpus, address, '--create');
    const tuned = await lzeroJson('opensearch', 'tune', address, scratch.path('tune'));
    expect(tuned).toMatchObject({ numQueries: 2, learnedAlone: 1, mean: 1, heldOut: 1 });
    const trials: { technique: string; share: number }[] = tuned.trials;
    expect(trials.map(({ technique, share }) => `${technique} ${share}`)).toHaveLength(18);
    expect(new Set(trials.map(({ technique }) => technique))).toEqual(new Set(['min_max', 'l2']));
    const scores = async (...more: string[]): Promise<number[]> => {
      const { hits } = await lzeroJson('opensearch', 'search', address, 'bread and flour', '--hybrid', '0.5', ...more);
      return hits.map(({ score }: { score: number }) => score);
    };
    const [byRange, byLength] = [await scores(), await scores('--hybrid-technique', 'l2')];
    expect(byRange[0]).toBeCloseTo(1, 5); // the best of both parts has 1 in each
    expect(byLength[0]).toBeLessThan(0.999); // a part of a vector of length 1
    expect(byLength.reduce((sum, score) => sum + score ** 2, 0)).toBeLessThanOrEqual(1.0001);
  });

  it('a model that the index was not made with is refused', async () => {
    const name = freshName();
    const index = await create({}, name);
    const other = await loadModel('default');
    await expect(openOpenSearchIndex(realServer(), name, { model: other })).rejects.toMatchObject({
      code: 'INDEX_STATE',
    });
    await expect(openOpenSearchIndex(realServer(), 'lzero-none', { model })).rejects.toThrow(/no index lzero-none/);
    await expect(createOpenSearchIndex(realServer(), name, { model })).rejects.toThrow(/exists already/);
    await index.close();
  });

  it('an index of others is searched by the name of its field', async () => {
    const name = freshName();
    const server = realServer();
    const ask = (method: 'PUT' | 'POST', path: string, body: JsonObject) =>
      server.ask({ method, path, body: JSON.stringify(body) });
    await ask('PUT', `/${name}`, { mappings: { properties: { emb: { type: 'rank_features' } } } });
    await ask('PUT', `/${name}/_doc/7?refresh=true`, { emb: { bread: 1.25, '.': 0.5 } });
    await expect(openOpenSearchIndex(server, name, { model })).rejects.toMatchObject({
      hint: expect.stringContaining('emb'),
    });
    const index = await openOpenSearchIndex(server, name, { model, field: 'emb' });
    const { hits } = await index.search({ vector: { bread: 2, '.': 1 } }, { explain: true });
    expect(hits).toMatchObject([
      {
        id: '7',
        score: 3,
        explain: [
          { token: 'bread', product: 2.5 },
          { token: '.', product: 0.5 },
        ],
      },
    ]);
    await index.close();
  });

  it('an index of others is checked by the command, by the ids of the server: exit code 1 where a weight differs', async () => {
    const name = freshName();
    const server = realServer();
    const put = (id: string, body: JsonObject, method: 'PUT' | 'POST' = 'PUT') =>
      server.ask({ method, path: `/${name}/_doc/${id}?refresh=true`, body: JSON.stringify(body) });
    const mappings = { properties: { emb: { type: 'rank_features' } } };
    await server.ask({ method: 'PUT', path: `/${name}`, body: JSON.stringify({ mappings }) });
    await put('7', { emb: { bread: 1.25, butter: 0.7 }, id: 'another name', page: 3 });
    await put('8', { emb: { bread: 0.5 } });
    const vectors = scratch.writeLines('theirs.jsonl', [
      { _id: '7', vector: { bread: 1.25, butter: 0.7 } },
      { _id: '8', vector: { bread: 0.5 } },
    ]);
    const queries = scratch.write('theirs.txt', 'bread\nbutter\n');
    const words = ['--field', 'emb', '--model', 'bow', '--vectors', vectors, '--queries', queries, '--json'];
    const check = () => lzero('opensearch', 'check', `${SERVER_URL}/${name}`, ...words);
    const fits = await check();
    expect(fits.exitCode, fits.stderr + fits.stdout).toBe(0);
    expect(JSON.parse(fits.stdout)).toMatchObject({ isWithinBounds: true, numScores: 3, overlap: 1 });
    await put('8', { emb: { bread: 0.75 } });
    const differs = await check();
    expect(differs.exitCode).toBe(1);
    expect(JSON.parse(differs.stdout).firstDifference).toMatchObject({
      id: '8',
      cause: expect.stringMatching(/bread/),
    });
    server.close();
  });

  it('an index of others with clusters is checked: a vector that differs is named, and no filter is an error of the server', async () => {
    const name = freshName();
    const server = realServer();
    const parameters = { quantization_ceiling_ingest: 4, quantization_ceiling_search: 16, approximate_threshold: 100 };
    const emb = { type: 'sparse_vector', method: { name: 'seismic', parameters } };
    const body = { settings: { index: { sparse: true } }, mappings: { properties: { emb } } };
    await server.ask({ method: 'PUT', path: `/${name}`, body: JSON.stringify(body) });
    const documents = randomDocuments(400, { numTerms: 12, numWords: 40 });
    const lines = documents.map(({ id, vector: { terms, weights } }, i) => {
      const weightOf = (at: number): number => weights[at] * (i < 100 ? 3 : 1); // the server has heavier ones of some
      const vector = Object.fromEntries(Array.from(terms, (term, at) => [String(term), weightOf(at)]));
      return `${JSON.stringify({ index: { _id: id } })}\n${JSON.stringify({ emb: vector })}\n`;
    });
    await server.ask({ method: 'POST', path: `/${name}/_bulk?refresh=true`, body: lines.join('') });
    const index = await openOpenSearchIndex(server, name, { model, field: 'emb' });
    const report = await checkParity(index, { queries: randomQueries(documents, 20), documents });
    expect(report.isWithinBounds).toBe(false);
    expect(report.firstDifference?.cause).toMatch(/its vector differs: .* weighs .* here and .* there/);
    await index.close();
  });

  it('a job that was stopped goes on: nothing is lost, nothing is there twice, what is done is not encoded again', async () => {
    const name = freshName();
    const index = await create({}, name);
    const texts = Array.from({ length: 1500 }, (_, i) => ({ id: `d${i}`, text: `bread number ${i}` }));
    const controller = new AbortController();
    async function* stopped() {
      for (const document of texts) {
        if (document.id === 'd1100') controller.abort();
        yield document;
      }
    }
    await expect(index.addAll(stopped(), { job: 'j', signal: controller.signal })).rejects.toThrow();
    const again = await index.addAll(texts, { job: 'j' });
    await index.commit();
    expect(again).toMatchObject({ numThere: 1024, numAdded: 476 }); // two groups of 512 were encoded before the stop
    expect((await index.stats()).numDocs).toBe(1500);
    const third = await index.addAll(texts, { job: 'j' });
    expect(third).toMatchObject({ numThere: 1500, numAdded: 0 });
    await index.addAll(texts.slice(0, 10), { job: 'k' });
    expect(await index.deleteOthers('k')).toBe(1490);
    await index.close();
  });

  it.each<[string, (server: Server, names: { readonly alias: string; readonly other: string }) => Promise<unknown>]>([
    [
      'is deleted',
      async (server, { alias }) => {
        const named = await resolveName(server, alias);
        for (const index of named.kind === 'alias' ? named.indexes : []) await deleteIndex(server, index);
      },
    ],
    ['gives its name to another', (server, { alias, other }) => pointAlias(server, alias, other)],
  ])('an addition whose index %s meanwhile is an error: documents went elsewhere', async (_, meanwhile) => {
    const [alias, first, other] = [freshName(), freshName(), freshName()];
    for (const name of [first, other]) await (await create({}, name)).close();
    const server = realServer();
    await pointAlias(server, alias, first);
    const index = await openOpenSearchIndex(realServer(), alias, { model });
    async function* documents() {
      for (let i = 0; i < 600; i++) {
        if (i === 550) await meanwhile(server, { alias, other });
        yield { id: `d${i}`, text: 'bread' };
      }
    }
    await expect(index.addAll(documents(), { job: 'j', writer: { batchDocs: 100 } })).rejects.toMatchObject({
      code: 'INDEX_STATE',
      message: expect.stringContaining('another index'),
    });
    await index.close();
    server.close();
  });

  it('an index takes the place of another behind a name, in one step', async () => {
    const [name, a, b] = [freshName(), freshName(), freshName()];
    const server = realServer();
    for (const index of [a, b]) await (await createOpenSearchIndex(realServer(), index, { model })).close();
    expect(await resolveName(server, name)).toEqual({ kind: 'none' });
    expect(await pointAlias(server, name, a)).toEqual([]);
    expect(await pointAlias(server, name, b)).toEqual([a]);
    expect(await resolveName(server, name)).toEqual({ kind: 'alias', indexes: [b] });
    expect(await pointAlias(server, a, b)).toEqual([a]); // an index of that name goes in the same step
    expect(await resolveName(server, a)).toEqual({ kind: 'alias', indexes: [b] });
    server.close();
  });

  const lzero = (...argv: string[]): Promise<Outcome> => runCommands([opensearchCommand, evalCommand], argv);
  async function lzeroJson(...argv: string[]) {
    const { exitCode, stdout, stderr } = await lzero(...argv, '--json');
    if (exitCode !== 0) throw new Error(`exit code ${exitCode}: ${stderr}\n${stdout}`);
    return JSON.parse(stdout);
  }

  it('the commands: ingest, search, explain, check, eval, replace, delete', async () => {
    const name = freshName();
    const address = `${SERVER_URL}/${name}`;
    const corpus = scratch.writeLines('beir/corpus.jsonl', [
      { _id: 'bread', title: 'Sourdough', text: 'Flour, water and salt become bread.', metadata: { lang: 'en' } },
      { _id: 'chain', title: 'Bicycle chain', text: 'Oil the chain of a bicycle.', metadata: { lang: 'en' } },
      { _id: 'tyre', title: 'Flat tyre', text: 'A bicycle with a flat tyre. Mend it.', metadata: { lang: 'de' } },
    ]);
    scratch.writeLines('beir/queries.jsonl', [
      { _id: 'q1', text: 'flat bicycle' },
      { _id: 'q2', text: 'bread.' },
    ]);
    scratch.write('beir/qrels/test.tsv', 'query-id\tcorpus-id\tscore\nq1\ttyre\t1\nq2\tbread\t1\n');
    expect((await lzero('opensearch', 'ingest', corpus, address)).stderr).toContain('--create');
    const made = await lzeroJson('opensearch', 'ingest', corpus, address, '--create', '--fields', 'lang:keyword');
    expect(made).toMatchObject({ documents: 3, added: 3, there: 0, rejected: 0 });
    expect(await lzeroJson('opensearch', 'ingest', corpus, address, '--fields', 'lang:keyword')).toMatchObject({
      added: 0,
      there: 3,
    });
    const found = await lzeroJson('opensearch', 'search', address, 'flat bicycle', '--explain');
    expect(found.hits.map(({ id }: { id: string }) => id)).toEqual(['tyre', 'chain']);
    const german = await lzeroJson('opensearch', 'search', address, 'bicycle', '--filter', '{"lang": "de"}');
    expect(german.hits).toHaveLength(1);
    expect((await lzero('opensearch', 'search', address, 'flat bicycle')).stdout).toContain('Flat tyre');
    expect(await lzeroJson('opensearch', 'explain', address, 'flat bicycle', 'chain')).toMatchObject({
      rank: 2,
      missing: [{ token: 'flat' }],
    });
    const folder = scratch.path('beir');
    expect(await lzeroJson('opensearch', 'check', address, folder)).toMatchObject({
      isWithinBounds: true,
      numQueries: 2,
    });
    const evaluated = await lzeroJson('eval', folder, '--system', `opensearch:${address}`);
    expect(evaluated.collections[0].rows[0]).toMatchObject({ 'ndcg@10': 1 });
    const ways = ['?two-phase', '?hybrid=0.5'].flatMap((way) => ['--system', `opensearch:${address}${way}`]);
    const both = await lzeroJson('eval', folder, ...ways);
    expect(both.collections[0].rows).toMatchObject([{ system: ways[1] }, { system: ways[3] }]);
    const odd = await lzero('eval', folder, '--system', `opensearch:${address}?two-fase`);
    expect(odd).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('two-fase') });
    expect((await lzero('opensearch', 'ingest', corpus, address, '--replace')).stderr).toContain('--delete-old');
    const replaced = await lzeroJson('opensearch', 'ingest', corpus, address, '--replace', '--delete-old');
    expect(replaced).toMatchObject({ documents: 3, replaced: [name], deletedIndexes: [name] });
    expect((await lzero('opensearch', 'search', address, 'bread')).stdout).toContain('Sourdough');
    const still = await lzeroJson('opensearch', 'search', address, 'bicycle', '--filter', '{"lang": "de"}');
    expect(still.hits).toHaveLength(1); // declared fields are those of the index that was replaced
    expect((await lzero('opensearch', 'delete', address)).exitCode).toBe(2);
    expect(await lzeroJson('opensearch', 'delete', address, 'bread')).toMatchObject({ deleted: 1 });
    expect(await lzeroJson('opensearch', 'delete', address, '--yes')).toMatchObject({
      indexes: [expect.stringContaining(name)],
    });
    expect((await lzero('opensearch', 'search', address, 'bread')).exitCode).toBe(1);
  });

  describe('--replace', () => {
    const names = ['a', 'b', 'none', 'odd'] as const;
    const corpora = new Map<string, string>();
    beforeAll(() => {
      const lines = { a: [{ _id: 'a', text: 'bread' }], b: [{ _id: 'b', text: 'bread' }], none: [], odd: ODD };
      for (const name of names) corpora.set(name, scratch.writeLines(`replace-${name}.jsonl`, lines[name]));
    });
    const replace = (name: (typeof names)[number], address: string, ...more: string[]) =>
      lzero('opensearch', 'ingest', corpora.get(name) ?? '', address, '--replace', '--json', ...more);
    const behind = async (alias: string): Promise<readonly string[]> => {
      const server = realServer();
      const named = await resolveName(server, alias);
      server.close();
      return named.kind === 'alias' ? named.indexes : [];
    };

    it('moves an alias from index to index; the old one stays, and goes with --delete-old', async () => {
      const name = freshName();
      const address = `${SERVER_URL}/${name}`;
      await replace('a', address);
      const [first] = await behind(name);
      expect(JSON.parse((await replace('b', address)).stdout)).toMatchObject({ replaced: [first], deletedIndexes: [] });
      expect((await lzeroJson('opensearch', 'search', address, 'bread')).hits).toMatchObject([{ id: 'b' }]);
      expect((await lzeroJson('opensearch', 'search', `${SERVER_URL}/${first}`, 'bread')).hits).toHaveLength(1);
      const [second] = await behind(name);
      const third = JSON.parse((await replace('a', address, '--delete-old')).stdout);
      expect(third).toMatchObject({ index: first, there: 1, replaced: [second], deletedIndexes: [second] });
      expect((await lzero('opensearch', 'search', `${SERVER_URL}/${second}`, 'bread')).stderr).toContain('no index');
    });

    it('is like the old index where nobody says otherwise, and a new one where somebody does', async () => {
      const name = freshName();
      const address = `${SERVER_URL}/${name}`;
      await replace('a', address, '--shards', '2', '--names', 'plain', '--fields', 'lang:keyword');
      expect(JSON.parse((await replace('a', address)).stdout)).toMatchObject({ there: 1, replaced: [] });
      const three = JSON.parse((await replace('a', address, '--shards', '3')).stdout);
      expect(three).toMatchObject({ added: 1, replaced: [expect.stringContaining(name)] });
      const server = realServer();
      const { vector, fields } = await describeIndex(server, name);
      expect({ vector, fields }).toEqual({
        vector: { type: 'rank_features', names: 'plain' },
        fields: { lang: 'keyword' },
      });
      server.close();
    });

    it('leaves the name as it is where a document was refused, or the input has none', async () => {
      const name = freshName();
      const address = `${SERVER_URL}/${name}`;
      await replace('a', address);
      const before = await behind(name);
      const letters = ['--dead-letters', scratch.path('replace-dead.jsonl'), '--fields', 'lang:keyword'];
      const refused = await replace('odd', address, '--delete-old', ...letters);
      expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('stays what it was') });
      expect((await replace('none', address, '--delete-old')).stderr).toContain('stays what it was');
      expect(await behind(name)).toEqual(before);
      expect((await lzeroJson('opensearch', 'search', address, 'bread')).hits).toMatchObject([{ id: 'a' }]);
    });

    it('does not take what others have added to the index of the same input since', async () => {
      const name = freshName();
      const address = `${SERVER_URL}/${name}`;
      await replace('a', address);
      const [first] = await behind(name);
      await lzeroJson('opensearch', 'ingest', corpora.get('b') ?? '', address); // into what the name stands for
      const again = JSON.parse((await replace('a', address)).stdout);
      expect(again).toMatchObject({ index: `${first}-2`, added: 1, documents: 1, replaced: [first] });
      expect((await lzeroJson('opensearch', 'search', address, 'bread')).hits).toMatchObject([{ id: 'a' }]);
      expect(JSON.parse((await replace('a', address)).stdout)).toMatchObject({ index: `${first}-2`, there: 1 });
    });

    it('fills without copies and refreshes, and gives those of the old index before the name moves', async () => {
      const name = freshName();
      const address = `${SERVER_URL}/${name}`;
      const server = realServer();
      await replace('a', address, '--fields', 'lang:keyword');
      const [first] = await behind(name);
      await putSettings(server, first, { refresh_interval: '7s', number_of_replicas: 1 });
      const letters = ['--dead-letters', scratch.path('settings-dead.jsonl')];
      expect((await replace('odd', address, ...letters)).exitCode).toBe(1); // stops before the end
      const indexes = await server.ask({ method: 'GET', path: `/_cat/indices/${name}-*?format=json&h=index` });
      const names = (Array.isArray(indexes.body.list) ? indexes.body.list : []).map(({ index }) => String(index));
      const [unfinished] = names.filter((index) => index !== first);
      expect(await servingSettings(server, unfinished)).toMatchObject({
        refresh_interval: '-1',
        number_of_replicas: '0',
      });
      await replace('b', address);
      const [second] = await behind(name);
      expect(await servingSettings(server, second)).toMatchObject({ refresh_interval: '7s', number_of_replicas: '1' });
      await replace('a', address, '--replicas', '0', '--shards', '2');
      const [third] = await behind(name);
      expect(await servingSettings(server, third)).toMatchObject({ refresh_interval: '7s', number_of_replicas: '0' });
      server.close();
    });

    it('never deletes an index that lzero did not make', async () => {
      const [name, theirs] = [freshName(), freshName()];
      const server = realServer();
      await server.ask({ method: 'PUT', path: `/${theirs}` });
      await pointAlias(server, name, theirs);
      const outcome = await replace('a', `${SERVER_URL}/${name}`, '--delete-old');
      expect(outcome).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('not made by lzero') });
      expect(await behind(name)).toEqual([theirs]);
      server.close();
    });
  });

  it('options of a new index are refused where the index is there without them', async () => {
    const address = `${SERVER_URL}/${freshName()}`;
    const corpus = scratch.writeLines('options.jsonl', [{ _id: 'a', text: 'bread' }]);
    const ingest = (...more: string[]) => lzero('opensearch', 'ingest', corpus, address, '--create', ...more);
    expect((await ingest('--shards', '2')).exitCode).toBe(0);
    expect((await ingest('--shards', '2')).exitCode).toBe(0);
    for (const [flag, value] of [
      ['--shards', '3'],
      ['--type', 'sparse_vector'],
      ['--names', 'plain'],
      ['--fields', 'lang:keyword'],
    ])
      expect(await ingest(flag, value)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining(`${flag} is for a new`),
      });
    expect((await ingest('--no-store-vectors')).exitCode).toBe(2);
  });

  it('vectors that are not those of the input, or more than those, are an error', async () => {
    const address = `${SERVER_URL}/${freshName()}`;
    const corpus = scratch.writeLines('vectors-corpus.jsonl', [{ _id: 'a', text: 'bread' }]);
    const vectors = scratch.writeLines('vectors-more.jsonl', [
      { _id: 'a', vector: { bread: 1 } },
      { _id: 'b', vector: { bread: 2 } },
    ]);
    const outcome = await lzero('opensearch', 'ingest', corpus, address, '--create', '--vectors', vectors);
    expect(outcome).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('where the input has ended') });
  });

  it('--sync deletes what the input does not have, and nothing where not all of the input is in', async () => {
    const address = `${SERVER_URL}/${freshName()}`;
    const fields = ['--fields', 'lang:keyword'];
    const ingest = (name: string, lines: readonly JsonObject[], ...more: string[]) =>
      lzero('opensearch', 'ingest', scratch.writeLines(name, lines), address, ...more, '--json');
    const ids = async (): Promise<string[]> => {
      const { hits } = await lzeroJson('opensearch', 'search', address, 'bread');
      return hits.map(({ id }: { id: string }) => id);
    };
    const bread = (...names: string[]) => names.map((_id) => ({ _id, text: 'bread' }));
    await ingest('sync-0.jsonl', bread('good', 'bad', 'old'), '--create', ...fields);
    const letters = ['--dead-letters', scratch.path('sync-dead.jsonl')];
    const failed = { exitCode: 1, stderr: expect.stringContaining('--sync has deleted nothing') };
    expect(await ingest('sync-1.jsonl', ODD, '--sync', ...letters)).toMatchObject(failed);
    expect(
      await ingest('sync-2.jsonl', [...bread('good'), { _id: 'bad', text: 7 }], '--sync', '--skip-bad'),
    ).toMatchObject(failed);
    expect(await ingest('sync-3.jsonl', [], '--sync')).toMatchObject(failed);
    expect(await lzero('opensearch', 'ingest', '-', address, '--sync')).toMatchObject({ exitCode: 2 });
    expect(new Set(await ids())).toEqual(new Set(['good', 'bad', 'old']));
    const synced = await ingest('sync-4.jsonl', bread('good', 'bad'), '--sync');
    expect(JSON.parse(synced.stdout)).toMatchObject({ added: 2, deleted: 1 });
    expect(new Set(await ids())).toEqual(new Set(['good', 'bad']));
  });

  it('a page that has become shorter leaves no parts behind, nor does a document that is cut now, or was before', async () => {
    const address = `${SERVER_URL}/${freshName()}`;
    const text = (count: number): string =>
      ['bread', ...Array.from({ length: count }, () => 'flour and water '.repeat(15))].join('\n\n');
    const ingest = (name: string, lengths: Readonly<Record<string, number>>) => {
      const lines = Object.entries(lengths).map(([_id, count]) => ({ _id, text: text(count) }));
      const corpus = scratch.writeLines(`${name}.jsonl`, lines);
      return lzeroJson('opensearch', 'ingest', corpus, address, '--chunk', '64', '--create');
    };
    const all = async (): Promise<string[]> => {
      const { hits } = await lzeroJson('opensearch', 'search', address, 'bread flour', '--parts', '-k', '1000');
      return hits.map(({ id }: { id: string }) => id).sort();
    };
    const parts = (page: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${page}#${i}`);
    expect((await ingest('long', { p: 6, q: 4, r: 0 })).deleted).toBe(0);
    expect(await all()).toEqual([...parts('p', 6), ...parts('q', 4), 'r']);
    expect((await ingest('shorter', { p: 2, q: 4, r: 3 })).deleted).toBe(4 + 1);
    expect(await all()).toEqual([...parts('p', 2), ...parts('q', 4), ...parts('r', 3)]);
    expect((await ingest('shorter', { p: 2, q: 4, r: 3 })).deleted).toBe(0);
    expect((await ingest('short', { p: 0, q: 2, r: 0 })).deleted).toBe(2 + 2 + 3);
    expect(await all()).toEqual(['p', ...parts('q', 2), 'r']);
  });

  it('what a page leaves over goes, too, where all of the page was sent before a kill; a part that is added alone takes nothing', async () => {
    const index = await create();
    const part = (chunk: number, text: string): EngineDocument => ({ id: `p#${chunk}`, page: 'p', chunk, text });
    await index.addAll(
      [0, 1, 2].map((i) => part(i, 'bread')),
      { job: 'old' },
    );
    const shorter = [part(0, 'bread again')];
    expect(await index.addAll(shorter, { job: 'new' })).toMatchObject({ numAdded: 1, numLeftOver: 0 });
    await index.commit();
    expect((await index.stats()).numDocs).toBe(3);
    const again = await index.addAll(shorter, { job: 'new', replacePages: true });
    expect(again).toMatchObject({ numAdded: 0, numThere: 1, numLeftOver: 2 });
    await index.commit();
    expect((await index.stats()).numDocs).toBe(1);
    await index.close();
  });

  it('four ingests that share a corpus fill one index, in the order of the corpus', async () => {
    const address = `${SERVER_URL}/${freshName()}`;
    const corpus = scratch.writeLines(
      'shared.jsonl',
      Array.from({ length: 41 }, (_, i) => ({ _id: `d${i}`, text: 'the very same words' })),
    );
    await Promise.all(
      [1, 2, 3, 4].map((part) =>
        lzeroJson('opensearch', 'ingest', corpus, address, '--create', '--shard', `${part}/4`),
      ),
    );
    const { hits } = await lzeroJson('opensearch', 'search', address, 'same words', '-k', '41');
    expect(hits.map(({ id }: { id: string }) => id)).toEqual(Array.from({ length: 41 }, (_, i) => `d${i}`));
  });

  it('documents that the server refuses go to the file of dead letters, with the reason', async () => {
    const address = `${SERVER_URL}/${freshName()}`;
    const corpus = scratch.writeLines('odd.jsonl', ODD);
    const letters = scratch.path('dead.jsonl');
    const outcome = await lzeroJson(
      'opensearch',
      'ingest',
      corpus,
      address,
      '--create',
      '--fields',
      'lang:keyword',
      '--dead-letters',
      letters,
    );
    expect(outcome).toMatchObject({ added: 1, rejected: 1 });
    const letter = JSON.parse(readFileSync(letters, 'utf8').trim());
    expect(letter).toMatchObject({
      _id: 'bad',
      status: 400,
      reason: expect.stringMatching(/immense|max/),
      document: { id: 'bad' },
    });
  });

  it.each<[string, JsonObject]>([
    ['whose ingest pipeline is not there', { settings: { default_pipeline: 'lzero-no-such-pipeline' } }],
    ['whose field of vectors has another type', { vector: { type: 'float' } }],
    ['that is an alias which nothing may be written to', { alias: true }],
  ])('an index %s ends an ingest; no document is taken for a dead letter', async (_, how) => {
    const name = freshName();
    const server = realServer();
    const put = (path: string, body: JsonObject, method: 'PUT' | 'POST' = 'PUT') =>
      server.ask({ method, path, body: JSON.stringify(body) });
    await (await create({}, name)).close();
    if (isJsonObject(how.settings)) await put(`/${name}/_settings`, { index: how.settings });
    if (how.alias)
      await put(
        '/_aliases',
        { actions: [{ add: { index: name, alias: `${name}-a`, is_write_index: false } }] },
        'POST',
      );
    if (isJsonObject(how.vector)) {
      const { body } = await server.ask({ method: 'GET', path: `/${name}/_mapping` });
      const mappings = JSON.parse(JSON.stringify(body[name])).mappings;
      await deleteIndex(server, name);
      await put(`/${name}`, { mappings: { ...mappings, properties: { ...mappings.properties, vector: how.vector } } });
    }
    const address = `${SERVER_URL}/${name}${how.alias ? '-a' : ''}`;
    const letters = scratch.path(`letters-of-${name}.jsonl`);
    const lines = ['x', 'y', 'z'].map((_id) => ({ _id, text: 'bread' }));
    for (const corpus of [lines, lines.slice(0, 1)]) {
      const file = scratch.writeLines(`of-${name}-${corpus.length}.jsonl`, corpus);
      const outcome = await lzero('opensearch', 'ingest', file, address, '--dead-letters', letters);
      expect(outcome).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(/takes no documents|no write index/),
      });
      expect(readFileSync(letters, 'utf8')).toBe('');
    }
    server.close();
  });

  it.each([
    ['blocked', '_settings', { 'index.blocks.write': true }],
    ['closed', '_close', {}],
  ] as const)('an index that is %s ends an ingest; no document is taken for a dead letter', async (_, action, body) => {
    const name = freshName();
    const server = realServer();
    const index = await create({}, name);
    const method = action === '_close' ? 'POST' : 'PUT';
    await server.ask({ method, path: `/${name}/${action}`, body: JSON.stringify(body) });
    const rejected: unknown[] = [];
    const writer = { onRejected: (rejection: unknown): void => void rejected.push(rejection) };
    const bulk = new BulkWriter(server, name, writer);
    await bulk.write({ kind: 'index', id: 'a', source: '{}' });
    await expect(bulk.flush()).rejects.toMatchObject({ code: 'SERVER' });
    expect(rejected).toEqual([]);
    await index.close();
    server.close();
  });
});
