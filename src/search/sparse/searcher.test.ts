import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bitmapOf, documents, memorySource, NUM_TERMS, searchSegment } from '../../../test/lib/sparse-segments.ts';
import {
  IndexFormatError,
  IndexStateError,
  InputError,
  type SparseVector,
  sparseVector,
  UsageError,
} from '../../core/index.ts';
import type { SearchSegment } from '../types.ts';
import { type IntegerTopK, quantiseQuery, type SparseCodes } from './codes.ts';
import { exhaustiveTopK } from './exhaustive.ts';
import { type SharedSearch, SparseSearcher, type SparseSearcherOptions } from './searcher.ts';

/** Weights that are equal, far apart, or next to each other. */
const query: fc.Arbitrary<SparseVector> = fc
  .uniqueArray(fc.nat({ max: NUM_TERMS + 2 }), { maxLength: NUM_TERMS })
  .chain((terms) =>
    fc
      .array(fc.oneof(fc.constantFrom(1, 1e-6, 3), fc.float({ min: Math.fround(0.01), max: 8, noNaN: true })), {
        minLength: terms.length,
        maxLength: terms.length,
      })
      .map((weights) => sparseVector(terms, weights)),
  );

const k = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constantFrom(100, 1000, 10_000));

const every = (n: number) => (doc: number) => doc % n === 0;

/** Documents cut into segments, some deleted, some not permitted. */
const collection = fc.record({
  documents,
  cuts: fc.array(fc.nat({ max: 400 }), { maxLength: 4 }),
  deleteEvery: fc.constantFrom(0, 2, 7),
  permitEvery: fc.constantFrom(0, 1, 3, 90),
  windowSize: fc.constantFrom(64, 128, 8192),
});

type Case = typeof collection extends fc.Arbitrary<infer T> ? T : never;

function cutDocuments({ documents, cuts }: Case): SparseCodes[][] {
  const bounds = [0, ...cuts.map((cut) => Math.min(cut, documents.length)).sort((a, b) => a - b), documents.length];
  return bounds.slice(1).map((end, i) => documents.slice(bounds[i], end));
}

/** Deleted and permitted are decided by number inside the segment. */
function prepare(given: Case): {
  segments: SearchSegment[];
  filter: Uint8Array[] | undefined;
  isPermitted: (docId: number) => boolean;
} {
  const parts = cutDocuments(given);
  const localNumbers = parts.flatMap((part) => part.map((_, doc) => doc));
  const isDeleted = given.deleteEvery ? every(given.deleteEvery) : () => false;
  const isAllowed = given.permitEvery ? every(given.permitEvery) : () => true;
  return {
    segments: parts.map((part, i) =>
      searchSegment(`s${i}`, part, {
        windowSize: given.windowSize,
        deleted: given.deleteEvery ? bitmapOf(part.length, isDeleted) : undefined,
      }),
    ),
    filter: given.permitEvery ? parts.map((part) => bitmapOf(part.length, isAllowed)) : undefined,
    isPermitted: (docId) => !isDeleted(localNumbers[docId]) && isAllowed(localNumbers[docId]),
  };
}

const WAYS: readonly Omit<SparseSearcherOptions, 'scale'>[] = [
  { kernel: 'wasm' },
  { kernel: 'typescript' },
  { kernel: 'wasm', mode: 'lean' },
  { kernel: 'typescript', mode: 'lean', cacheBytes: 0 },
  { kernel: 'wasm', shared: true },
];

function plain({ docIds, scores }: IntegerTopK): { docIds: number[]; scores: number[] } {
  return { docIds: [...docIds], scores: [...scores] };
}

