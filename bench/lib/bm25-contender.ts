/** Our own side of bench/bm25.ts: `bm25-contender.ts DOCUMENTS QUERIES`, analysed words, one document or query a line. */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { Bm25Searcher, bm25Format } from '../../src/search/index.ts';

const request = z.object({ k: z.number(), from: z.number(), to: z.number() });

function wordLists(path: string): string[][] {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => line.split(' ').filter((word) => word !== ''));
}

function segmentBytes(documents: readonly (readonly string[])[]): Uint8Array {
  const pieces: Uint8Array[] = [];
  bm25Format.write(documents, { write: (bytes) => pieces.push(bytes.slice()) });
  return new Uint8Array(Buffer.concat(pieces));
}

async function main(): Promise<void> {
  const [documents, queries] = process.argv.slice(2, 4).map(wordLists);
  const start = performance.now();
  const bytes = segmentBytes(documents);
  const buildMs = performance.now() - start;
  const read = (at: number, length: number): Uint8Array => bytes.subarray(at, at + length);
  const source = { label: 'bench', sizeBytes: bytes.length, read };
  const searcher = new Bm25Searcher();
  searcher.setSegments([{ key: 'bench', source, numDocs: documents.length, deleted: undefined }]);
  console.log(JSON.stringify({ ready: true, buildMs, sizeBytes: bytes.length }));
  for await (const line of createInterface({ input: process.stdin })) {
    const { k, from, to } = request.parse(JSON.parse(line));
    const asked = queries.slice(from, to);
    const begin = performance.now();
    let sum = 0;
    for (const query of asked) for (const doc of searcher.search(query, { k }).docIds) sum += doc;
    console.log(JSON.stringify({ ms: performance.now() - begin, sum }));
  }
}

await main();
