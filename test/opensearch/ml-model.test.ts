/**
 * Models that a real server runs: it weighs queries as we do, by our table or its own, and encodes documents where it has the
 * libraries for networks. Needs the ML plugin: OPENSEARCH_ML=1 scripts/opensearch.sh start.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { opensearchCommand } from '../../src/cli/opensearch.ts';
import { isJsonObject, type JsonObject } from '../../src/core/index.ts';
import { loadModel, type Model } from '../../src/model/index.ts';
import {
  analyzerQuery,
  createOpenSearchIndex,
  encoderModel,
  foundDocuments,
  modelQuery,
  type QueryBody,
  registerModel,
  removeModel,
  type Server,
  ServerError,
} from '../../src/opensearch/index.ts';
import { encodeQuery, type QuerySide } from '../../src/text/index.ts';
import { runCommands } from '../cli/fake-host.ts';
import { Scratch } from '../cli/index-commands.ts';
import { goldenFolder } from '../golden/model/fixtures.ts';
import { freshName, realServer, removeIndexes, SERVER_TEST_MS, SERVER_URL } from './real-server.ts';

const plugins = SERVER_URL === undefined ? [] : (await realServer().describe()).plugins;
const hasPlugin = plugins?.includes('opensearch-ml') ?? false;
if (!hasPlugin) console.log('models on OpenSearch are not tried: LZERO_OPENSEARCH names no server with the ML plugin');
const { LZERO_SHARED_DATA: data } = process.env;
const needsData = data ? '' : ' (skipped: LZERO_SHARED_DATA is not set)';

const TEXTS = ['hello world.', 'the straße, naïve ##', "l'été 東京 don't", 'hello hello hello', '½ … 3.14 ..'];

describe.skipIf(!hasPlugin)('on a server with the ML plugin', () => {
  vi.setConfig({ testTimeout: SERVER_TEST_MS, hookTimeout: SERVER_TEST_MS });
  const scratch = new Scratch();
  let server: Server;
  let model: Model;
  const ids: string[] = [];
  beforeAll(async () => {
    server = realServer();
    model = await loadModel('bow');
  });
  afterAll(async () => {
    for (const id of ids) await removeModel(server, id);
    await removeIndexes();
    server.close();
    scratch.remove();
  });

  async function predict(id: string, text: string): Promise<Record<string, number>> {
    const path = `/_plugins/_ml/models/${id}/_predict`;
    const { body } = await server.ask({ method: 'POST', path, body: JSON.stringify({ text_docs: [text] }) });
    return JSON.parse(JSON.stringify(body)).inference_results[0].output[0].dataAsMap.response[0];
  }

  const scoresOf = async (index: string, query: QueryBody): Promise<Map<string, number>> => {
    const { body } = await server.ask({ method: 'POST', path: `/${index}/_search`, body: JSON.stringify({ query }) });
    return new Map(foundDocuments(body).map(({ serverId, score }) => [serverId, score]));
  };

  async function indexOf(own: Model) {
    const index = await createOpenSearchIndex(realServer(), freshName(), {
      model: own,
      vector: { type: 'rank_features', names: 'plain' },
    });
    const vectorOf = (text: string) => Object.fromEntries(own.encodeQuery(text).terms.map(({ token }) => [token, 1.5]));
    await index.add(TEXTS.map((text, i) => ({ id: `d${i}`, text, vector: vectorOf(text) })));
    await index.commit();
    return index;
  }

  it('a tokenizer model that the command registers gives our tokens and weights, and our scores', async () => {
    const file = scratch.path('tokenizer.zip');
    const { stdout, stderr } = await runCommands(
      [opensearchCommand],
      ['opensearch', 'model', 'bow', '--register', SERVER_URL ?? '', '-o', file, '--json'],
    );
    const { id, model_content_hash_value: hash }: JsonObject = JSON.parse(stdout || stderr);
    ids.push(String(id));
    expect(JSON.parse(readFileSync(scratch.path('tokenizer.config.json'), 'utf8'))).toMatchObject({
      function_name: 'SPARSE_TOKENIZE',
      model_content_hash_value: hash,
    });
    for (const text of TEXTS) {
      const ours = model.encodeQuery(text).terms.map(({ token, weight }) => [token, weight] as const);
      const theirs = Object.entries(await predict(String(id), text)).filter(([, weight]) => weight > 1e-5);
      expect(new Set(theirs.map(([token]) => token)), text).toEqual(new Set(ours.map(([token]) => token)));
      for (const [token, weight] of theirs) expect(weight).toBeCloseTo(new Map(ours).get(token) ?? 0, 5);
    }
    const index = await indexOf(model);
    for (const text of TEXTS) {
      const query = modelQuery(text, index.description, { modelId: String(id), server: await server.describe() });
      const theirs = await scoresOf(index.index, query);
      const { hits } = await index.search(text);
      expect(hits.length, text).toBeGreaterThan(0); // each text is in the index
      for (const hit of hits) expect(theirs.get(hit.id)).toBeCloseTo(hit.score, 3);
    }
    await index.close();
  });

  it.skipIf(!data)(
    `the bert-uncased analyzer scores as we do with its own table, and is refused for another${needsData}`,
    async () => {
      const table: Record<string, number> = JSON.parse(readFileSync(join(data ?? '', 'idf.json'), 'utf8'));
      const { tokenizer } = model;
      const values = Float32Array.from(tokenizer.vocabulary.tokens, (token) => table[token]);
      const description = await server.describe();
      const index = await indexOf(model);
      const queryOf = (text: string, querySide: QuerySide) =>
        analyzerQuery(text, index.description, { querySide, server: description });
      let numHits = 0;
      for (const text of TEXTS) {
        const { terms } = encodeQuery({ tokenizer, idf: { values } }, text);
        const vector = Object.fromEntries(terms.map(({ token, weight }) => [token, weight]));
        const theirs = await scoresOf(index.index, queryOf(text, { tokenizer, idf: { values } }));
        const { hits } = await index.search({ vector });
        numHits += hits.length;
        for (const hit of hits) expect(theirs.get(hit.id)).toBeCloseTo(hit.score, 3);
      }
      expect(numHits).toBeGreaterThanOrEqual(TEXTS.length);
      expect(() => queryOf('hello', model)).toThrow(/weighs/);
      const others = values.map((weight, id) => (id === tokenizer.vocabulary.idOf('bread') ? weight + 0.001 : weight));
      expect(() => queryOf('hello', { tokenizer, idf: { values: others } })).toThrow(/other weights/);
      await index.close();
    },
  );

  it('a document encoder gives our vectors within 1e-4, or the server names the libraries that it lacks', async () => {
    const folder = goldenFolder('untied');
    const made = await encoderModel(folder, { name: 'lzero-test-encoder' }, { idf: 'none' });
    const own = await loadModel(folder, { idf: 'none' });
    try {
      const id = await registerModel(server, made);
      ids.push(id);
      for await (const { vector } of own.encode([{ id: 'a', text: TEXTS[0] }])) {
        const theirs = await predict(id, TEXTS[0]);
        expect(Object.keys(theirs)).toHaveLength(vector.terms.length);
        vector.terms.forEach((term, i) => {
          expect(theirs[own.tokenizer.vocabulary.tokens[term]]).toBeCloseTo(vector.weights[i], 4);
        });
      }
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      console.log(`no document encoder on this server: ${error.message}`);
      expect(error.hint).toContain('publish.djl.ai');
    } finally {
      await own.close();
    }
  });

  it('a model that is no archive is refused by the server, and nothing of it stays', async () => {
    const archive = Buffer.from('no archive');
    const config = {
      name: 'lzero-test-none',
      version: '1.0.0',
      function_name: 'SPARSE_TOKENIZE',
      model_format: 'ONNX',
    };
    const wrong = {
      archive,
      config: { ...config, model_content_size_in_bytes: 10, model_content_hash_value: '0'.repeat(64) },
    };
    await expect(registerModel(server, wrong)).rejects.toMatchObject({ code: 'SERVER' });
    const query = { term: { 'name.keyword': 'lzero-test-none' } };
    const { body } = await server.ask({
      method: 'POST',
      path: '/_plugins/_ml/models/_search',
      body: JSON.stringify({ query }),
    });
    const hits = isJsonObject(body.hits) ? body.hits.hits : undefined;
    expect(hits).toEqual([]);
  });
});
