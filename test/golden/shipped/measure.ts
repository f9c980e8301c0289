/** What is measured of a shipped model, for those who write test/golden/shipped and those who hold it to it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMBEDDED_COLLECTION } from '../../../src/data/index.ts';
import { loadModel, type Model } from '../../../src/model/index.ts';
import { indexNdcg } from '../../lib/index-ndcg.ts';

/** Weights by token of each text. */
export async function vectorsOf(model: Model, texts: readonly string[]): Promise<Map<string, number>[]> {
  const { tokens } = model.tokenizer.vocabulary;
  const vectors: Map<string, number>[] = [];
  for await (const { vector } of model.encode(texts.map((text, i) => ({ id: String(i), text }))))
    vectors.push(new Map(Array.from(vector.terms, (term, i) => [tokens[term], vector.weights[i]])));
  return vectors;
}

/** NDCG@10 of the embedded collection, with the precision that the model has by default. */
export async function embeddedNdcg(name: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'lzero-shipped-'));
  const model = await loadModel(name);
  try {
    return await indexNdcg(EMBEDDED_COLLECTION, join(folder, 'index'), { model });
  } finally {
    await model.close();
    await rm(folder, { recursive: true });
  }
}