describe('searching', () => {
  it.each(WAYS)('%o gives exactly the documents and integer scores of exhaustive search', (way) => {
    fc.assert(
      fc.property(collection, fc.array(query, { minLength: 1, maxLength: 4 }), k, (given, queries, k) => {
        const { segments, filter, isPermitted } = prepare(given);
        const searcher = new SparseSearcher({ scale: 1, ...way });
        searcher.setSegments(segments);
        for (const query of queries) {
          const expected = exhaustiveTopK(given.documents, quantiseQuery(query), { k, isPermitted });
          expect(plain(searcher.searchIntegers(query, { k, filter }))).toEqual(plain(expected));
        }
      }),
      { numRuns: 150 },
    );
  });

  it.each(WAYS)('%o is exact where hundreds of documents of one window are within reach', (way) => {
    // Rare, frequent and very frequent terms with codes that vary: a low limit lets most documents through at first.
    const code = (doc: number, term: number): number => 1 + (((doc * 2654435761 + term * 40503) >>> 7) % 200);
    const has = (doc: number, term: number): boolean => (doc * 7919 + term * 104729) % (1 + term) === 0;
    const documents = Array.from({ length: 5000 }, (_, doc) =>
      document(
        Object.fromEntries([0, 1, 2, 3, 5, 12, 25, 40].filter((t) => has(doc, t)).map((t) => [t, code(doc, t)])),
      ),
    );
    const query = sparseVector([0, 1, 2, 3, 5, 12, 25, 40], [0.3, 0.5, 0.6, 1, 1.5, 2, 2.5, 3]);
    const searcher = new SparseSearcher({ scale: 1, ...way });
    searcher.setSegments([searchSegment('a', documents, { windowSize: 8192 })]);
    for (const k of [1, 10, 100, 1000]) {
      const expected = exhaustiveTopK(documents, quantiseQuery(query), { k, isPermitted: () => true });
      expect(plain(searcher.searchIntegers(query, { k }))).toEqual(plain(expected));
    }
  });

  it('finds 10,000 documents, and as many of 30,000 that tie as are asked for, from the front', () => {
    const tied = Array.from({ length: 30_000 }, () => document({ 5: 7 }));
    const searcher = searcherOf([searchSegment('a', tied, { windowSize: 8192 })]);
    const { docIds, scores } = searcher.searchIntegers(sparseVector([5], [2]), { k: 10_000 });
    expect([...docIds]).toEqual(Array.from({ length: 10_000 }, (_, i) => i));
    expect(new Set(scores)).toEqual(new Set([65_535 * 7]));
  });

  it('does not take the codes of deleted documents for thresholds', () => {
    // The 10th largest code of the list is 255, and all that have it are deleted.
    const documents = Array.from({ length: 40 }, (_, doc) => document({ 5: doc < 20 ? 255 : 1 }));
    const segment = searchSegment('a', documents, { deleted: bitmapOf(40, (doc) => doc < 20) });
    const { docIds } = searcherOf([segment]).search(sparseVector([5], [1]), { k: 10 });
    expect([...docIds]).toEqual([20, 21, 22, 23, 24, 25, 26, 27, 28, 29]);
  });

  it('returns scores in the units of the weights: 0.5 · 3 + 2 · 1 = 3.5', () => {
    const searcher = new SparseSearcher({ scale: 0.5 });
    searcher.setSegments([searchSegment('a', [document({ 1: 6, 2: 2 }), document({ 1: 1 })])]);
    const { docIds, scores } = searcher.search(sparseVector([1, 2], [0.5, 2]), { k: 5 });
    expect([...docIds]).toEqual([0, 1]);
    expect(scores[0]).toBeCloseTo(3.5, 4); // a query weight is one of 65,535 steps
    expect(scores[1]).toBeCloseTo(0.25, 4);
  });

  it('finds nothing without segments, without documents, or without terms', () => {
    const searcher = new SparseSearcher({ scale: 1 });
    expect(searcher.search(sparseVector([1], [1]), { k: 3 }).docIds).toHaveLength(0);
    searcher.setSegments([searchSegment('empty', []), searchSegment('bare', [document({})])]);
    expect(searcher.search(sparseVector([1], [1]), { k: 3 }).docIds).toHaveLength(0);
    expect(searcher.search(sparseVector([], []), { k: 3 }).docIds).toHaveLength(0);
  });

  it.each([0, -1, 1.5, 10_001, Number.NaN])('refuses k = %d', (k) => {
    expect(() => searcherOf([]).search(sparseVector([1], [1]), { k })).toThrow(UsageError);
  });

  it('refuses filters that do not fit the segments', () => {
    const searcher = searcherOf([
      searchSegment(
        'a',
        Array.from({ length: 9 }, () => document({ 1: 1 })),
      ),
    ]);
    const search = (filter: Uint8Array[]) => () => searcher.search(sparseVector([1], [1]), { k: 1, filter });
    expect(search([])).toThrow(InputError);
    expect(search([Uint8Array.of(255)])).toThrow(InputError);
    expect([...search([Uint8Array.of(0, 1)])().docIds]).toEqual([8]);
  });

  it('runs in WebAssembly here, with private and with shared memory', () => {
    expect(new SparseSearcher({ scale: 1 }).kernel).toBe('wasm');
    expect(new SparseSearcher({ scale: 1, shared: true }).kernel).toBe('wasm');
  });
});

