/**
 * BM25 end to end: SciFact by Lucene's analysis and formula, in memory.
 *
 *     npx tsx runs/bm25-scifact.ts DATA
 *
 * DATA is the unpacked folder of real data (collections/beir/scifact). Title and text are one field, k1 0.9, b 0.4.
 * Expected: NDCG@10 0.679 ± 0.004, what anserini publishes for its flat index (0.6789).
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { documentTexts, readDocuments, readQueries } from '../src/data/index.ts';
import { analyse, Bm25Searcher, bm25Format } from '../src/search/index.ts';

const DEPTH = 10;

/** What the run measures. */
export type Bm25SciFactResult = {
  readonly ndcg10: number;
  readonly numDocs: number;
  readonly numQueries: number;
  readonly sizeBytes: number;
  readonly numPostings: number;
};

/** Indexes all of SciFact and searches with every judged query. */
export async function bm25SciFact(data: string): Promise<Bm25SciFactResult> {
  const folder = join(data, 'collections/beir/scifact');
  const ids: string[] = [];
  const payloads: string[][] = [];
  for await (const { id, text } of documentTexts(readDocuments(folder))) {
    ids.push(id);
    payloads.push(analyse(text));
  }
  const { bytes, numPostings } = segmentOf(payloads);
  const searcher = new Bm25Searcher();
  const source = {
    label: 'scifact',
    sizeBytes: bytes.length,
    read: (at: number, n: number) => bytes.subarray(at, at + n),
  };
  searcher.setSegments([{ key: 'scifact', source, numDocs: ids.length, deleted: undefined }]);
  const qrels = readQrels(join(folder, 'qrels/test.tsv'));
  const gains: number[] = [];
  for await (const { id, text } of readQueries(folder)) {
    const judged = qrels.get(id);
    if (!judged) continue;
    const { docIds } = searcher.search(analyse(text), { k: DEPTH });
    gains.push(
      ndcg(
        Array.from(docIds, (doc) => ids[doc]),
        judged,
      ),
    );
  }
  const ndcg10 = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
  return { ndcg10, numDocs: ids.length, numQueries: gains.length, sizeBytes: bytes.length, numPostings };
}

function segmentOf(payloads: readonly (readonly string[])[]): { bytes: Uint8Array; numPostings: number } {
  const pieces: Uint8Array[] = [];
  const { numPostings } = bm25Format.write(payloads, { write: (bytes) => pieces.push(bytes.slice()) });
  return { bytes: new Uint8Array(Buffer.concat(pieces)), numPostings };
}

/** Gains of the judged documents, by query id. */
function readQrels(path: string): Map<string, Map<string, number>> {
  const qrels = new Map<string, Map<string, number>>();
  const [, ...lines] = readFileSync(path, 'utf8').trimEnd().split('\n');
  for (const line of lines) {
    const [query, document, gain] = line.split('\t');
    const judged = qrels.get(query) ?? new Map<string, number>();
    qrels.set(query, judged.set(document, Number(gain)));
  }
  return qrels;
}

/** NDCG@10 = Σ gain/log2(rank + 1) over the ranking, divided by that of the ideal one; linear gain. */
function ndcg(ranking: readonly string[], judged: ReadonlyMap<string, number>): number {
  const dcg = (gains: readonly number[]) => gains.reduce((sum, gain, i) => sum + gain / Math.log2(i + 2), 0);
  const ideal = [...judged.values()].sort((a, b) => b - a).slice(0, DEPTH);
  return dcg(ranking.map((id) => judged.get(id) ?? 0)) / dcg(ideal);
}

async function main(): Promise<void> {
  const [data] = process.argv.slice(2);
  if (!data) throw new Error('usage: npx tsx runs/bm25-scifact.ts DATA');
  const start = performance.now();
  const { ndcg10, numQueries, numDocs, numPostings, sizeBytes } = await bm25SciFact(data);
  console.log(`NDCG@10 ${ndcg10.toFixed(4)}   (${numQueries} queries, k1 0.9, b 0.4, linear gain)`);
  console.log(
    `index   ${numDocs} documents, ${numPostings} postings, ${(sizeBytes / numPostings).toFixed(2)} bytes each`,
  );
  console.log(`time    ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) await main();
