/** Every engine of this package against the one contract. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type CreateIndexOptions, createIndex, hybridEngine, type Index } from '../../src/engines/index.ts';
import { loadModel, type Model } from '../../src/model/index.ts';
import { engineContract } from './engine.ts';

const FIELDS = { lang: 'keyword', year: 'number' } as const;

let folder: string;
let model: Model;
let numIndexes = 0;

beforeAll(async () => {
  model = await loadModel('bow');
  folder = await mkdtemp(join(tmpdir(), 'lzero-contract-'));
});
afterAll(() => rm(folder, { recursive: true }));

const create = (options: CreateIndexOptions = {}): Promise<Index> =>
  createIndex(join(folder, String(numIndexes++)), { fields: FIELDS, model, ...options });

engineContract({ name: 'the embedded index', create: () => create() });
engineContract({ name: 'the lean index', create: () => create({ mode: 'lean' }) });
engineContract({ name: 'the index on worker threads', create: () => create({ workers: 2 }) });
engineContract({ name: 'the BM25 index', create: () => create({ kind: 'bm25' }) });
engineContract({
  name: 'reciprocal rank fusion',
  create: async () => hybridEngine([await create(), await create({ kind: 'bm25' })]),
});
engineContract({
  name: 'a weighted sum',
  create: async () =>
    hybridEngine([await create(), await create({ kind: 'bm25' })], {
      fusion: { method: 'sum', weights: [0.6, 0.4], normalise: 'none' },
    }),
});