describe('segments of a searcher', () => {
  const some = Array.from({ length: 200 }, (_, i) => document({ 1: 1 + (i % 200), [2 + (i % 100)]: 3 }));

  it('are loaded once per key, and freed when they are no longer searched', () => {
    const searcher = new SparseSearcher({ scale: 1 });
    const empty = searcher.memoryBytes;
    const segment = searchSegment('a', some);
    const unreadable = { ...segment, source: { ...segment.source, read: () => expect.fail('read again') } };
    searcher.setSegments([segment]);
    searcher.setSegments([unreadable, searchSegment('b', some)]);
    expect(searcher.search(sparseVector([1], [1]), { k: 1000 }).docIds).toHaveLength(400);
    searcher.setSegments([]);
    expect(searcher.memoryBytes).toBe(empty);
  });

  it('stay as they were if one of the new ones is damaged', () => {
    const searcher = searcherOf([searchSegment('a', some)]);
    const before = searcher.memoryBytes;
    const damaged = { ...searchSegment('c', some), source: memorySource(new Uint8Array(100)) };
    expect(() => searcher.setSegments([searchSegment('b', some), damaged])).toThrow(IndexFormatError);
    expect(searcher.memoryBytes).toBe(before);
    expect(searcher.search(sparseVector([1], [1]), { k: 1000 }).docIds).toHaveLength(200);
  });

  it('must have as many documents as their bytes say', () => {
    expect(() => searcherOf([{ ...searchSegment('a', some), numDocs: 199 }])).toThrow(
      /expected 199 documents, got 200/,
    );
  });

  it('in lean mode leave rare lists in the file, and read each once as long as it fits the cache', () => {
    const reads: number[] = [];
    const { source, ...rest } = searchSegment('a', some);
    const read = (at: number, length: number): Uint8Array => {
      reads.push(at);
      return source.read(at, length);
    };
    const searcher = new SparseSearcher({ scale: 1, mode: 'lean' });
    searcher.setSegments([{ ...rest, source: { ...source, read } }]);
    reads.length = 0;
    for (let i = 0; i < 3; i++) searcher.search(sparseVector([1, 50], [1, 1]), { k: 10 });
    expect(reads).toHaveLength(1); // term 1 is in every document, term 50 in two
  });
});

