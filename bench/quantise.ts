/**
 * What eight bits cost: rankings by codes against rankings by float weights, for several largest weights, on vectors of a
 * real model. Says how the largest weight of an index should be chosen.
 *
 *     npx tsx bench/quantise.ts VECTORS.jsonl QUERIES [--model FOLDER]
 *
 * VECTORS as `lzero encode` writes them; QUERIES are lines, or BEIR's queries.jsonl; the model gives vocabulary and IDF.
 */
import { parseArgs } from 'node:util';
import { dot, type SparseVector, sparseVector } from '../src/core/index.ts';
import { readQueries, readVectors } from '../src/data/index.ts';
import { loadModel } from '../src/model/index.ts';
import {
  bytesSource,
  quantiseVector,
  type SparseCodes,
  SparseSearcher,
  sparseFormat,
  writtenBytes,
} from '../src/search/index.ts';
import { circumstances } from './lib/machine.ts';

const K = 10;
const MAX_QUERIES = 300;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { model: { type: 'string' } } });
const [vectorsFile, queriesFile] = positionals;
const model = await loadModel(values.model);
const { vocabulary } = model.tokenizer;

const documents: SparseVector[] = [];
for await (const { tokens, weights } of readVectors(vectorsFile))
  documents.push(
    sparseVector(
      tokens.map((token) => vocabulary.idOf(token) ?? Number.NaN),
      weights,
    ),
  );
const queries: SparseVector[] = [];
for await (const { text } of readQueries(queriesFile)) {
  if (queries.length < MAX_QUERIES) queries.push(model.encodeQuery(text).vector);
}
const exact = queries.map((query) => rankByFloat(query, K));
const largest = documents.reduce((max, { weights }) => weights.reduce((a, b) => Math.max(a, b), max), 0);

console.log(JSON.stringify(await circumstances()));
console.log(`${documents.length} documents, ${queries.length} queries; largest weight ${largest.toFixed(4)}`);
console.log('max weight   clamped   overlap@10   float top 10 inside top 20 by codes');
for (const maxWeight of [largest, model.maxWeight, 1.25 * model.maxWeight, 2 * largest, 4 * largest])
  measure(maxWeight);

function rankByFloat(query: SparseVector, k: number): number[] {
  return documents
    .map((document, id) => ({ id, score: dot(query, document) }))
    .sort((a, b) => b.score - a.score || a.id - b.id)
    .slice(0, k)
    .map(({ id }) => id);
}

function measure(maxWeight: number): void {
  const scale = maxWeight / 255;
  let numClamped = 0;
  const codes = documents.map((document): SparseCodes => {
    const quantised = quantiseVector(document, scale);
    numClamped += quantised.numClamped;
    return quantised.codes;
  });
  const searcher = searcherOf(codes, scale);
  let overlap = 0;
  let numInside = 0;
  queries.forEach((query, q) => {
    const found = Array.from(searcher.search(query, { k: 2 * K }).docIds);
    overlap += exact[q].filter((id) => found.slice(0, K).includes(id)).length / K;
    if (exact[q].every((id) => found.includes(id))) numInside++;
  });
  const columns = [
    maxWeight.toFixed(4).padStart(10),
    String(numClamped).padStart(9),
    (overlap / queries.length).toFixed(4).padStart(12),
    `${((100 * numInside) / queries.length).toFixed(1)} % of queries`.padStart(24),
  ];
  console.log(columns.join(' '));
}

function searcherOf(codes: readonly SparseCodes[], scale: number): SparseSearcher {
  const bytes = writtenBytes((sink) => sparseFormat.write(codes, sink));
  const searcher = new SparseSearcher({ scale });
  const source = bytesSource(bytes, 'segment');
  searcher.setSegments([{ key: 'all', source, numDocs: codes.length, deleted: undefined }]);
  return searcher;
}
