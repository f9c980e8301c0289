/** NDCG@10 of a collection through an index that is made for it. */
import { openCollection } from '../../src/data/index.ts';
import { type CreateIndexOptions, createIndex } from '../../src/engines/index.ts';
import { evaluateRun, indexSystem, runSystem } from '../../src/eval/index.ts';

/** Makes an index of the collection in a folder that is not there yet, and searches it. */
export async function indexNdcg(collection: string, folder: string, options: CreateIndexOptions): Promise<number> {
  const opened = await openCollection(collection);
  const index = await createIndex(folder, { ...options, writer: { log: false } });
  try {
    await index.add(opened.documents());
    await index.commit();
    const { run } = await runSystem(indexSystem(index, { name: 'index', id: 'index' }), opened, { k: 10 });
    return evaluateRun(run, opened.qrels, { metrics: ['ndcg@10'], averageOver: 'judged' }).mean['ndcg@10'];
  } finally {
    await index.close();
  }
}
