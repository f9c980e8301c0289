/** Our own side of bench/search-peers.ts: `search-contender.ts FOLDER`, speaks the lines that bench/peers/search_files.py describes. */
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { type SparseVector, sparseVector } from '../../src/core/index.ts';
import { SparseSearcher, type TopK, writeSparseSegment } from '../../src/search/index.ts';
import { readVectors, type Vectors, writeFound } from './search-files.ts';
import { memorySource } from './sparse-index.ts';

const requestSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('build') }),
  z.object({ kind: z.literal('search'), k: z.number(), numQueries: z.number(), results: z.string().optional() }),
]);

function build({ offsets, terms, codes }: Vectors): Uint8Array {
  const pieces: Buffer[] = [];
  const numDocs = offsets.length - 1;
  const write = (bytes: Uint8Array): void => {
    pieces.push(Buffer.from(bytes));
  };
  writeSparseSegment({ numDocs, offsets, terms, codes }, { write });
  return new Uint8Array(Buffer.concat(pieces));
}

function queriesOf({ offsets, terms, codes }: Vectors): SparseVector[] {
  return Array.from({ length: offsets.length - 1 }, (_, i) =>
    sparseVector(terms.subarray(offsets[i], offsets[i + 1]), codes.subarray(offsets[i], offsets[i + 1])),
  );
}

function write(path: string, found: readonly TopK[], k: number): void {
  const docIds = new Int32Array(found.length * k).fill(-1);
  const scores = new Float32Array(docIds.length);
  found.forEach((hits, i) => {
    docIds.set(hits.docIds, i * k);
    scores.set(hits.scores, i * k);
  });
  writeFound(path, docIds, scores);
}

async function main(): Promise<void> {
  const [folder] = process.argv.slice(2);
  const queries = queriesOf(readVectors(folder, 'query-'));
  const searcher = new SparseSearcher({ scale: 1 });
  console.log(JSON.stringify({ ready: true }));
  for await (const line of createInterface({ input: process.stdin })) {
    const request = requestSchema.parse(JSON.parse(line));
    const start = performance.now();
    if (request.kind === 'build') {
      const documents = readVectors(folder, '');
      const bytes = build(documents);
      const numDocs = documents.offsets.length - 1;
      searcher.setSegments([{ key: 'all', source: memorySource(bytes), numDocs, deleted: undefined }]);
      const ms = performance.now() - start;
      console.log(JSON.stringify({ ms, sizeBytes: bytes.length, settings: [''] }));
      continue;
    }
    const { k, numQueries, results } = request;
    const us: number[] = [];
    const found: TopK[] = [];
    for (const query of queries.slice(0, numQueries)) {
      const begin = performance.now();
      found.push(searcher.search(query, { k }));
      us.push((performance.now() - begin) * 1000);
    }
    if (results) write(results, found, k);
    console.log(JSON.stringify({ ms: performance.now() - start, us }));
  }
}

await main();
