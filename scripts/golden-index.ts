/**
 * Writes the small indexes that test/golden-index.test.ts opens in every run, so that nobody breaks the format of indexes
 * that are out there without noticing.
 *
 *     npx tsx scripts/golden-index.ts          v1 made on 2026-11-16 with lzero 0.1.0
 *
 * writes, for the format version of the code,
 *
 *     test/golden/index/vN/sparse/       learned vectors: two segments, fields, a page in parts, a deletion, float vectors
 *     test/golden/index/vN/bm25/         the same documents as words
 *     test/golden/index/vN/answers.json  what both find
 *
 * It is run once for a version, when that version is finished. Folders of released versions are never written again.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageVersion } from '../src/cli/program.ts';
import { type SparseVector, sparseVector } from '../src/core/index.ts';
import { type Document, EMBEDDED_COLLECTION, openCollection } from '../src/data/index.ts';
import {
  createIndex,
  type EngineDocument,
  type EngineQuery,
  type Index,
  type SearchOptions,
} from '../src/engines/index.ts';
import { loadModel, type Model } from '../src/model/index.ts';
import { FORMAT_VERSION } from '../src/store/index.ts';
import { goldenFolder } from '../test/golden/model/fixtures.ts';

const NUM_DOCS = 30;
const DELETED = 'bike-chain-2';

/** Queries that every kind of index takes, but for the last, which is a vector. */
const QUERIES: readonly { readonly query: EngineQuery; readonly options?: SearchOptions }[] = [
  { query: 'when is it time to buy new links before the cogs get ruined' },
  { query: 'how hard should a tyre be pumped', options: { k: 5 } },
  { query: 'squeaking brakes', options: { filter: { lang: 'en', year: { gte: 2010 } } } },
  { query: 'a page about tides and the moon', options: { parts: true, k: 20 } },
  { query: { vector: { the: 0.5, a: 1.25, s: 2 } } },
];

const folder = resolve(import.meta.dirname, '../test/golden/index', `v${FORMAT_VERSION}`);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const model = await loadModel(goldenFolder('tied'), { idf: 'none' });
const documents = await someDocuments(model);
const hits = {
  sparse: await make(join(folder, 'sparse'), { kind: 'sparse', storeVectors: true, maxWeight: 3 }),
  bm25: await make(join(folder, 'bm25'), { kind: 'bm25' }),
};
await model.close();
const madeBy = {
  command: 'npx tsx scripts/golden-index.ts',
  date: new Date().toISOString().slice(0, 10),
  lzero: packageVersion(),
};
const answers = { madeBy, formatVersion: FORMAT_VERSION, deleted: DELETED, queries: QUERIES, hits };
writeFileSync(join(folder, 'answers.json'), `${JSON.stringify(answers, undefined, 1)}\n`);

/** Passages with fields, and a page in two parts. */
async function someDocuments(tokenizing: Model): Promise<EngineDocument[]> {
  const { documents: all } = await openCollection(EMBEDDED_COLLECTION);
  const passages: Document[] = [];
  for await (const document of all()) if (passages.length < NUM_DOCS) passages.push(document);
  const fields = (i: number) => ({ lang: i % 3 === 0 ? 'de' : 'en', year: 2000 + i, seen: i % 2 === 0 });
  const parts = ['The moon pulls the sea.', 'Twice a day there is a high tide.'].map((text, chunk) => ({
    id: `tides.md#${chunk}`,
    page: 'tides.md',
    chunk,
    title: 'Tides',
    text,
    url: `https://example.org/tides${chunk === 0 ? '' : '#high'}`,
  }));
  const own = [...passages.map((document, i) => ({ ...document, fields: fields(i) })), ...parts];
  return own.map((document) => ({ ...document, vector: countsOf(`${document.title} ${document.text}`, tokenizing) }));
}

/** Weights of no model, so that the bytes do not depend on the arithmetic of a network: log(1 + count). */
function countsOf(text: string, { tokenizer }: Model): SparseVector {
  const counts = new Map<number, number>();
  for (const term of tokenizer.encode(text)) counts.set(term, (counts.get(term) ?? 0) + 1);
  const terms = [...counts.keys()].sort((a, b) => a - b);
  return sparseVector(
    terms,
    terms.map((term) => Math.log1p(counts.get(term) ?? 0)),
  );
}

type Kind = { readonly kind: 'sparse' | 'bm25'; readonly storeVectors?: boolean; readonly maxWeight?: number };

async function make(path: string, kind: Kind): Promise<unknown[]> {
  const fields = { lang: 'keyword', year: 'number', seen: 'boolean' } as const;
  // Named, because the name of a model is else the folder it was loaded from, and that is this machine's.
  const vectorsOf = kind.kind === 'sparse' ? { identity: await model.identity(), name: 'tied' } : undefined;
  const index = await createIndex(path, { ...kind, model, vectorsOf, fields, writer: { autoMerge: false } });
  const half = documents.length >> 1;
  for (const some of [documents.slice(0, half), documents.slice(half)]) {
    await index.add(some);
    await index.commit({ golden: true });
  }
  await index.delete([DELETED]);
  await index.commit();
  const found = await answersOf(index, kind.kind);
  await index.close();
  return found;
}

async function answersOf(index: Index, kind: Kind['kind']): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const { query, options } of QUERIES) {
    if (kind === 'bm25' && typeof query !== 'string') continue;
    const answer = await index.search(query, options);
    found.push(answer.hits.map(({ id, score }) => [id, score]));
  }
  return found;
}
