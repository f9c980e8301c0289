/**
 * Real weights, end to end: splade-tiny on SciFact, scored exhaustively.
 *
 *     npx tsx runs/scifact-splade-tiny.ts DATA CHECKPOINT
 *
 * DATA is the unpacked folder of real data (collections/beir/scifact, idf.json: the MS MARCO table), CHECKPOINT the
 * Hugging Face folder of splade-tiny. k = 0, 256 tokens, IDF queries. Expected: NDCG@10 0.633 ± 0.003 at 248 ± 2 terms
 * a document; test/real-weights.test.ts holds it to that. Build first (`npm run build`): the engine thread runs from dist.
 */
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SparseVector } from '../src/core/index.ts';
import { documentTexts, type Hit, rankHits, readDocuments, readQrels, readQueries } from '../src/data/index.ts';
import { evaluateRun } from '../src/eval/index.ts';
import { type EncodedDocument, loadModel, type Model } from '../src/model/index.ts';

const DEPTH = 10;

/** Where the run's files are. */
export type SciFactFolders = { readonly data: string; readonly checkpoint: string };

/** What the run measures. */
export type SciFactResult = {
  readonly ndcg10: number;
  readonly meanTerms: number;
  readonly numDocs: number;
  readonly numQueries: number;
  readonly numTruncated: number;
};

/** Encodes all of SciFact and ranks every document for every judged query. */
export async function scifactSpladeTiny({ data, checkpoint }: SciFactFolders): Promise<SciFactResult> {
  const folder = join(data, 'collections/beir/scifact');
  const model = await loadModel(checkpoint, {
    activation: 'relu',
    encodeLength: 256,
    prune: { rule: 'none' },
    idf: join(data, 'idf.json'),
  });
  try {
    const documents = await encodeFolder(model, folder);
    const qrels = await readQrels(join(folder, 'qrels/test.tsv'));
    const index = new ExhaustiveIndex(documents, model.tokenizer.vocabulary.size);
    const run = new Map<string, Hit[]>();
    for await (const { id, text } of readQueries(folder))
      if (qrels.has(id)) run.set(id, index.best(model.encodeQuery(text).vector));
    const metric = `ndcg@${DEPTH}`;
    const { mean: values, perQuery } = evaluateRun(run, qrels, { metrics: [metric], averageOver: 'judged' });
    return {
      ndcg10: values[metric],
      meanTerms: mean(documents.map(({ vector }) => vector.terms.length)),
      numDocs: documents.length,
      numQueries: perQuery.size,
      numTruncated: documents.filter(({ truncated }) => truncated).length,
    };
  } finally {
    await model.close();
  }
}

/** Encodes all documents of a BEIR folder. */
export async function encodeFolder(model: Model, folder: string): Promise<EncodedDocument[]> {
  const encoded: EncodedDocument[] = [];
  for await (const document of model.encode(documentTexts(readDocuments(folder)))) encoded.push(document);
  return encoded;
}

/** All vectors by term; every document is scored. */
export class ExhaustiveIndex {
  readonly #ids: readonly string[];
  readonly #postings: { docs: number[]; weights: number[] }[];

  constructor(documents: readonly EncodedDocument[], vocabSize: number) {
    this.#ids = documents.map(({ id }) => id);
    this.#postings = Array.from({ length: vocabSize }, () => ({ docs: [], weights: [] }));
    documents.forEach(({ vector }, doc) => {
      vector.terms.forEach((term, i) => {
        this.#postings[term].docs.push(doc);
        this.#postings[term].weights.push(vector.weights[i]);
      });
    });
  }

  /** The best documents, in trec_eval's order. */
  best(query: SparseVector): Hit[] {
    const scores = new Float64Array(this.#ids.length);
    query.terms.forEach((term, i) => {
      const { docs, weights } = this.#postings[term];
      for (let at = 0; at < docs.length; at++) scores[docs[at]] += query.weights[i] * weights[at];
    });
    const hits = Array.from(scores, (score, doc) => ({ score, id: this.#ids[doc] }));
    return rankHits(hits.filter(({ score }) => score > 0)).slice(0, DEPTH);
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

async function main(): Promise<void> {
  const [data, checkpoint] = process.argv.slice(2);
  if (!data || !checkpoint) throw new Error('usage: npx tsx runs/scifact-splade-tiny.ts DATA CHECKPOINT');
  const start = performance.now();
  const result = await scifactSpladeTiny({ data, checkpoint });
  console.log(`NDCG@10 ${result.ndcg10.toFixed(4)}   (${result.numQueries} queries, exhaustive, linear gain)`);
  console.log(`terms   ${result.meanTerms.toFixed(1)} a document   (${result.numDocs} documents)`);
  console.log(`cut     ${result.numTruncated} documents longer than 256 tokens`);
  console.log(`time    ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) await main();
