/** Small documents, queries and folders for tests of the index on disk, and the truth they are held against. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random, type SparseVector } from '../../src/core/index.ts';
import { quantiseQuery, quantiseVector, type SparseCodes } from '../../src/search/index.ts';
import type { NewDocument, NewStore, StoreHit } from '../../src/store/index.ts';

/** Weight of code 1. */
export const SCALE = 1 / 64;
/** Few terms, so that documents share them and scores tie. */
const NUM_TERMS = 24;
const LANGUAGES = ['en', 'de', 'fr'];

/** An index of vectors, with everything that an index can have. */
export const SPARSE: NewStore = {
  kind: 'sparse',
  model: { identity: 'model-a', name: 'a' },
  scale: SCALE,
  fields: { lang: 'keyword', year: 'number' },
  storeVectors: true,
  bm25: null,
  querySide: new TextEncoder().encode('query side'),
};

/** An index of words. */
export const WORDS: NewStore = {
  kind: 'bm25',
  model: null,
  scale: null,
  fields: {},
  storeVectors: false,
  bm25: { k1: 0.9, b: 0.4 },
};

/** A random vector whose weights are whole codes, so that codes and floats score the same. */
function randomVector(random: Random): SparseVector {
  const terms = Uint32Array.from({ length: NUM_TERMS }, (_, term) => term).filter(() => random.below(3) === 0);
  return { terms, weights: Float32Array.from(terms, () => (1 + random.below(20)) * SCALE) };
}

/** The document `id` in its `version`: always the same for the same two. */
export function documentOf(id: string, version: number): NewDocument & { readonly payload: SparseCodes } {
  const random = new Random(hash(`${id} ${version}`));
  const vector = randomVector(random);
  const fields = { lang: LANGUAGES[random.below(3)], year: 2000 + random.below(10) };
  const document = { id, title: `${id}, version ${version}`, text: 'x'.repeat(random.below(40)), fields };
  return { document, payload: quantiseVector(vector, SCALE).codes, vector };
}

/** The same as words. */
export function wordsOf(id: string, version: number): NewDocument {
  const { document, payload } = documentOf(id, version);
  const words = Array.from(payload.terms, (term, i) =>
    Array.from({ length: 1 + (payload.codes[i] % 3) }, () => `w${term}`),
  );
  return { document: { id, ...(document.title && { title: document.title }) }, payload: words.flat() };
}

function hash(text: string): number {
  let h = 7;
  for (const character of text) h = Math.imul(h, 31) + character.charCodeAt(0);
  return h;
}

/** Queries with few terms and with many. */
export const QUERIES: readonly SparseVector[] = Array.from({ length: 6 }, (_, i) => {
  const random = new Random(1000 + i);
  const terms = Uint32Array.from({ length: NUM_TERMS }, (_, term) => term).filter(() => random.below(6) <= i);
  return { terms, weights: Float32Array.from(terms, () => 1 + random.below(4)) };
});

/** Every document scored one by one: what any search must find. */
export function bestOf(
  documents: Iterable<NewDocument>,
  query: SparseVector,
  k: number,
): Pick<StoreHit, 'id' | 'score'>[] {
  const { weights, unit } = quantiseQuery(query);
  return [...documents]
    .map(({ document, payload }) => {
      if (!('terms' in payload)) throw new Error('words have no codes');
      let sum = 0;
      payload.terms.forEach((term, i) => {
        const at = query.terms.indexOf(term);
        if (at >= 0) sum += weights[at] * payload.codes[i];
      });
      return { id: document.id, score: sum * (unit * SCALE) };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score) // stable: equal scores stay in document order
    .slice(0, k);
}

/** Folders under one that `remove` deletes. */
export function scratchFolders(): { next(): string; remove(): void } {
  const root = mkdtempSync(join(tmpdir(), 'lzero-store-'));
  let count = 0;
  return { next: () => join(root, `index-${count++}`), remove: () => rmSync(root, { recursive: true, force: true }) };
}