describe('standing', () => {
  it('has products that add up to the score of the search, and its rank', () => {
    fc.assert(
      fc.property(collection, query, (given, query) => {
        const { segments, isPermitted } = prepare({ ...given, permitEvery: 0 });
        const searcher = new SparseSearcher({ scale: 0.01 });
        searcher.setSegments(segments);
        const { docIds, scores } = searcher.search(query, { k: 10_000 });
        given.documents.forEach((_, docId) => {
          if (docId % 5 !== 0) return;
          const { score, rank, products } = searcher.standing(query, docId);
          const at = docIds.indexOf(docId);
          expect(rank).toBe(at < 0 ? undefined : at + 1);
          expect(score).toBe(at < 0 ? 0 : scores[at]);
          expect(products.reduce((sum, { product }) => sum + product, 0)).toBeCloseTo(score, 9);
          if (!isPermitted(docId)) expect(products).toEqual([]);
        });
      }),
      { numRuns: 40 },
    );
  });

  it('is the same in lean mode', () => {
    const documents = Array.from({ length: 300 }, (_, i) => document({ 1: 1 + (i % 9), [10 + i]: 5 }));
    const lean = new SparseSearcher({ scale: 1, mode: 'lean' });
    lean.setSegments([searchSegment('a', documents)]);
    const query = sparseVector([1, 17], [1, 2]);
    expect(lean.standing(query, 7)).toEqual(searcherOf([searchSegment('a', documents)]).standing(query, 7));
    expect(lean.standing(query, 7).products.map(({ term }) => term)).toEqual([1, 17]);
  });

  it('leaves the rank out where nobody wants it', () => {
    const searcher = searcherOf([searchSegment('a', [document({ 1: 1 })])]);
    const query = sparseVector([1], [1]);
    expect(searcher.standing(query, 0, { rank: false })).toEqual({ ...searcher.standing(query, 0), rank: undefined });
  });

  it('refuses documents that are not there', () => {
    const searcher = searcherOf([searchSegment('a', [document({ 1: 1 })])]);
    for (const docId of [-1, 1, 0.5])
      expect(() => searcher.standing(sparseVector([1], [1]), docId)).toThrow(InputError);
  });
});

describe('sharing', () => {
  const first = Array.from({ length: 100 }, (_, i) => document({ 1: 1 + i }));
  const second = Array.from({ length: 50 }, (_, i) => document({ 1: 200 - i }));
  const query = sparseVector([1], [1]);

  it('lets another thread search the same memory', () => {
    const owner = new SparseSearcher({ scale: 1, shared: true });
    owner.setSegments([searchSegment('a', first, { deleted: bitmapOf(100, (doc) => doc === 99) })]);
    const attached = SparseSearcher.attach(cloned(owner.share()));
    expect(attached.search(query, { k: 3 })).toEqual(owner.search(query, { k: 3 }));
    expect([...attached.search(query, { k: 2 }).docIds]).toEqual([98, 97]);
    expect(attached.standing(query, 97).rank).toBe(2);
    expect(() => attached.setSegments([])).toThrow(IndexStateError);
  });

  it('keeps what a description needs until it is released', () => {
    const owner = new SparseSearcher({ scale: 1, shared: true });
    const empty = owner.memoryBytes;
    owner.setSegments([searchSegment('a', first, { deleted: bitmapOf(100, (doc) => doc === 99) })]);
    const description = owner.share();
    const attached = SparseSearcher.attach(cloned(description));
    owner.setSegments([searchSegment('b', second)]);
    expect([...owner.search(query, { k: 2 }).docIds]).toEqual([0, 1]);
    expect([...attached.search(query, { k: 2 }).docIds]).toEqual([98, 97]);
    owner.release(description);
    owner.setSegments([]);
    expect(owner.memoryBytes).toBe(empty);
    expect(() => owner.release(description)).toThrow(IndexStateError);
  });

  it('is refused where nobody asked for it', () => {
    expect(() => new SparseSearcher({ scale: 1 }).share()).toThrow(IndexStateError);
    expect(() => new SparseSearcher({ scale: 1, mode: 'lean', shared: true })).toThrow(InputError);
  });
});

function document(codes: Readonly<Record<number, number>>): SparseCodes {
  const terms = Object.keys(codes).map(Number); // integer keys ascend
  return { terms: Uint32Array.from(terms), codes: Uint8Array.from(terms, (term) => codes[term]) };
}

function searcherOf(segments: readonly SearchSegment[]): SparseSearcher {
  const searcher = new SparseSearcher({ scale: 1 });
  searcher.setSegments(segments);
  return searcher;
}

/** What arrives when a message goes to another thread. */
function cloned(description: SharedSearch): SharedSearch {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(description);
  const received = receiveMessageOnPort(port2);
  port1.close();
  return received?.message;
}
