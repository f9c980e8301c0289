/**
 * A Siamese model, end to end: splade-tiny on SciFact with its network on both sides, scored exhaustively.
 *
 *     npx tsx runs/scifact-siamese.ts DATA CHECKPOINT
 *
 * DATA is the unpacked folder of real data (collections/beir/scifact), CHECKPOINT the Hugging Face folder of splade-tiny.
 * k = 0, 256 tokens. Expected: NDCG@10 0.644 ± 0.004, where IDF queries give 0.633 (scifact-splade-tiny.ts);
 * test/real-siamese.test.ts holds it to that. With the index, at 512 tokens and 8 bits, it is
 *
 *     lzero eval DATA/collections/beir/scifact --system CHECKPOINT --system siamese:CHECKPOINT
 *
 * Build first (`npm run build`): the engine thread runs from dist.
 */
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Hit, type Query, readQrels, readQueries } from '../src/data/index.ts';
import { costsOf, evaluateRun, TermCounter } from '../src/eval/index.ts';
import { loadQueryModel } from '../src/model/index.ts';
import { ExhaustiveIndex, encodeFolder, type SciFactFolders } from './scifact-splade-tiny.ts';

const METRIC = 'ndcg@10';

/** What the run measures. */
export type SiameseResult = {
  readonly ndcg10: number;
  readonly numDocs: number;
  readonly numQueries: number;
  /** Mean number of terms of a query, and of a document. */
  readonly queryLen: number;
  readonly docLen: number;
  readonly flops: number;
};

/** Encodes all of SciFact, documents and judged queries, and ranks every document for every query. */
export async function scifactSiamese({ data, checkpoint }: SciFactFolders): Promise<SiameseResult> {
  const folder = join(data, 'collections/beir/scifact');
  const model = await loadQueryModel(checkpoint, { activation: 'relu', encodeLength: 256, prune: { rule: 'none' } });
  try {
    const documents = await encodeFolder(model, folder);
    const qrels = await readQrels(join(folder, 'qrels/test.tsv'));
    const judged: Query[] = [];
    for await (const query of readQueries(folder)) if (qrels.has(query.id)) judged.push(query);
    const index = new ExhaustiveIndex(documents, model.tokenizer.vocabulary.size);
    const run = new Map<string, Hit[]>();
    const [asked, held] = [new TermCounter(), new TermCounter()];
    for (const { vector } of documents) held.add(vector);
    for await (const { vector } of model.encodeQueries(judged.map(({ text }) => text))) {
      run.set(judged[run.size].id, index.best(vector));
      asked.add(vector);
    }
    const { mean, perQuery } = evaluateRun(run, qrels, { metrics: [METRIC], averageOver: 'judged' });
    const sizes = { numDocs: documents.length, numQueries: perQuery.size };
    return { ndcg10: mean[METRIC], ...sizes, ...costsOf(asked, held) };
  } finally {
    await model.close();
  }
}

async function main(): Promise<void> {
  const [data, checkpoint] = process.argv.slice(2);
  if (!data || !checkpoint) throw new Error('usage: npx tsx runs/scifact-siamese.ts DATA CHECKPOINT');
  const start = performance.now();
  const result = await scifactSiamese({ data, checkpoint });
  console.log(`NDCG@10 ${result.ndcg10.toFixed(4)}   (${result.numQueries} queries, encoded; exhaustive, linear gain)`);
  console.log(`terms   ${result.queryLen.toFixed(1)} a query, ${result.docLen.toFixed(1)} a document`);
  console.log(`FLOPS   ${result.flops.toFixed(2)}   (${result.numDocs} documents)`);
  console.log(`time    ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) await main();
