/** Published figures, measured again through the index: opt-in, they need the collections and a trained model. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CreateIndexOptions } from '../src/engines/index.ts';
import { loadModel } from '../src/model/index.ts';
import { indexNdcg } from './lib/index-ndcg.ts';

const data = process.env.LZERO_SHARED_DATA;
const weights = process.env.LZERO_WEIGHTS;
const needsData = data ? '' : ' (skipped: LZERO_SHARED_DATA does not name the collections)';
const needsWeights = data && weights ? '' : ' (skipped: LZERO_SHARED_DATA or LZERO_WEIGHTS is not set)';

/** Encoding SciFact takes a minute on two cores, several on busy ones. */
const ENCODING_MS = 900_000;

describe('SciFact through the index', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lzero-real-search-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const measure = (name: string, options: CreateIndexOptions): Promise<number> =>
    indexNdcg(join(data ?? '', 'collections/beir/scifact'), join(folder, name), options);

  it.skipIf(!data)(`BM25 has NDCG@10 0.679 ± 0.004 (anserini, flat)${needsData}`, { timeout: 120_000 }, async () => {
    const ndcg = await measure('bm25', { kind: 'bm25' });
    expect(Math.abs(ndcg - 0.679)).toBeLessThanOrEqual(0.004);
  });

  it.skipIf(!data || !weights)(
    `splade-tiny with IDF queries has NDCG@10 0.633 ± 0.004${needsWeights}`,
    { timeout: ENCODING_MS },
    async () => {
      const idf = join(data ?? '', 'idf.json');
      const model = await loadModel(join(weights ?? '', 'splade-tiny'), { encodeLength: 256, idf });
      try {
        const ndcg = await measure('splade-tiny', { model });
        expect(Math.abs(ndcg - 0.633)).toBeLessThanOrEqual(0.004);
      } finally {
        await model.close();
      }
    },
  );
});
