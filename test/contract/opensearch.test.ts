/** OpenSearch against the one contract, in every way that its answers are exact. */
import { Client } from '@opensearch-project/opensearch';
import { afterAll, beforeAll, vi } from 'vitest';
import { loadModel, type Model } from '../../src/model/index.ts';
import {
  type CreateOpenSearchOptions,
  createOpenSearchIndex,
  officialClient,
  Server,
} from '../../src/opensearch/index.ts';
import {
  describeOnServer,
  freshName,
  realServer,
  removeIndexes,
  SERVER_TEST_MS,
  SERVER_URL,
} from '../opensearch/real-server.ts';
import { engineContract } from './engine.ts';

const FIELDS = { lang: 'keyword', year: 'number' } as const;

describeOnServer('OpenSearch', () => {
  let model: Model;
  vi.setConfig({ testTimeout: SERVER_TEST_MS, hookTimeout: SERVER_TEST_MS });
  beforeAll(async () => {
    model = await loadModel('bow');
  });
  const clients: Client[] = [];
  afterAll(async () => {
    for (const client of clients) await client.close();
    await removeIndexes();
  });

  const create = (options: Partial<CreateOpenSearchOptions> = {}, server = realServer()) =>
    createOpenSearchIndex(server, freshName(), { model, fields: FIELDS, ...options });
  const byOfficialClient = (): Server => {
    const client = new Client({ node: SERVER_URL ?? '' });
    clients.push(client);
    return new Server(officialClient(client, { stallMs: 120_000 }), { patienceMs: 60_000 });
  };

  engineContract({ name: 'rank_features by neural_sparse', create: () => create() });
  engineContract({ name: '@opensearch-project/opensearch', create: () => create({}, byOfficialClient()) });
  engineContract({
    name: 'rank_features by rank_feature clauses',
    create: () => create({ query: { kind: 'rank_feature' } }),
  });
  engineContract({
    name: 'rank_features with plain names',
    create: () => create({ vector: { type: 'rank_features', names: 'plain' } }),
  });
  engineContract({
    name: 'sparse_vector below its threshold',
    create: () =>
      create({
        vector: { type: 'sparse_vector', documentCeiling: 1, queryCeiling: 16, approximateThreshold: 1_000_000 },
      }),
  });
});
